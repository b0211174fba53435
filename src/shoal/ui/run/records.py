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
from shoal.present.report.words import MODELS
from shoal.table.classes import Histogram
from shoal.ui.desk.desk import Desk
from shoal.ui.server.saved_runs import Ints, Kept, kept_run

_PAGE = 100
"""Records or classes in one answer, at most."""
LEFT_OUT = 0
"""What a question names as class for the records that were left out; classes are counted from 1."""


def before_after(desk: Desk, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Some records as they were and as they are released, by class; the records that were left out come last.

    ``search`` keeps those whose original values hold a text (in ``column``, or in any), ``class`` those of one class.
    """
    kept = kept_run(desk, asked)
    chosen = _chosen(kept, asked)
    offset, limit = _page(asked)
    records = chosen[offset : offset + limit]
    names, released = kept.original.column_names, kept.released_columns
    part = kept.original.take(pa.array(records))
    before = [canonical_text(part.column(name)).to_pylist() for name in names]
    after = [(head, _released(kept, head, records)) for name in released for head in _heads(kept, name)]
    rows = [_record(kept, place, int(record), before, after) for place, record in enumerate(records)]
    roles = {name: column.role for name, column in kept.policy.columns.items()}
    return {
        "records": kept.original.num_rows,
        "found": len(chosen),
        "offset": offset,
        "before": [{"name": name, "role": roles.get(name)} for name in names],
        "after": [{"name": head, "role": roles[name], "of": name} for name in released for head in _heads(kept, name)],
        "rows": rows,
        "starred": kept.policy.suppressed == "star",
        "left_out": kept.recoding.suppressed,
        "classes": kept.recoding.n_classes,
    }


def _page(asked: Mapping[str, Any]) -> tuple[int, int]:
    return max(int(asked.get("offset", 0)), 0), min(max(int(asked.get("limit", 25)), 1), _PAGE)


def _chosen(kept: Kept, asked: Mapping[str, Any]) -> Ints:
    """The records that are wanted, by class and then by their number."""
    owner = kept.record_class
    if "order" not in kept.notes:
        key = np.where(owner < 0, kept.recoding.n_classes, owner)
        kept.notes["order"] = np.argsort(key, kind="stable")
    order: Ints = kept.notes["order"]
    wanted = np.ones(len(owner), dtype=np.bool_)
    if asked.get("class") is not None:
        number = int(asked["class"])
        if not LEFT_OUT <= number <= kept.recoding.n_classes:
            raise InputError(f"there is no class {number}: classes are counted from 1 to {kept.recoding.n_classes}.")
        wanted &= owner == (number - 1 if number != LEFT_OUT else -1)
    if text := str(asked.get("search") or ""):
        wanted &= _holding(kept, text, asked.get("column"))
    return order[wanted[order]]


def _holding(kept: Kept, text: str, column: Any) -> NDArray[np.bool_]:
    """The records one of whose original values holds a text, whatever its case."""
    names = kept.original.column_names
    if column and column not in names:
        raise InputError(f"the table has no column {column!r}.")
    found = np.zeros(kept.original.num_rows, dtype=np.bool_)
    for name in [str(column)] if column else names:
        holds = pc.match_substring(_texts(kept, name), text, ignore_case=True)
        found |= holds.fill_null(False).to_numpy(zero_copy_only=False)
    return found


def _texts(kept: Kept, name: str) -> pa.Array | pa.ChunkedArray:
    """A column of the file as texts."""
    column = kept.original.column(name)
    if pa.types.is_string(column.type):
        return column
    known = kept.notes.setdefault("texts", {})
    if name not in known:
        known[name] = canonical_text(column)
    return known[name]


def _heads(kept: Kept, name: str) -> list[str]:
    """The released columns that a column of the data becomes: itself, and perhaps its category."""
    both = kept.policy.columns[name].role == "sensitive" and kept.policy.published(name) == "both"
    return [name, f"{name}_category"] if both else [name]


def _released(kept: Kept, head: str, records: Ints) -> list[tuple[Label, bool]]:
    """The released cells of some records and whether each says less than the value did; of those left out nothing."""
    columns = kept.policy.columns
    if head in columns and columns[head].role == "quasi":
        return _quasi_cells(kept, kept.recoding.quasi.index(head), records)
    if head in columns and columns[head].role == "insensitive":
        return [
            (text, False) for text in canonical_text(kept.original.column(head).take(pa.array(records))).to_pylist()
        ]
    name = head if head in columns else head.removesuffix("_category")
    domain = kept.origin.problem.domains[name]
    codes = kept.origin.problem.table.row_sensitive[name][kept.row_of[records]].tolist()
    if head != name:
        return [(domain.categories[domain.category_of[code]], True) for code in codes]
    coarser = kept.policy.published(name) == "categories"
    return [(domain.values[code], coarser) for code in codes]


def _quasi_cells(kept: Kept, place: int, records: Ints) -> list[tuple[Label, bool]]:
    hierarchy, owner = kept.recoding.hierarchies[place], kept.record_class[records]
    leaves = kept.leaf_codes(place)[records]
    nodes = kept.recoding.nodes[owner, place] if kept.recoding.n_classes else leaves
    return [(hierarchy.labels[node], node != leaf) for node, leaf in zip(nodes.tolist(), leaves.tolist(), strict=True)]


def _record(
    kept: Kept, place: int, record: int, before: list[list[Label]], after: list[tuple[str, list[tuple[Label, bool]]]]
) -> dict[str, Any]:
    at = int(kept.record_class[record])
    cells = None if at < 0 else [cells[place] for _, cells in after]
    return {
        "record": record + 1,
        "class": None if at < 0 else at + 1,
        "size": 0 if at < 0 else int(kept.recoding.sizes[at]),
        "before": [column[place] for column in before],
        "after": None if cells is None else [text for text, _ in cells],
        "changed": None if cells is None else [changed for _, changed in cells],
    }


def classes(desk: Desk, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The classes of a run, the smallest first, some at a time; and with the first page the weakest of each model."""
    kept = kept_run(desk, asked)
    offset, limit = _page(asked)
    order = np.argsort(kept.recoding.sizes, kind="stable")[offset : offset + limit]
    secrets = {name: _histogram(kept, name) for name in kept.origin.problem.table.row_sensitive}
    listed = [
        {
            "class": int(at) + 1,
            "size": int(kept.recoding.sizes[at]),
            "labels": kept.labels_of(int(at)),
            "secrets": {name: _secret(kept, name, each, int(at)) for name, each in secrets.items()},
        }
        for at in order
    ]
    return {
        "classes": kept.recoding.n_classes,
        "offset": offset,
        "quasi": list(kept.recoding.quasi),
        "listed": listed,
        "weakest": _weakest(kept) if offset == 0 else [],
    }


def _histogram(kept: Kept, name: str) -> Histogram:
    known = kept.notes.setdefault("histograms", {})
    if name not in known:
        rows = kept.recoding.row_class >= 0
        values = kept.origin.problem.table.row_sensitive[name][rows]
        width = len(kept.origin.problem.domains[name].values)
        owner = kept.recoding.row_class[rows].astype(np.int64)
        known[name] = Histogram.of(owner, values, kept.recoding.n_classes, width)
    found: Histogram = known[name]
    return found


def _secret(kept: Kept, name: str, histogram: Histogram, at: int) -> dict[str, Any]:
    """How many values of a sensitive column a class has, and the most frequent of them."""
    entries = slice(int(histogram.starts[at]), int(histogram.starts[at + 1]))
    counts = histogram.counts[entries]
    most = int(np.argmax(counts))
    return {
        "values": len(counts),
        "most": kept.origin.problem.domains[name].values[histogram.values[entries][most]],
        "records": int(counts[most]),
    }


def _weakest(kept: Kept) -> list[dict[str, Any]]:
    """For each parameter of each model the class that satisfies it least, as the evidence has it, with its number."""
    return [
        {
            "model": model["model"],
            "title": MODELS[model["model"]].title if model["model"] in MODELS else model["model"],
            "sensitive": model.get("sensitive"),
            "parameter": parameter,
            "strength": weakest["strength"],
            "size": weakest["size"],
            "as_weak": weakest["classes"],
            "labels": weakest["labels"],
            "class": _number_of(kept, weakest["labels"]),
        }
        for model in kept.evidence["models"]
        for parameter, weakest in model["weakest"].items()
    ]


def _number_of(kept: Kept, labels: Mapping[str, Label]) -> int:
    """The class that shows these labels; two classes never show the same."""
    columns = zip(kept.recoding.quasi, kept.recoding.hierarchies, strict=True)
    nodes = [hierarchy.by_label[labels[name]] for name, hierarchy in columns]
    return int(np.flatnonzero((kept.recoding.nodes == nodes).all(axis=1))[0]) + 1
