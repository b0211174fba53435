"""Questions about the table itself: open one, look at it, its columns and their values."""

import math
import shutil
from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.draft import PolicyDraft, draft_facts, policy_text
from shoal.draft.profile import Profile, date_form
from shoal.draft.propose import Proposal, propose
from shoal.draft.wording import flow
from shoal.encode.relative_dates import rows_as_read, table_as_read
from shoal.errors import InputError
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.io import DataSource, canonical_text, encode
from shoal.io.formats.excel import sheet_names
from shoal.policy.spec import DataSpec, HierarchySpec
from shoal.policy.yaml_text import dump_yaml, parse_yaml
from shoal.table.distinct_rows import DistinctRows
from shoal.ui.desk import document
from shoal.ui.desk.desk import Desk
from shoal.ui.server.workspace import read_json, safe_name, write_bytes, write_json

_EXAMPLE = ("hospital.csv", "hospital.yaml")
_PAGE = 200  # rows in one answer, at most
_LISTED = 20_000  # values of a column in one answer, at most; the answer says how many there are
_BARS = 40
_SAMPLES = 5
_MOST_PROPOSED = 2000
"""Values of a column whose role needs no hierarchy, up to which one is worth the time all the same."""
_FEW_ODD, _MOSTLY = 5, 0.9
_UNKNOWN = {"role": "identifier", "why": "Nothing is known about it.", "warning": ""}
"""The advice on a column that the draft says nothing of."""


