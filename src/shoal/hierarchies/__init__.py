"""Generalization hierarchies: declared in one of several ways, built against the values of a column.

=============  ===========================================================
`Tree`         nested groups, as a policy file has them
`Levels`       a table of levels; `read_levels` reads one from a CSV file
`Intervals`    numbers, by widths or cut points
`Mask`         codes, masked character by character
`Dates`        dates and times, by calendar units
`OrderedValues`        ordered categories, by groups of neighbours
`Flat`         the value or ``*``
=============  ===========================================================

Every kind builds the same `Hierarchy`; `boundary_caps` says how far each of its leaves may be generalized.
"""

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
