"""One numbering of what a person may have in a sensitive column, for releases that publish it in different ways.

It is as fine as the new release publishes the column: where that shows categories, a value of an earlier release counts
as its category; where it shows values, a category of an earlier release stands for all its values. What the categories
hold is read from the new policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attacks.registry.signature import ReleasedSecret, categories_fingerprint
from shoal.attacks.released_classes import Ints, as_written
from shoal.attacks.released_labels import UnreadableError
from shoal.hierarchies.hierarchy import Label
from shoal.models import Model
from shoal.policy import Policy

Key = tuple[str, Label]  # a category or a value, and its text: a category may be called like a value
_CATEGORY, _VALUE = "category", "value"


@dataclass(frozen=True, eq=False)
class Secrets:
    """The numbering, and how many different secrets are promised."""

    column: str
    number: Mapping[Key, int]
    own: Ints  # the number of each value of the new release's domain
    category_of: Ints  # the category of each number, counted from 0; a value in none has one of its own
    values_required: int  # distinct values required, two at least
    categories_required: int  # distinct categories required; 0 where no model counts them
    groups: Sequence[Sequence[Ints]]  # for each earlier release the numbers that each of its values stands for

    @staticmethod
    def of(
        policy: Policy,
        column: str,
        own_values: Sequence[Label],
        models: Sequence[Model],
        earlier: Sequence[tuple[ReleasedSecret, Policy]],
        *,
        as_values: bool = False,
    ) -> Secrets:
        """Number the values of a column; `UnreadableError` where an earlier release cannot be read.

        Each earlier release comes with the policy that its categories are read by. ``as_values`` numbers values even
        where categories are published, which then stand for all their values.
        """
        as_categories = policy.published(column) == "categories" and not as_values
        category_of = _category_of(policy, column)
        own: list[Key] = [(_CATEGORY if as_categories else _VALUE, value) for value in own_values]
        stands = [_stands_for(its_policy, each, as_categories) for each, its_policy in earlier]
        every = sorted({*own, *(key for groups in stands for keys in groups for key in keys)}, key=_order)
        number = {key: index for index, key in enumerate(every)}
        values, categories = promised(models, column)
        if as_categories:
            values, categories = max(values, categories), 0
        return Secrets(
            column=column,
            number=number,
            own=np.array([number[key] for key in own], dtype=np.int64),
            category_of=_numbered_categories(every, category_of),
            values_required=max(2, values),
            categories_required=categories,
            groups=[[np.array([number[key] for key in keys], dtype=np.int64) for keys in groups] for groups in stands],
        )


def promised(models: Sequence[Model], column: str) -> tuple[int, int]:
    """Distinct values and distinct categories that the models on a column promise in each class."""
    on_column = [model for model in models if model.column == column]
    values = max((model.least_values for model in on_column), default=1)
    return values, max((model.least_categories for model in on_column), default=0)


def categories_read_as_now(policy: Policy, released: ReleasedSecret) -> bool:
    """Whether categories are read by a declaration that is not the one they were released by."""
    return released.published == "categories" and categories_fingerprint(policy, released.name) != released.categories


def _stands_for(policy: Policy, released: ReleasedSecret, as_categories: bool) -> list[list[Key]]:
    """What each value of an earlier release stands for."""
    category_of = _category_of(policy, released.name)
    if released.published != "categories":
        if not as_categories:
            return [[(_VALUE, value)] for value in released.values]
        return [
            [(_CATEGORY, category_of[value]) if value in category_of else (_VALUE, value)] for value in released.values
        ]
    declared = policy.columns[released.name].category_values
    unknown = [value for value in released.values if value not in declared]
    if unknown:
        raise UnreadableError("categories-gone", released.name, labels=unknown)
    if as_categories:
        return [[(_CATEGORY, value)] for value in released.values]
    members: dict[str, list[Key]] = {category: [] for category in declared}
    for value, category in category_of.items():
        members[category].append((_VALUE, value))
    return [members[str(value)] for value in released.values]


def _category_of(policy: Policy, column: str) -> dict[Label, str]:
    """The category of each value as a release writes it: a hierarchy writes values in its own way."""
    found: dict[Label, str] = {}
    for category, values in policy.columns[column].category_values.items():
        found |= dict.fromkeys(as_written(policy, column, values), category)
    return found


def _numbered_categories(keys: Sequence[Key], category_of: Mapping[Label, str]) -> Ints:
    """The category of each key; of a value that is in none, a category of its own."""
    of_key: list[Key] = [
        (_CATEGORY, category_of[text]) if kind == _VALUE and text in category_of else (kind, text)
        for kind, text in keys
    ]
    number = {key: place for place, key in enumerate(sorted(set(of_key), key=_order))}
    return np.array([number[key] for key in of_key], dtype=np.int64)


def _order(key: Key) -> tuple[str, bool, str]:
    kind, text = key
    return kind, text is None, text or ""
