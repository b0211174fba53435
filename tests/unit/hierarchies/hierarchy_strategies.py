"""Random hierarchies for properties."""

from __future__ import annotations

from itertools import count

from hypothesis import strategies as st


@st.composite
def trees(draw: st.DrawFn) -> dict[str, object]:
    """A nested tree of uneven depth with unary nodes, repeated unary labels and, at times, a placed missing value."""
    names = count()
    placed = draw(st.booleans())

    def node(depth: int) -> object:
        nonlocal placed
        if depth == 0 or draw(st.integers(0, 3)) == 0:
            if placed and draw(st.integers(0, 4)) == 0:
                placed = False
                return None
            return f"v{next(names)}"
        name = f"g{next(names)}"
        children = [node(depth - 1) for _ in range(draw(st.integers(1, 3)))]
        group: object = {name: children}
        return {name: [group]} if draw(st.integers(0, 4)) == 0 else group

    top = [node(draw(st.integers(0, 4))) for _ in range(draw(st.integers(1, 4)))]
    return {"*" if draw(st.booleans()) else "root": top}
