"""Generalization hierarchies: declared in one of several ways, built against the values of a column."""

from collections.abc import Mapping

from shoal.hierarchies import dates, flat, intervals, levels, mask, order, tree
from shoal.hierarchies.boundaries import Boundary, boundary_caps, capped_levels
from shoal.hierarchies.dates import Dates
from shoal.hierarchies.flat import Flat
from shoal.hierarchies.hierarchy import BuiltHierarchy, Hierarchy, HierarchySource, Label, scalar_text
from shoal.hierarchies.intervals import Intervals
from shoal.hierarchies.kind import HierarchyKind
from shoal.hierarchies.levels import Levels, levels_of_text, read_levels, to_levels_csv
from shoal.hierarchies.mask import Mask
from shoal.hierarchies.order import OrderedValues
from shoal.hierarchies.problems import HierarchyError
from shoal.hierarchies.tree import Tree, to_nested

HIERARCHY_KINDS: Mapping[str, HierarchyKind] = {
    module.KIND.key: module.KIND for module in (intervals, tree, levels, mask, dates, order, flat)
}  # all that a policy can declare, in the order in which they are listed

__all__ = [
    "HIERARCHY_KINDS", "Boundary", "BuiltHierarchy", "Dates", "Flat", "Hierarchy", "HierarchyError", "HierarchySource",
    "Intervals", "Label", "Levels", "Mask", "OrderedValues", "Tree", "boundary_caps", "capped_levels", "levels_of_text",
    "read_levels", "scalar_text", "to_levels_csv", "to_nested",
]  # fmt: skip