def open_upload(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Open a file that has come in; it replaces the table before only when it can be read."""
    return _open(desk, desk.workspace.incoming / safe_name(str(query["name"])), query.get("options", {}))


def open_example(desk: Desk, _: Mapping[str, Any]) -> dict[str, Any]:
    """Open the bundled hospital table with its policy."""
    data, policy = (resources.files("shoal.data").joinpath(name).read_bytes() for name in _EXAMPLE)
    desk.workspace.incoming.mkdir(mode=0o700, exist_ok=True)
    path = desk.workspace.incoming / _EXAMPLE[0]
    write_bytes(path, data)
    return _open(desk, path, {}, parse_yaml(policy.decode(), _EXAMPLE[1]))


def reread(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Open the table again, read in another manner: separator, encoding, sheet."""
    return _open(desk, desk.workspace.table(), query.get("options", {}))


def _open(desk: Desk, path: Path, options: Mapping[str, Any], policy: Any = None) -> dict[str, Any]:
    """Read, draft and describe; then, and only then, change what is in the session's folder."""
    given = {key: value for key, value in options.items() if key in {"separator", "encoding", "sheet"} and value}
    facts = draft_facts(path, **given)
    desk.check_size(path, facts.records)
    drafted = parse_yaml(policy_text(facts), "the draft") if policy is None else policy
    content = document.check_document(drafted).document
    table = desk.read(path, DataSpec.model_validate({**content["data"], "path": path.name}))
    described = _describe(path, table, facts)
    if path.parent != desk.workspace.data:
        for old in desk.workspace.data.iterdir():
            old.unlink()
        for run in desk.workspace.runs.iterdir():  # those of another table go with it
            shutil.rmtree(run, ignore_errors=True)  # one may still go on; the server ends it
        path.replace(desk.workspace.data / path.name)
    desk.open(table, desk.data_spec(content))
    text = dump_yaml(content)
    write_bytes(desk.workspace.policy, text.encode())
    write_json(desk.workspace.table_notes, described)
    return {"table": described, "policy": document.to_page(content), **document.file_facts(text)}


def _describe(path: Path, table: pa.Table, facts: PolicyDraft) -> dict[str, Any]:
    """The table as the page shows it, with what the draft says of each column, and how the file was read."""
    decided = {each.name: each for each in facts.decisions}
    columns = []
    for name in table.column_names:
        values, kind = profile_of(table, name)
        decision = decided.get(name)
        advice = _UNKNOWN if decision is None else {key: getattr(decision, key) for key in _UNKNOWN}
        suited = _suited(values, None if decision is None else decision.proposal)
        columns.append({"name": name, **_about_values(values, kind), **advice, "suited": suited})
    reading: dict[str, Any] = {}
    why: list[str] = []
    if found := facts.text_format:
        reading, why = (
            {"separator": found.separator, "encoding": found.encoding},
            [found.why_separator, found.why_encoding],
        )
    elif facts.sheet is not None:
        reading = {"sheet": facts.sheet, "sheets": sheet_names(DataSource(path))}
    return {
        "name": path.name,
        "bytes": path.stat().st_size,
        "records": facts.records,
        "unique": facts.unique,
        "columns": columns,
        "unreadable": [{"name": name, "kind": kind} for name, kind in facts.unreadable],
        "reading": reading,
        "why_reading": why,
    }


def about_table(desk: Desk, _: Mapping[str, Any]) -> dict[str, Any]:
    """The table as the policy says now that cells are read: values are counted anew, the advice stays."""
    known, table = read_json(desk.workspace.table_notes), desk.table()
    before = {each["name"]: each for each in known["columns"]}
    columns = []
    for name in table.column_names:
        values, kind = profile(desk, name)
        advice = before.get(name, _UNKNOWN)
        suited = advice["suited"] if kind == advice.get("kind") else _suited(values, None)
        columns.append({"name": name, **advice, "suited": suited, **_about_values(values, kind)})
    quasi = [each["name"] for each in columns if each["role"] == "quasi"]
    sizes = table.group_by(quasi).aggregate([([], "count_all")]).column("count_all").to_numpy() if quasi else []
    unique = int(np.count_nonzero(sizes == 1))
    described = {**known, "records": table.num_rows, "unique": unique, "columns": columns}
    write_json(desk.workspace.table_notes, described)
    return {"table": described}


def _about_values(values: Profile, kind: str) -> dict[str, Any]:
    """What the values of a column tell by themselves; ``odd`` are the few that keep it from being one of numbers."""
    odd: dict[str, int] = {}
    if values.numbers is None and not values.leading_zeros:
        odd = {value: count for value, count in values.counts.items() if parse_decimal(value) is None}
    numbers = values.present - sum(odd.values())
    few = len(odd) <= _FEW_ODD < values.distinct and numbers >= _MOSTLY * values.present
    return {
        "kind": kind,
        "distinct": values.distinct,
        "missing": values.missing,
        "samples": list(values.counts)[:_SAMPLES],
        "odd": list(odd) if few else [],
    }


def _suited(values: Profile, proposal: Proposal | None) -> dict[str, Any]:
    """The hierarchy to begin with when the column becomes a quasi-identifier, as the page edits it."""
    if proposal is None and values.distinct > _MOST_PROPOSED:
        return {"flat": True}
    spec = (proposal if proposal is not None else propose(values, date_form(values))).spec
    long = expanded_proposal(spec)
    return {"tree": document.tree_to_page(long["tree"])} if "tree" in long else long


def expanded_proposal(spec: Any) -> dict[str, Any]:
    """A proposed hierarchy as the policy has it, with every short form expanded."""
    given = HierarchySpec.model_validate(parse_yaml(flow(spec), "a proposal"))
    return given.model_dump(exclude_unset=True, exclude_none=True)


def profile(desk: Desk, name: str) -> tuple[Profile, str]:
    """The values of a column with their records, and their kind; kept as long as the table is read in the same way."""
    table = desk.table()
    if name not in table.column_names:
        raise InputError(f"The table has no column {name!r}.", code="unknown-column")
    found: tuple[Profile, str] = desk.cache.once(("column", name), lambda: profile_of(table, name))
    return found


def profile_as_read(desk: Desk, name: str) -> tuple[Profile, str]:
    """The same of a column as the policy reads it: in days, where it is a date that is relative to another."""
    policy = desk.checked().policy
    if policy is None or name not in policy.relative_columns:
        return profile(desk, name)
    relative, table = policy.relative_columns, desk.table()
    used = {*policy.person_columns, *relative, *relative.values()}

    def in_days() -> tuple[Profile, str]:
        dates = table.select([each for each in table.column_names if each in used])
        return profile_of(table_as_read(dates, rows_as_read(DistinctRows.of(dates), policy), policy), name)

    key = ("days", name, tuple(relative.items()), policy.person_columns)
    found: tuple[Profile, str] = desk.cache.once(key, in_days)
    return found


def profile_of(table: pa.Table, name: str) -> tuple[Profile, str]:
    """The values of a column with their records, and what they are in a word or two."""
    labels, codes = encode(table.column(name))
    counts = dict(zip(labels, np.bincount(codes, minlength=len(labels)).tolist(), strict=True))
    missing = counts.pop(None, 0)
    values = Profile.of(name, {str(value): count for value, count in counts.items()}, missing)
    if not values.counts:
        kind = "no values"
    elif values.leading_zeros:
        kind = "codes of digits"
    elif values.numbers is not None:
        kind = "whole numbers" if values.decimals == 0 else "numbers"
    elif date_form(values) is not None:
        kind = "dates"
    elif values.prose:
        kind = "free text"
    else:
        kind = "two values" if values.distinct == 2 else "text"
    return values, kind


def rows(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Some rows of the table as text, from ``offset``; a missing value is null."""
    table = desk.table()
    offset, limit = max(int(query.get("offset", 0)), 0), min(int(query.get("limit", 50)), _PAGE)
    part = table.slice(offset, limit)
    cells = [canonical_text(part.column(name)).to_pylist() for name in part.column_names]
    listed = [list(row) for row in zip(*cells, strict=True)]
    return {"columns": part.column_names, "rows": listed, "offset": offset, "records": table.num_rows}


def column(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a column with their records, most frequent first, and a histogram where they are numbers.

    ``search`` keeps the values that hold a text. Where there are more values than one answer takes, it says so.
    """
    name = str(query.get("name"))
    values, kind = profile_as_read(desk, name)
    wanted = str(query.get("search", "")).casefold()
    found = [[value, count] for value, count in values.counts.items() if wanted in value.casefold()]
    return {
        "name": name,
        "kind": kind,
        "distinct": values.distinct,
        "missing": values.missing,
        "found": len(found),
        "values": found[:_LISTED],
        "histogram": histogram(values.numbers) if values.numbers is not None else None,
        "longest": max((len(value) for value in values.counts), default=0),
    }


def histogram(numbers: Sequence[tuple[Decimal, int]]) -> dict[str, Any] | None:
    """Records in up to forty bins of one width over all numbers; None where no computer could say that width."""
    values = np.array([float(value) for value, _ in numbers])
    weights = np.array([count for _, count in numbers], dtype=np.int64)
    low, high = float(values[0]), float(values[-1])
    if not math.isfinite(high - low):
        return None
    bars = min(_BARS, len(values))
    counts, edges = np.histogram(values, bins=bars, range=(low, high if high > low else low + 1), weights=weights)
    return {"low": low, "high": high, "edges": edges.tolist(), "counts": [int(count) for count in counts]}
