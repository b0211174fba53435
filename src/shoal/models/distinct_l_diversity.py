"""Distinct l-diversity: every class has at least l distinct values of the sensitive column.

A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity", 2006; named
so by Li, Li, Venkatasubramanian 2007. The condition is that of p-sensitivity, under the name that its readers know;
unknown values are not counted.

Parameters: ``l``, a whole number ≥ 1.

In people: a value is counted once, whoever has it and however often, so the number of distinct values is that of the
records. Closed under merging and adding.
"""

from dataclasses import KW_ONLY, dataclass

from shoal.declarations import count
from shoal.models.base import Card
from shoal.models.p_sensitive import DistinctValues


@dataclass(frozen=True)
class DistinctLDiversity(DistinctValues):
    """Distinct values ≥ l."""

    name = "distinct-l-diversity"
    title = "Distinct l-diversity"
    summary = (
        "Every class has at least l different values of the sensitive column, so knowing a person's class does not by "
        "itself reveal the value."
    )
    citation = "Machanavajjhala et al. 2006; Li et al. 2007"
    card = Card(
        "Everybody in a class has the same secret.",
        "Every class has at least l different sensitive values. It is p-sensitivity under another name.",
        "Where others ask for l-diversity and mean the count.",
        "With l = 3, a neighbour finds at least three different illnesses among the records that fit.",
        ("How often each value occurs, and how alike values are.",),
    )
    parameters = (count("l", "distinct values"),)
    example = "{model: distinct-l-diversity, l: 2}"
    position = 70

    l: int  # noqa: E741 - the name in the papers and in the policy
    _: KW_ONLY
    sensitive: str
