"""The question about the columns of a run: how each was spread before, and how a reader of the release must take it.

Before counts all records of the file, after those that are released. A label that says less than a bar does is spread:
over the values of the data under it where the bars are groups of values, and over its width where they are numbers,
for that is what a reader of the release can do who knows no more. This is for the owner of the data, who sees the
values anyway; the published report counts rare groups together (`shoal.evidence.distribution`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.evidence.distribution import distribution
from shoal.hierarchies.hierarchy import Hierarchy, Label
from shoal.hierarchies.numbers_as_text import parse_decimal, read_interval
from shoal.io import encode
from shoal.ui.desk.desk import Desk
from shoal.ui.run.saved_run import Ints, SavedRun, saved_run

Floats = NDArray[np.float64]
_BINS = 24
_BARS = 15  # values that have a bar of their own, at most; the others have one together


class _Numbers(NamedTuple):
    """The numbers of a column: where each of its values lies."""

    values: Floats  # naN for the missing value
    whole: bool  # whether all are whole numbers: then a range that holds both ends ends one further


def distributions(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Each released column before and after, and what is not released."""
    run = saved_run(desk, query)
    released = run.released_columns
    return {
        "records": run.original.num_rows,
        "suppressed": run.recoding.suppressed,
        "columns": run.cache.once("distributions", lambda: [_column(run, name) for name in released]),
        "not_released": [name for name in run.original.column_names if name not in released],
    }


def _column(run: SavedRun, name: str) -> dict[str, Any]:
    role = run.policy.columns[name].role
    facts: dict[str, Any] = {"name": name, "role": role}
    if role == "quasi":
        return facts | _quasi(run, name)
    if role == "sensitive":
        labels: Sequence[Label] = run.problem.domains[name].values
        codes = run.problem.table.row_sensitive[name]
        facts["published"] = run.policy.published(name)
    else:
        labels, codes = encode(run.original.column(name))
    before = np.bincount(codes, minlength=len(labels))
    after = np.bincount(codes[run.record_class >= 0], minlength=len(labels))
    numbers = _numbers(labels, before)
    if numbers is not None and len(labels) > _BARS:
        bins = _histogram(numbers, before, numbers.values, numbers.values, after.astype(np.float64))
        return facts | bins | _missing(labels, before, after)
    return facts | _bars(labels, before, after)


def _quasi(run: SavedRun, name: str) -> dict[str, Any]:
    j = run.recoding.quasi.index(name)
    hierarchy = run.recoding.hierarchies[j]
    spec = run.policy.columns[name].hierarchy
    before = np.bincount(run.leaf_codes(j), minlength=hierarchy.n_leaves)
    nodes = run.recoding.nodes[:, j] if run.recoding.n_classes else np.zeros(0, dtype=np.int32)
    after = np.bincount(nodes, weights=run.recoding.sizes, minlength=len(hierarchy.labels)).astype(np.int64)
    leaves = hierarchy.labels[: hierarchy.n_leaves]
    kind = spec.kinds[0] if spec is not None else None
    numbers = _numbers(leaves, before) if kind not in {"mask", "dates"} else None
    facts: dict[str, Any] = {"labels": int(np.count_nonzero(after)), "values": int(np.count_nonzero(before))}
    if numbers is not None:
        low, high, counts = _stretches(hierarchy, numbers, after)
        return facts | _histogram(numbers, before, low, high, counts) | _missing(hierarchy.labels, before, after)
    found = distribution(hierarchy, before=before, after=after, least_hidden=0)
    groups = found.groups if found is not None else ()
    bars = [
        _bar(each.label, each.distinct_values if each.kind == "others" else 0, each.before, each["after"], each.within)
        for each in groups
    ]
    return facts | {"kind": "bars", "level": found.level if found is not None else 0, "bars": bars}


def _numbers(labels: Sequence[Label], counts: Ints) -> _Numbers | None:
    """The numbers of a column and their bins; None where a value is no number."""
    parsed = [None if label is None else parse_decimal(label) for label in labels]
    if any(each is None and label is not None for each, label in zip(parsed, labels, strict=True)):
        return None
    values = np.array([math.nan if each is None else float(each) for each in parsed])
    there = values[(counts > 0) & ~np.isnan(values)]
    if not len(there) or not np.isfinite(there).all():
        return None
    return _Numbers(values, whole=bool((there == np.round(there)).all()))


