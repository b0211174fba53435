"""(α, k)-anonymity: no sensitive value has more than a share α of any class.

R. Wong, J. Li, A. Fu, K. Wang, "(α, k)-anonymity: an enhanced k-anonymity model for privacy preserving data
publishing", 2006: the α-deassociation requirement, c(v)/n ≤ α. The k is asked for by a k-anonymity beside it.

Parameters: ``alpha``, one number in (0, 1] for every value (the missing value too), or a mapping from value to limit,
where a value that is not listed is free. Compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.errors import PolicyProblem
from shoal.hierarchies.hierarchy import Label
from shoal.models.base import Model, Strength
from shoal.models.exact import at_most, exact, rounded_up
from shoal.models.limits import FrozenMapping, frozen, limit_name, quoted
from shoal.models.parameters import (
    counted,
    listed,
    mapping_problems,
    no_parameter,
    number_problems,
    sensitive_problems,
    shown,
    unknown_problems,
)
from shoal.models.removal import removed_for_share
from shoal.table.classes import ClassView, Counts, Mask, SensitiveDomain


@dataclass(frozen=True)
class AlphaKAnonymity(Model):
    """c(v)/n ≤ α for every value v, or c(v)/n ≤ α_v for every v listed."""

    name: ClassVar[str] = "alpha-k-anonymity"
    citation: ClassVar[str] = "Wong et al. 2006"
    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = False

    alpha: float | Mapping[Label, float]
    _: KW_ONLY
    sensitive: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", frozen(self.alpha))

    def holds(self, view: ClassView) -> Mask:
        """Which classes have no value above its limit."""
        result = np.ones(len(view.sizes), dtype=np.bool_)
        for _, limit, counts in self._counts(view):
            result &= at_most(counts, view.sizes, exact(limit))
        return result

    def least_removed(self, view: ClassView, removable: int) -> Counts:  # noqa: ARG002 - no other class matters
        """Records of a value beyond its limit have to go."""
        least = np.zeros(len(view.sizes), dtype=np.int64)
        for _, limit, counts in self._counts(view):
            least = np.maximum(least, removed_for_share(counts, view.sizes, float(limit)))
        return least

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The largest share of a class, or that of each limited value."""
        return {
            name: Strength(rounded_up(counts, view.sizes), at_least=False) for name, _, counts in self._counts(view)
        }

    def lacks(self, view: ClassView, index: int) -> str:
        """Which values exceed their limits, and by how much."""
        histogram, domain, size = view.histogram, view.domain, int(view.sizes[index])
        entries = slice(histogram.starts[index], histogram.starts[index + 1])
        lacking = []
        for code, count in zip(histogram.values[entries].tolist(), histogram.counts[entries].tolist(), strict=True):
            value = domain.values[code]
            limit = self.alpha.get(value, 1) if isinstance(self.alpha, Mapping) else self.alpha
            if count > exact(limit) * size:
                share = f"{quoted(value)} is {count} of {counted(size, 'records')} ({shown(count / size)})"
                lacking.append(f"{share}, at most {limit} allowed")
        return listed(lacking)

    def relaxed(self, parameter: str, value: float) -> AlphaKAnonymity:
        """A copy with another limit: ``alpha``, or ``alpha[HIV]`` where there is one a value."""
        if not isinstance(self.alpha, Mapping):
            if parameter != "alpha":
                no_parameter(self.name, parameter, ["alpha"])
            return replace(self, alpha=value)
        names = {limit_name("alpha", key): key for key in self.alpha}
        if parameter not in names:
            no_parameter(self.name, parameter, names)
        return replace(self, alpha=FrozenMapping(self.alpha).with_item(names[parameter], value))

    def parameter_problems(self) -> list[PolicyProblem]:
        """Each limit is in (0, 1]."""
        if isinstance(self.alpha, Mapping):
            problems = mapping_problems("alpha", self.alpha, of="value", low=0, open_low=True)
        else:
            problems = number_problems("alpha", self.alpha, low=0, high=1, open_low=True)
        return [*problems, *sensitive_problems(self.sensitive)]

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:
        """Every limit is that of a value of the column."""
        if not isinstance(self.alpha, Mapping):
            return []
        return unknown_problems("alpha", self.alpha, domain.values, of="value", column=domain.column)

    def _counts(self, view: ClassView) -> Iterator[tuple[str, float, Counts]]:
        """Each limit with its name and the records of each class that it is about."""
        histogram = view.histogram
        if not isinstance(self.alpha, Mapping):
            yield "alpha", self.alpha, np.asarray(histogram.per_class_max(histogram.counts), dtype=np.int64)
            return
        for value, limit in self.alpha.items():
            entries = histogram.values == view.domain.values.index(value)
            counts = np.zeros(len(view.sizes), dtype=np.int64)
            counts[histogram.class_of[entries]] = histogram.counts[entries]
            yield limit_name("alpha", value), limit, counts
