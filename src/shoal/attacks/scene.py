"""What an attacker has: the released classes and, for some attacks, the quasi-identifiers of the original.

Classes, labels and values are numbered by their texts, so that nothing depends on how a release was made, read or
ordered: a file and the recoding that it was written from give the same scene.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.boundaries import Ladder
from shoal.hierarchies.hierarchy import Hierarchy, Label
from shoal.models import Model, least_size
from shoal.table.classes import ClassStats

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Extras:
    """Insensitive columns, released as they are: each distinct combination within a class."""

    columns: tuple[str, ...]
    owner: Ints
    """Class of each combination."""
    codes: Codes
    """``codes[j, e]``: what combination ``e`` has in insensitive column ``j``."""
    stats: ClassStats
    """Sizes of the combinations, and the sensitive columns in each."""

    @property
    def sizes(self) -> Ints:
        """Records of each combination."""
        return self.stats.sizes


@dataclass(frozen=True, eq=False)
class Released:
    """A release: its classes, what they show and the secrets in them."""

    quasi: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]
    """The labels that each quasi-identifier shows, sorted, the missing value last."""
    cells: Codes
    """``cells[j, c]``: place of the label that class ``c`` shows in column ``j``; no two classes show the same."""
    stats: ClassStats
    """Sizes of the classes, and the published sensitive columns as far as they occur."""
    models: tuple[Model, ...] = ()
    """The models that the policy promises."""
    protected: Mapping[str, frozenset[Label] | None] = field(default_factory=dict)
    """For each sensitive column the values that its models speak of; None: all of them."""
    extras: Extras | None = None

    @property
    def sizes(self) -> Ints:
        """Records of each class."""
        return self.stats.sizes

    @cached_property
    def records(self) -> int:
        """Records released, suppressed ones not counted."""
        return int(self.stats.sizes.sum())

    @property
    def asked_k(self) -> int:
        """How many records the policy promises to hide each one among, 1 where it promises nothing."""
        return least_size(self.models)

    @property
    def k(self) -> int:
        """How many records must hide a person for the person not to be exposed: those promised, and two at least."""
        return max(2, self.asked_k)

    def is_protected(self, column: str) -> NDArray[np.bool_]:
        """For each value of a sensitive column whether the policy's models speak of it."""
        values, protected = self.stats.domains[column].values, self.protected.get(column)
        return np.array([protected is None or value in protected for value in values], dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Original:
    """The records of the original: the quasi-identifiers that an attacker may know, as distinct rows."""

    codes: Codes
    """``codes[j, t]``: leaf of quasi-identifier ``j`` in tuple ``t``; tuples ascend."""
    counts: Ints
    hierarchies: tuple[Hierarchy, ...]
    """With the released ranges as nodes where there are any."""
    nodes: tuple[Codes, ...]
    """The node of each released label of each quasi-identifier; -1 for one that nobody of the original lies under."""
    ladders: tuple[Ladder, ...] = ()
    secrets: Mapping[str, tuple[Ints, Ints, Ints]] = field(default_factory=dict)
    """For each sensitive column (tuple, value, records): value as in the release, -1 for one that it does not show."""
    extras: tuple[Codes, Ints, Ints] | None = None
    """(codes, tuple, records): the insensitive columns of each distinct combination, coded as in the release."""

    @cached_property
    def records(self) -> int:
        """Records of the original."""
        return int(self.counts.sum())
