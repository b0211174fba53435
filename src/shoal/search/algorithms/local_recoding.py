"""The declarations of the local recodings; each search is in a file of `shoal.search.local`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from shoal.declarations import REQUIRED, Parameter, ParameterKind
from shoal.search.algorithm import CONCEAL, METRIC, RANGES, REFINE, Algorithm, Growth, LocalRecoding, Sees


class Mondrian(LocalRecoding):
    """Strict multidimensional cuts."""

    name = "mondrian"
    summary = "strict multidimensional cuts"
    does = "Cuts the records in parts, each time where that saves most detail, as long as the models allow."
    when = "On large tables, or where equal records must keep equal labels: fast, and near the best."
    implementation = "shoal.search.local.mondrian:mondrian"
    refusals_at = "shoal.search.local.refused_cuts:mondrian_refusals"
    sets_apart = "values"
    options = (*LocalRecoding.options, CONCEAL)
    growth: ClassVar[Mapping[Sees, Growth]] = {
        "sizes": Growth(0.04, 1.4e-5, 0.0, 3.0e-7),
        "values": Growth(0.05, 2.2e-5, 0.0, 6.0e-7),
        "shares": Growth(0.05, 2.2e-5, 0.0, 6.0e-7),
    }
    position = 50


class TopDown(LocalRecoding):
    """Specialization from the top, failing children pushed back."""

    name = "top-down"
    summary = "specialization from the top, failing children pushed back"
    does = "Starts with everything fully generalized and makes it finer step by step where the models allow."
    when = "A fast way where one column dominates, such as postal or diagnosis codes."
    drawback = "It never takes a step back, so it is not the best possible."
    implementation = "shoal.search.local.top_down:top_down"
    refusals_at = "shoal.search.local.refused_cuts:top_down_refusals"
    sets_apart = "children"
    options = (*LocalRecoding.options, CONCEAL)
    splits_duplicates = True
    growth: ClassVar[Mapping[Sees, Growth]] = {
        "sizes": Growth(0.05, 1.5e-5, 0.0, 2.5e-7),
        "values": Growth(0.07, 3.7e-5, 0.0, 3.5e-7),
        "shares": Growth(0.06, 1.1e-4, 2.8e-9, 3.0e-6),
    }
    position = 40


class GreedyClustering(LocalRecoding):
    """Classes that cost little together, within boundaries; the paper's choices to the letter where asked."""

    name = "greedy-clustering"
    summary = "classes that cost little together, within boundaries"
    does = "Groups records that are alike into classes that cost little together, and then improves the classes."
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
        CONCEAL,
    )  # fmt: skip
    splits_duplicates = True
    works_on_records = True
    growth: ClassVar[Mapping[Sees, Growth]] = {
        "sizes": Growth(0.10, 5.0e-5, 0.0, 3.0e-7, guided_rows=2.0e-4),
        "values": Growth(0.15, 1.2e-4, 0.0, 5.0e-7, guided_rows=1.2e-4),
        "shares": Growth(0.30, 2.1e-4),
    }
    position = 30

    def growth_of(self, sees: Sees, options: Mapping[str, Any]) -> Growth:
        """The paper's algorithm compares every class with the records and combinations that are left.

        Read off runs over 1,000 to 100,000 records with four and eight quasi-identifiers.
        """
        if not options.get("faithful"):
            return super().growth_of(sees, options)
        if sees == "shares":
            return Growth(0.07, records=3.5e-5, records_squared=1.085e-9, rows_by_records=2.45e-8)
        return Growth(0.02, records=1.0e-5, records_squared=3.1e-10, rows_by_records=7.0e-9)

    def loads_kernels(self, options: Mapping[str, Any]) -> bool:
        """Always, but for the paper's choices."""
        return not options.get("faithful") or super().loads_kernels(options)


class RangeAlgorithm(Algorithm):
    """Ranges between neighbours inside masked groups."""

    name = "range"
    summary = "ranges between neighbours inside masked groups"
    does = "Masks some columns to make groups, and turns numbers into ranges between neighbours of the group."
    when = "To reproduce its paper, or with “one range per group” for numbers that should stay near the truth."
    drawback = "As published it guarantees no model; a release that fails is refused."
    implementation = "shoal.search.local.range_method:range_method"
    refusals_at = "shoal.search.local.refused_cuts:range_refusals"
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
        CONCEAL,
    )  # fmt: skip
    scope = "local"
    search = "one-result"
    growth: ClassVar[Mapping[Sees, Growth]] = dict.fromkeys(
        ("sizes", "values", "shares"), Growth(0.002, rows=6e-7, most=4)
    )
    judge_at = "shoal.search.local.range_method:diagnose"
    groups_at = "shoal.search.local.range_method:shared_groups"
    position = 60
