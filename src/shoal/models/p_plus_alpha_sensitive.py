"""(p⁺, α)-sensitivity: every class has at least p distinct *categories* and a total weight of at least α.

X. Sun, H. Wang, J. Li, T. M. Truta, "Enhanced p-sensitive k-anonymity models for privacy preserving data publishing",
2008, Def. 5. As (p, α)-sensitivity, but counting categories: values of one category are too alike to hide one another
(the similarity attack). Weights are those of `shoal.models.sensitivity`, summed over records. An unknown value has
neither category nor weight. The paper publishes the categories instead of the values, and so does a policy that asks
for nothing else on the column.

Parameters: ``p``, a whole number ≥ 1; ``alpha``, a number ≥ 0, compared exactly. The column needs two categories.

In people: distinct categories are counted as in records, and everybody weighs the mean weight of the different values
that they have in the class. Closed neither under merging nor under adding: another grave value makes a person weigh
less.
"""

from dataclasses import dataclass

from shoal.declarations import count
from shoal.models.base import Card
from shoal.models.p_alpha_sensitive import WEIGHT, WeightedSensitive


@dataclass(frozen=True)
class PPlusAlphaSensitive(WeightedSensitive):
    """Distinct categories ≥ p and Σ over records of (i - 1)/(m - 1) ≥ α."""

    name = "p-plus-alpha-sensitive"
    title = "(p⁺, α)-sensitivity"
    summary = (
        "Every class has values of at least p different categories, and the weights of its records, from 0 in the most "
        "to 1 in the least sensitive category, add up to at least α, so a class does not reveal even the category."
    )
    citation = "Sun et al. 2008, Def. 5"
    card = Card(
        "All secrets of a class are equally grave.",
        "Every class has at least p different categories and a total weight of at least α, so not even the kind of a "
        "secret follows from the class.",
        "Tables in which learning how grave somebody's secret is would already hurt. Needs categories.",
        "With p = 2, a class of HIV and cancer fails, since both are in the gravest category.",
        (
            "Shares: nine grave and two harmless records satisfy p = 2 and α = 2.",
            "It is as good as the categories: what lies in one is declared to be alike.",
        ),
    )
    parameters = (count("p", "distinct categories", within_class_size=True), WEIGHT)
    example = "{model: p-plus-alpha-sensitive, p: 2, alpha: 1}"
    publishes = "categories"
    counts = "categories"
    stops = frozenset({"homogeneity", "similarity"})
    position = 40
