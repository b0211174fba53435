"""The order of the published values of a sensitive column."""

from collections.abc import Callable, Collection
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.verification.canonical_text import Label
from shoal.verification.declared_labels import labels_of
from shoal.verification.intervals import lower_end
from shoal.verification.labels import ListedLabels
from shoal.verification.stated_policy import StatedPolicy


def by_text(present: Collection[Label], key: Callable[[str], Any] = str) -> tuple[Label, ...]:
    """Values in the order of what their texts are, the missing one last."""
    texts = [value for value in present if value is not None]
    texts.sort(key=lambda text: (key(text), text))
    return (*texts, None) if None in present else tuple(texts)


def by_nature(present: Collection[Label]) -> tuple[Label, ...] | None:
    """Values in the order of numbers or of ISO dates; None where they are neither."""
    for natural in (Fraction, np.datetime64):
        with suppress(ValueError):
            return by_text(present, natural)
    return None


def listed_values(policy: StatedPolicy, column: str) -> list[Label]:
    """The published values that the policy lists, in its order: of categories, of a hierarchy, or in categories."""
    stated = policy.columns[column]
    if stated.publish == "categories":
        return list(stated.categories)
    if stated.hierarchy:
        labels = labels_of(policy, column)
        return list(labels.declared) if isinstance(labels, ListedLabels) else []
    return [value for values in stated.categories.values() for value in values]


def in_order(present: Collection[Label], policy: StatedPolicy, column: str) -> tuple[Label, ...]:
    """Published values in the policy's order, others after them by their nature, or by their text."""
    listed = [value for value in listed_values(policy, column) if value in present]
    others, stated = set(present) - set(listed), policy.columns[column]
    if stated.bins is not None:
        return by_text(others, lower_end)
    codes = {"mask", "flat"} & set(stated.hierarchy)  # texts, even if all of them are digits
    return (*listed, *(by_text(others) if codes else by_nature(others) or by_text(others)))
