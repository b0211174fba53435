"""The linkage ambiguity against a comparison of every original with every released record."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies import Hierarchy, OrderedValues
from shoal.hierarchies.ranges import with_ranges
from shoal.search import linkage_ambiguity as module
from shoal.search.linkage_ambiguity import ambiguity
from shoal.table.encoded import EncodedTable, encode_table
from shoal.table.recoding import SUPPRESSED, Recoding


def line(width: int) -> Hierarchy:
    """Values 0 to width - 1 in order, every range of them a node."""
    values = [str(value) for value in range(width)]
    hierarchy = OrderedValues(values).build(values, [1] * width, "q").hierarchy
    ends = [(low, high) for low in range(width) for high in range(low, width)]
    return with_ranges(hierarchy, np.array(ends, dtype=np.int32), "q")[0]


def node_of(hierarchy: Hierarchy, low: int, high: int) -> int:
    return low if low == high else hierarchy.by_label[f"{low}<={high}"]


@st.composite
def releases(draw: st.DrawFn) -> tuple[Recoding, EncodedTable]:
    """Random tables, each record released as any ranges around its values, or suppressed."""
    random = Random(draw(st.integers(0, 2**20)))
    widths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    size = draw(st.integers(1, 30))
    hierarchies = tuple(line(width) for width in widths)
    rows = np.array([[random.randrange(width) for width in widths] for _ in range(size)], dtype=np.int32)
    reach = draw(st.sampled_from([0, 1, 5]))

    def around(column: int, value: int) -> int:
        low = random.randint(max(0, value - reach), value)
        return node_of(hierarchies[column], low, random.randint(value, min(widths[column] - 1, value + reach)))

    boxes = [tuple(around(j, value) for j, value in enumerate(row)) for row in rows.tolist()]
    left_out = {i for i in range(1, size) if random.random() < draw(st.sampled_from([0.0, 0.3]))}
    kept = sorted({box for i, box in enumerate(boxes) if i not in left_out})
    row_class = [SUPPRESSED if i in left_out else kept.index(box) for i, box in enumerate(boxes)]
    names = tuple(f"q{j}" for j in range(len(widths)))
    quasi = {name: (rows[:, j].copy(), widths[j]) for j, name in enumerate(names)}
    recoding = Recoding(names, hierarchies, np.array(row_class, dtype=np.int32), np.array(kept, dtype=np.int32))
    return recoding, encode_table(quasi, {}, size)


def by_comparing(recoding: Recoding, table: EncodedTable) -> tuple[list[int], list[int]]:
    """For each kept record its released records, and for each released record its originals."""
    kept = np.flatnonzero(recoding.row_class >= 0)
    codes = table.codes.T[table.row_tuple]

    def fits(original: int, released: int) -> bool:
        nodes = recoding.nodes[recoding.row_class[released]]
        return all(h.covers(int(nodes[j]), int(codes[original, j])) for j, h in enumerate(recoding.hierarchies))

    per_original = [sum(fits(one, other) for other in kept) for one in kept]
    per_released = [sum(fits(other, one) for other in kept) for one in kept]
    return per_original, per_released


def check(recoding: Recoding, table: EncodedTable) -> None:
    found = ambiguity(recoding, table)
    per_original, per_released = by_comparing(recoding, table)
    assert sorted(np.repeat(found.released_per_original, found.tuple_sizes).tolist()) == sorted(per_original)
    assert sorted(np.repeat(found.originals_per_released, found.class_sizes).tolist()) == sorted(per_released)
    figures = found.figures()
    assert figures["(1,k)"] == figures["released_per_original"]["least"] == min(per_original)
    assert figures["(k,1)"] == figures["originals_per_released"]["least"] == min(per_released)
    assert figures["(k,k)"] == min(*per_original, *per_released)
    mean = pytest.approx(sum(per_original) / len(per_original), abs=1e-6)
    assert figures["released_per_original"]["mean"] == figures["originals_per_released"]["mean"] == mean


@given(releases())
def test_every_count_is_that_of_comparing_all_pairs(release: tuple[Recoding, EncodedTable]) -> None:
    check(*release)


@given(releases())
def test_counting_a_few_classes_at_a_time_changes_nothing(release: tuple[Recoding, EncodedTable]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PAIRS_AT_A_TIME", 1)
        check(*release)


def test_a_k_anonymous_release_is_k_k_ambiguous() -> None:
    hierarchy = line(4)
    codes = np.array([0, 1, 1, 2, 3], dtype=np.int32)
    nodes = np.array([[node_of(hierarchy, 0, 1)], [node_of(hierarchy, 2, 3)]], dtype=np.int32)
    recoding = Recoding(("q",), (hierarchy,), np.array([0, 0, 0, 1, 1], dtype=np.int32), nodes)
    figures = ambiguity(recoding, encode_table({"q": (codes, 4)}, {}, 5)).figures()
    assert figures["(k,k)"] == 2
    assert figures["originals_per_released"] == {"least": 2, "mean": (3 * 3 + 2 * 2) / 5}
