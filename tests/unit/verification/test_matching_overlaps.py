"""Where released labels overlap, the matching is of greatest size however it is begun, cut or looked for."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verification_tables import failed

from shoal.io import in_order_of_cells
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.verification import canonical_text
from shoal.verification.declared_labels import labels_of
from shoal.verification.matching import fitting_pairs as pairs
from shoal.verification.matching import label_sets as under
from shoal.verification.matching import match as matching
from shoal.verification.matching import solve
from shoal.verification.matching.fitting_pairs import Side, Trie, fitting
from shoal.verification.matching.label_sets import LabelSets
from shoal.verification.matching.match import Pairing, match
from shoal.verification.stated_policy import stated


def fits(columns, row, other):
    return all(column.released[row] in column.under[column.original[other]] for column in columns)


def most_matched(columns):
    """The size of a greatest matching, one record after the other along augmenting paths (Kuhn)."""
    partners = [
        [other for other in range(len(columns[0].original)) if fits(columns, row, other)]
        for row in range(len(columns[0].released))
    ]
    taken: dict[int, int] = {}

    def place(row, tried):
        for other in partners[row]:
            if other not in tried:
                tried.add(other)
                if other not in taken or place(taken[other], tried):
                    taken[other] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(len(partners)))


@st.composite
def problems(draw, largest=30):
    """Records with few values and any sets of labels, so that many compete for the same originals."""
    seed, n_columns = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 3))
    released, original = draw(st.integers(1, largest)), draw(st.integers(0, largest))
    values, labels = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    density = draw(st.sampled_from([0.2, 0.4, 0.7]))
    random = np.random.default_rng(seed)
    return [
        Pairing(
            random.integers(0, labels, released),
            random.integers(0, values, original),
            labels,
            [tuple(np.flatnonzero(random.random(labels) < density).tolist()) for _ in range(values)],
        )
        for _ in range(n_columns)
    ]


@st.composite
def sparse_problems(draw):
    """Many values that lie under two or three labels each: records are served by long chains of exchanges only."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, often = draw(st.integers(5, 60)), draw(st.sampled_from([1, 1, 3]))
    labels = random.permutation(n)
    under = [
        tuple(
            sorted(
                {int(labels[value]), int(labels[(value + 1) % n]), *random.choice(n, random.integers(0, 2)).tolist()}
            )
        )
        for value in range(n)
    ]
    released = np.repeat(np.arange(n), random.integers(1, often + 1, n))
    original = np.repeat(np.arange(n), random.integers(1, often + 1, n))
    return [Pairing(released, original[draw(st.integers(0, 3)) :], n, under)]


@settings(max_examples=300, deadline=None)
@given(st.one_of(problems(), sparse_problems()))
def test_the_matching_is_of_greatest_size(columns):
    found = match(columns)
    assert found.unmatched == len(columns[0].released) - most_matched(columns)
    assert (found.example is None) == (found.unmatched == 0)


def nothing(found, flow):
    """No first matching: everything is left to paths."""


def clumsy(found, flow):
    """A first matching in the order that is worst on average: records that many originals fit choose first."""
    for record in np.argsort(-found.right_share, kind="stable"):
        for left, _ in found.of_right(np.array([record]), flow.supply > 0):
            for original in left[flow.supply[left] > 0].tolist():
                amount = min(flow.supply[original], flow.demand[record])
                if amount:
                    flow.serve(*(np.array([number]) for number in (original, record, amount)))


WAYS = {
    "pairs are sought": [(pairs, "_STORED", 0)],
    "pairs are searched for among keys": [(under, "_MOST_SLOTS", 0)],
    "a few pairs at a time": [
        (pairs, "_PAIRS_AT_A_TIME", 1),
        (pairs, "_AT_A_TIME", 1),
        (canonical_text, "_LARGEST_CODE", 8),
    ],
    "sought from a few records at a time": [(pairs, "_STORED", 0), (solve, "_CHUNK", 1), (solve, "_PART", 1)],
    "paths alone": [(matching, "serve_greedily", nothing)],
    "after a clumsy start": [(matching, "serve_greedily", clumsy)],
    "after a clumsy start, pairs sought": [(matching, "serve_greedily", clumsy), (pairs, "_STORED", 0)],
    "one way through each record": [(matching, "serve_greedily", clumsy), (solve, "_CHOICE", 1)],
}


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=150, deadline=None)
@given(columns=st.one_of(problems(), sparse_problems()))
def test_the_size_does_not_depend_on_the_way(way, columns):
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in WAYS[way]:
            patch.setattr(module, name, value)
        assert len(columns[0].released) - match(columns).unmatched == most_matched(columns)


