"""What an algorithm declares: its options, how it works, what it costs, and what its result means for attackers.

The searches themselves are loaded when they run, so that a policy can be read and checked without them.
"""

from __future__ import annotations

import importlib
from abc import ABC
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from shoal.declarations import Parameter, ParameterKind
from shoal.metrics import DEFAULT_METRIC

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.search.diagnosis.diagnosis import Diagnosis
    from shoal.search.engine import LocalEngine
    from shoal.search.problem import Problem
    from shoal.search.refusals import Refusals
    from shoal.search.search_result import SearchResult

COLUMNS = 8  # quasi-identifiers up to which times are as measured
_WIDER, _WIDER_GUIDED = 1.4, 1.0  # the powers by which times grow with more, as measured with 13, 22, 40 and 60
Search = Literal["best-node", "minimal-nodes", "one-path", "one-result", "classes"]
Sees = Literal["sizes", "values", "shares"]
"""What models look at: how many records a class has, which values, or in which shares, so that parts may be refused."""


class Demand(StrEnum):
    """What a run demands of its recoding: an algorithm that chooses among others leaves out those that fail it."""

    ONE_LEVEL = "one-level"
    """Each column has one level everywhere: new records are to join the release, or pseudonyms link records."""
    EQUAL_LABELS = "equal-labels"
    """Records with equal quasi-identifiers have equal labels: they are recoded batch by batch, where they lie."""
    NO_SINGLE_RECORDS = "no-single-records"
    """Only distinct rows are held: the memory allowed is too little for a row of codes for each record."""


@dataclass(frozen=True)
class Growth:
    """Seconds of a search on n distinct rows of r records, on the machine that was measured.

    fixed + a·n + b·n² + c·r + d·r² + e·n·r, and f·n where prices guide it, from ``fewest`` to ``most`` times as much.
    With more columns than those measured, it is more by a power of their number.
    """

    fixed: float
    rows: float = 0.0
    rows_squared: float = 0.0
    records: float = 0.0
    records_squared: float = 0.0
    rows_by_records: float = 0.0
    guided_rows: float = 0.0
    fewest: float = 0.55
    most: float = 1.8

    def seconds(self, rows: int, records: int, *, columns: int = COLUMNS, guided: bool = False) -> float:
        """What that is for a table."""
        wider = float(max(columns / COLUMNS, 1.0) ** (_WIDER_GUIDED if guided else _WIDER))
        by_row = self.rows + self.guided_rows if guided else self.rows
        by_rows = self.fixed + by_row * rows + self.rows_squared * rows**2
        by_records = self.records * records + self.records_squared * records**2
        return wider * (by_rows + by_records + self.rows_by_records * rows * records)


