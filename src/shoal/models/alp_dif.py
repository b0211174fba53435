"""(alp, dif)-anonymity: protected values leak little on average, and in no class much more than that.

Q. Wang, Z. Xu, S. Qu, "An enhanced k-anonymity model against homogeneity attack", 2011, (1) and (2). With c classes'
counts of a protected value v and n their records with a known value, LP_v = c/n in each class and
ALP_v = Σ c²/n ÷ Σ c over all classes: ALP_v ≤ alp_v for the release as a whole, and LP_v - ALP_v ≤ dif_v in each class.

ALP belongs to the release as a whole, so suppression and merging elsewhere change what holds in a class; the paper's
Theorem 3 does not make the model monotone, and it is declared neither merge- nor superset-closed. A class without the
value (nothing in it may be known), and a value that does not occur, satisfy it. Compared within the tolerance of
`shoal.models.comparison`.

Parameters: ``limits``, a mapping from value to ``{alp, dif}``, each in [0, 1]; a value that is not listed is free.

In people: c is the number of people who have the value in the class and n the number of people of whom a value is known
there. ALP averages c/n over everybody who has the value, once for each class where they do.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shoal.declarations import ParameterKind, share
from shoal.hierarchies.hierarchy import Label
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import TOLERANCE, count_of
from shoal.models.parameters import limit_name
from shoal.table.classes import ClassView, Floats, Mask

_LIMITS = (
    share("alp", "largest average leakage", default=1, quantity="average leakage"),
    share("dif", "how far the leakage of a class may exceed the average", default=1, quantity="leakage above average"),
)


@dataclass(frozen=True)
class AlpDif(Model):
    """ALP_v ≤ alp_v and, in each class, LP_v - ALP_v ≤ dif_v, for every protected value v."""

    name = "alp-dif"
    title = "(alp, dif)-anonymity"
    summary = (
        "For each protected value, its share of a class is at most alp on average over the records that have the "
        "value, and in no class does it exceed that average by more than dif, so the value is neither easy to guess on "
        "the whole nor revealed by single classes."
    )
    citation = "Wang, Xu, Qu 2011, (1)(2)"
    card = Card(
        "A few named values become likely.",
        "For each value that you name: the belief in it, averaged over those who have it, is at most alp, and in no "
        "class more than dif above that average.",
        "Tables in which a few values are the secret (a diagnosis, a conviction) and the rest are not.",
        "With alp = 0.4 and dif = 0.2 for HIV, nobody is believed to have it with more than 60%.",
        (
            "Values that are not named.",
            "Two named values together may fill a class between them.",
            "It depends on the whole release, so a search cannot skip anything and may take long.",
        ),
    )
    parameters = (
        share(
            "limits", "the limits of each protected value", kind=ParameterKind.LIMITS, start={"alp": 0.5, "dif": 0.2},
            parts=_LIMITS,
        ),
    )  # fmt: skip
    example = "{model: alp-dif, limits: {HIV: {alp: 0.5, dif: 0.2}}}"
    merge_closed = False
    superset_closed = False
    whole_table = True
    stops = frozenset({"homogeneity"})
    position = 60

    limits: Mapping[Label, Mapping[str, float]]
    _: KW_ONLY
    sensitive: str

    def holds(self, view: ClassView) -> Mask:
        """Which classes leak no protected value by more than dif above its average."""
        result = np.ones(len(view.sizes), dtype=np.bool_)
        for value, limit in self.limits.items():
            leakage, average = _leakage(view, value)
            result &= leakage - average <= limit["dif"] + TOLERANCE
        return result

    def table_holds(self, view: ClassView) -> bool:
        """Whether no protected value leaks more than alp on average."""
        return all(_leakage(view, value)[1] <= limit["alp"] + TOLERANCE for value, limit in self.limits.items())

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """ALP of each protected value, the same for every class, and by how much each class exceeds it (0 if not)."""
        result = {}
        for value in self.limits:
            leakage, average = _leakage(view, value)
            result[limit_name("alp", value)] = Strength(np.full(len(leakage), average), at_least=False, of_class=False)
            result[limit_name("dif", value)] = Strength(np.maximum(leakage - average, 0.0), at_least=False)
        return result


def _leakage(view: ClassView, value: Label) -> tuple[Floats, float]:
    """LP, the value's share of the known values of each class, and ALP, its mean over the records with it (0 if none).

    The terms are added in ascending order, so that the sum does not depend on the order of the classes.
    """
    code = view.domain.values.index(value)
    leakage = count_of(view.histogram, code) / np.maximum(view.known, 1)
    total = int(view.summed[code] if view.unit > 1 else view.totals[code])
    return leakage, float(np.sort(leakage * leakage * view.known).sum()) / total if total else 0.0
