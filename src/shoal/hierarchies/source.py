"""What every kind of hierarchy has in common: it is declared first and built against the values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from shoal.hierarchies.hierarchy import Hierarchy, IntArray, Label


@dataclass(frozen=True)
class BuiltHierarchy:
    """A hierarchy and the leaf of each value that it was built for."""

    hierarchy: Hierarchy
    codes: IntArray
    """Leaf code of each value handed to `build`, in the order handed over."""


class HierarchySource(Protocol):
    """A declared hierarchy, ready to be built against a column."""

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the distinct values of a column (canonical text; ``None`` is missing) and their record counts.

        The result does not depend on the order of ``values``. Raises `HierarchyError` with every problem found;
        ``where`` is how the messages name the place, for example ``columns.age.hierarchy``.
        """
        ...
