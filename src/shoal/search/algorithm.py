"""What an algorithm declares: its options, how it works, what it costs, and what its result means for attackers.

The searches themselves are loaded when they run, so that a policy can be read and checked without them.
"""

from __future__ import annotations

import importlib
from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from shoal.declarations import Parameter, ParameterKind
from shoal.metrics import DEFAULT_METRIC

if TYPE_CHECKING:
    from shoal.search.engine import LocalEngine
    from shoal.search.problem import Problem, SearchResult

Sees = Literal["sizes", "classes", "table"]
"""What the models look at: sizes of classes only, sensitive values of a class, or the whole release."""


@dataclass(frozen=True)
class Growth:
    """Seconds of a search on n distinct rows of r records, on the machine that was measured.

    fixed + a·n + b·n² + c·r + d·r² + e·n·r, from ``fewest`` to ``most`` times as much.
    """

    fixed: float
    rows: float = 0.0
    rows_squared: float = 0.0
    records: float = 0.0
    records_squared: float = 0.0
    rows_by_records: float = 0.0
    fewest: float = 0.55
    most: float = 1.8

    def seconds(self, rows: int, records: int) -> float:
        """What that is for a table."""
        return (
            self.fixed
            + self.rows * rows
            + self.rows_squared * rows**2
            + self.records * records
            + self.records_squared * records**2
            + self.rows_by_records * rows * records
        )


class Algorithm(ABC):
    """An algorithm by what it declares; one subclass per file of `shoal.search.algorithms`."""

    name: ClassVar[str]
    """Name in the policy file."""
    summary: ClassVar[str]
    """What it makes, in a phrase."""
    does: ClassVar[str]
    """What it does, in a sentence for somebody who has to choose."""
    when: ClassVar[str]
    """When to choose it."""
    drawback: ClassVar[str]
    """What speaks against it."""
    implementation: ClassVar[str]
    """Where the search is, ``module:function``; loaded when it runs."""
    options: ClassVar[tuple[Parameter, ...]] = ()
    """Its options beside ``name`` and ``seed``."""
    scope: ClassVar[Literal["full-domain", "local"]]
    """Whether a column has one level everywhere, or each class its own labels."""
    strategy: ClassVar[Literal["all-nodes", "one-path", "from-the-top", "by-options"]]
    """How it finds a release: by looking through the whole lattice; along one path of it, which may miss what is there;
    by refining the most general release; or not by searching at all, since its options determine the release."""
    least_general: ClassVar[bool] = False
    """Whether it releases a node only if every less general one fails, which an attacker may draw conclusions from."""
    splits_duplicates: ClassVar[bool] = False
    """Whether records with equal quasi-identifiers may get different labels. Then which of them gets which must not
    depend on the order of the rows: the pipeline puts them into an order of their content first."""
    works_on_records: ClassVar[bool] = False
    """Whether it moves single records, so that each needs a row of codes in memory."""
    bytes_per_row: ClassVar[int] = 0
    """Memory for each distinct row beyond what every algorithm needs."""
    growth: ClassVar[Mapping[Sees, Growth]] = {}
    """How its time grows with the table, as measured; empty for a search over the lattice, see `checks`."""
    basis: ClassVar[str] = "the growth measured for it with the number of combinations and records"
    """What the estimate of its time rests on, in words."""
    not_tried: ClassVar[str] = ""
    """Why it did not choose what nothing blocks, where that is not for the measure."""
    leaves_out: ClassVar[str] = ""
    """Why it leaves out a record that the boundaries would let in, if it may."""
    position: ClassVar[int] = 1000
    """Where it stands in lists."""

    @property
    def option_names(self) -> frozenset[str]:
        """The options that the policy may give it besides ``name`` and ``seed``."""
        return frozenset(option.name for option in self.options)

    @property
    def needs(self) -> frozenset[str]:
        """Options without which it cannot run."""
        return frozenset(option.name for option in self.options if option.required)

    def run(self, problem: Problem, engine: LocalEngine) -> SearchResult:
        """Find a recoding; raises `InfeasibleError` when there is none."""
        module, _, function = self.implementation.partition(":")
        outcome: SearchResult = getattr(importlib.import_module(module), function)(problem, engine)
        return outcome

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
        """How many nodes of a lattice it looks at, at least and at most; ``prunes``: whether the models let it."""
        raise NotImplementedError(f"{self.name} does not search the lattice")

    def growth_of(self, sees: Sees, options: Mapping[str, Any]) -> Growth:  # noqa: ARG002 - see subclasses
        """How its time grows with these options."""
        return self.growth[sees]

    def loads_kernels(self, options: Mapping[str, Any]) -> bool:
        """Whether a search that is not over the lattice loads compiled kernels."""
        return bool(options.get("refine"))


SEED = Parameter(
    "seed",
    ParameterKind.WHOLE,
    "Random choices are drawn from this number; the same number gives the same result.",
    title="Seed",
    default=0,
    low=-float("inf"),
)
METRIC = Parameter(
    "metric",
    ParameterKind.MEASURE,
    "The measure that the algorithm minimizes.",
    title="Measure to minimize",
    default=DEFAULT_METRIC,
)
REFINE = Parameter(
    "refine",
    ParameterKind.SECONDS,
    "Keep improving the result for at most this many seconds. Empty for not at all.",
    title="Seconds of further improvement",
    default=None,
)
RANGES = Parameter(
    "ranges",
    ParameterKind.COLUMNS,
    "Numbers of these columns are released as the tight range of their class, such as 22<=30.",
    title="Columns released as ranges",
    default=[],
)
