"""The privacy models, written a second time from their definitions and judged on the classes of the release.

n is the size of a class, c(v) its records with the sensitive value v, C(g) those in category g. In models on a
sensitive column n counts the records whose value is known: an unknown value is neither a v nor in a g. A class in which
nothing is known has no share that could be too large and no distribution that could differ, but also no value: models
that ask for values or categories fail in it.

Where the policy says who a record is about, n, c(v) and C(g) are numbers of different people, who may have several
values. Distributions - entropies, (c, l), weights and distances - take w(v) for c(v): everybody weighs the same, over
all known values they have in the class, or in the whole release for the distribution that classes are compared with
(`shoal.verification.people`).

Counts, weights and shares are compared in exact fractions, each distinct figure once; entropies, transport distances
and average leakages are sums of rounded terms and may pass their limit by `TOLERANCE`.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.plugins import offered_by_packages
from shoal.verification.canonical_text import Codes, Mask
from shoal.verification.classes import Assignment, Classes, SensitiveCounts, group, tally
from shoal.verification.known_events import NAME as KNOWN_EVENTS
from shoal.verification.known_events import check_known_events
from shoal.verification.number_counts import NumberCounts
from shoal.verification.pseudonyms import linked_classes
from shoal.verification.result import Check
from shoal.verification.stated_policy import StatedPolicy
from shoal.verification.tables import TABLE, rows_with
from shoal.verification.transport_distances import transport_distances

TOLERANCE: Final = 1e-9
"""How far sums of rounded terms may pass their limit: far above rounding, far below what a policy can mean."""


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
    policy: StatedPolicy
    counted: SensitiveCounts | None = None  # None for a model that is not about a sensitive column

    @property
    def tally(self) -> SensitiveCounts:
        """The sensitive values of each class."""
        assert self.counted is not None, "the model is about a sensitive column"
        return self.counted

    @property
    def known(self) -> Codes:
        """Records of each class whose sensitive value is known."""
        return self.tally.known

    @property
    def n(self) -> int:
        """Number of classes."""
        return len(self.classes.sizes)


def k_anonymity(case: Case) -> Judged:
    """n ≥ k."""
    sizes, k = case.classes.sizes, case.spec["k"]
    facts = {"k": k, "smallest_class": int(sizes.min())}
    return Judged(sizes >= k, facts, lambda i: f"{sizes[i]} {case.classes.noun(sizes[i])}, {k} required")


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
    """At least p distinct v and Σ w(v)·weight(category of v) ≥ α (Sun Def. 4)."""
    return _weighted(case, _distinct_values(case), "values")


def p_plus_alpha_sensitive(case: Case) -> Judged:
    """At least p distinct categories and Σ w(v)·weight(category of v) ≥ α (Sun Def. 5)."""
    return _weighted(case, _distinct_categories(case), "categories")


def group_leakage(case: Case) -> Judged:
    """At least p distinct categories and C(g)/n ≤ α_g for every g (Man Def. 2-4)."""
    distinct = _distinct_categories(case)
    codes = {name: code for code, name in enumerate(case.tally.categories)}
    counts = {name: case.tally.of_category(codes[name], case.n) for name in case.spec["alpha"] if name in codes}
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
    largest = np.zeros(case.n, dtype=np.int64)  # records of each class with its commonest value
    np.maximum.at(largest, case.tally.classes, case.tally.counts)
    return _shares(case, {"any value": largest}, {"any value": alpha})


def alp_dif(case: Case) -> Judged:
    """ALP_v ≤ alp_v in the release and c(v)/n - ALP_v ≤ dif_v in each class (Wang (1), (2)).

    ALP_v = Σ c(v)²/n ÷ Σ c(v) over the classes. A value that does not occur holds, and so does a class without it.
    """
    sizes, holds = np.maximum(case.known, 1), np.ones(case.n, dtype=np.bool_)
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
    """-Σ (w(v)/n) ln (w(v)/n) ≥ ln l (Machanavajjhala et al. 2006)."""
    share = case.tally.weights / (case.known * case.tally.unit)[case.tally.classes]
    entropy = case.tally.per_class(-share * np.log(share), case.n)
    asked = math.log(case.spec["l"])
    entropy[case.known == 0] = -math.inf
    facts = {"l": case.spec["l"], "smallest_l": float(math.exp(entropy.min()))}
    return Judged(entropy >= asked - TOLERANCE, facts, lambda i: f"entropy {entropy[i]:.6g}, {asked:.6g} required")


def recursive_cl_diversity(case: Case) -> Judged:
    """r₁ < c·(r_l + … + r_m), the w(v) in falling order; any value suffices for (c, 1) (Machanavajjhala 2006)."""
    tally, limit = case.tally, Fraction(repr(case.spec["c"]))
    order = np.lexsort((-tally.weights, tally.classes))
    falling, starts = tally.weights[order], tally.starts(case.n)
    rank = np.arange(len(falling)) - starts[tally.classes] + 1
    tail = tally.per_class(np.where(rank >= case.spec["l"], falling, 0), case.n).astype(np.int64)
    first = np.zeros(case.n, dtype=np.int64)
    np.maximum.at(first, tally.classes, tally.weights)
    holds = _decide(first, tail, lambda most, rest: most > 0 and (case.spec["l"] == 1 or most < limit * rest))
    ratio = None if bool((tail == 0).any()) else float((first / np.maximum(tail, 1)).max())
    facts = {"l": case.spec["l"], "c": case.spec["c"], "largest_ratio": ratio}

    def detail(i: int) -> str:
        most, rest = (Fraction(int(each[i]), tally.unit) for each in (first, tail))
        return f"{most} of the commonest value, fewer than {limit} x {rest} required"

    return Judged(holds, facts, detail)


def t_closeness(case: Case) -> Judged:
    """EMD(class, release) ≤ t (Li et al. 2007)."""
    t, distance = case.spec["t"], case.spec["distance"]
    apart = transport_distances(case.tally, distance, case.policy)
    if apart is None:
        reason = f"the policy gives no {distance} distance for the published values of {case.tally.column!r}"
        return Judged(np.zeros(case.n, dtype=np.bool_), {"t": t}, lambda i: "not judged", [reason])  # noqa: ARG005
    facts = {"t": t, "distance": distance, "largest_distance": float(apart.max())}
    holds = apart <= t + TOLERANCE
    return Judged(holds, facts, lambda i: f"{apart[i]:.6g} from the release, at most {t:g} allowed")


def k_e(case: Case) -> Judged:
    """At least k different numbers, and largest - smallest ≥ e (Zhang et al. 2007); without any, as with one."""
    k, e, numbers = case.spec["k"], Fraction(repr(case.spec["e"])), NumberCounts.of(case.tally, case.n)
    if numbers is None:
        return _not_numbers(case)
    distinct, spans = numbers.spans()
    holds = (distinct >= k) & np.array([span >= e for span in spans], dtype=np.bool_)
    facts = {"k": k, "e": case.spec["e"], "fewest_numbers": int(distinct.min()), "smallest_span": float(min(spans))}

    def detail(i: int) -> str:
        return f"{distinct[i]} different numbers, {k} required; they span {float(spans[i]):g}, {float(e):g} required"

    return Judged(holds, facts, detail)


def epsilon_m(case: Case) -> Judged:
    """Records within ε of x (relative: within ε·|x|) ≤ those with a number / m, for every x (Li, Tao, Xiao 2008)."""
    m, numbers = case.spec["m"], NumberCounts.of(case.tally, case.n)
    if numbers is None:
        return _not_numbers(case)
    known, near = numbers.crowds(Fraction(repr(case.spec["epsilon"])), relative=case.spec["relative"])
    facts = {"epsilon": case.spec["epsilon"], "m": m, "largest_share": float((near / known).max())}

    def detail(i: int) -> str:
        around, of = (Fraction(int(each[i]), case.tally.unit) for each in (near, known))
        return f"{around} of {of} numbers lie within epsilon of one of them, 1 in {m} allowed"

    return Judged(near * m <= known, facts, detail)


def _not_numbers(case: Case) -> Judged:
    reason = f"not every published value of {case.tally.column!r} is a number"
    return Judged(np.zeros(case.n, dtype=np.bool_), {}, lambda i: "not judged", [reason])  # noqa: ARG005


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
    "k-e": k_e,
    "epsilon-m": epsilon_m,
}

_IMPLIED_IN_RECORDS: Final = frozenset(
    {"k-anonymity", "p-sensitive", "distinct-l-diversity", "p-alpha-sensitive", "p-plus-alpha-sensitive", "k-e"}
)
"""Models that hold for records wherever they hold for people: nobody has more people, values or weight than records."""


@cache
def conditions() -> Mapping[str, Callable[[Case], Judged]]:
    """The condition of each model by its name: those here, and those that packages offer for models of their own."""
    return {**offered_by_packages("shoal.checks", callable), **_CONDITIONS}


def _distinct_values(case: Case) -> Codes:
    return np.bincount(case.tally.classes, minlength=case.n)


def _distinct_categories(case: Case) -> Codes:
    """Categories that occur in each class; a value in no category adds none."""
    categories = case.tally.category_of[case.tally.entries]
    width = len(case.tally.categories) + 1
    pairs = np.unique((case.tally.classes * width + categories)[categories >= 0])
    return np.bincount(pairs // width, minlength=case.n)


def _weighted(case: Case, distinct: Codes, what: str) -> Judged:
    """Distinct things, and weights (i - 1)/(m - 1) summed over records (Sun (1)), counted in steps of 1/(m - 1).

    People weigh the average over their values.
    """
    m = len(case.tally.categories)
    unit = (m - 1) * case.tally.unit
    categories = np.maximum(case.tally.category_of, 0)[case.tally.entries]  # a value in no category adds no weight
    steps = case.tally.per_class(categories * case.tally.weights, case.n).astype(np.int64)
    p, alpha_stated = case.spec["p"], case.spec["alpha"]
    alpha = Fraction(repr(alpha_stated))
    if m < 2:
        whole = [f"the weight is not defined for {m} categories, two or more are needed"]
        return Judged(np.zeros(case.n, dtype=np.bool_), {}, lambda i: "not judged", whole)  # noqa: ARG005
    heavy = _decide(steps, np.full(case.n, unit), lambda total, of: Fraction(total, of) >= alpha)
    facts = {"p": p, "alpha": alpha_stated, f"fewest_{what}": int(distinct.min())}
    facts["smallest_weight"] = float(Fraction(int(steps.min()), unit))

    def detail(i: int) -> str:
        weight = f"weight {Fraction(int(steps[i]), unit)}, {alpha_stated:g} required"
        return f"{_distinct(distinct[i], what)}, {p} required; {weight}"

    return Judged((distinct >= p) & heavy, facts, detail)


def _shares(case: Case, counts: Mapping[Any, Codes], limits: Mapping[Any, float]) -> Judged:
    """count/n ≤ limit for each thing that has a limit; a share of nothing is 0."""
    sizes, holds = np.maximum(case.known, 1), np.ones(case.n, dtype=np.bool_)
    facts: dict[str, Any] = {}
    for thing, found in counts.items():
        limit = Fraction(repr(limits[thing]))
        holds &= _decide(found, sizes, lambda count, size, limit=limit: Fraction(count, size) <= limit)
        facts[f"largest_share[{_name(thing)}]"] = float((found / sizes).max())

    some = "known values" if case.classes.person is None else "people with a known value"

    def detail(i: int) -> str:
        of = f"{sizes[i]} {case.classes.counted if case.known[i] == case.classes.sizes[i] else some}"
        over = [
            f"{_name(thing)} is {found[i]} of {of}, at most {limits[thing]:g} allowed"
            for thing, found in counts.items()
            if Fraction(int(found[i]), int(sizes[i])) > Fraction(repr(limits[thing]))
        ]
        return "; ".join(over) or "every share within its limit"

    return Judged(holds, facts, detail)


def _name(thing: str | None) -> str:
    return "(missing)" if thing is None else thing


def _decide(left: Codes, right: Codes, holds: Callable[..., bool]) -> NDArray[np.bool_]:
    """Judge each distinct pair of whole numbers once, in Python's exact arithmetic."""
    lefts, of_left = np.unique(left, return_inverse=True)
    rights, of_right = np.unique(right, return_inverse=True)
    pairs, index = np.unique(of_left * len(rights) + of_right, return_inverse=True)
    judged = [holds(int(lefts[pair // len(rights)]), int(rights[pair % len(rights)])) for pair in pairs.tolist()]
    return np.array(judged, dtype=np.bool_)[index]


def check_models(
    cells: Mapping[str, Any], policy: StatedPolicy, counts: Codes, people: Assignment | None = None
) -> tuple[int, list[Check]]:
    """The number of classes, and a check for each model and column; each row stands for so many records.

    Where the policy says who a record is about and nobody can say which ``people`` are in which class, those models are
    judged in records that a release in which they hold for people satisfies in any case.
    """
    if policy.pseudonym is not None:
        return _check_linked(cells, policy, counts)
    classes, shown = group(cells, policy.names("quasi"), counts), cells
    if people is not None:
        classes, shown = people.classes, people.published
    tallies = {name: tally(name, shown[name], classes, policy) for name in policy.names("sensitive")}
    left_out = unjudged_in_records(policy) if policy.person and people is None else ()
    checks = []
    for name, column, entry in required_models(policy):
        if name not in left_out:
            checks.append(_judge(name, Case(entry, classes, policy, None if column is None else tallies[column])))
    if policy.events > 1 and people is not None:
        checks.append(check_known_events(classes, policy))
    return len(classes.sizes), checks


def _check_linked(cells: Mapping[str, Any], policy: StatedPolicy, counts: Codes) -> tuple[int, list[Check]]:
    """The same where pseudonyms link records: each model holds in each class, and for all that its people have."""
    single, whole = linked_classes(cells, policy, counts)
    checks = []
    for classes, form in ((single, "{}"), (whole, "linked {}")):
        cases = {name: _linked_case(name, cells, classes, policy) for name in policy.names("sensitive")}
        for name, column, entry in required_models(policy):
            if column is not None:
                checks.append(_judge(form.format(name), replace(cases[column], spec=entry)))
            elif classes is single:  # as many people have a record as all of theirs
                checks.append(_judge(name, Case(entry, classes, policy)))
    return len(single.sizes), checks


def _linked_case(name: str, cells: Mapping[str, Any], classes: Classes, policy: StatedPolicy) -> Case:
    """What models on a column are judged on: of several tables, the records of those that have it."""
    shown, rows = cells[name], None if not policy.tables else rows_with(policy, cells[TABLE], name)
    if rows is not None:
        used, class_of = np.unique(classes.class_of[rows], return_inverse=True)
        assert classes.person is not None, "pseudonyms tell people apart"
        counts, person = classes.counts[rows], classes.person[rows]
        used_rows, sizes = classes.rows[used], classes.sizes[used]
        classes = replace(classes, rows=used_rows, sizes=sizes, class_of=class_of, counts=counts, person=person)
        shown = shown.filter(pa.array(rows))
    return Case({}, classes, policy, tally(name, shown, classes, policy))


def unjudged_in_records(policy: StatedPolicy) -> list[str]:
    """The checks of models that may hold for people and not for records."""
    found = [name for name, _, entry in required_models(policy) if entry["model"] not in _IMPLIED_IN_RECORDS]
    return [*found, KNOWN_EVENTS] if policy.events > 1 else found


def required_models(policy: StatedPolicy) -> Iterator[tuple[str, str | None, Mapping[str, Any]]]:
    """Each model that is required: the name of its check, its column, and its entry in the policy."""
    for entry in policy.privacy:
        name = entry["model"]
        if "sensitive" not in entry:
            yield name, None, entry
            continue
        given = entry["sensitive"]
        for column in policy.names("sensitive") if given is None else [given] if isinstance(given, str) else given:
            yield f"{name}[{column}]", column, entry


def _judge(name: str, case: Case) -> Check:
    """One model on one column: its extremes, or who fails. A model that nobody can check does not hold."""
    model, classes = case.spec["model"], case.classes
    condition = conditions().get(model)
    if condition is None:
        message = f"there is no independent check for {model}; the package that offers it must offer one as well"
        return Check(name, False, message, {"failing_classes": len(classes.sizes)})
    outcome = condition(case)
    facts = ({"counted": classes.counted} if case.policy.person else {}) | outcome.facts
    failing = ~outcome.holds
    count, total = int(failing.sum()), len(failing)
    problems = list(outcome.whole)
    if count:
        records = int(classes.records[failing].sum())
        worst = int(np.argmax(failing))
        facts |= {"failing_classes": count, "failing_records": records, "example": classes.describe(worst)}
        shown = f"for example ({classes.describe(worst)}): {outcome.detail(worst)}"
        fail, noun = "fails" if count == 1 else "fail", "record" if records == 1 else "records"
        problems.append(f"{count:,} of {total:,} classes {fail} ({records:,} {noun}); {shown}")
    if problems:
        return Check(name, False, "; ".join(problems), facts)
    figures = (f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}" for key, value in facts.items())
    return Check(name, True, f"holds in all {total:,} classes ({', '.join(figures)})", facts)
