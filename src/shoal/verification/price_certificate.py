"""The lower bound that prices prove on what any release loses, found without trusting whoever made the prices.

A *box* is one label for each quasi-identifier, and its cost the weighted mean loss of its cells. In a release, every
record is suppressed, which costs 1, or is in a class that satisfies the models, all of whose records share a box that
each of them may be released as. Give every record a price, any number. Then

    if in every box B, and for every class S of records of B that the models allow, the mean price of S is at most the
    cost of B, no release without suppression loses less than the mean price of all records:

add up prices class by class, and each class adds at most what it costs. With up to s suppressed records, let prices be
at most 1 + m for some m ≥ 0 besides. A suppressed record then pays all of its price but m, so that any release costs at
least the sum of the prices minus s·m. Which m is best follows from the prices: the sum of min(price, 1 + m) minus s·m
is concave in m, and grows until s prices are above 1 + m. So the s largest prices count 1 each instead, if they are
above 1, and no price of suppression has to be handed over.

The condition is not asked for but made true. Where the mean price of a class of a box can exceed the cost of the box by
e, and no more, every record of the box falls by e or more: by the largest such e of all boxes that it is in. Prices
only fall, so what held still holds; and of a class that exceeded its cost, every price has fallen by e. (Records that
are in no such class of the box need not fall; `box_walk` leaves them out.) So any prices give a bound that is true, and
bad ones a low one.

Which class of a box has the highest mean follows from a threshold t: the largest sum of price - t over all classes of k
records or more with p distinct values or more takes every record above t, then the best record of each further value
until there are p, then the best of the rest until there are k. (Take any other class that has all records above t. If
it lacks one of these best records of a value, it has another of this value, or one of a value with a worse best record;
exchanging the two makes it no worse. The rest is then free to choose.) The highest mean is the t where this sum is 0.

Models that are more than a number of records or of distinct values are left out, or counted by the values that they
need at least. People are counted as records, which they have at least as many of. Of several columns with distinct
values each is looked at alone. Ranges of many numbers are looked at together with others of about their length. All of
this allows more classes at less cost, and so only lowers the bound.

Prices tell about people: they are handed over in memory and are not part of any result.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from shoal.errors import DataError
from shoal.verification import box_levels
from shoal.verification.box_columns import BoxColumn, Floats, box_column, free_column
from shoal.verification.canonical_text import Codes, Label, code, packed, text_column
from shoal.verification.class_requirements import least_records, required_values, value_requirements
from shoal.verification.declared_labels import labels_of
from shoal.verification.labels import Labels
from shoal.verification.read import Original, read_original
from shoal.verification.relative_dates import in_days, read_for_days
from shoal.verification.stated_policy import StatedPolicy

MOST_STEPS: Final = 4_000_000_000
"""Items that are sorted into boxes before a table counts as too large: about half a minute of compiled work."""
FEW_ITEMS: Final = 2_500
"""Different records up to which the boxes are visited in NumPy: loading the compiler takes longer."""


@dataclass(frozen=True, eq=False)
class Prices:
    """A price for each combination of values of some columns of the original; without one, a record's price is 0."""

    table: pa.Table  # columns of the original, each row once; quasi-identifiers may be as their hierarchy writes them
    prices: Floats


@dataclass(frozen=True)
class ProvenBound:
    """What prices prove; ``bound`` is None where it was not looked at, and ``code`` says why."""

    code: Literal["proven", "too-large", "linked-tables", "no-records"]
    measure: str
    bound: float | None = None  # on the cost, which is the measure, or one minus it where more is better
    records: int = 0
    unpriced: int = 0  # records that no price was given for
    lowered: int = 0  # records whose price was too high
    largest_excess: float = 0.0  # of the mean price of a class over its cost
    broken_box: tuple[Label, ...] = ()  # the labels of the box that it was in, in the policy's order of the columns
    nodes: int = 1  # combinations of one rung of labels for each column: the size of the lattice
    steps: int = 0
    boxes: int = 0  # boxes that had to be looked at one by one
    free_columns: tuple[str, ...] = ()  # columns that were taken to cost nothing
    least_records: int = 1  # that every class was taken to have
    least_values: Mapping[str, int] = field(default_factory=dict)  # likewise, of sensitive columns


