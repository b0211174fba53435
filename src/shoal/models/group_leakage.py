"""Group leakage: every class has at least p categories, and no category has more than its share of a class.

N. Man, X. Li, K. Wang, "A privacy protection model based on k-anonymity", Def. 2-4, there called (p, α)-sensitive
k-anonymity: C(g)/n ≤ α_g for every category g, C(g) the records of the class in g.

Parameters: ``p``, a whole number ≥ 1; ``alpha``, a mapping from category to limit in (0, 1], compared exactly. Limits
do not decrease from the most to the least sensitive category; a category that is not listed is free (limit 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from shoal.errors import PolicyProblem
from shoal.models.base import Model, Strength
from shoal.models.exact import at_most, exact, rounded_up
from shoal.models.limits import FrozenMapping, frozen, limit_name
from shoal.models.parameters import (
    counted,
    listed,
    mapping_problems,
    no_parameter,
    sensitive_problems,
    shown,
    unknown_problems,
    whole,
    whole_number_problems,
)
from shoal.models.removal import removed_for_share
from shoal.models.sensitivity import category_problems, distinct_categories
from shoal.table.classes import ClassView, Counts, Mask, SensitiveDomain


@dataclass(frozen=True)
class GroupLeakage(Model):
    """Distinct categories ≥ p and C(g)/n ≤ α_g for every category g."""

    name: ClassVar[str] = "group-leakage"
    citation: ClassVar[str] = "Man, Li, Wang, Def. 2-4"
    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = False
    needs_categories: ClassVar[bool] = True

    p: int
    _: KW_ONLY
    alpha: Mapping[str, float]
    sensitive: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", frozen(self.alpha))

    def holds(self, view: ClassView) -> Mask:
        """Which classes have p categories, none of them above its limit."""
        result: Mask = distinct_categories(view) >= self.p
        for category, limit in self.alpha.items():
            counts = view.category_counts[:, view.domain.categories.index(category)]
            result &= at_most(counts, view.sizes, exact(limit))
        return result

    def least_removed(self, view: ClassView, removable: int) -> Counts:  # noqa: ARG002 - no other class matters
        """A class short of categories goes as a whole, otherwise the records of a category beyond its limit."""
        least = np.where(distinct_categories(view) >= self.p, 0, view.sizes)
        for category, limit in self.alpha.items():
            counts = view.category_counts[:, view.domain.categories.index(category)]
            least = np.maximum(least, removed_for_share(counts, view.sizes, float(limit)))
        return least

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """Distinct categories of each class, and the share of each limited category."""
        result = {"p": Strength(distinct_categories(view).astype(np.float64), at_least=True)}
        for category in self.alpha:
            counts = view.category_counts[:, view.domain.categories.index(category)]
            result[limit_name("alpha", category)] = Strength(rounded_up(counts, view.sizes), at_least=False)
        return result

    def lacks(self, view: ClassView, index: int) -> str:
        """How many categories there are and are asked, and which of them exceed their limits."""
        distinct, size, lacking = int(distinct_categories(view)[index]), int(view.sizes[index]), []
        if distinct < self.p:
            lacking.append(f"{counted(distinct, 'distinct categories')} of {self.sensitive}, {self.p} asked")
        for category, limit in self.alpha.items():
            count = int(view.category_counts[index, view.domain.categories.index(category)])
            if count > exact(limit) * size:
                share = f"{category!r} is {count} of {counted(size, 'records')} ({shown(count / size)})"
                lacking.append(f"{share}, at most {limit} allowed")
        return listed(lacking)

    def relaxed(self, parameter: str, value: float) -> GroupLeakage:
        """A copy with another p, or another limit of one category (``alpha[Secret]``)."""
        if parameter == "p":
            return replace(self, p=whole(parameter, value))
        names = {limit_name("alpha", category): category for category in self.alpha}
        if parameter not in names:
            no_parameter(self.name, parameter, ["p", *names])
        return replace(self, alpha=FrozenMapping(self.alpha).with_item(names[parameter], value))

    def parameter_problems(self) -> list[PolicyProblem]:
        """p is a whole number from 1 on, each limit in (0, 1]."""
        return [
            *whole_number_problems("p", self.p),
            *mapping_problems("alpha", self.alpha, of="category", low=0, open_low=True),
            *sensitive_problems(self.sensitive),
        ]

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:
        """Every limit is that of a category, and a more sensitive one is never looser than a less sensitive one."""
        problems = category_problems(domain, weighted=False)
        if not domain.categories or not isinstance(self.alpha, Mapping):
            return problems
        problems += unknown_problems("alpha", self.alpha, domain.categories, of="category", column=domain.column)
        if self.parameter_problems():
            return problems
        limits = [(category, self.alpha.get(category, 1)) for category in domain.categories]
        for (category, limit), (following, next_limit) in pairwise(limits):
            if next_limit < limit:
                message = f"the limit of {following!r} ({next_limit}) is below that of {category!r} ({limit}), which "
                fix = "Limits do not decrease from most to least sensitive; a category not listed has limit 1."
                problems.append(PolicyProblem("alpha", message + "is more sensitive.", fix))
        return problems
