"""The privacy models counted in people, read off their definitions: sets of people, dicts and fractions.

A class is a list of (person, sensitive value): somebody may be in it several times, and in other classes too. Nothing
is shared with the package. ``spec`` is a model as a policy writes it, ``secret`` what the column declares. Events with
an unknown value are no events to any model but k-anonymity (`known`), so a class may be empty to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from oracles import model_oracles as records

Value = str | None
Person = int
Event = tuple[Person, Value]
Class = Sequence[Event]
Spec = Mapping[str, Any]
Figures = dict[str, list[Fraction | float]]


def known(classes: Sequence[Class], unknown: Collection[Value]) -> list[list[Event]]:
    return [[event for event in each if event[1] not in unknown] for each in classes]


def people(each: Class) -> set[Person]:
    return {person for person, _ in each}


def having(each: Class, values: Sequence[Value]) -> set[Person]:
    """Those who have one of the values at least once."""
    return {person for person, value in each if value in values}


def values_in(each: Class) -> set[Value]:
    return {value for _, value in each}


def share(each: Class, values: Sequence[Value]) -> Fraction:
    return Fraction(len(having(each, values)), len(people(each))) if each else Fraction(0)


def weights(each: Class) -> dict[Value, Fraction]:
    """Everybody weighs one, divided equally over the different values they have."""
    found: dict[Value, Fraction] = dict.fromkeys(values_in(each), Fraction(0))
    for person in people(each):
        own = values_in([event for event in each if event[0] == person])
        for value in own:
            found[value] += Fraction(1, len(own))
    return found


def categories_in(each: Class, categories: Mapping[str, Sequence[Value]]) -> int:
    return sum(bool(having(each, block)) for block in categories.values())


def total_weight(each: Class, categories: Mapping[str, Sequence[Value]]) -> Fraction:
    """Sun's weights, from 0 in the first category to 1 in the last: everybody has the mean over their values."""
    blocks = list(categories.values())
    steps = {value: Fraction(place, len(blocks) - 1) for place, block in enumerate(blocks) for value in block}
    return sum((steps[value] * weight for value, weight in weights(each).items()), Fraction(0))


def average_leakage(classes: Sequence[Class], value: Value) -> Fraction:
    """The share of the value in a class, averaged over everybody who has it, once for each class where they do."""
    leaks = [share(each, [value]) for each in classes for _ in having(each, [value])]
    return sum(leaks, Fraction(0)) / len(leaks) if leaks else Fraction(0)


def entropy(each: Class) -> float:
    shares = [float(weight / len(people(each))) for weight in weights(each).values()]
    return -math.fsum(part * math.log(part) for part in shares)


def ranked(each: Class) -> list[Fraction]:
    return sorted(weights(each).values(), reverse=True)


def recursive(each: Class, c: float, l: int) -> bool:  # noqa: E741
    if l == 1 or not each:
        return bool(each)
    return ranked(each)[0] < records.decimal(c) * sum(ranked(each)[l - 1 :])


def recursive_l(each: Class, c: float) -> int:
    return max((l for l in range(1, len(ranked(each)) + 2) if recursive(each, c, l)), default=0)  # noqa: E741


def recursive_c(each: Class, l: int) -> Fraction | float:  # noqa: E741
    """What c must exceed."""
    tail = sum(ranked(each)[l - 1 :])
    return Fraction(0) if l == 1 and each else ranked(each)[0] / tail if tail else math.inf


def transport(one: Mapping[Value, Fraction], other: Mapping[Value, Fraction], distance: records.Distance) -> Fraction:
    """The least work that turns one distribution into the other."""
    if not one:
        return Fraction(0)
    grains = math.lcm(*(weight.denominator for weight in (*one.values(), *other.values())))
    lists = [[v for v, weight in each.items() for _ in range(int(weight * grains))] for each in (one, other)]
    return records.earth_mover(*lists, distance)


def distances(spec: Spec, classes: Sequence[Class], secret: Any) -> list[Fraction]:
    """Each class from the release in which everybody weighs one over all that they have in it."""
    everything = weights([event for each in classes for event in each])
    kinds: dict[str, Callable[[], records.Distance]] = {
        "equal": lambda: records.equal_distance,
        "ordered": lambda: records.ordered_distance([value for value in secret.order if value in everything]),
        "hierarchical": lambda: records.hierarchical_distance(
            {value: path for value, path in secret.paths.items() if value in everything}
        ),
    }
    return [transport(weights(each), everything, kinds[spec["distance"]]()) for each in classes]


def named(parameter: str, key: Value) -> str:
    return f"{parameter}[{'(missing)' if key is None else key}]"


def alpha_k(spec: Spec, classes: Sequence[Class]) -> Figures:
    if isinstance(spec["alpha"], Mapping):
        return {named("alpha", value): [share(each, [value]) for each in classes] for value in spec["alpha"]}
    return {"alpha": [max((share(each, [v]) for v in values_in(each)), default=Fraction(0)) for each in classes]}


def alp_dif(spec: Spec, classes: Sequence[Class]) -> Figures:
    found: Figures = {}
    for value in spec["limits"]:
        average = average_leakage(classes, value)
        found[named("alp", value)] = [average for _ in classes]
        found[named("dif", value)] = [max(share(each, [value]) - average, Fraction(0)) for each in classes]
    return found


