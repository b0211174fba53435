"""The least that a class must have under the models of a policy: so many records, so many distinct values.

Models that ask for more than that are counted by what follows from them; whatever does not follow is left out.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from shoal.verification.canonical_text import Codes, Label, code
from shoal.verification.model_conditions import required_models
from shoal.verification.original_checks import published_as
from shoal.verification.stated_policy import StatedPolicy

_VALUES: Final = {
    "p-sensitive": "p",
    "distinct-l-diversity": "l",
    "p-alpha-sensitive": "p",
    "entropy-l-diversity": "l",  # fewer than l values have an entropy below ln l
    "recursive-cl-diversity": "l",  # fewer than l values leave nothing from the l-th on, which the first is less than
    "k-e": "k",  # different numbers are different values
}
_CATEGORIES: Final = {"p-plus-alpha-sensitive": "p", "group-leakage": "p"}
"""Models under which every class has a number of values, or of categories; and the parameter that says how many."""
_ROUNDING = 1e-6  # how far an entropy may be below its limit, and more


@dataclass(frozen=True)
class ValueRequirement:
    """Distinct values of a sensitive column that every class has, or distinct categories of them."""

    column: str
    categories: bool
    least: int


def least_records(policy: StatedPolicy) -> int:
    """The fewest records of a class."""
    entries = [entry for name, _, entry in required_models(policy) if name == "k-anonymity" and "columns" not in entry]
    sizes: list[int] = [entry["k"] for entry in entries]
    return max(sizes, default=1)


def value_requirements(policy: StatedPolicy) -> list[ValueRequirement]:
    """What every class has of the sensitive columns, at least two values each."""
    found: dict[tuple[str, bool], int] = {}
    for _, column, entry in required_models(policy):
        for names, categories in ((_VALUES, False), (_CATEGORIES, True)):
            if column is not None and entry["model"] in names:
                least = math.ceil(float(entry[names[entry["model"]]]) - _ROUNDING)
                found[column, categories] = max(least, found.get((column, categories), 1))
    return [ValueRequirement(*key, least) for key, least in sorted(found.items()) if least > 1]


def required_values(policy: StatedPolicy, requirement: ValueRequirement, cells: Any) -> Codes:
    """The value of each row as it is published, or its category; -1 where it is unknown, or in no category."""
    coded, column = code(cells), policy.columns[requirement.column]
    shown = published_as(requirement.column, coded.values, policy)[requirement.column]
    counts = [text not in column.unknown for text in shown]
    if requirement.categories and column.publish != "categories":
        category_of = {value: category for category, values in column.categories.items() for value in values}
        counts = [known and text in category_of for known, text in zip(counts, shown, strict=True)]
        shown = [category_of.get(text) for text in shown]
    index: dict[Label, int] = {}
    numbers = [index.setdefault(text, len(index)) if each else -1 for text, each in zip(shown, counts, strict=True)]
    return np.array(numbers, dtype=np.int64)[coded.codes]
