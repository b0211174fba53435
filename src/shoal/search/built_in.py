"""The algorithms that come with Shoal, by what they declare; the searches are in `lattice` and `local`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from shoal.declarations import REQUIRED, Parameter, ParameterKind
from shoal.search.algorithm import METRIC, RANGES, REFINE, Algorithm, Growth, Sees


class Optimal(Algorithm):
    """The best full-domain node by a measure."""

    name = "optimal"
    summary = "best full-domain node by a measure"
    does = "Tries all combinations of levels and releases the one that loses least."
    when = (
        "Start here. One level per column is what most readers of a release expect, and no other release of that kind "
        "is better."
    )
    drawback = "A few unusual people make everybody's values coarser, or are left out."
    implementation = "shoal.search.lattice.optimal:optimal"
    options = (METRIC,)
    scope = "full-domain"
    search = "best-node"
    least_general = True
    position = 10

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
        """Nodes that the search for the best one looks at; all may be needed where the models do not prune."""
        nodes = math.prod(shape)
        root = math.sqrt(nodes)
        return (min(nodes, 0.4 * root + 1), min(nodes, 4 * root)) if prunes else (root, float(nodes))


class Incognito(Algorithm):
    """All minimal full-domain nodes, of which the best or a chosen one is released."""

    name = "incognito"
    summary = "all minimal full-domain nodes"
    does = (
        "Finds every combination of levels in which no level can be lowered, and releases the best one or the one you "
        "choose."
    )
    when = "To see the alternatives and decide by hand which column keeps its detail."
    drawback = "With many columns there are too many combinations; it says so."
    implementation = "shoal.search.lattice.incognito:incognito"
    options = (
        METRIC,
        Parameter(
            "node", ParameterKind.LEVELS, "One level for each column: one of the combinations that the picture under "
            "“Understand” offers. Empty for the best one.", title="Levels to release", default=None, shared=False,
        ),
    )  # fmt: skip
    scope = "full-domain"
    search = "minimal-nodes"
    least_general = True
    position = 20

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
        """Nodes of all subsets of the quasi-identifiers that are looked at."""
        checks = math.prod(levels + 1 for levels in shape) ** 0.75
        return (0.15 * checks, 1.8 * checks) if prunes else (0.15 * checks, 1.8 * checks + math.prod(shape))


class GreedyLattice(Algorithm):
    """One greedy path up the lattice."""

    name = "greedy-lattice"
    summary = "one greedy path up the lattice"
    does = "Walks one path: raises the column that costs least until the models hold."
    when = "With more columns than optimal can search, or with weights that say which columns matter."
    drawback = "It may miss the best combination, and with some models one that exists."
    implementation = "shoal.search.lattice.greedy_lattice:greedy_lattice"
    options = (
        Parameter(
            "weights", ParameterKind.WEIGHTS, "A column of weight 1 costs nothing to generalize, so give the columns "
            "that matter small weights. 0 when empty.", title="Weights", default={}, high=1, shared=False,
        ),
    )  # fmt: skip
    scope = "full-domain"
    search = "one-path"
    finds_at = "shoal.search.lattice.greedy_lattice:finds"
    position = 70

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:  # noqa: ARG002 - one path anyway
        """Nodes of a single path up the lattice, walked twice where models look at the whole release."""
        return 1.0, 2.0 * (sum(shape) - len(shape) + 1)


class _LocalRecoding(Algorithm):
    """What the algorithms share that make classes starting from the most general release."""

    drawback = "Labels of different width appear side by side, which an analysis has to deal with."
    options: ClassVar[tuple[Parameter, ...]] = (METRIC, REFINE, RANGES)
    scope = "local"
    search = "classes"
    bytes_per_row = 500


class GreedyClustering(_LocalRecoding):
    """Classes found in order of cost, within boundaries; the paper's choices to the letter where asked."""

    name = "greedy-clustering"
    summary = "classes found in order of cost, within boundaries"
    does = "Groups records that are alike into classes, in order of cost, and then improves the classes."
    when = "Where little may be lost, and where there are boundaries. It loses least and takes longer."
    implementation = "shoal.search.local.greedy_clustering:greedy_clustering"
    options = (
        METRIC,
        Parameter(
            "weights", ParameterKind.WEIGHTS, "How much each sensitive column counts; only with the paper's choices.",
            title="Weights", default={}, high=1, of="sensitive", shared=False,
        ),
        Parameter(
            "faithful", ParameterKind.FLAG, "Clusters exactly as Campan et al. 2010 define them. Every record is "
            "compared with every other, which takes long.", title="The paper's choices to the letter", default=False,
        ),
        REFINE,
        RANGES,
    )  # fmt: skip
    splits_duplicates = True
    works_on_records = True
    growth: ClassVar[Mapping[Sees, Growth]] = {
        "sizes": Growth(0.10, 5.0e-5, 0.0, 3.0e-7),
        "classes": Growth(0.15, 1.2e-4, 0.0, 5.0e-7),
        "table": Growth(0.30, 3.0e-4, 4.0e-8, 3.0e-6),
    }
    position = 30

    def growth_of(self, sees: Sees, options: Mapping[str, Any]) -> Growth:
        """The paper's algorithm compares every class with the records and combinations that are left.

        Read off runs over 1,000 to 100,000 records with four and eight quasi-identifiers.
        """
        if not options.get("faithful"):
            return super().growth_of(sees, options)
        if sees == "table":
            return Growth(0.07, records=3.5e-5, records_squared=1.085e-9, rows_by_records=2.45e-8)
        return Growth(0.02, records=1.0e-5, records_squared=3.1e-10, rows_by_records=7.0e-9)

    def loads_kernels(self, options: Mapping[str, Any]) -> bool:
        """Always, but for the paper's choices."""
        return not options.get("faithful") or super().loads_kernels(options)


class TopDown(_LocalRecoding):
    """Specialization from the top, failing children pushed back."""

    name = "top-down"
    summary = "specialization from the top, failing children pushed back"
    does = "Starts with everything fully generalized and makes it finer step by step where the models allow."
    when = "A fast way where one column dominates, such as postal or diagnosis codes."
    drawback = "It never takes a step back, so it is not the best possible."
    implementation = "shoal.search.local.top_down:top_down"
    splits_duplicates = True
    growth: ClassVar[Mapping[Sees, Growth]] = {
        "sizes": Growth(0.05, 1.5e-5, 0.0, 2.5e-7),
        "classes": Growth(0.07, 3.7e-5, 0.0, 3.5e-7),
        "table": Growth(0.05, 1.1e-4, 2.8e-9, 3.0e-6),
    }
    position = 40


class Mondrian(_LocalRecoding):
    """Strict multidimensional cuts."""

    name = "mondrian"
    summary = "strict multidimensional cuts"
    does = "Cuts the records in parts, each time in the column that spreads widest, as long as the models allow."
    when = "The first one to try when one level per column loses too much: fast, and near the best."
    implementation = "shoal.search.local.mondrian:mondrian"
    growth: ClassVar[Mapping[Sees, Growth]] = {
        "sizes": Growth(0.012, 6.0e-6, 0.0, 2.0e-7),
        "classes": Growth(0.015, 9.0e-6, 0.0, 4.0e-7),
        "table": Growth(0.020, 9.0e-6, 0.0, 4.0e-7),
    }
    position = 50


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
