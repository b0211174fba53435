"""Questions about the records of a run: before and after side by side, and its classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.hierarchies.hierarchy import Label
from shoal.io import canonical_text
from shoal.models import model_title
from shoal.table.classes import Histogram
from shoal.ui.desk.desk import Desk
from shoal.ui.run.saved_run import Ints, SavedRun, saved_run

_PAGE = 100  # records or classes in one answer, at most
LEFT_OUT = 0  # what a question names as class for the records that were left out; classes are counted from 1


def before_after(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Some records as they were and as they are released, by class; the records that were left out come last.

    ``search`` keeps those whose original values hold a text (in ``column``, or in any), ``class`` those of one class.
    """
    run = saved_run(desk, query)
    chosen = _chosen(run, query)
    offset, limit = _page(query)
    records = chosen[offset : offset + limit]
    names, released = run.original.column_names, run.released_columns
    part = run.original.take(pa.array(records))
    before = [canonical_text(part.column(name)).to_pylist() for name in names]
    after = [(head, _released(run, head, records)) for name in released for head in _heads(run, name)]
    rows = [_record(run, place, int(record), before, after) for place, record in enumerate(records)]
    roles = {name: column.role for name, column in run.policy.columns.items()}
    return {
        "records": run.original.num_rows,
        "found": len(chosen),
        "offset": offset,
        "before": [{"name": name, "role": roles.get(name)} for name in names],
        "after": [{"name": head, "role": roles[name], "of": name} for name in released for head in _heads(run, name)],
        "rows": rows,
        "starred": run.policy.suppressed == "star",
        "left_out": run.recoding.suppressed,
        "classes": run.recoding.n_classes,
    }


def _page(query: Mapping[str, Any]) -> tuple[int, int]:
    return max(int(query.get("offset", 0)), 0), min(max(int(query.get("limit", 25)), 1), _PAGE)


def _chosen(run: SavedRun, query: Mapping[str, Any]) -> Ints:
    """The records that are wanted, by class and then by their number."""
    owner = run.record_class
    if "order" not in run.cache:
        key = np.where(owner < 0, run.recoding.n_classes, owner)
        run.cache["order"] = np.argsort(key, kind="stable")
    order: Ints = run.cache["order"]
    wanted = np.ones(len(owner), dtype=np.bool_)
    if query.get("class") is not None:
        number = int(query["class"])
        if not LEFT_OUT <= number <= run.recoding.n_classes:
            message = f"There is no class {number}: their numbers run from 1 to {run.recoding.n_classes:,}."
            raise InputError(message, code="unknown-class")
        wanted &= owner == (number - 1 if number != LEFT_OUT else -1)
    if text := str(query.get("search") or ""):
        wanted &= _holding(run, text, query.get("column"))
    return order[wanted[order]]


def _holding(run: SavedRun, text: str, column: Any) -> NDArray[np.bool_]:
    """The records one of whose original values holds a text, whatever its case."""
    names = run.original.column_names
    if column and column not in names:
        raise InputError(f"The table has no column {column!r}.", code="unknown-column")
    found = np.zeros(run.original.num_rows, dtype=np.bool_)
    for name in [str(column)] if column else names:
        holds = pc.match_substring(_texts(run, name), text, ignore_case=True)
        found |= holds.fill_null(False).to_numpy(zero_copy_only=False)
    return found


def _texts(run: SavedRun, name: str) -> pa.Array | pa.ChunkedArray:
    """A column of the file as texts."""
    column = run.original.column(name)
    if pa.types.is_string(column.type):
        return column
    known = run.cache.setdefault("texts", {})
    if name not in known:
        known[name] = canonical_text(column)
    return known[name]


def _heads(run: SavedRun, name: str) -> list[str]:
    """The released columns that a column of the data becomes: itself, and perhaps its category."""
    both = run.policy.columns[name].role == "sensitive" and run.policy.published(name) == "both"
    return [name, f"{name}_category"] if both else [name]