def _edges(values: Floats, ends: Floats, *, whole: bool) -> Floats:
    """Round ends of bins of one width, 1, 2 or 5 times a power of ten, over all values and all released stretches.

    Each bin holds its lower end and not its upper one.
    """
    finite = ends[np.isfinite(ends)]
    low, high = (float(pick(np.append(finite, values))) for pick in (np.min, np.max))
    rough = max((high - low) / _BINS, 1e-12)
    power = 10.0 ** math.floor(math.log10(rough))
    width = next(power * factor for factor in (1, 2, 5, 10, 20) if (high - low) / (power * factor) < _BINS - 1)
    width = max(width, 1.0) if whole else width
    last = max(math.floor(float(values.max()) / width) + 1, math.ceil(high / width))
    return np.array([number * width for number in range(math.floor(low / width), last + 1)])


def _stretches(hierarchy: Hierarchy, numbers: _Numbers, after: Ints) -> tuple[Floats, Floats, Floats]:
    """From where to where each released label goes, and its records; a missing label is left out.

    A label that covers everything goes from minus infinity to infinity.
    """
    found = []
    for node in np.flatnonzero(after).tolist():
        inside = numbers.values[hierarchy.first[node] : hierarchy.last[node] + 1]
        if np.isnan(inside).all():
            continue
        interval = read_interval(str(hierarchy.labels[node]))
        if node == hierarchy.root:
            start, end, closed = -math.inf, math.inf, False
        elif interval is not None:
            start, end, closed = float(interval.low), float(interval.high), interval.closed
        else:  # a value, a range between two values, or a name for some of them
            start, end, closed = float(np.nanmin(inside)), float(np.nanmax(inside)), node >= hierarchy.n_leaves
        found.append((start, end + 1 if closed and numbers.whole else end, float(after[node])))
    low, high, counts = np.array(found, dtype=np.float64).reshape(-1, 3).T
    return low, high, counts


def _histogram(numbers: _Numbers, before: Ints, low: Floats, high: Floats, counts: Floats) -> dict[str, Any]:
    """Records in each bin: before, after for sure, and after with stretches spread evenly over their width.

    A stretch without end goes as far as the bins do.
    """
    known = ~np.isnan(numbers.values) & (before > 0)
    edges = _edges(numbers.values[known], np.append(low, high), whole=numbers.whole)
    counted, _ = np.histogram(numbers.values[known], bins=edges, weights=before[known])
    there = ~np.isnan(low)
    low, high, counts = np.maximum(low[there], edges[0]), np.minimum(high[there], edges[-1]), counts[there]
    first = np.minimum(np.searchsorted(edges, low, side="right") - 1, len(edges) - 2)
    within = high <= edges[first + 1]
    sure = np.bincount(first[within], counts[within], len(edges) - 1)
    low, high = low[~within, np.newaxis], high[~within, np.newaxis]
    shares = np.clip(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0, None)
    after = sure + counts[~within] @ (shares / shares.sum(axis=1, keepdims=True))
    return {
        "kind": "histogram",
        "edges": edges.tolist(),
        "before": counted.astype(int).tolist(),
        "sure": np.round(sure, 6).tolist(),
        "after": np.round(after, 6).tolist(),
    }


def _missing(labels: Sequence[Label], before: Ints, after: Ints) -> dict[str, Any]:
    """Records with no value, before and after; they lie nowhere among numbers."""
    at = next((index for index, label in enumerate(labels) if label is None), None)
    return {"missing": None if at is None else [int(before[at]), int(after[at])]}


def _bars(labels: Sequence[Label], before: Ints, after: Ints) -> dict[str, Any]:
    """The values of a column that is not generalized, the most frequent first, the rest together."""
    present = np.flatnonzero(before).tolist()
    order = sorted(present, key=lambda code: (-int(before[code]), labels[code] is None, labels[code] or ""))
    own = order if len(order) <= _BARS + 1 else order[:_BARS]
    rest = order[len(own) :]
    bars = [_bar(labels[code], 0, int(before[code]), int(after[code])) for code in own]
    if rest:
        bars.append(_bar(None, len(rest), int(before[rest].sum()), int(after[rest].sum())))
    return {"kind": "bars", "bars": bars, "values": len(order)}


def _bar(label: Label, others: int, before: int, after: float, sure: float | None = None) -> dict[str, Any]:
    """A value or group, or so many ``others`` together; ``sure`` are the records that are nowhere else for certain."""
    return {"label": label, "others": others, "before": before, "sure": after if sure is None else sure, "after": after}
