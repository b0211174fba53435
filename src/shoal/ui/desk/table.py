"""Questions about the table itself: open one, look at it, its columns and their values."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from shoal.draft import draft_facts, policy_text
from shoal.draft.profile import Profile
from shoal.errors import InputError
from shoal.io import canonical_text
from shoal.policy.spec import DataSpec
from shoal.policy.yaml_text import dump_yaml, parse_yaml
from shoal.ui.desk import document
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.table_facts import describe_again, describe_table, profile_of
from shoal.ui.server.workspace import read_json, safe_name, write_bytes, write_json

EXAMPLE = ("hospital.csv", "hospital.yaml")
_PAGE = 200  # rows in one answer, at most
_LISTED = 20_000  # values of a column in one answer, at most; the answer says how many there are
_BARS = 40


def open_upload(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Open a file that has come in; only when it can be read does it take the place of the table before."""
    path = desk.workspace.folder / "incoming" / safe_name(str(query["name"]))
    return _open(desk, path, query.get("options", {}), None)


def open_example(desk: Desk, _: Mapping[str, Any]) -> dict[str, Any]:
    """Open the bundled hospital table with its policy."""
    folder = desk.workspace.folder / "incoming"
    folder.mkdir(mode=0o700, exist_ok=True)
    data, policy = (resources.files("shoal.data").joinpath(name).read_bytes() for name in EXAMPLE)
    write_bytes(folder / EXAMPLE[0], data)
    return _open(desk, folder / EXAMPLE[0], {}, parse_yaml(policy.decode(), EXAMPLE[1]))


def reread(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Open the table again, read in another manner: separator, encoding, sheet."""
    return _open(desk, desk.workspace.table(), query.get("options", {}), None)


def _open(desk: Desk, path: Path, options: Mapping[str, Any], content: Any) -> dict[str, Any]:
    """Read, draft and describe; then, and only then, change what is in the session's folder."""
    given = {key: value for key, value in options.items() if key in {"separator", "encoding", "sheet"} and value}
    facts = draft_facts(path, **given)
    desk.check_size(path, facts.records)
    given_policy = parse_yaml(policy_text(facts), "the draft") if content is None else content
    content = document.check_document(given_policy).document
    table = desk.read(path, DataSpec.model_validate({**content["data"], "path": path.name}))
    described = describe_table(path, table, facts)
    _move_into_place(desk, path)
    desk.open(table, content)
    text = dump_yaml(content)
    write_bytes(desk.workspace.policy, text.encode())
    write_json(desk.workspace.table_notes, described)
    return {"table": described, "policy": document.to_page(content), **document.file_facts(text)}


def _move_into_place(desk: Desk, path: Path) -> None:
    """Put the new file where the old one was; runs of another table go with it."""
    if path.parent == desk.workspace.data:
        return
    for old in desk.workspace.data.iterdir():
        old.unlink()
    for run in desk.workspace.runs.iterdir():
        shutil.rmtree(run, ignore_errors=True)  # one may still go on; the server ends it
    path.replace(desk.workspace.data / path.name)


def about_table(desk: Desk, _: Mapping[str, Any]) -> dict[str, Any]:
    """The table as the policy says now that cells are read: marks of a missing value may have come or gone."""
    described = describe_again(read_json(desk.workspace.table_notes), desk.table())
    write_json(desk.workspace.table_notes, described)
    return {"table": described}


def profile(desk: Desk, name: str) -> tuple[Profile, str]:
    """The values of a column with their records, and their kind; kept as long as the table is read in the same way."""
    table = desk.table()
    if name not in table.column_names:
        raise InputError(f"The table has no column {name!r}.", code="unknown-column")
    reading = desk.data_spec().model_dump_json()
    if desk.cache.get("reading") != reading:
        desk.cache["reading"], desk.cache["read columns"] = reading, {}
    known: dict[str, tuple[Profile, str]] = desk.cache["read columns"]
    if name not in known:
        known[name] = profile_of(table, name)
    return known[name]


def rows(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Some rows of the table as text, from ``offset``; a missing value is null."""
    table = desk.table()
    offset, limit = max(int(query.get("offset", 0)), 0), min(int(query.get("limit", 50)), _PAGE)
    part = table.slice(offset, limit)
    cells = [canonical_text(part.column(name)).to_pylist() for name in part.column_names]
    return {
        "columns": part.column_names,
        "rows": [list(row) for row in zip(*cells, strict=True)],
        "offset": offset,
        "records": table.num_rows,
    }


def column(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a column with their records, most frequent first, and a histogram where they are numbers.

    ``search`` keeps the values that hold a text. Where there are more values than one answer takes, it says so.
    """
    name = str(query.get("name"))
    values, kind = profile(desk, name)
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
    """Records in up to forty bins of one width from the smallest to the largest number; None where a bin has no width
    that a computer could say.
    """
    values = np.array([float(value) for value, _ in numbers])
    weights = np.array([count for _, count in numbers], dtype=np.int64)
    low, high = float(values[0]), float(values[-1])
    if not math.isfinite(high - low):
        return None
    bars = min(_BARS, len(values))
    counts, edges = np.histogram(values, bins=bars, range=(low, high if high > low else low + 1), weights=weights)
    return {"low": low, "high": high, "edges": edges.tolist(), "counts": [int(count) for count in counts]}


ANSWERS = {
    "open_upload": open_upload,
    "open_example": open_example,
    "reread": reread,
    "about_table": about_table,
    "rows": rows,
    "column": column,
}