def _released(run: SavedRun, head: str, records: Ints) -> list[tuple[Label, bool]]:
    """The released cells of some records and whether each says less than the value did; of those left out nothing."""
    columns = run.policy.columns
    if head in columns and columns[head].role == "quasi":
        index = run.recoding.quasi.index(head)
        leaves = run.leaf_codes(index)[records]
        nodes = run.recoding.nodes[run.record_class[records], index] if run.recoding.n_classes else leaves
        labels = run.recoding.hierarchies[index].labels
        return [(labels[node], node != leaf) for node, leaf in zip(nodes.tolist(), leaves.tolist(), strict=True)]
    if head in columns and columns[head].role == "insensitive":
        return [(text, False) for text in canonical_text(run.original.column(head).take(pa.array(records))).to_pylist()]
    name = head if head in columns else head.removesuffix("_category")
    domain = run.problem.domains[name]
    codes = run.problem.table.row_sensitive[name][records].tolist()
    if head != name:
        return [(domain.categories[domain.category_of[code]], True) for code in codes]
    coarser = run.policy.published(name) == "categories"
    return [(domain.values[code], coarser) for code in codes]


def _record(
    run: SavedRun, place: int, record: int, before: list[list[Label]], after: list[tuple[str, list[tuple[Label, bool]]]]
) -> dict[str, Any]:
    at = int(run.record_class[record])
    cells = None if at < 0 else [cells[place] for _, cells in after]
    return {
        "record": record + 1,
        "class": None if at < 0 else at + 1,
        "size": 0 if at < 0 else int(run.recoding.sizes[at]),
        "before": [column[place] for column in before],
        "after": None if cells is None else [text for text, _ in cells],
        "changed": None if cells is None else [changed for _, changed in cells],
    }


def classes(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The classes of a run, the smallest first, some at a time; and with the first page the weakest of each model."""
    run = saved_run(desk, query)
    offset, limit = _page(query)
    order = np.argsort(run.recoding.sizes, kind="stable")[offset : offset + limit]
    secrets = {name: _histogram(run, name) for name in run.problem.table.row_sensitive}
    listed = [
        {
            "class": int(at) + 1,
            "size": int(run.recoding.sizes[at]),
            "labels": run.labels_of(int(at)),
            "secrets": {name: _secret(run, name, each, int(at)) for name, each in secrets.items()},
        }
        for at in order
    ]
    return {
        "classes": run.recoding.n_classes,
        "offset": offset,
        "quasi": list(run.recoding.quasi),
        "listed": listed,
        "weakest": _weakest(run) if offset == 0 else [],
    }


def _histogram(run: SavedRun, name: str) -> Histogram:
    known = run.cache.setdefault("histograms", {})
    if name not in known:
        rows = run.recoding.row_class >= 0
        values = run.problem.table.row_sensitive[name][rows]
        width = len(run.problem.domains[name].values)
        owner = run.recoding.row_class[rows].astype(np.int64)
        known[name] = Histogram.of(owner, values, run.recoding.n_classes, width)
    found: Histogram = known[name]
    return found


def _secret(run: SavedRun, name: str, histogram: Histogram, at: int) -> dict[str, Any]:
    """How many values of a sensitive column a class has, and the most frequent of them."""
    entries = slice(int(histogram.starts[at]), int(histogram.starts[at + 1]))
    counts = histogram.counts[entries]
    most = int(np.argmax(counts))
    commonest = run.problem.domains[name].values[histogram.values[entries][most]]
    return {"values": len(counts), "most": commonest, "records": int(counts[most])}


def _weakest(run: SavedRun) -> list[dict[str, Any]]:
    """For each parameter of each model the class that satisfies it least, as the evidence has it, with its number."""
    return [
        {
            "model": model["model"],
            "title": model_title(model["model"]),
            "sensitive": model.get("sensitive"),
            "parameter": parameter,
            **{key: weakest[key] for key in ("strength", "size", "labels")},
            "as_weak": weakest["classes"],
            "class": _number_of(run, weakest["labels"]),
        }
        for model in run.evidence["models"]
        for parameter, weakest in model["weakest"].items()
    ]


def _number_of(run: SavedRun, labels: Mapping[str, Label]) -> int:
    """The class that shows these labels; two classes never show the same."""
    columns = zip(run.recoding.quasi, run.recoding.hierarchies, strict=True)
    nodes = [hierarchy.by_label[labels[name]] for name, hierarchy in columns]
    return int(np.flatnonzero((run.recoding.nodes == nodes).all(axis=1))[0]) + 1


ANSWERS = {"before_after": before_after, "classes": classes}
