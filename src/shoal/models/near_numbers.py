"""What must be said of models on a sensitive column of numbers: to most of them 3000 and 3010 are two values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from shoal.facts import Facts
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.models.base import Model
from shoal.table.classes import ClassStats, ClassView
from shoal.table.numbers import Numbers

MANY: Final = 20
"""Different numbers from which on a column is taken for a quantity: fewer may be codes, grades or answers."""


@dataclass(frozen=True, eq=False)
class PolicyWarning(Facts):
    """Something about the policy that is no error and that its owner should know."""

    code: Literal["near-numbers"]
    """A sensitive column of many different numbers, and models on it that tell any two values apart alike."""
    sensitive: str
    distinct: int
    """Different numbers of the column."""
    models: tuple[str, ...]


def _mostly_numbers(view: ClassView) -> Numbers | None:
    """The numbers of a column where half of its known records or more have one; a few may have a text instead."""
    domain = view.domain
    known = [None if value is None or value in domain.unknown else parse_decimal(value) for value in domain.values]
    numbers = Numbers.of([None if number is None else str(number) for number in known])
    if numbers is None or 2 * view.totals[numbers.rank >= 0].sum() < view.totals[domain.known].sum():
        return None
    return numbers


def warnings_of(models: Sequence[Model], stats: ClassStats) -> tuple[PolicyWarning, ...]:
    """The sensitive columns of many numbers whose models do not see which numbers are near."""
    found = []
    for name in stats.histograms:
        view = stats.view(name)
        on_column = [model for model in models if model.column == name]
        numbers = _mostly_numbers(view)
        if numbers is None or not on_column or not all(model.tells_near_values_apart for model in on_column):
            continue
        ranks = np.unique(numbers.rank[view.totals > 0])
        distinct = int(np.count_nonzero(ranks >= 0))
        if distinct >= MANY:
            names = tuple(dict.fromkeys(model.name for model in on_column))
            found.append(PolicyWarning("near-numbers", name, distinct, names))
    return tuple(found)
