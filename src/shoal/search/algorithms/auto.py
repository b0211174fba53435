"""The declaration of `auto`, which tries what fits a policy; how it chooses is in `shoal.search.auto`."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from shoal.declarations import Parameter, ParameterKind
from shoal.search.algorithm import CONCEAL, METRIC, RANGES, Algorithm, Demand, LocalRecoding, Search

if TYPE_CHECKING:
    from shoal.search.problem import Problem

SECONDS = 20


class Auto(Algorithm):
    """Several algorithms within a time, of whose results the best is released."""

    name = "auto"
    summary = "the best result of several algorithms"
    does = "Tries the algorithms that fit the policy and the time, and releases what loses least."
    when = "Start here: each class is only as general as it must be, and the report says what was tried and chosen."
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
            "scope", ParameterKind.CHOICE, "Whether a column may have different levels in different classes. When left "
            "out, it may, unless new records are to join the release or pseudonyms link records.",
            title="Levels", default=None, shared=False,
            choices={"local": "each class separately", "full-domain": "one level per column"},
        ),
        RANGES,
        CONCEAL,
    )  # fmt: skip
    scope: ClassVar[Literal["full-domain", "local"]] = "local"
    search: ClassVar[Search] = "classes"
    splits_duplicates = True
    bytes_per_row = LocalRecoding.bytes_per_row
    chooses = True
    position = 5

    def for_options(self, options: Mapping[str, Any], demands: Collection[Demand] = ()) -> Algorithm:
        """With one level per column everything is as for algorithms that search the lattice."""
        return _full_domain() if one_level(options, demands) else self

    def planned(self, problem: Problem) -> Sequence[Algorithm]:
        """Those that fit the demands of the run and the time, the quickest first."""
        found: Sequence[Algorithm] = importlib.import_module("shoal.search.auto").plan(problem).fitting
        return found

    def last_resort(self, problem: Problem) -> Algorithm | None:
        """The one that looks at every node, where there is time for it."""
        found: Algorithm | None = importlib.import_module("shoal.search.auto").plan(problem).last_resort
        return found


def one_level(options: Mapping[str, Any], demands: Collection[Demand]) -> bool:
    """Whether a column has one level everywhere: as the policy says, else as the run demands."""
    scope = options.get("scope")
    return scope == "full-domain" or (scope is None and Demand.ONE_LEVEL in demands)


@cache
def _full_domain() -> Algorithm:
    """`auto` where a column has one level everywhere; no algorithm of its own, so no class of this module."""

    class AutoFullDomain(Auto):
        """The same options, and what algorithms that search the lattice declare."""

        scope = "full-domain"
        search = "best-node"
        splits_duplicates = False
        bytes_per_row = 0

    return AutoFullDomain()
