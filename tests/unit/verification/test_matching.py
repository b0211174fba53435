"""The matching of released to original records: exact on tiny tables, true to every recoding, alert to a wrong cell."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from verification_tables import failed

from shoal.io import in_order_of_cells
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.verification import canonical_text
from shoal.verification.declared_labels import labels_of
from shoal.verification.matching import fitting_pairs as pairs
from shoal.verification.matching import solve
from shoal.verification.matching.match import Pairing, match
from shoal.verification.stated_policy import stated

UNDER = st.lists(st.sets(st.integers(0, 3)), min_size=4, max_size=4)


@st.composite
def problems(draw):
    """Columns of released labels and original values, and which values lie under which labels."""
    released, original = draw(st.integers(1, 5)), draw(st.integers(0, 6))
    code = st.integers(0, 3)
    return [
        Pairing(
            np.array(draw(st.lists(code, min_size=released, max_size=released)), dtype=np.int64),
            np.array(draw(st.lists(code, min_size=original, max_size=original)), dtype=np.int64),
            4,
            [tuple(sorted(labels)) for labels in draw(UNDER)],
        )
        for _ in range(draw(st.integers(1, 3)))
    ]


def brute_force(columns):
    """Try every assignment of released records to different originals."""
    released, original = len(columns[0].released), len(columns[0].original)

    def fits(row, other):
        return all(column.released[row] in column.under[column.original[other]] for column in columns)

    spare = [None] * released  # a released record may stay without an original
    best = max(
        sum(other is not None and fits(row, other) for row, other in enumerate(chosen))
        for chosen in set(permutations([*range(original), *spare], released))
    )
    return released - best


@settings(max_examples=120, deadline=None)
@given(problems())
def test_no_assignment_matches_more_records(columns):
    found = match(columns)
    assert found.unmatched == brute_force(columns)
    assert (found.example is None) == (found.unmatched == 0)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_the_answer_does_not_depend_on_how_the_work_is_cut(columns):
    whole = match(columns).unmatched
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_PAIRS_AT_A_TIME", 1)
        patch.setattr(canonical_text, "_LARGEST_CODE", 8)
        patch.setattr(solve, "_CHUNK", 1)
        assert match(columns).unmatched == whole


def test_multiplicities_count():
    under = [(0, 1), (1,)]  # value 0 lies under both labels, value 1 under the second only
    released = np.repeat([0, 1], [700, 300])
    original = np.repeat([0, 1], [800, 200])
    assert match([Pairing(released, original, 2, under)]).unmatched == 0
    assert match([Pairing(released, np.repeat([0, 1], [600, 400]), 2, under)]).unmatched == 100


def test_long_chains_of_exchanges_are_found():
    # Label i holds values i and i + 1; the last value is the only free one, so every record must move on by one.
    n = 60
    under = [tuple(label for label in (value - 1, value) if 0 <= label < n) for value in range(n + 1)]
    released = np.arange(n)
    for left_out in (0, n // 2, n):
        original = np.array([value for value in range(n + 1) if value != left_out])
        assert match([Pairing(released, original, n, under)]).unmatched == 0
    assert match([Pairing(released, np.arange(2, n + 1), n, under)]).unmatched == 1


COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20]}},
    "zip": {"role": "quasi", "hierarchy": {"mask": {"alphabet": "digits"}}},
    "place": {"role": "quasi", "hierarchy": {"tree": {"A": ["x", "y"], "B": ["z"]}}},
    "note": {"role": "insensitive"},
    "s": {"role": "sensitive"},
}
POLICY = Policy(columns=COLUMNS, privacy=[{"model": "k-anonymity", "k": 1}], suppression=1)
RECORD = st.tuples(
    st.one_of(st.none(), st.integers(0, 45)),
    st.one_of(st.none(), st.sampled_from(["11", "12", "21", "222"])),
    st.one_of(st.none(), st.sampled_from("xyz")),
    st.one_of(st.none(), st.sampled_from("ab")),
    st.one_of(st.none(), st.sampled_from("pq")),
)


def as_table(records):
    types = dict(zip(COLUMNS, (pa.string(),) * 5, strict=True))
    cells = ([None if value is None else str(value) for value in column] for column in zip(*records, strict=True))
    return pa.table({name: pa.array(column, types[name]) for name, column in zip(COLUMNS, cells, strict=True)})


@st.composite
def recodings(draw):
    """A small table and a local recoding of it: every cell raised by itself, some records left out."""
    original = draw(st.lists(RECORD, min_size=1, max_size=12))
    chains = [
        labels_of(stated(POLICY), name).chains([None if row[place] is None else str(row[place]) for row in original])
        for place, name in enumerate(POLICY.names("quasi"))
    ]
    kept = draw(st.permutations(range(len(original))))[: draw(st.integers(1, len(original)))]
    release = [(*(draw(st.sampled_from(chain[row])) for chain in chains), *original[row][3:]) for row in kept]
    return original, release


@settings(max_examples=150, deadline=None)
@given(recodings())
def test_every_local_recoding_is_true(recoding):
    original, release = recoding
    found = verify(in_order_of_cells(as_table(release)), POLICY, as_table(original))
    assert found.passed, str(found)
    assert found.suppressed == len(original) - len(release)


@settings(max_examples=100, deadline=None)
@given(recodings(), st.data())
def test_a_cell_outside_its_range_is_found(recoding, data):
    original, release = recoding
    row = data.draw(st.integers(0, len(release) - 1))
    place, name = data.draw(st.sampled_from(list(enumerate(COLUMNS))))
    strangers = {"age": "[40, 60)", "zip": "9**", "place": "B", "note": "c", "s": "r"}
    changed = (*release[row][:place], strangers[name], *release[row][place + 1 :])
    fits_someone = any(
        strangers[name]
        in labels_of(stated(POLICY), name).chains([None if each[place] is None else str(each[place])])[0]
        for each in original
        if place < 3
    )
    assume(not fits_someone)
    tampered = in_order_of_cells(as_table([*release[:row], changed, *release[row + 1 :]]))
    found = verify(tampered, POLICY, as_table(original))
    assert failed(found) == {"truthfulness"}
    assert found.failures[0].facts["without_original"] == 1
