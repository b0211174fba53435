"""The declarations of `greedy-clustering`; its search is `shoal.search.local.greedy_clustering`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from shoal.declarations import Parameter, ParameterKind
from shoal.search.algorithm import METRIC, RANGES, REFINE, Growth, LocalRecoding, Sees


class GreedyClustering(LocalRecoding):
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
