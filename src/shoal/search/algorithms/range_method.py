"""The declarations of `range`; its search is `shoal.search.local.range_method`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from shoal.declarations import REQUIRED, Parameter, ParameterKind
from shoal.search.algorithm import RANGES, Algorithm, Growth, Sees


class RangeAlgorithm(Algorithm):
    """Ranges between neighbours inside masked groups."""

    name = "range"
    summary = "ranges between neighbours inside masked groups"
    does = "Masks some columns to make groups, and turns numbers into ranges between neighbours of the group."
    when = "To reproduce its paper, or with “one range per group” for numbers that should stay near the truth."
    drawback = "As published it guarantees no model; a release that fails is refused."
    implementation = "shoal.search.local.range_method:range_method"
    options = (
        Parameter(
            "group", ParameterKind.LEVELS, "Each masked to a level: 0 for the values themselves. Empty for a column "
            "that makes no group.", title="Columns that make the groups",
        ),
        replace(RANGES, default=REQUIRED),
        Parameter(
            "safe", ParameterKind.FLAG, "All records of a group share one range. Only then can the models hold as a "
            "rule.", title="One range per group", default=False,
        ),
    )  # fmt: skip
    scope = "local"
    search = "one-result"
    growth: ClassVar[Mapping[Sees, Growth]] = dict.fromkeys(
        ("sizes", "classes", "table"), Growth(0.002, rows=6e-7, most=4)
    )
    judge_at = "shoal.search.local.range_method:diagnose"
    groups_at = "shoal.search.local.range_method:shared_groups"
    position = 60
