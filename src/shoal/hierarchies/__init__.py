"""Generalization hierarchies: declared in one of several ways, built against the values of a column."""

from shoal.hierarchies.boundaries import Boundary, Ladder, boundary_caps, capped_levels
from shoal.hierarchies.dates import Dates
from shoal.hierarchies.flat import Flat
from shoal.hierarchies.hierarchy import (
    ROOT_LABEL,
    BuiltHierarchy,
    FloatArray,
    Hierarchy,
    HierarchySource,
    IntArray,
    Label,
    scalar_text,
)
from shoal.hierarchies.intervals import Intervals
from shoal.hierarchies.levels import Levels, levels_of_text, read_levels
from shoal.hierarchies.mask import Mask
from shoal.hierarchies.order import OrderedValues
from shoal.hierarchies.problems import HierarchyError
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.writers import to_levels_csv, to_nested

__all__ = [
    "ROOT_LABEL",
    "Boundary",
    "BuiltHierarchy",
    "Dates",
    "Flat",
    "FloatArray",
    "Hierarchy",
    "HierarchyError",
    "HierarchySource",
    "IntArray",
    "Intervals",
    "Label",
    "Ladder",
    "Levels",
    "Mask",
    "OrderedValues",
    "Tree",
    "boundary_caps",
    "capped_levels",
    "levels_of_text",
    "read_levels",
    "scalar_text",
    "to_levels_csv",
    "to_nested",
]
