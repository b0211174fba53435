"""Group leakage: every class has at least p categories, and no category has more than its share of a class.

N. Man, X. Li, K. Wang, "A privacy protection model based on k-anonymity", Def. 2-4, there called (p, α)-sensitive
k-anonymity: C(g)/n ≤ α_g for every category g, C(g) the records of the class in g, n those whose value is known. A
class in which nothing is known has no category, and fails p. Merging keeps both conditions.

Parameters: ``p``, a whole number ≥ 1; ``alpha``, a mapping from category to limit in (0, 1], compared exactly. Limits
do not decrease from the most to the least sensitive category; a category that is not listed is free (limit 1).

In people: C(g) is the number of people who have a value of category g in the class, and n the number of people of whom
a value is known there. Somebody with values of two categories counts for both. Closed neither under merging nor under
adding: people 1 and 2 may have HIV and flu in one class and the other way round in the next, and in both together
everybody has both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

import numpy as np

from shoal.declarations import ParameterKind, count, share
from shoal.errors import PolicyProblem
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import at_most, exact, removed_for_share, rounded_up, too_few, too_frequent
from shoal.models.parameters import limit_name
from shoal.table.classes import ClassView, Counts, Mask, SensitiveDomain


@dataclass(frozen=True)
class GroupLeakage(Model):
    """Distinct categories ≥ p and C(g)/n ≤ α_g for every category g."""

    name = "group-leakage"
    title = "Group leakage"
    summary = (
        "Every class has values of at least p different categories, and each category with a limit α makes up at most "
        "that share of any class, so grave categories can be kept rarer than harmless ones."
    )
    citation = "Man, Li, Wang, Def. 2-4"
    card = Card(
        "A grave kind of secret becomes likely.",
        "Every class has at least p different categories, and each category has at most its share α of the class.",
        "Tables in which some categories must stay unlikely for everybody, each to its own degree. Needs categories.",
        "With α = 0.4 for the gravest category, a neighbour believes with at most 40% that somebody has something "
        "grave.",
        (
            "Values inside a category: with a limit of 0.5, half of a class may be HIV and nothing else grave.",
            "A limit below the category's share of the whole table cannot be reached without leaving records out.",
        ),
    )
    parameters = (
        count("p", "distinct categories", within_class_size=True),
        share(
            "alpha", "largest share of a class that each category may have", kind=ParameterKind.BY_CATEGORY,
            title="α (alpha)", open_low=True, start=0.5, quantity="share",
        ),
    )  # fmt: skip
    example = "{model: group-leakage, p: 2, alpha: {Top Secret: 0.4}}"
    merge_closed = True
    superset_closed = False
    needs_categories = True
    counts = "categories"
    stops = frozenset({"homogeneity", "similarity"})
    position = 50

    p: int
    _: KW_ONLY
    alpha: Mapping[str, float]
    sensitive: str

    def holds(self, view: ClassView) -> Mask:
        """Which classes have p categories, none of them above its limit."""
        result: Mask = view.category_histogram.distinct >= self.p
        for _, limit, counts in self._counts(view):
            result &= at_most(counts, view.known, exact(limit))
        return result

    def least_removed(self, view: ClassView, removable: int) -> Counts:  # noqa: ARG002 - no other class matters
        """A class short of categories goes as a whole, otherwise the records of a category beyond its limit."""
        least = np.where(view.category_histogram.distinct >= self.p, 0, view.records)
        for _, limit, counts in self._counts(view):
            least = np.maximum(least, removed_for_share(counts, view.known, float(limit)))
        return least

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """Distinct categories of each class, and the share of each limited category."""
        result = {"p": Strength(view.category_histogram.distinct.astype(np.float64), at_least=True)}
        for category, _, counts in self._counts(view):
            result[limit_name("alpha", category)] = Strength(rounded_up(counts, view.known), at_least=False)
        return result

    def part_could_fail(self, view: ClassView, owner: Counts, sizes: Counts) -> Mask:
        """Whether too few categories can fill the part, or too much of one."""
        categories = view.category_histogram
        limits = [float(self.alpha.get(name, 1)) for name in view.domain.categories]
        least_known = view.least_known(owner, sizes)
        few = too_few(categories, self.p, owner, least_known)
        return np.asarray(few | too_frequent(categories, limits, owner, sizes, least_known))

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:
        """Every limit is that of a category, and a more sensitive one is never looser than a less sensitive one."""
        problems = super().domain_problems(domain)
        if not domain.categories or self.parameter_problems():
            return problems
        limits = [(category, self.alpha.get(category, 1)) for category in domain.categories]
        for (category, limit), (following, next_limit) in pairwise(limits):
            if next_limit < limit:
                above = f"that of {category!r} ({limit}), which is more sensitive"
                message = f"the limit of {following!r} ({next_limit}) is below {above}."
                fix = "Limits do not decrease from most to least sensitive; a category not listed has limit 1."
                problems.append(PolicyProblem("alpha", message, fix, code="decreasing-limits"))
        return problems

    def _counts(self, view: ClassView) -> Iterator[tuple[str, float, Counts]]:
        """Each limited category with its limit and its records in each class."""
        for category, limit in self.alpha.items():
            yield category, limit, view.category_counts[:, view.domain.categories.index(category)]
