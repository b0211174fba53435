"""What the page shows of a table and each of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.draft import PolicyDraft
from shoal.draft.profile import Profile, date_form
from shoal.draft.propose import Proposal, propose
from shoal.draft.wording import flow
from shoal.hierarchies.labels import parse_decimal
from shoal.io import DataSource, encode
from shoal.io.formats.excel import sheet_names
from shoal.policy.spec import HierarchySpec
from shoal.policy.yaml_text import parse_yaml
from shoal.ui.desk.document import tree_to_page

_SAMPLES = 5
_MOST_PROPOSED = 2000
"""Values of a column whose role needs no hierarchy, up to which one is worth the time all the same."""
_FEW_ODD = 5
_MOSTLY = 0.9
_UNKNOWN = {"role": "identifier", "why": "Nothing is known about it.", "warning": ""}
"""The advice on a column that the draft says nothing of."""


def describe_table(path: Path, table: pa.Table, facts: PolicyDraft) -> dict[str, Any]:
    """The table, with what the draft says of each column."""
    decided = {each.name: each for each in facts.decisions}
    columns = []
    for name in table.column_names:
        profile, kind = profile_of(table, name)
        decision = decided.get(name)
        advice = _UNKNOWN if decision is None else {key: getattr(decision, key) for key in _UNKNOWN}
        suited = _suited(profile, None if decision is None else decision.proposal)
        columns.append({"name": name, **_values(profile, kind), **advice, "suited": suited})
    return {
        "name": path.name,
        "bytes": path.stat().st_size,
        "records": facts.records,
        "unique": facts.unique,
        "columns": columns,
        "unreadable": [{"name": name, "kind": kind} for name, kind in facts.unreadable],
        **_reading(path, facts),
    }


def describe_again(known: Mapping[str, Any], table: pa.Table) -> dict[str, Any]:
    """The table after its policy says otherwise how cells are read: values are counted anew, the advice stays."""
    before = {each["name"]: each for each in known["columns"]}
    columns = []
    for name in table.column_names:
        profile, kind = profile_of(table, name)
        advice = before.get(name, _UNKNOWN)
        suited = advice["suited"] if kind == advice.get("kind") else _suited(profile, None)
        columns.append({"name": name, **advice, "suited": suited, **_values(profile, kind)})
    quasi = [each["name"] for each in columns if each["role"] == "quasi"]
    sizes = table.group_by(quasi).aggregate([([], "count_all")]).column("count_all").to_numpy() if quasi else []
    return {**known, "records": table.num_rows, "unique": int(np.count_nonzero(sizes == 1)), "columns": columns}


def _values(profile: Profile, kind: str) -> dict[str, Any]:
    """What the values of a column tell by themselves."""
    return {
        "kind": kind,
        "distinct": profile.distinct,
        "missing": profile.missing,
        "samples": list(profile.counts)[:_SAMPLES],
        "odd": _odd(profile),
    }


def _reading(path: Path, facts: PolicyDraft) -> dict[str, Any]:
    """How the file was read, as far as it could be read in another way, and why."""
    if facts.text_format is not None:
        found = facts.text_format
        why = [found.why_separator, found.why_encoding]
        return {"reading": {"separator": found.separator, "encoding": found.encoding}, "why_reading": why}
    if facts.sheet is None:
        return {"reading": {}, "why_reading": []}
    return {"reading": {"sheet": facts.sheet, "sheets": sheet_names(DataSource(path))}, "why_reading": []}


def _odd(profile: Profile) -> list[str]:
    """The few values that keep a column of numbers from being one; empty where that is not so."""
    if profile.numbers is not None or profile.leading_zeros:
        return []
    odd = {value: count for value, count in profile.counts.items() if parse_decimal(value) is None}
    numbers = profile.present - sum(odd.values())
    few = len(odd) <= _FEW_ODD < profile.distinct and numbers >= _MOSTLY * profile.present
    return list(odd) if few else []


def _suited(profile: Profile, proposal: Proposal | None) -> dict[str, Any]:
    """The hierarchy to begin with when the column becomes a quasi-identifier, as the page edits it."""
    if proposal is None and profile.distinct > _MOST_PROPOSED:
        return {"flat": True}
    chosen = proposal if proposal is not None else propose(profile, date_form(profile))
    spec = HierarchySpec.model_validate(parse_yaml(flow(chosen.spec), "a proposal"))
    long = spec.model_dump(exclude_unset=True, exclude_none=True)
    return {"tree": tree_to_page(long["tree"])} if "tree" in long else long


def profile_of(table: pa.Table, name: str) -> tuple[Profile, str]:
    """The values of a column with their records, and what they are in a word or two."""
    labels, codes = encode(table.column(name))
    counts = dict(zip(labels, np.bincount(codes, minlength=len(labels)).tolist(), strict=True))
    missing = counts.pop(None, 0)
    profile = Profile.of(name, {str(value): count for value, count in counts.items()}, missing)
    return profile, _kind(profile)


def _kind(profile: Profile) -> str:
    if not profile.counts:
        return "no values"
    if profile.leading_zeros:
        return "codes of digits"
    if profile.numbers is not None:
        return "whole numbers" if profile.decimals == 0 else "numbers"
    if date_form(profile) is not None:
        return "dates"
    if profile.prose:
        return "free text"
    return "two values" if profile.distinct == 2 else "text"