class Algorithm(ABC):
    """An algorithm by what it declares; those that come with Shoal are in `shoal.search.algorithms`."""

    name: ClassVar[str]  # name in the policy file
    summary: ClassVar[str]  # what it makes, in a phrase
    does: ClassVar[str]  # what it does, in a sentence for somebody who has to choose
    when: ClassVar[str]  # when to choose it
    drawback: ClassVar[str]  # what speaks against it
    implementation: ClassVar[str]  # ``module:function`` of the search, which is loaded when it runs
    options: ClassVar[tuple[Parameter, ...]] = ()  # beside ``name`` and ``seed``
    scope: ClassVar[Literal["full-domain", "local"]]  # whether a column has one level everywhere, or each class its own
    search: ClassVar[Search]
    """What it looks for: the best node of the lattice, all minimal ones, the first on a path, the one result that its
    options lead to, or classes of a local recoding, starting from the most general release."""
    least_general: ClassVar[bool] = False  # whether every less general node fails, which attackers may use
    tight_labels: ClassVar[bool] = False  # whether a class shows the lowest label above its values, or a tight range
    sets_apart: ClassVar[Literal["values", "children"] | None] = None
    """What a class tells attackers about a more general one, if all other labels of the two are the same.

    ``values``: a column is cut between values, never through one, so a value with a class of its own is in no other.
    ``children``: with models on sizes alone, a class of 2k records or more has no child of k records, and a child with
    a class of its own has records in the more general one only where that needed them to reach k."""
    splits_duplicates: ClassVar[bool] = False
    """Whether records with equal quasi-identifiers may get different labels. Then which of them gets which must not
    depend on the order of the rows: the pipeline puts them into an order of their content first."""
    works_on_records: ClassVar[bool] = False  # whether it moves single records, each of which needs a row of codes
    bytes_per_row: ClassVar[int] = 0  # memory for each distinct row beyond what every algorithm needs
    growth: ClassVar[Mapping[Sees, Growth]] = {}  # as measured; empty for a search over the lattice, see `checks`
    finds_at: ClassVar[str] = "shoal.search.diagnosis.relaxations:always"  # the function for `finds`
    judge_at: ClassVar[str] = ""  # the function for `judge`, of an algorithm with one result
    groups_at: ClassVar[str] = ""  # the function for `groups`, of an algorithm with one result
    refusals_at: ClassVar[str] = ""  # the function for `refusals`
    position: ClassVar[int] = 1000  # where it stands in lists
    chooses: ClassVar[bool] = False  # whether it runs others, of which it takes those that meet every `Demand`

    def for_options(self, options: Mapping[str, Any], demands: Collection[Demand] = ()) -> Algorithm:  # noqa: ARG002
        """What it declares with these options in a run with these demands, where that depends on them."""
        return self

    def meets(self, demand: Demand) -> bool:
        """Whether its recodings are as a run may demand."""
        if demand is Demand.ONE_LEVEL:
            return self.scope == "full-domain"
        return not self.works_on_records and not (demand is Demand.EQUAL_LABELS and self.splits_duplicates)

    def planned(self, problem: Problem) -> Sequence[Algorithm]:  # noqa: ARG002 - see subclasses
        """The algorithms that run on a problem, in this order: itself, or those that it chooses among."""
        return (self,)

    def last_resort(self, problem: Problem) -> Algorithm | None:  # noqa: ARG002 - see subclasses
        """The algorithm that runs where those planned find nothing; None where none does."""
        return None

    @property
    def option_names(self) -> frozenset[str]:
        """The options that the policy may give it besides ``name`` and ``seed``."""
        return frozenset(option.name for option in self.options)

    @property
    def needs(self) -> frozenset[str]:
        """Options without which it cannot run."""
        return frozenset(option.name for option in self.options if option.required)

    def run(self, problem: Problem, engine: LocalEngine) -> SearchResult:
        """Find a recoding; raises `InfeasibleError` when there is none.

        Single records are taken tuple by tuple, so that which of equally good steps comes first follows from the
        quasi-identifiers; the order of the content decides only among records of the same tuple.
        """
        table = problem.table
        if self.works_on_records and table.weights is None and not table.is_by_tuple:
            rows, _ = table.rows_by_tuple
            ordered = replace(problem, table=table.parted(rows, None))
            result: SearchResult = _load(self.implementation)(ordered, engine)
            result = replace(result, recoding=result.recoding.with_rows_at(rows, table.entry))
        else:
            result = _load(self.implementation)(problem, engine)
        return result if problem.veto is None else result.concealed(given=problem.veto.given)

    @property
    def finds(self) -> Callable[[Problem], bool]:
        """Whether it finds a release where the most general node satisfies."""
        return _load(self.finds_at)

    @property
    def judge(self) -> Callable[[Problem, LocalEngine], Diagnosis | None] | None:
        """For an algorithm with one result: why that does not satisfy, without recoding; None where it does."""
        return _load(self.judge_at) if self.judge_at else None

    @property
    def groups(self) -> Callable[[Problem], NDArray[np.int64]] | None:
        """For an algorithm with one result: the group of each distinct row, which is a class or is suppressed."""
        return _load(self.groups_at) if self.groups_at else None

    @property
    def refusals(self) -> Callable[[Problem, LocalEngine, NDArray[np.int32]], Refusals | None] | None:
        """What it must have refused to release what it did, given the node that each tuple shows in each column (-1
        where it is suppressed); the function gives None where it cannot tell for a problem."""
        return _load(self.refusals_at) if self.refusals_at else None

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
        """How many nodes of a lattice it looks at, at least and at most; ``prunes``: whether the models let it."""
        raise NotImplementedError(f"{self.name} does not search the lattice")

    def growth_of(self, sees: Sees, options: Mapping[str, Any]) -> Growth:  # noqa: ARG002 - see subclasses
        """How its time grows with these options."""
        return self.growth[sees]

    def loads_kernels(self, options: Mapping[str, Any]) -> bool:
        """Whether a search that is not over the lattice loads compiled kernels."""
        return bool(options.get("refine"))


def _load(name: str) -> Callable[..., Any]:
    """A function by ``module:function``."""
    module, _, function = name.partition(":")
    loaded: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return loaded


SEED = Parameter(
    "seed", ParameterKind.WHOLE, "Random choices are drawn from this number; the same number gives the same result.",
    title="Seed", default=0, low=-float("inf"),
)  # fmt: skip
METRIC = Parameter(
    "metric", ParameterKind.MEASURE, "The measure that the algorithm minimizes.",
    title="Measure to minimize", default=DEFAULT_METRIC,
)  # fmt: skip
REFINE = Parameter(
    "refine", ParameterKind.SECONDS, "Keep improving the result for at most this many seconds. Empty for not at all.",
    title="Seconds of further improvement", default=None,
)  # fmt: skip
CONCEAL = Parameter(
    "conceal", ParameterKind.FLAG,
    "Refuses some finer classes, and leaves out some groups, that would hold, drawn by a secret key: then nobody who "
    "knows the algorithm can tell from its choices who has which sensitive value.",
    title="Conceal why it stopped", default=False,
)  # fmt: skip
"""Declared by algorithms that ask `Problem.veto` wherever they choose by a secret; a policy can ask no other for it."""
RANGES = Parameter(
    "ranges", ParameterKind.RANGES,
    "These columns are released as ranges: with a step or an order as runs of base intervals, such as [20, 35), whose "
    "ends are nobody's value; listed only, as the tight range of each class, such as 22<=30.",
    title="Columns released as ranges", default=[],
)  # fmt: skip


class LocalRecoding(Algorithm):
    """What the algorithms share that make classes starting from the most general release."""

    drawback = "Labels of different width appear side by side, which an analysis has to deal with."
    options: ClassVar[tuple[Parameter, ...]] = (METRIC, REFINE, RANGES)
    scope = "local"
    search = "classes"
    tight_labels = True
    bytes_per_row = 500
