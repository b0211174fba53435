"""Releases for tests of a registry: a table, its release in memory, and what a registry keeps of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from shoal.attacks.attackers.composition import Composition, compose_with
from shoal.attacks.registry.entry import Entry
from shoal.attacks.registry.people import NewRelease
from shoal.attacks.registry.signature import signature_of
from shoal.attacks.released_classes import rows_of_release
from shoal.table.distinct_rows import DistinctRows
from shoal.table.recoding import Recoding
from support.attack_cases import table_of
from support.resolved import resolve

__all__ = ["CHAINS", "COLUMNS", "QUASI", "composed", "entry_of", "new_release", "policy_of", "table_of"]

TREE = {"A": ["a1", "a2"], "B": ["b1", "b2"]}
CHAINS = {leaf: [leaf, group, "*"] for group, leaves in TREE.items() for leaf in leaves}
QUASI: dict[str, Any] = {"role": "quasi", "hierarchy": {"tree": TREE}}
COLUMNS: dict[str, Any] = {"home": QUASI, "work": QUASI, "illness": {"role": "sensitive"}}


def policy_of(columns: Mapping[str, Any] = COLUMNS, *models: Any, **others: Any) -> shoal.Policy:
    privacy = list(models) or [{"model": "k-anonymity", "k": 1}]
    return shoal.Policy(columns=dict(columns), privacy=privacy, **{"algorithm": "optimal", **others})


def entry_of(policy: shoal.Policy, released: pa.Table, *, name: str = "first", date: str = "2026-01-31") -> Entry:
    """What a registry keeps of a released table."""
    rows = rows_of_release(released, policy)
    signature = signature_of(policy, rows)
    return Entry(name, date, f"{name:0>64}", policy.sha256, signature)


def new_release(
    policy: shoal.Policy, original: pa.Table, released: Sequence[Sequence[str | None] | None]
) -> NewRelease:
    """A release by hand: what each record of the original shows in its quasi-identifiers; None: it is suppressed."""
    resolved = resolve(policy, original)
    names = policy.names("quasi")
    shown = sorted({tuple(each) for each in released if each is not None}, key=str)
    number = {each: place for place, each in enumerate(shown)}
    hierarchies = resolved.problem.hierarchies
    nodes = [[hierarchy.by_label[label] for hierarchy, label in zip(hierarchies, each, strict=True)] for each in shown]
    classes = [-1 if each is None else number[tuple(each)] for each in released]
    recoding = Recoding(
        tuple(names),
        hierarchies,
        np.array(classes, dtype=np.int32),
        np.array(nodes, dtype=np.int32).reshape(-1, len(names)),
    )
    rows = DistinctRows.of(original)
    assert rows.of_record is not None
    records = rows.take(rows.of_record, np.ones(original.num_rows, dtype=np.int64))
    return NewRelease(policy, records, resolved.problem, recoding)


def composed(new: NewRelease, *earlier: Entry) -> Composition:
    return compose_with(new, earlier)
