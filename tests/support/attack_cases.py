"""Releases for attack tests: tables from rows, and one attack out of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

import shoal
from shoal.attacks.attack import AttackResult

Rows = Sequence[Sequence[str | None]]


def table_of(names: Sequence[str], rows: Rows) -> pa.Table:
    """A table of text."""
    columns = list(zip(*rows, strict=True))
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(names, columns, strict=True)})


def policy_of(columns: Mapping[str, Any], *, privacy: Sequence[Any] | None = None, **others: Any) -> shoal.Policy:
    """A policy; k = 1 and one level per column unless it asks for something else."""
    asked = privacy if privacy is not None else [{"model": "k-anonymity", "k": 1}]
    return shoal.Policy(columns=dict(columns), privacy=list(asked), **{"algorithm": "optimal", **others})


def found(report: shoal.AttackReport, name: str, sensitive: str | None = None) -> AttackResult:
    """The one estimate of an attack."""
    (estimate,) = [
        each for each in report.attacks if each.name == name and (sensitive is None or each.sensitive == sensitive)
    ]
    return estimate