def by_number(each: Class, number: Mapping[Value, str]) -> dict[Fraction, Fraction]:
    """What each number weighs; a missing value is none, and a class without any is read as one of a single number."""
    found: dict[Fraction, Fraction] = {}
    for value, weight in weights(each).items():
        if value is not None:
            found[Fraction(number[value])] = found.get(Fraction(number[value]), Fraction(0)) + weight
    return found or {Fraction(0): Fraction(1)}


def largest_m(each: Class, spec: Spec, number: Mapping[Value, str]) -> int:
    """One in so many, at most, of all that numbers weigh lies around any number."""
    weighed, epsilon = by_number(each, number), records.decimal(spec["epsilon"])
    reach = {x: epsilon * (abs(x) if spec["relative"] else 1) for x in weighed}
    around = max(sum(weight for y, weight in weighed.items() if abs(x - y) <= reach[x]) for x in weighed)
    return int(sum(weighed.values()) / around)


FIGURES: dict[str, Callable[[Spec, Sequence[Class], Any], Figures]] = {
    "k-anonymity": lambda _, classes, __: {"k": [Fraction(len(people(each))) for each in classes]},
    "p-sensitive": lambda _, classes, __: {"p": [Fraction(len(values_in(each))) for each in classes]},
    "distinct-l-diversity": lambda _, classes, __: {"l": [Fraction(len(values_in(each))) for each in classes]},
    "p-alpha-sensitive": lambda _, classes, secret: {
        "p": [Fraction(len(values_in(each))) for each in classes],
        "alpha": [total_weight(each, secret.categories) for each in classes],
    },
    "p-plus-alpha-sensitive": lambda _, classes, secret: {
        "p": [Fraction(categories_in(each, secret.categories)) for each in classes],
        "alpha": [total_weight(each, secret.categories) for each in classes],
    },
    "group-leakage": lambda spec, classes, secret: {
        "p": [Fraction(categories_in(each, secret.categories)) for each in classes],
        **{named("alpha", g): [share(each, secret.categories[g]) for each in classes] for g in spec["alpha"]},
    },
    "alp-dif": lambda spec, classes, _: alp_dif(spec, classes),
    "entropy-l-diversity": lambda _, classes, __: {"l": [math.exp(entropy(each)) if each else 0.0 for each in classes]},
    "recursive-cl-diversity": lambda spec, classes, _: {
        "l": [Fraction(recursive_l(each, spec["c"])) for each in classes],
        "c": [recursive_c(each, spec["l"]) for each in classes],
    },
    "alpha-k-anonymity": lambda spec, classes, _: alpha_k(spec, classes),
    "t-closeness": lambda spec, classes, secret: {"t": list(distances(spec, classes, secret))},
    "k-e": lambda _, classes, secret: {
        "k": [Fraction(len(by_number(each, secret.numbers))) for each in classes],
        "e": [max(by_number(each, secret.numbers)) - min(by_number(each, secret.numbers)) for each in classes],
    },
    "epsilon-m": lambda spec, classes, secret: {
        "m": [Fraction(largest_m(each, spec, secret.numbers)) for each in classes]
    },
}
"""For each limit that a model sets, what each class has; of recursive diversity's c, what it must exceed."""

AT_LEAST = {"k", "p", "l", "e", "m"}
WITHIN_TOLERANCE = {"entropy-l-diversity", "t-closeness", "alp-dif"}
"""Models whose figures are sums of logarithms, transport costs or leakages: compared within the documented slack."""


def limit_of(spec: Spec, name: str) -> Fraction:
    parameter, _, key = name.removesuffix("]").partition("[")
    if not key:
        return records.decimal(spec[parameter])
    value = None if key == "(missing)" else key
    limits = spec["limits"][value] if spec["model"] == "alp-dif" else {parameter: spec["alpha"][value]}
    return records.decimal(limits[parameter])


def meets(spec: Spec, name: str, figure: Fraction | float) -> bool:
    """Whether a figure meets its limit."""
    limit = limit_of(spec, name)
    slack = records.SLACK if spec["model"] in WITHIN_TOLERANCE else 0
    weighed = name == "alpha" and spec["model"] in {"p-alpha-sensitive", "p-plus-alpha-sensitive"}
    if spec["model"] == "entropy-l-diversity":
        return figure > 0 and math.log(figure) >= math.log(limit) - float(slack)
    return figure >= limit - slack if name in AT_LEAST or weighed else figure <= limit + slack


def figures_of(spec: Spec, classes: Sequence[Class], secret: Any) -> Figures:
    """What each class has of everything that a model limits."""
    seen = classes if spec["model"] == "k-anonymity" else known(classes, secret.unknown)
    return FIGURES[spec["model"]](spec, seen, secret)


def holds(spec: Spec, classes: Sequence[Class], secret: Any) -> list[bool]:
    """Which classes meet a model's condition on a class."""
    if spec["model"] == "recursive-cl-diversity":
        return [recursive(each, spec["c"], spec["l"]) for each in known(classes, secret.unknown)]
    figures = figures_of(spec, classes, secret)
    of_class = {name: each for name, each in figures.items() if not name.startswith("alp[")}
    return [all(meets(spec, name, each[i]) for name, each in of_class.items()) for i in range(len(classes))]


def table_holds(spec: Spec, classes: Sequence[Class], secret: Any) -> bool:
    """Whether a model's condition on the release as a whole is met."""
    if spec["model"] != "alp-dif":
        return True
    seen = known(classes, secret.unknown)
    return all(meets(spec, named("alp", value), average_leakage(seen, value)) for value in spec["limits"])
