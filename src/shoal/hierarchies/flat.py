"""The flat hierarchy: a value, or ``*``."""

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.hierarchies.assemble import Level, build
from shoal.hierarchies.hierarchy import BuiltHierarchy, Label
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind, Known, RunKind


@dataclass(frozen=True)
class Flat:
    """Each value is kept or becomes ``*``; for columns whose values have no groups worth naming."""

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:  # noqa: ARG002 - see HierarchySource
        """Build for the values of a column, in text order."""
        leaves = sorted(value for value in values if value is not None)
        return build([Level.of(leaves), Level.root(len(leaves))], values, where)


KIND = HierarchyKind(
    key="flat",
    summary="The value or *.",
    fields=(HierarchyField("flat", FieldKind.PRESENT, "the value or *"),),
    build=lambda _fields, _folder, _where: Flat(),
    by_name=True,
    known=Known.LEVELS,
    runs=frozenset({RunKind.ORDER}),
)