def checked_bound(
    original: Original,
    policy: StatedPolicy,
    prices: Prices,
    *,
    measure: str = "ncp",
    weights: Mapping[str, float] | None = None,
    free: Collection[str] = (),
    most_steps: int | None = None,
) -> ProvenBound:
    """The lower bound on a measure that prices prove for every release of an original under a policy.

    ``measure`` is a mean over cells (`box_columns.CELL_COSTS`), which ``weights`` may weigh by column. Columns that are
    ``free`` are taken to cost nothing: a lattice that is too large may be small enough without them.
    """
    if policy.tables:
        return ProvenBound("linked-tables", measure)
    quasi, requirements = policy.names("quasi"), value_requirements(policy)
    named = [each.column for each in requirements]
    wanted = list(dict.fromkeys([*quasi, *named, *prices.table.column_names, *read_for_days(policy)]))
    texts, counts = read_original(original, wanted)
    texts = in_days(texts, policy)
    total = int(counts.sum())
    if not total:
        return ProvenBound("no-records", measure)
    free = set(free)
    coded = {name: code(texts[name]) for name in quasi}
    columns = [
        free_column(name, each.values) if name in free else box_column(policy, name, each.values, measure)
        for name, each in coded.items()
    ]
    labels = {name: labels_of(policy, name) for name in quasi}
    read_as = {name: policy.columns[name].read_as for name in policy.names("sensitive")}
    price_of_row, priced = _prices_of_rows(texts, prices, labels, read_as)
    values = [required_values(policy, each, texts[each.column]) for each in requirements]
    items = _Items.of([each.codes for each in coded.values()], price_of_row, values, counts)
    allowed = math.floor(Fraction(repr(policy.suppression)) * total)
    weighing = [(weights or {}).get(each.name, 1.0) * each.weight for each in columns]
    needed = [each.least for each in requirements]
    k = least_records(policy)
    walked = _walk(columns, weighing, items, needed, k, most_steps)
    facts: dict[str, Any] = {
        "records": total,
        "unpriced": int(counts[~priced].sum()),
        "nodes": math.prod(len(each.rungs) for each in columns),
        "steps": walked.steps,
        "free_columns": tuple(sorted(free.intersection(quasi))),
        "least_records": k,
        "least_values": {each.column: each.least for each in sorted(requirements, key=lambda each: each.least)},
    }
    if not walked.complete:
        return ProvenBound("too-large", measure, **facts)
    repaired = items.price - walked.falls
    return ProvenBound(
        "proven",
        measure,
        bound=max(_sum_of_prices(repaired, items.count, allowed) / total - 2 * box_levels.TOLERANCE, 0.0),
        lowered=int(items.count[walked.falls > 0].sum()),
        largest_excess=float(walked.falls.max(initial=0.0)),
        broken_box=walked.broken_box,
        boxes=walked.boxes,
        **facts,
    )


