"""The privacy models once more, read off their definitions and as slow as that: lists, fractions and logarithms.

A class is a list of its known sensitive values (`known` leaves out the others), and may be empty; ``None`` is a value
like any other. Nothing is shared with the package. Limits are read as the decimals they are written in. Each
``*_holds`` says which classes hold; each ``*_reached`` gives the strongest parameter that all classes meet, as a
fraction where the definition has one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction

Value = str | None
Class = Sequence[Value]
Distance = Callable[[Value, Value], Fraction]

SLACK = Fraction(1, 10**9)
"""The documented tolerance of figures that are sums of logarithms, leakages or transport costs."""


def decimal(limit: float) -> Fraction:
    return Fraction(str(limit))


def known(classes: Sequence[Class], unknown: Collection[Value]) -> list[list[Value]]:
    """The classes as every model but k-anonymity sees them."""
    return [[value for value in each if value not in unknown] for each in classes]


def k_holds(classes: Sequence[Class], k: int) -> list[bool]:
    return [len(each) >= k for each in classes]


def k_reached(classes: Sequence[Class]) -> int:
    return min(len(each) for each in classes)


def p_holds(classes: Sequence[Class], p: int) -> list[bool]:
    return [len(set(each)) >= p for each in classes]


def p_reached(classes: Sequence[Class]) -> int:
    return min(len(set(each)) for each in classes)


def place(value: Value, categories: Sequence[Sequence[Value]]) -> int:
    """The category of a value, counted from 1, the most sensitive."""
    (found,) = (i for i, block in enumerate(categories, start=1) if value in block)
    return found


def weight(each: Class, categories: Sequence[Sequence[Value]]) -> Fraction:
    m = len(categories)
    return sum((Fraction(place(value, categories) - 1, m - 1) for value in each), Fraction(0))


def n_categories(each: Class, categories: Sequence[Sequence[Value]]) -> int:
    return len({place(value, categories) for value in each})


def p_alpha_holds(classes: Sequence[Class], p: int, alpha: float, categories: Sequence[Sequence[Value]]) -> list[bool]:
    return [len(set(each)) >= p and weight(each, categories) >= decimal(alpha) for each in classes]


def p_plus_alpha_holds(
    classes: Sequence[Class], p: int, alpha: float, categories: Sequence[Sequence[Value]]
) -> list[bool]:
    return [n_categories(each, categories) >= p and weight(each, categories) >= decimal(alpha) for each in classes]


def alpha_reached(classes: Sequence[Class], categories: Sequence[Sequence[Value]]) -> Fraction:
    return min(weight(each, categories) for each in classes)


def p_plus_reached(classes: Sequence[Class], categories: Sequence[Sequence[Value]]) -> int:
    return min(n_categories(each, categories) for each in classes)


def group_share(each: Class, block: Sequence[Value]) -> Fraction:
    return Fraction(sum(value in block for value in each), len(each)) if each else Fraction(0)


def group_leakage_holds(
    classes: Sequence[Class], p: int, alpha: Mapping[str, float], categories: Mapping[str, Sequence[Value]]
) -> list[bool]:
    return [
        n_categories(each, list(categories.values())) >= p
        and all(group_share(each, categories[name]) <= decimal(limit) for name, limit in alpha.items())
        for each in classes
    ]


def share(each: Class, value: Value) -> Fraction:
    return Fraction(list(each).count(value), len(each)) if each else Fraction(0)


def alpha_k_holds(classes: Sequence[Class], alpha: float | Mapping[Value, float]) -> list[bool]:
    if isinstance(alpha, Mapping):
        return [all(share(each, value) <= decimal(limit) for value, limit in alpha.items()) for each in classes]
    return [all(share(each, value) <= decimal(alpha) for value in each) for each in classes]


def largest_share(classes: Sequence[Class], value: Value | type[Ellipsis] = ...) -> Fraction:
    """The largest share of the value in any class, or of any value."""
    shares = (share(each, v) for each in classes for v in (each if value is ... else [value]))
    return max(shares, default=Fraction(0))


def entropy(each: Class) -> float:
    shares = [count / len(each) for count in Counter(each).values()]
    return -math.fsum(s * math.log(s) for s in shares)


def entropy_l_holds(classes: Sequence[Class], l: float) -> list[bool]:  # noqa: E741
    return [bool(each) and entropy(each) >= math.log(l) - float(SLACK) for each in classes]


def entropy_l_reached(classes: Sequence[Class]) -> float:
    return min(math.exp(entropy(each)) if each else 0.0 for each in classes)


def recursive_one(each: Class, c: float, l: int) -> bool:  # noqa: E741
    if l == 1 or not each:
        return bool(each)
    counts = sorted(Counter(each).values(), reverse=True)
    return counts[0] < decimal(c) * sum(counts[l - 1 :])


def recursive_holds(classes: Sequence[Class], c: float, l: int) -> list[bool]:  # noqa: E741
    return [recursive_one(each, c, l) for each in classes]


def recursive_l_reached(classes: Sequence[Class], c: float) -> int:
    def largest(each: Class) -> int:
        return max((l for l in range(1, len(each) + 2) if recursive_one(each, c, l)), default=0)  # noqa: E741

    return min(map(largest, classes))


def recursive_c_bound(classes: Sequence[Class], l: int) -> Fraction | None:  # noqa: E741
    """What c must exceed; None when no c is enough."""
    bounds = []
    for each in classes:
        counts = sorted(Counter(each).values(), reverse=True)
        if not counts or len(counts) < l:
            return None
        if l == 1:
            bounds.append(Fraction(0))
        else:
            bounds.append(Fraction(counts[0], sum(counts[l - 1 :])))
    return max(bounds)


def average_leakage(classes: Sequence[Class], value: Value) -> Fraction:
    having = sum(list(each).count(value) for each in classes)
    if not having:
        return Fraction(0)
    return sum((list(each).count(value) * share(each, value) for each in classes), Fraction(0)) / having


def alp_dif_holds(classes: Sequence[Class], limits: Mapping[Value, Mapping[str, float]]) -> list[bool]:
    return [
        all(
            value not in each or share(each, value) - average_leakage(classes, value) <= decimal(limit["dif"]) + SLACK
            for value, limit in limits.items()
        )
        for each in classes
    ]


def alp_holds(classes: Sequence[Class], limits: Mapping[Value, Mapping[str, float]]) -> bool:
    return all(average_leakage(classes, value) <= decimal(limit["alp"]) + SLACK for value, limit in limits.items())


def dif_reached(classes: Sequence[Class], value: Value) -> Fraction:
    average = average_leakage(classes, value)
    return max(max(share(each, value) - average, Fraction(0)) for each in classes)


def equal_distance(a: Value, b: Value) -> Fraction:
    return Fraction(int(a != b))


def ordered_distance(values: Sequence[Value]) -> Distance:
    """Between places in the order of the values that occur in the release."""
    return lambda a, b: Fraction(abs(values.index(a) - values.index(b)), max(len(values) - 1, 1))


def hierarchical_distance(paths: Mapping[Value, Sequence[Value]]) -> Distance:
    """From the path of each value, the root first: the height of the lowest common ancestor over that of the root."""

    def height(node: tuple[Value, ...]) -> int:
        return max(len(path) - len(node) for path in map(tuple, paths.values()) if path[: len(node)] == node)

    def distance(a: Value, b: Value) -> Fraction:
        if a == b:
            return Fraction(0)
        common: list[Value] = []
        for one, other in zip(paths[a], paths[b], strict=False):
            if one != other:
                break
            common.append(one)
        return Fraction(height(tuple(common)), height(tuple(common[:1])))

    return distance


def earth_mover(each: Class, everything: Class, distance: Distance) -> Fraction:
    """The least work that turns one distribution into the other: a transport problem, solved path by path; 0 of none.

    Shares become whole numbers of grains (n·N in all). Grains go along the cheapest path that is left, which may take
    grains back from an earlier move, until none is left: the successive shortest path method.
    """
    n, total = len(each), len(everything)
    if not n:
        return Fraction(0)
    supply = {value: count * total for value, count in Counter(each).items()}
    demand = {value: count * n for value, count in Counter(everything).items()}
    flow: dict[tuple[Value, Value], int] = {(a, b): 0 for a in supply for b in demand}
    work = Fraction(0)
    while any(supply.values()):
        path, amount = _cheapest_path(supply, demand, flow, distance)
        for (a, b), sign in path:
            flow[a, b] += sign * amount
            work += sign * amount * distance(a, b)
        (source, _), _ = path[0]
        (_, sink), _ = path[-1]
        supply[source] -= amount
        demand[sink] -= amount
    return work / (n * total)


def _cheapest_path(
    supply: Mapping[Value, int],
    demand: Mapping[Value, int],
    flow: Mapping[tuple[Value, Value], int],
    distance: Distance,
) -> tuple[list[tuple[tuple[Value, Value], int]], int]:
    """The cheapest way from grains left over to a place that wants them (Bellman-Ford), and how many can go."""
    cost = {("from", a): Fraction(0) for a in supply if supply[a]}
    paths: dict[tuple[str, Value], list[tuple[tuple[Value, Value], int]]] = {node: [] for node in cost}
    changed = True
    while changed:
        changed = False
        for (a, b), moved in flow.items():
            steps = [(("from", a), ("to", b), 1)] + ([(("to", b), ("from", a), -1)] if moved else [])
            for tail, head, sign in steps:
                if tail in cost and (head not in cost or cost[tail] + sign * distance(a, b) < cost[head]):
                    cost[head] = cost[tail] + sign * distance(a, b)
                    paths[head] = [*paths[tail], ((a, b), sign)]
                    changed = True
    sink = min((b for b in demand if demand[b] and ("to", b) in cost), key=lambda b: cost["to", b])
    path = paths["to", sink]
    backwards = [flow[edge] for edge, sign in path if sign < 0]
    return path, min(supply[path[0][0][0]], demand[sink], *backwards)


def t_reached(classes: Sequence[Class], distance: Distance) -> Fraction:
    return max(t_distances(classes, distance))


def t_distances(classes: Sequence[Class], distance: Distance) -> list[Fraction]:
    everything = [value for each in classes for value in each]
    return [earth_mover(each, everything, distance) for each in classes]


def t_holds(classes: Sequence[Class], t: float, distance: Distance) -> list[bool]:
    return [far <= decimal(t) + SLACK for far in t_distances(classes, distance)]


def numbers_in(each: Class, number: Mapping[Value, str]) -> list[Fraction]:
    """The numbers of a class; one without any is read as one of a single number."""
    return [Fraction(number[value]) for value in each if value is not None] or [Fraction(0)]


def span(each: Class, number: Mapping[Value, str]) -> Fraction:
    return max(numbers_in(each, number)) - min(numbers_in(each, number))


def k_e_holds(classes: Sequence[Class], k: int, e: float, number: Mapping[Value, str]) -> list[bool]:
    return [len(set(numbers_in(each, number))) >= k and span(each, number) >= decimal(e) for each in classes]


def around(each: Class, x: Fraction, epsilon: float, relative: bool, number: Mapping[Value, str]) -> int:
    """Records whose number lies in the interval around x."""
    ends = [x - decimal(epsilon), x + decimal(epsilon)]
    if relative:
        ends = sorted([x * (1 - decimal(epsilon)), x * (1 + decimal(epsilon))])
    return sum(ends[0] <= y <= ends[1] for y in numbers_in(each, number))


def epsilon_m_holds(
    classes: Sequence[Class], epsilon: float, m: int, relative: bool, number: Mapping[Value, str]
) -> list[bool]:
    return [
        all(
            Fraction(around(each, x, epsilon, relative, number), len(numbers_in(each, number))) <= Fraction(1, m)
            for x in numbers_in(each, number)
        )
        for each in classes
    ]


def epsilon_m_reached(classes: Sequence[Class], epsilon: float, relative: bool, number: Mapping[Value, str]) -> int:
    return max(
        m
        for m in range(1, 1 + min(len(numbers_in(each, number)) for each in classes))
        if all(epsilon_m_holds(classes, epsilon, m, relative, number))
    )
