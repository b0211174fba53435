"""Questions about the records of a run: before and after side by side, and its classes."""

from collections.abc import Mapping
from functools import partial
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
from shoal.table.people import class_people
from shoal.ui.desk.desk import Desk
from shoal.ui.run.saved_run import Ints, SavedRun, saved_run

_PAGE = 100  # records or classes in one answer, at most
SUPPRESSED = 0  # what a question names as class for the suppressed records; classes are counted from 1


def before_after(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Some records as they were and as they are released, by class; the suppressed records come last.

    ``search`` keeps those whose original values hold a text (in ``column``, or in any), ``class`` those of one class.
    """
    run = saved_run(desk, query)
    chosen, (offset, limit) = _chosen(run, query), _page(query)
    records = chosen[offset : offset + limit]
    names, roles = run.original.column_names, {name: column.role for name, column in run.policy.columns.items()}
    part = run.original.take(pa.array(records))
    before = [canonical_text(part.column(name)).to_pylist() for name in names]
    released = {name: _released(run, name, records) for name in run.released_columns}
    after = [cells for columns in released.values() for cells in columns.values()]
    rows = []
    for index, record in enumerate(records.tolist()):
        at = int(run.record_class[record])
        row = {"record": record + 1, "before": [column[index] for column in before]}
        row |= {"class": None, "size": 0, "after": None, "changed": None}
        if at >= 0:
            cells = [column[index] for column in after]
            row |= {"class": at + 1, "size": int(run.recoding.sizes[at])}
            row |= {"after": [text for text, _ in cells], "changed": [changed for _, changed in cells]}
        rows.append(row)
    return {
        "records": run.original.num_rows,
        "found": len(chosen),
        "offset": offset,
        "before": [{"name": name, "role": roles.get(name)} for name in names],
        "after": [
            {"name": head, "role": roles[name], "of": name} for name, heads in released.items() for head in heads
        ],
        "rows": rows,
        "starred": run.policy.suppressed == "star",
        "suppressed": run.recoding.suppressed,
        "classes": run.recoding.n_classes,
    }


def _page(query: Mapping[str, Any]) -> tuple[int, int]:
    return max(int(query.get("offset", 0)), 0), min(max(int(query.get("limit", 25)), 1), _PAGE)


def _chosen(run: SavedRun, query: Mapping[str, Any]) -> Ints:
    """The records that are wanted, by class and then by their number."""
    owner, last = run.record_class, run.recoding.n_classes
    order: Ints = run.cache.once("order", lambda: np.argsort(np.where(owner < 0, last, owner), kind="stable"))
    wanted = np.ones(len(owner), dtype=np.bool_)
    if query.get("class") is not None:
        number = int(query["class"])
        if not SUPPRESSED <= number <= last:
            message = f"There is no class {number}: their numbers run from 1 to {last:,}."
            raise InputError(message, code="unknown-class")
        wanted &= owner == (number - 1 if number != SUPPRESSED else -1)
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
        cells = run.original.column(name)
        if not pa.types.is_string(cells.type):
            cells = run.cache.once(("texts", name), partial(canonical_text, cells))
        holds = pc.match_substring(cells, text, ignore_case=True)
        found |= holds.fill_null(False).to_numpy(zero_copy_only=False)
    return found


def _released(run: SavedRun, name: str, records: Ints) -> dict[str, list[tuple[Label, bool]]]:
    """The columns that a column is released as: cells of some records, and whether each says less than the value."""
    role, published = run.policy.columns[name].role, run.policy.published(name)
    if role == "quasi":
        index = run.recoding.quasi.index(name)
        leaves = run.leaf_codes(index)[records]
        nodes = run.recoding.nodes[run.record_class[records], index] if run.recoding.n_classes else leaves
        labels = run.recoding.hierarchies[index].labels
        pairs = zip(nodes.tolist(), leaves.tolist(), strict=True)
        return {name: [(labels[node], node != leaf) for node, leaf in pairs]}
    if role != "sensitive":
        texts = canonical_text(run.original.column(name).take(pa.array(records))).to_pylist()
        return {name: [(text, False) for text in texts]}
    domain, codes = run.problem.domains[name], run.problem.table.row_sensitive[name][records].tolist()
    found = {name: [(domain.values[code], published in {"categories", "bins"}) for code in codes]}
    if published == "both":
        categories = (*domain.categories, None)  # the last one is that of an unknown value, -1
        found[f"{name}_category"] = [(categories[domain.category_of[code]], True) for code in codes]
    return found


def classes(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The classes of a run, the smallest first, some at a time; and with the first page the weakest of each model."""
    run = saved_run(desk, query)
    recoding, (offset, limit), people = run.recoding, _page(query), _people(run)
    order = np.argsort(recoding.sizes if people is None else people, kind="stable")[offset : offset + limit]
    listed = []
    for at in order.tolist():
        nodes = zip(recoding.quasi, recoding.hierarchies, recoding.nodes[at].tolist(), strict=True)
        labels = {name: hierarchy.labels[node] for name, hierarchy, node in nodes}
        secrets = {name: _secret(run, name, at) for name in run.problem.table.row_sensitive}
        counts = {"size": int(recoding.sizes[at]), "people": None if people is None else int(people[at])}
        listed.append({"class": at + 1, **counts, "labels": labels, "secrets": secrets})
    return {
        "classes": recoding.n_classes,
        "offset": offset,
        "quasi": list(recoding.quasi),
        "listed": listed,
        "weakest": _weakest(run) if offset == 0 else [],
    }


def _people(run: SavedRun) -> Ints | None:
    """How many people each class has; None where the models count records."""
    person, released = run.problem.table.person, run.record_class >= 0
    if person is None:
        return None
    return class_people(run.record_class[released], person[released], run.recoding.n_classes)


def _secret(run: SavedRun, name: str, at: int) -> dict[str, Any]:
    """How many known values of a sensitive column a class has, and the most frequent of them, if any."""
    domain, recoding = run.problem.domains[name], run.recoding

    def count() -> Histogram:
        rows = recoding.row_class >= 0
        owner, codes = recoding.row_class[rows].astype(np.int64), run.problem.table.row_sensitive[name][rows]
        return Histogram.of(owner, codes, recoding.n_classes, len(domain.values)).of_values(domain.known)

    histogram = run.cache.once(("histogram", name), count)
    entries = slice(int(histogram.starts[at]), int(histogram.starts[at + 1]))
    counts = histogram.counts[entries]
    if not len(counts):
        return {"values": 0, "most": None, "records": 0}
    most = int(np.argmax(counts))
    return {"values": len(counts), "most": domain.values[histogram.values[entries][most]], "records": int(counts[most])}


def _weakest(run: SavedRun) -> list[dict[str, Any]]:
    """For each parameter of each model the class that satisfies it least, as the evidence has it, with its number."""
    found = []
    columns = list(zip(run.recoding.quasi, run.recoding.hierarchies, strict=True))
    for model in run.evidence["models"]:
        about = {"model": model["model"], "title": model_title(model["model"]), "sensitive": model.get("sensitive")}
        for parameter, weakest in model["weakest"].items():
            nodes = [hierarchy.by_label[weakest["labels"][name]] for name, hierarchy in columns]
            at = int(np.flatnonzero((run.recoding.nodes == nodes).all(axis=1))[0])  # no two classes show the same
            facts = {key: weakest.get(key) for key in ("strength", "size", "people", "labels")}
            found.append({**about, "parameter": parameter, **facts, "as_weak": weakest["classes"], "class": at + 1})
    return found
