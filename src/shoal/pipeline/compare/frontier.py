"""The frontier: the points that no other point beats in both loss and risk.

A point is beaten by one that is no worse in both and better in one (Pareto). Points that are equal in both do not beat
each other.
"""

from __future__ import annotations

from collections.abc import Sequence


def frontier(points: Sequence[tuple[float, float]]) -> list[int]:
    """The places of the points on the frontier, by their first figure, then the second; less is better in both."""
    order = sorted(range(len(points)), key=lambda place: (points[place], place))
    found: list[int] = []
    best = float("inf")
    for place in order:
        x, y = points[place]
        equal_to_last = bool(found) and points[found[-1]] == (x, y)
        if y < best or equal_to_last:
            found.append(place)
            best = y
    return found