def _sum_of_prices(prices: Floats, counts: Codes, suppressed: int) -> float:
    """The sum of prices that satisfy every box, the largest counting 1 each where so many records may be suppressed."""
    order = np.argsort(-prices, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    instead = np.where(prices[order] > 1, np.clip(suppressed - before, 0, counts[order]), 0)
    return math.fsum([*((counts[order] - instead) * prices[order]).tolist(), float(instead.sum())])


def _prices_of_rows(
    texts: Mapping[str, Any], prices: Prices, labels: Mapping[str, Labels], read_as: Mapping[str, Mapping[str, str]]
) -> tuple[Floats, Any]:
    """The price of each row of the original, and which rows have one."""
    names, rows = prices.table.column_names, len(next(iter(texts.values())))
    given = np.asarray(prices.prices, dtype=np.float64)
    if len(given) != prices.table.num_rows or not np.isfinite(given).all() or not set(names) <= set(texts):
        message = "Prices are one finite number for each row of values of columns of the original."
        raise DataError(message, code="prices-without-rows")
    keys, size = np.zeros(rows + len(given), dtype=np.int64), 1
    for name in names:
        given_texts = text_column(prices.table.column(name), name)
        codes = _joint_codes(texts[name], given_texts, labels.get(name), read_as.get(name, {}))
        _, keys = np.unique(keys * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
        size = int(keys.max(initial=-1)) + 1
    if len(np.unique(keys[rows:])) < len(given):
        raise DataError("A combination of values has two prices.", code="two-prices")
    price, priced = np.zeros(size), np.zeros(size, dtype=np.bool_)
    price[keys[rows:]], priced[keys[rows:]] = given, True
    return price[keys[:rows]], priced[keys[:rows]]


def _joint_codes(original: Any, given: Any, labels: Labels | None, read_as: Mapping[str, str]) -> Codes:
    """One numbering for the rows of two columns; a quasi-identifier by its text in the hierarchy: 39 for 39.0.

    Spellings that are read as another value have the number of that value.
    """
    coded = code(pa.chunked_array([*_chunks(original), *_chunks(given)], pa.string()))
    texts: list[Label] = [text if text is None else read_as.get(text, text) for text in coded.values]
    if labels is not None:
        chains = zip(texts, labels.chains(coded.values), strict=True)
        texts = [chain[0] if chain else text for text, chain in chains]
    number: dict[Label, int] = {}
    return np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.int64)[coded.codes]


def _chunks(column: Any) -> list[Any]:
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [chunk.cast(pa.string()) for chunk in chunks]


@dataclass(frozen=True, eq=False)
class _Items:
    """Records that are alike in everything that counts, by falling price."""

    codes: list[Codes]  # of each column, the value of each item
    price: Floats
    values: list[Codes]  # of each required column, the value of each item
    count: Codes

    @staticmethod
    def of(codes: Sequence[Codes], price: Floats, values: Sequence[Codes], counts: Codes) -> _Items:
        """Rows that differ in nothing are one item."""
        ranks = np.unique(-price, return_inverse=True)[1]
        parts = [ranks, *codes, *(each + 1 for each in values)]
        keys = packed(parts, [int(part.max(initial=0)) + 1 for part in parts], len(price))
        _, rows, item = np.unique(keys, return_index=True, return_inverse=True)
        count = np.bincount(item, weights=counts, minlength=len(rows)).astype(np.int64)
        return _Items([each[rows] for each in codes], price[rows], [each[rows] for each in values], count)


@dataclass(frozen=True, eq=False)
class _Walked:
    """What the walk over the boxes found."""

    falls: Floats
    broken_box: tuple[Label, ...]
    steps: int
    boxes: int
    complete: bool


def _walk(
    columns: Sequence[BoxColumn],
    weights: Sequence[float],
    items: _Items,
    needed: Sequence[int],
    k: int,
    most_steps: int | None,
) -> _Walked:
    """Visit the boxes, the columns that tell the most records apart first."""
    n, whole = len(items.price), sum(weights) or 1.0
    order = sorted(range(len(columns)), key=lambda j: (-len(columns[j].labels), j))
    labels, costs, firsts, owner = list[Any](), list[Floats](), [0], list[tuple[int, int]]()
    for j in order:
        column, offset = columns[j], len(owner)
        rungs = column.rungs[:, items.codes[j]]
        labels.append(np.where(rungs < 0, -1, rungs + offset).astype(np.int32))
        costs.append(column.costs * weights[j] / whole)
        firsts.append(firsts[-1] + len(rungs))
        owner += [(j, label) for label in range(len(column.labels))]
    most = MOST_STEPS if most_steps is None else most_steps
    values = np.array(items.values, dtype=np.int32) if needed else np.full((1, n), -1, dtype=np.int32)
    arrays = np.ascontiguousarray(np.concatenate(labels)), np.array(firsts, dtype=np.int64), np.concatenate(costs)
    records = items.price, items.count, values, np.array(needed, dtype=np.int64), k
    falls, worst, counts = _walker(n)(*records, *arrays, most)
    box: dict[int, Label] = {}
    for number in worst.tolist():
        if number >= 0:
            j, label = owner[number]
            box[j] = columns[j].labels[label]
    steps, boxes, _ = (int(count) for count in counts)
    return _Walked(falls, tuple(box[j] for j in sorted(box)), steps, boxes, complete=steps <= most)


def _walker(items: int) -> Callable[..., Any]:
    """The walk over the boxes of so many items: compiled where that pays and can be done."""
    if items > FEW_ITEMS:
        with suppress(ImportError):
            compiled: Callable[..., Any] = import_module("shoal.verification.box_walk").walk
            return partial(_walk_in_parts, compiled)
    return box_levels.walk


def _walk_in_parts(walk: Callable[..., Any], *given: Any) -> tuple[Floats, Any, Any]:
    """What a walk finds, on all processors: one rung of the first column each."""
    *arrays, firsts, costs, most = given
    with ThreadPoolExecutor(min(os.cpu_count() or 1, int(firsts[1]))) as pool:
        parts = list(pool.map(lambda rung: walk(*arrays, firsts, costs, most, rung), range(int(firsts[1]))))
    falls, worst, counts = zip(*parts, strict=True)
    largest = int(np.argmax([each.max(initial=0.0) for each in falls]))
    return np.maximum.reduce(falls), worst[largest], np.sum(counts, axis=0)
