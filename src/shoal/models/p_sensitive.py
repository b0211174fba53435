"""p-sensitivity: every class has at least p distinct values of the sensitive column.

T. M. Truta, B. Vinay, "Privacy protection: p-sensitive k-anonymity property", 2006; Sun et al. 2008, Def. 3;
Campan et al. 2010, Def. 3. Several sensitive columns: one model for each. A missing value is a value of its own.

Parameters: ``p``, a whole number ≥ 1.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from shoal.declarations import Parameter, count
from shoal.models.base import Card
from shoal.models.distinct_values import DistinctValues


@dataclass(frozen=True)
class PSensitive(DistinctValues):
    """Distinct values ≥ p."""

    name: ClassVar[str] = "p-sensitive"
    title: ClassVar[str] = "p-sensitivity"
    summary: ClassVar[str] = (
        "Every class has at least p different values of the sensitive column, so knowing a person's class does not by "
        "itself reveal the value."
    )
    citation: ClassVar[str] = "Truta and Vinay 2006; Sun et al. 2008, Def. 3; Campan et al. 2010, Def. 3"
    card: ClassVar[Card] = Card(
        "Everybody in a class has the same secret.",
        "Every class (the records that look alike) has at least p different sensitive values.",
        "Tables with a sensitive column whose values are all equally grave. The least that such a column needs.",
        "With p = 3, a neighbour finds at least three different illnesses among the records that fit. Somebody who can "
        "rule out one of them still faces two.",
        (
            "How often each value occurs: nine HIV and one flu are two values.",
            "Values that are alike: HIV and cancer are two values, and both grave.",
        ),
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (count("p", "distinct values", within_class_size=True),)
    example: ClassVar[str] = "{model: p-sensitive, p: 2}"
    position: ClassVar[int] = 20

    p: int
    _: KW_ONLY
    sensitive: str
