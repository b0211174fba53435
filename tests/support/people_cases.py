"""Random classes of events, and what the package and the oracle each make of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from oracles.lattice_oracle import Secret
from oracles.people_oracle import Event
from shoal.table.classes import ClassStats, ClassView
from shoal.table.encoded import encode_table
from shoal.table.people import row_stats
from support.builders import with_unknown
from support.model_cases import CATEGORIES, COLUMN, DOMAIN, NUMBERS, VALUES

Events = Sequence[Sequence[Event]]


def _paths() -> dict[str | None, list[str | None]]:
    hierarchy = DOMAIN.hierarchy
    assert hierarchy is not None
    return {v: [hierarchy.labels[n] for n in reversed(hierarchy.path(i))] for i, v in enumerate(VALUES)}


def secret_of(unknown: frozenset[str | None] = frozenset()) -> Secret:
    """What the oracle knows of the column."""
    return Secret(CATEGORIES, VALUES, _paths(), NUMBERS, unknown)


SECRET = secret_of()


def events(*, min_classes: int = 0, max_classes: int = 4) -> st.SearchStrategy[list[list[Event]]]:
    """Random classes of a few people, who turn up again and again."""
    one = st.tuples(st.integers(0, 4), st.sampled_from(VALUES[:-1]))
    skewed = st.tuples(st.integers(0, 2), st.sampled_from(VALUES[:2]))
    crowd = st.tuples(st.integers(0, 30), st.sampled_from(VALUES[:3]))
    each = st.lists(one | skewed, min_size=1, max_size=8) | st.lists(crowd, min_size=1, max_size=8)
    return st.lists(each, min_size=min_classes, max_size=max_classes)


def people_stats_of(
    classes: Events, repeats: Sequence[int] | None = None, unknown: frozenset[str | None] = frozenset()
) -> ClassStats:
    """The statistics of classes; with ``repeats``, each event stands for so many equal records."""
    rows = [(at, *event) for at, each in enumerate(classes) for event in each]
    owner, person = (np.array([row[i] for row in rows], dtype=np.int32) for i in (0, 1))
    values = np.array([VALUES.index(row[2]) for row in rows], dtype=np.int32)
    weights = None if repeats is None else np.array(repeats, dtype=np.int64)
    n_rows = len(rows) if weights is None else int(weights.sum())
    table = encode_table({"at": (owner, max(len(classes), 1))}, {COLUMN: values}, n_rows, weights, person)
    return row_stats(table, owner, len(classes), {COLUMN: with_unknown(DOMAIN, unknown)}, [COLUMN])


def people_view(classes: Events, unknown: frozenset[str | None] = frozenset()) -> ClassView:
    """What a model sees of classes in people."""
    return people_stats_of(classes, unknown=unknown).view(COLUMN)
