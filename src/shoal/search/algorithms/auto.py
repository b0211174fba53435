"""The declaration of `auto`, which tries what fits a policy; how it chooses is in `shoal.search.auto`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal

from shoal.declarations import Parameter, ParameterKind
from shoal.search.algorithm import CONCEAL, METRIC, RANGES, Algorithm, Growth, LocalRecoding, Search, Sees
from shoal.search.algorithms.full_domain import Optimal

SECONDS = 20


class Auto(Algorithm):
    """Several algorithms within a time, of whose results the best is released."""

    name = "auto"
    summary = "the best result of several algorithms"
    does = "Tries the algorithms that fit the policy and the time, and releases what loses least."
    when = "Where little may be lost and you do not want to choose: the evidence says what was tried and chosen."
    drawback = "Labels of different width appear side by side, unless one level per column is asked for."
    implementation = "shoal.search.auto:auto"
    options = (
        METRIC,
        Parameter(
            "seconds", ParameterKind.SECONDS, "About how long it may search. It is turned into a fixed amount of work, "
            "so the same number gives the same release on every machine.", title="Seconds for the search",
            default=SECONDS, start=SECONDS,
        ),
        Parameter(
            "scope", ParameterKind.CHOICE, "Whether a column may have different levels in different classes.",
            title="Levels", default="local", shared=False,
            choices={"local": "each class separately", "full-domain": "one level per column"},
        ),
        RANGES,
        CONCEAL,
    )  # fmt: skip
    scope: ClassVar[Literal["full-domain", "local"]] = "local"
    search: ClassVar[Search] = "classes"
    tight_labels = True
    splits_duplicates = True
    works_on_records = True
    bytes_per_row = LocalRecoding.bytes_per_row
    growth: ClassVar[Mapping[Sees, Growth]] = {
        "sizes": Growth(0.16, 7.1e-5, 0.0, 7.5e-7),
        "classes": Growth(0.24, 1.7e-4, 0.0, 1.25e-6),
        "table": Growth(0.37, 4.2e-4, 4.3e-8, 6.4e-6),
    }  # that of all local recodings together
    position = 5

    def for_options(self, options: Mapping[str, Any]) -> Algorithm:
        """With one level per column everything is as for algorithms that search the lattice."""
        return _full_domain() if options.get("scope") == "full-domain" else self

    def loads_kernels(self, options: Mapping[str, Any]) -> bool:  # noqa: ARG002 - always
        """One of the algorithms does."""
        return True


@cache
def _full_domain() -> Algorithm:
    """`auto` where the policy asks for one level per column; no algorithm of its own, so no class of this module."""

    class AutoFullDomain(Auto):
        """The same options, and what algorithms that search the lattice declare."""

        scope = "full-domain"
        search = "best-node"
        tight_labels = False
        splits_duplicates = False
        works_on_records = False
        bytes_per_row = 0
        growth: ClassVar[Mapping[Sees, Growth]] = {}

        def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
            """As many as the search for the best node."""
            return Optimal().checks(shape, prunes=prunes)

    return AutoFullDomain()
