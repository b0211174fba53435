"""Whether a model holds for the people of classes, as slowly as its definition reads.

A class is a list of records (person, value); ``None`` is unknown, and no value to any model. Where a definition is
about a distribution, everybody becomes `SHARES` records, as many of each of the different values they have: then the
definition for records is that for people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from oracles import model_oracles as records
from oracles.model_oracles import Value

Record = tuple[str, Value]
Class = Sequence[Record]
SHARES = 12  # can be divided by up to four values


def people(each: Class, values: Sequence[Value] | None = None) -> int:
    """Different people, or those who have one of some values."""
    return len({person for person, value in each if values is None or value in values})


def values_of(each: Class) -> list[Value]:
    return sorted({value for _, value in each}, key=str)


def as_shares(each: Class) -> list[Value]:
    """Everybody as `SHARES` records."""
    found: list[Value] = []
    for person in {person for person, _ in each}:
        own = values_of([record for record in each if record[0] == person])
        assert SHARES % len(own) == 0
        found += own * (SHARES // len(own))
    return found


def weight(each: Class, categories: Sequence[Sequence[Value]]) -> Any:
    return records.weight(as_shares(each), categories) / SHARES


def shares_hold(classes: Sequence[Class], limits: Mapping[Any, float], block: Callable[[Any], Sequence[Value]]) -> bool:
    return all(
        people(each, block(thing)) <= records.decimal(limit) * people(each)
        for each in classes
        for thing, limit in limits.items()
    )


def alp_dif(classes: Sequence[Class], limits: Mapping[Value, Mapping[str, float]]) -> bool:
    for value, limit in limits.items():
        leaks = [people(each, [value]) / people(each) for each in classes for _ in range(people(each, [value]))]
        average = math.fsum(leaks) / len(leaks) if leaks else 0.0
        if average > limit["alp"] + 1e-9 or any(leak - average > limit["dif"] + 1e-9 for leak in leaks):
            return False
    return True


def holds(
    spec: Mapping[str, Any],
    classes: Sequence[Class],
    categories: Mapping[str, Sequence[Value]],
    distances: Mapping[str, Callable[[Sequence[Value]], records.Distance]],
) -> bool:
    """Whether a model as a policy writes it holds in all classes."""
    if spec["model"] != "k-anonymity":
        classes = [[record for record in each if record[1] is not None] for each in classes]
    model, blocks = spec["model"], list(categories.values())
    number = {value: str(value) for each in classes for value in values_of(each)}
    everything = as_shares([record for each in classes for record in each])
    verdicts: dict[str, Callable[[], bool]] = {
        "k-anonymity": lambda: all(people(each) >= spec["k"] for each in classes),
        "p-sensitive": lambda: all(len(values_of(each)) >= spec["p"] for each in classes),
        "distinct-l-diversity": lambda: all(len(values_of(each)) >= spec["l"] for each in classes),
        "p-alpha-sensitive": lambda: all(
            len(values_of(each)) >= spec["p"] and weight(each, blocks) >= records.decimal(spec["alpha"])
            for each in classes
        ),
        "p-plus-alpha-sensitive": lambda: all(
            sum(people(each, block) > 0 for block in blocks) >= spec["p"]
            and weight(each, blocks) >= records.decimal(spec["alpha"])
            for each in classes
        ),
        "group-leakage": lambda: (
            shares_hold(classes, spec["alpha"], categories.__getitem__)
            and all(sum(people(each, block) > 0 for block in blocks) >= spec["p"] for each in classes)
        ),
        "alpha-k-anonymity": lambda: shares_hold(classes, dict.fromkeys(number, spec["alpha"]), lambda value: [value]),
        "alp-dif": lambda: alp_dif(classes, spec["limits"]),
        "entropy-l-diversity": lambda: (
            all(classes) and all(records.entropy_l_holds([as_shares(each) for each in classes], spec["l"]))
        ),
        "recursive-cl-diversity": lambda: (
            all(classes) and all(records.recursive_holds([as_shares(each) for each in classes], spec["c"], spec["l"]))
        ),
        "t-closeness": lambda: all(
            records.earth_mover(
                as_shares(each), everything, distances[spec["distance"]](sorted(set(everything), key=float))
            )
            <= records.decimal(spec["t"]) + records.SLACK
            for each in classes
            if each
        ),
        "k-e": lambda: all(records.k_e_holds([values_of(each) for each in classes], spec["k"], spec["e"], number)),
        "epsilon-m": lambda: all(
            records.epsilon_m_holds(
                [as_shares(each) for each in classes], spec["epsilon"], spec["m"], spec["relative"], number
            )
        ),
    }
    return verdicts[model]()