@settings(max_examples=200, deadline=None)
@given(st.one_of(problems(), sparse_problems()), st.booleans(), st.sampled_from([solve.serve_greedily, clumsy]))
def test_every_match_is_a_pair_that_fits_and_no_record_is_used_twice(columns, sought, begin):
    opened = [column for column in columns if not column.exact]
    if not opened:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_STORED", 0 if sought else pairs._STORED)
        ones = [np.ones(len(codes), dtype=np.int64) for codes in (opened[0].released, opened[0].original)]
        groups = matching.alike_records(columns, *ones)
        found, flow = groups.pairs, solve.Flow(groups.supply, groups.demand)
        assert found.at_hand != sought or not len(found.left)
        supply, demand = flow.supply.copy(), flow.demand.copy()
        begin(found, flow)
        solve.serve_along_paths(found, flow)
    left, right, amount = flow.entries()
    for column, sets, labels in zip(found.under, found.left.codes, found.right.codes, strict=True):
        assert column.has(sets[left].astype(np.int64), labels[right].astype(np.int64)).all()
    assert (np.bincount(left, amount, len(supply)) + flow.supply == supply).all()
    assert (np.bincount(right, amount, len(demand)) + flow.demand == demand).all()
    assert min(flow.supply.min(initial=0), flow.demand.min(initial=0), amount.min(initial=0)) >= 0


@settings(max_examples=100, deadline=None)
@given(problems(largest=20), st.data())
def test_the_join_finds_each_pair_that_fits_once(columns, data):
    sides = []
    for codes in ([column.original for column in columns], [column.released for column in columns]):
        sides.append(sorted(set(zip(*(each.tolist() for each in codes), strict=True))))
    if not sides[0]:
        return
    index = [LabelSets.of([tuple(labels) for labels in column.under], column.n_labels) for column in columns]
    kept = [data.draw(st.sets(st.sampled_from(range(len(records))))) for records in sides]
    some = [
        Trie(Side([np.array(codes) for codes in zip(*records, strict=True)]), np.array(sorted(rows), dtype=np.int64))
        for records, rows in zip(sides, kept, strict=True)
    ]
    found = [pair for left, right in fitting(index, *some) for pair in zip(left.tolist(), right.tolist(), strict=True)]
    expected = [
        (left, right)
        for left, right in itertools.product(*kept)
        if all(
            label in column.under[value]
            for column, value, label in zip(columns, sides[0][left], sides[1][right], strict=True)
        )
    ]
    assert sorted(found) == sorted(expected)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.frozensets(st.integers(0, 60), min_size=1), min_size=1, max_size=12))
def test_a_set_has_its_labels_and_no_others(sets):
    index = LabelSets.of([tuple(sorted(labels)) for labels in sets], 61)
    place, label = (each.ravel() for each in np.indices((len(sets), 61)))
    assert index.has(place, label).tolist() == [label in sets[place] for place, label in np.ndindex(len(sets), 61)]


def test_records_that_share_an_original_are_served_by_exchange():
    # Value 0 lies under the labels 0 and 2, value 1 under 1 and 2. If (0, 2) takes the first original, (2, 0) must take
    # the last, and (1, 2) goes without; all are served only if (0, 2) takes the second.
    both = [(0, 2), (1, 2)]
    released, original = np.array([(0, 2), (2, 0), (1, 2)]), np.array([(0, 0), (0, 1), (1, 0)])
    assert match([Pairing(released[:, place], original[:, place], 3, both) for place in (0, 1)]).unmatched == 0
    original[1] = (1, 1)
    released[2] = (0, 2)
    assert match([Pairing(released[:, place], original[:, place], 3, both) for place in (0, 1)]).unmatched == 1


COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20]}},
    "zip": {"role": "quasi", "hierarchy": {"mask": {"alphabet": "digits"}}},
    "place": {"role": "quasi", "hierarchy": {"tree": {"A": ["v", "w", "x"], "B": ["y", "z"]}}},
    "s": {"role": "sensitive"},
}
QUASI = ("age", "zip", "place")


def policy(boundary=None):
    columns = {name: dict(column) for name, column in COLUMNS.items()}
    if boundary is not None:
        columns["age"]["boundary"] = boundary
    return Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 1}], suppression=1)


def chains_of(records):
    return [
        labels_of(stated(policy()), name).chains([row[place] for row in records]) for place, name in enumerate(QUASI)
    ]


@st.composite
def recodings(draw):
    """A table of up to 150 records and a local recoding of it: each cluster shares what its records have in common."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, suppressed = draw(st.integers(10, 150)), draw(st.sampled_from([0, 0, 5]))
    records = [
        (str(age), f"{code:02d}", place, value)
        for age, code, place, value in zip(
            random.integers(0, 45, n),
            random.integers(0, 30, n),
            random.choice(list("vwxyz"), n).tolist(),
            random.choice(list("pq"), n).tolist(),
            strict=True,
        )
    ]
    chains, release = chains_of(records), []
    order = sorted(range(n), key=lambda row: [records[row][place] for place in random.permutation(3)])
    kept = order[suppressed:]
    for start in range(0, len(kept), 4):
        cluster = kept[start : start + 4]
        labels = [
            next(label for label in chain[cluster[0]] if all(label in chain[row] for row in cluster))
            for chain in chains
        ]
        release += [(*labels, records[row][3]) for row in cluster]
    return records, [release[place] for place in random.permutation(len(release))], random


def as_table(records):
    return pa.table(dict(zip(COLUMNS, map(list, zip(*records, strict=True)), strict=True)))


def unmatched(records, release, most_age=3):
    """Released records without an original of their own, by the definition of a recoding."""
    chains = chains_of(records)
    chains[0] = [chain[: most_age + 1] for chain in chains[0]]
    columns = []
    for place, name in enumerate(COLUMNS):
        labels = sorted({row[place] for row in release})
        allowed = chains[place] if name in QUASI else [(row[place],) for row in records]
        lie_under = [tuple(index for index, label in enumerate(labels) if label in chain) for chain in allowed]
        codes = np.array([labels.index(row[place]) for row in release])
        columns.append(Pairing(codes, np.arange(len(records)), len(labels), lie_under))
    return len(release) - most_matched(columns)


@settings(max_examples=40, deadline=None)
@given(recodings())
def test_a_local_recoding_is_true_in_any_order_of_its_rows(recoding):
    records, release, random = recoding
    assert verify(in_order_of_cells(as_table(release)), policy(), as_table(records)).passed
    release = [release[place] for place in random.permutation(len(release))]
    assert failed(verify(as_table(release), policy(), as_table(records))) <= {"order"}


@settings(max_examples=60, deadline=None)
@given(recodings(), st.integers(1, 12))
def test_of_changed_cells_those_are_counted_that_no_matching_explains(recoding, changes):
    records, release, random = recoding
    for _ in range(changes):
        row, other, place = (int(random.integers(size)) for size in (len(release), len(release), 4))
        changed = list(release[row])
        changed[place] = release[other][place]
        release[row] = tuple(changed)
    found = verify(in_order_of_cells(as_table(release)), policy(), as_table(records))
    wrong = unmatched(records, release)
    assert failed(found) == ({"truthfulness"} if wrong else set())
    assert next(c for c in found.checks if c.name == "truthfulness").facts["without_original"] == wrong


@settings(max_examples=40, deadline=None)
@given(recodings(), st.integers(1, 2))
def test_boundaries_are_judged_by_the_best_matching(recoding, level):
    records, release, _ = recoding
    found = verify(in_order_of_cells(as_table(release)), policy(level), as_table(records))
    broken = unmatched(records, release, most_age=level)
    assert failed(found) == ({"boundaries"} if broken else set())
    assert next(c for c in found.checks if c.name == "boundaries").facts["violations"] == broken
