"""(alp, dif)-anonymity: protected values leak little on average, and in no class much more than that.

Q. Wang, Z. Xu, S. Qu, "An enhanced k-anonymity model against homogeneity attack", 2011, (1) and (2). With c classes'
counts of a protected value v and n their sizes, LP_v = c/n in each class and ALP_v = Σ c²/n ÷ Σ c over all classes:
ALP_v ≤ alp_v for the release as a whole, and LP_v - ALP_v ≤ dif_v in each class.

ALP belongs to the release as a whole, so suppression and merging elsewhere change what holds in a class; the paper's
Theorem 3 does not make the model monotone, and it is declared neither merge- nor superset-closed. A class without the
value, and a value that does not occur, satisfy it. Compared within the tolerance of `shoal.models.tolerance`.

Parameters: ``limits``, a mapping from value to ``{alp, dif}``, each in [0, 1]; a value that is not listed is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.errors import PolicyProblem, did_you_mean
from shoal.hierarchies.hierarchy import Label
from shoal.models.base import Model, Strength
from shoal.models.limits import FrozenMapping, frozen, limit_name, quoted
from shoal.models.parameters import (
    key_problems,
    listed,
    no_parameter,
    number_problems,
    sensitive_problems,
    shown,
    unknown_problems,
)
from shoal.models.tolerance import TOLERANCE
from shoal.table.classes import ClassView, Floats, Mask, SensitiveDomain

_PARTS = ("alp", "dif")


@dataclass(frozen=True)
class AlpDif(Model):
    """ALP_v ≤ alp_v and, in each class, LP_v - ALP_v ≤ dif_v, for every protected value v."""

    name: ClassVar[str] = "alp-dif"
    citation: ClassVar[str] = "Wang, Xu, Qu 2011, (1)(2)"
    merge_closed: ClassVar[bool] = False
    superset_closed: ClassVar[bool] = False
    whole_table: ClassVar[bool] = True

    limits: Mapping[Label, Mapping[str, float]]
    _: KW_ONLY
    sensitive: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", frozen(self.limits))

    def holds(self, view: ClassView) -> Mask:
        """Which classes leak no protected value by more than dif above its average."""
        result = np.ones(len(view.sizes), dtype=np.bool_)
        for value, limit in self.limits.items():
            leakage = _leakage(view, value)
            result &= leakage - _average(view, value, leakage) <= limit["dif"] + TOLERANCE
        return result

    def table_holds(self, view: ClassView) -> bool:
        """Whether no protected value leaks more than alp on average."""
        return all(
            _average(view, value, _leakage(view, value)) <= limit["alp"] + TOLERANCE
            for value, limit in self.limits.items()
        )

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """ALP of each protected value, the same for every class, and by how much each class exceeds it (0 if not)."""
        result = {}
        for value in self.limits:
            leakage = _leakage(view, value)
            average = _average(view, value, leakage)
            result[limit_name("alp", value)] = Strength(np.full(len(leakage), average), at_least=False, of_class=False)
            result[limit_name("dif", value)] = Strength(np.maximum(leakage - average, 0.0), at_least=False)
        return result

    def lacks(self, view: ClassView, index: int) -> str:
        """Which protected values leak too much in the class, and which in the whole release."""
        of_class, of_table = [], []
        for value, limit in self.limits.items():
            leakage = _leakage(view, value)
            average, share = _average(view, value, leakage), float(leakage[index])
            if share - average > limit["dif"] + TOLERANCE:
                above = f"a share of {shown(share)}, {shown(share - average)} above the average {shown(average)}"
                of_class.append(f"{quoted(value)} has {above}, at most {limit['dif']} above allowed")
            if average > limit["alp"] + TOLERANCE:
                over = f"{quoted(value)} has an average leakage of {shown(average)} in the whole release"
                of_table.append(f"{over}, at most {limit['alp']} allowed")
        return listed([*of_class, *of_table])

    def relaxed(self, parameter: str, value: float) -> AlpDif:
        """A copy with one limit changed: ``alp[HIV]`` or ``dif[HIV]``."""
        names = {limit_name(part, key): (key, part) for key in self.limits for part in _PARTS}
        if parameter not in names:
            no_parameter(self.name, parameter, names)
        key, part = names[parameter]
        limits = FrozenMapping(self.limits)
        return replace(self, limits=limits.with_item(key, limits[key].with_item(part, value)))

    def parameter_problems(self) -> list[PolicyProblem]:
        """Every value has both limits, each in [0, 1]."""
        problems = sensitive_problems(self.sensitive)
        if not isinstance(self.limits, Mapping) or not self.limits:
            message = f"must be a mapping from value to {{alp, dif}} with at least one entry, not {self.limits}."
            return [PolicyProblem("limits", message), *problems]
        problems = [*key_problems("limits", self.limits, of="value"), *problems]
        for value, limit in self.limits.items():
            problems += _limit_problems(f"limits.{'null' if value is None else value}", limit)
        return problems

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:
        """Every limit is that of a value of the column."""
        if not isinstance(self.limits, Mapping):
            return []
        return unknown_problems("limits", self.limits, domain.values, of="value", column=domain.column)


def _limit_problems(where: str, limit: object) -> list[PolicyProblem]:
    if not isinstance(limit, Mapping):
        return [PolicyProblem(where, f"must be {{alp: …, dif: …}}, not {limit}.")]
    problems = []
    for part in _PARTS:
        if part in limit:
            problems += number_problems(f"{where}.{part}", limit[part], low=0, high=1)
        else:
            problems.append(PolicyProblem(where, f"{part} is missing.", f"Write {part}: 1 to leave it free."))
    for key in limit:
        if key not in _PARTS:
            problems.append(PolicyProblem(where, f"there is no limit {key!r}.", did_you_mean(key, _PARTS)))
    return problems


def _leakage(view: ClassView, value: Label) -> Floats:
    """LP: the share of the value in each class."""
    histogram = view.histogram
    entries = histogram.values == view.domain.values.index(value)
    result = np.zeros(len(view.sizes))
    classes = histogram.class_of[entries]
    result[classes] = histogram.counts[entries] / view.sizes[classes]
    return result


def _average(view: ClassView, value: Label, leakage: Floats) -> float:
    """ALP: the leakage averaged over the records that have the value; 0 when none has.

    The terms are added in ascending order, so that the sum does not depend on the order of the classes.
    """
    total = int(view.totals[view.domain.values.index(value)])
    return float(np.sort(leakage * leakage * view.sizes).sum()) / total if total else 0.0
