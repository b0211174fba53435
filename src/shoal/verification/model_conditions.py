"""The privacy models, written a second time from their definitions and judged on the classes of the release.

n is the size of a class, c(v) its records with the sensitive value v, C(g) those in category g. Counts, weights and
shares are compared in exact fractions, each distinct figure once; entropies, transport distances and average leakages
are sums of rounded terms and may pass their limit by `TOLERANCE`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shoal.plugins import offered_by_packages
from shoal.verification.canonical_text import Codes, Mask
from shoal.verification.classes import Classes, SensitiveCounts
from shoal.verification.transport_distances import ValueDistances, distances

TOLERANCE: Final = 1e-9
"""How far an entropy, a transport distance or an average leakage may pass its limit: far above rounding, far below
what a policy can mean."""


@dataclass(frozen=True)
class Judged:
    """Which classes hold, the extremes they reach, and what is wrong with one."""

    holds: Mask
    facts: dict[str, Any]
    detail: Callable[[int], str]
    whole: list[str] = field(default_factory=list)  # what is wrong with the release as a whole


@dataclass(frozen=True, eq=False)
class Case:
    """What a model on a sensitive column is judged on."""

    spec: Mapping[str, Any]  # the entry of the policy, with all its parameters
    classes: Classes
    counted: SensitiveCounts | None = None
    """The sensitive values of each class; None for a model that is not about a sensitive column."""
    value_distances: Callable[[str], ValueDistances | None] = lambda _: None
    """How far values lie apart by a kind of distance; None where the policy gives no such distance."""

    @property
    def tally(self) -> SensitiveCounts:
        """The sensitive values of each class."""
        assert self.counted is not None, "the model is about a sensitive column"
        return self.counted

    @property
    def n(self) -> int:
        """Number of classes."""
        return len(self.classes.sizes)


def k_anonymity(case: Case) -> Judged:
    """n ≥ k."""
    sizes, k = case.classes.sizes, case.spec["k"]
    facts = {"k": k, "smallest_class": int(sizes.min())}
    return Judged(sizes >= k, facts, lambda i: f"{sizes[i]} record{'' if sizes[i] == 1 else 's'}, {k} required")


def _distinct(count: Any, things: str) -> str:
    """``1 distinct category``, ``2 distinct values``."""
    single = {"categories": "category", "values": "value"}[things]
    return f"{count} distinct {single if count == 1 else things}"


def p_sensitive(case: Case) -> Judged:
    """At least p distinct v (Sun Def. 3, Campan Def. 3); distinct l-diversity is the same count."""
    asked = case.spec["p"] if case.spec["model"] == "p-sensitive" else case.spec["l"]
    distinct = _distinct_values(case)
    facts = {"asked": asked, "fewest_values": int(distinct.min())}
    return Judged(distinct >= asked, facts, lambda i: f"{_distinct(distinct[i], 'values')}, {asked} required")


def p_alpha_sensitive(case: Case) -> Judged:
    """At least p distinct v and Σ over records of weight(category) ≥ α (Sun Def. 4)."""
    return _weighted(case, _distinct_values(case), "values")


def p_plus_alpha_sensitive(case: Case) -> Judged:
    """At least p distinct categories and Σ over records of weight(category) ≥ α (Sun Def. 5)."""
    return _weighted(case, _distinct_categories(case), "categories")


def group_leakage(case: Case) -> Judged:
    """At least p distinct categories and C(g)/n ≤ α_g for every g (Man Def. 2-4)."""
    distinct = _distinct_categories(case)
    places = {name: place for place, name in enumerate(case.tally.categories)}
    counts = {name: case.tally.of_category(places[name], case.n) for name in case.spec["alpha"] if name in places}
    shares = _shares(case, counts, case.spec["alpha"])
    shares.facts.update(p=case.spec["p"], fewest_categories=int(distinct.min()))
    return Judged(
        shares.holds & (distinct >= case.spec["p"]),
        shares.facts,
        lambda i: f"{_distinct(distinct[i], 'categories')}, {case.spec['p']} required; {shares.detail(i)}",
    )


def alpha_k_anonymity(case: Case) -> Judged:
    """c(v)/n ≤ α for every v, or ≤ α_v for those listed (Wong et al. 2006)."""
    alpha = case.spec["alpha"]
    if isinstance(alpha, Mapping):
        return _shares(case, {value: case.tally.of_value(value, case.n) for value in alpha}, alpha)
    return _shares(case, {"any value": _largest(case)}, {"any value": alpha})


def alp_dif(case: Case) -> Judged:
    """ALP_v ≤ alp_v in the release and c(v)/n - ALP_v ≤ dif_v in each class (Wang (1), (2)).

    ALP_v = Σ c(v)²/n ÷ Σ c(v) over the classes. A value that does not occur holds, and so does a class without it.
    """
    sizes, holds = case.classes.sizes, np.ones(case.n, dtype=np.bool_)
    facts: dict[str, Any] = {}
    whole, worst = [], np.zeros(case.n)
    for value, limit in case.spec["limits"].items():
        counts = case.tally.of_value(value, case.n)
        if not counts.any():
            continue
        alp = math.fsum((counts**2 / sizes).tolist()) / int(counts.sum())
        excess = np.where(counts > 0, counts / sizes - alp, 0.0)
        name = _name(value)
        facts |= {f"alp[{name}]": alp, f"dif[{name}]": float(excess.max())}
        holds &= excess <= limit["dif"] + TOLERANCE
        worst = np.maximum(worst, excess - limit["dif"])
        if alp > limit["alp"] + TOLERANCE:
            whole.append(f"the average leakage of {name!r} is {alp:.6g}, at most {limit['alp']:g} allowed")
    return Judged(holds, facts, lambda i: f"leaks {worst[i]:.6g} more than dif allows", whole)


def entropy_l_diversity(case: Case) -> Judged:
    """-Σ (c(v)/n) ln (c(v)/n) ≥ ln l (Machanavajjhala et al. 2006)."""
    share = case.tally.counts / case.classes.sizes[case.tally.classes]
    entropy = case.tally.per_class(-share * np.log(share), case.n)
    asked = math.log(case.spec["l"])
    facts = {"l": case.spec["l"], "smallest_l": float(math.exp(entropy.min()))}
    return Judged(entropy >= asked - TOLERANCE, facts, lambda i: f"entropy {entropy[i]:.6g}, {asked:.6g} required")


def recursive_cl_diversity(case: Case) -> Judged:
    """r₁ < c·(r_l + … + r_m), the counts in falling order; (c, 1) always holds (Machanavajjhala et al. 2006)."""
    tally, limit = case.tally, Fraction(repr(case.spec["c"]))
    order = np.lexsort((-tally.counts, tally.classes))
    falling, starts = tally.counts[order], tally.starts(case.n)
    rank = np.arange(len(falling)) - starts[tally.classes] + 1
    tail = tally.per_class(np.where(rank >= case.spec["l"], falling, 0), case.n).astype(np.int64)
    first = falling[starts]
    holds = _decide(first, tail, lambda most, rest: case.spec["l"] == 1 or most < limit * rest)
    ratio = None if bool((tail == 0).any()) else float((first / np.maximum(tail, 1)).max())
    facts = {"l": case.spec["l"], "c": case.spec["c"], "largest_ratio": ratio}
    return Judged(holds, facts, lambda i: f"{first[i]} of the commonest value, fewer than {limit} x {tail[i]} required")


def t_closeness(case: Case) -> Judged:
    """EMD(class, release) ≤ t (Li et al. 2007)."""
    t, distance = case.spec["t"], case.spec["distance"]
    apart_by = case.value_distances(distance)
    if apart_by is None:
        reason = f"the policy gives no {distance} distance for the published values of {case.tally.column!r}"
        return Judged(np.zeros(case.n, dtype=np.bool_), {"t": t}, lambda i: "not judged", [reason])  # noqa: ARG005
    apart = distances(case.tally, case.classes.sizes, apart_by)
    facts = {"t": t, "distance": distance, "largest_distance": float(apart.max())}
    holds = apart <= t + TOLERANCE
    return Judged(holds, facts, lambda i: f"{apart[i]:.6g} from the release, at most {t:g} allowed")


_CONDITIONS: Final[Mapping[str, Callable[[Case], Judged]]] = {
    "k-anonymity": k_anonymity,
    "p-sensitive": p_sensitive,
    "p-alpha-sensitive": p_alpha_sensitive,
    "p-plus-alpha-sensitive": p_plus_alpha_sensitive,
    "group-leakage": group_leakage,
    "alp-dif": alp_dif,
    "distinct-l-diversity": p_sensitive,
    "entropy-l-diversity": entropy_l_diversity,
    "recursive-cl-diversity": recursive_cl_diversity,
    "alpha-k-anonymity": alpha_k_anonymity,
    "t-closeness": t_closeness,
}


@cache
def conditions() -> Mapping[str, Callable[[Case], Judged]]:
    """The condition of each model by its name: those here, and those that packages offer for models of their own."""
    return {**offered_by_packages("shoal.checks", callable), **_CONDITIONS}


def _distinct_values(case: Case) -> Codes:
    return np.bincount(case.tally.classes, minlength=case.n)


def _distinct_categories(case: Case) -> Codes:
    """Categories that occur in each class; a value in no category adds none."""
    places = case.tally.category_of[case.tally.entries]
    width = len(case.tally.categories) + 1
    pairs = np.unique((case.tally.classes * width + places)[places >= 0])
    return np.bincount(pairs // width, minlength=case.n)


def _largest(case: Case) -> Codes:
    """Records of each class with its commonest value."""
    largest = np.zeros(case.n, dtype=np.int64)
    np.maximum.at(largest, case.tally.classes, case.tally.counts)
    return largest


def _weighted(case: Case, distinct: Codes, what: str) -> Judged:
    """Distinct things, and weights (i - 1)/(m - 1) summed over records (Sun (1)), counted in steps of 1/(m - 1)."""
    m = len(case.tally.categories)
    places = np.maximum(case.tally.category_of, 0)[case.tally.entries]  # a value in no category adds no weight
    steps = case.tally.per_class(places * case.tally.counts, case.n).astype(np.int64)
    p, alpha_stated = case.spec["p"], case.spec["alpha"]
    alpha = Fraction(repr(alpha_stated))
    if m < 2:
        whole = [f"the weight is not defined for {m} categories, two or more are needed"]
        return Judged(np.zeros(case.n, dtype=np.bool_), {}, lambda i: "not judged", whole)  # noqa: ARG005
    heavy = _decide(steps, np.full(case.n, m - 1), lambda total, unit: Fraction(total, unit) >= alpha)
    facts = {"p": p, "alpha": alpha_stated, f"fewest_{what}": int(distinct.min())}
    facts["smallest_weight"] = float(Fraction(int(steps.min()), m - 1))
    return Judged(
        (distinct >= p) & heavy,
        facts,
        lambda i: (
            f"{_distinct(distinct[i], what)}, {p} required; weight {Fraction(int(steps[i]), m - 1)}, {alpha_stated:g} "
            "required"
        ),
    )


def _shares(case: Case, counts: Mapping[Any, Codes], limits: Mapping[Any, float]) -> Judged:
    """count/n ≤ limit for each thing that has a limit."""
    sizes, holds = case.classes.sizes, np.ones(case.n, dtype=np.bool_)
    facts: dict[str, Any] = {}
    for thing, found in counts.items():
        limit = Fraction(repr(limits[thing]))
        holds &= _decide(found, sizes, lambda count, size, limit=limit: Fraction(count, size) <= limit)
        facts[f"largest_share[{_name(thing)}]"] = float((found / sizes).max())

    def detail(i: int) -> str:
        over = [
            f"{_name(thing)} is {found[i]} of {sizes[i]} records, at most {limits[thing]:g} allowed"
            for thing, found in counts.items()
            if Fraction(int(found[i]), int(sizes[i])) > Fraction(repr(limits[thing]))
        ]
        return "; ".join(over) or "every share within its limit"

    return Judged(holds, facts, detail)


def _name(thing: str | None) -> str:
    return "(missing)" if thing is None else thing


def _decide(left: Codes, right: Codes, holds: Callable[..., bool]) -> NDArray[np.bool_]:
    """Judge each distinct pair of whole numbers once, in Python's exact arithmetic."""
    width = int(right.max(initial=0)) + 1
    pairs, place = np.unique(left * width + right, return_inverse=True)
    judged = [holds(*divmod(pair, width)) for pair in pairs.tolist()]
    return np.array(judged, dtype=np.bool_)[place]
