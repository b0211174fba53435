"""Carving: what holds of every partition, shares against their definition, and what it saves."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.models import AlphaKAnonymity, EntropyLDiversity, KAnonymity, Model, TCloseness
from shoal.search.local import carving
from shoal.search.local.carving import SHARES, carve
from shoal.search.local.finish import cost_of, finish
from shoal.search.local.greedy_clustering import greedy_clustering
from shoal.search.local.mondrian import mondrian
from shoal.search.local.top_down import top_down
from support.model_cases import COLUMN, VALUES
from support.search_cases import Case, blocks_of, cases, problem_of

pytestmark = pytest.mark.slow

TREE = {"*": {f"g{group}": {f"v{group}{at}": None for at in range(4)} for group in range(4)}}
LEAVES = [leaf for group in TREE["*"].values() for leaf in group]


def correlated(records: int, *models: Model, seed: int = 3) -> Case:
    """Three columns of sixteen values; which secret a record has depends on the first, and the second on both."""
    random = Random(seed)
    rows, secrets = [], []
    for _ in range(records):
        first = random.randrange(16)
        secret = random.choice(VALUES[:2] if random.random() < first / 20 else VALUES[2:5])
        second = min(15, max(0, first + random.randint(-3, 3) + (4 if secret == VALUES[0] else 0)))
        rows.append((LEAVES[first], LEAVES[second], random.choice(LEAVES)))
        secrets.append(secret)
    return Case((TREE,) * 3, tuple(rows), {COLUMN: tuple(secrets)}, (KAnonymity(3), *models), metric="ncp")


OPEN = [
    TCloseness(t=0.2, sensitive=COLUMN),
    AlphaKAnonymity(alpha=0.4, sensitive=COLUMN),
    EntropyLDiversity(l=3, sensitive=COLUMN),
]
"""Models that may refuse a part of a class that holds."""


@settings(max_examples=80)
@given(cases())
def test_every_class_holds_and_every_record_of_a_block_is_in_one_class_of_it(case: Case) -> None:
    blocks = blocks_of(case)
    row_class = carve(blocks)
    assert np.array_equal(row_class < 0, blocks.row_block < 0)
    kept = np.flatnonzero(row_class >= 0)
    pairs = np.unique(np.stack([row_class[kept], blocks.row_block[kept]]), axis=1)
    assert np.array_equal(pairs[0], np.arange(pairs.shape[1]))  # each class is in one block, and none is empty
    assert blocks.holds(blocks.stats(row_class, pairs.shape[1])).all()


@settings(max_examples=60)
@given(cases(), st.randoms(use_true_random=False))
def test_it_never_costs_more_than_whole_blocks_and_order_does_not_matter(case: Case, random: Random) -> None:
    blocks = blocks_of(replace(case, metric="ncp"))
    found = finish(blocks, carve(blocks))
    assert cost_of(blocks.problem, found) <= cost_of(blocks.problem, finish(blocks, blocks.row_block)) + 1e-9
    order = list(range(len(case.rows)))
    random.shuffle(order)
    other = blocks_of(replace(case, metric="ncp").shuffled(order))
    assert sorted(map(tuple, finish(other, carve(other)).nodes.tolist())) == sorted(map(tuple, found.nodes.tolist()))


@given(counts=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=12), many=st.booleans())
def test_of_each_group_of_secrets_a_share_of_the_class_is_taken_as_far_as_it_is_there(
    *, counts: list[tuple[int, int]], many: bool
) -> None:
    records, there = np.array([(one, min(one, inside)) for one, inside in counts]).T
    secrets = carving._Secrets(np.arange(len(records)), np.arange(len(records)), records)
    with pytest.MonkeyPatch.context() as patch:
        if many:
            patch.setattr(carving, "_FEW", 2)
            patch.setattr(carving, "_STRATA", 3)
        starts = secrets.strata.tolist()
        taken = secrets.take_shares(there[None, :], SHARES)[0]
    for share, found in zip(SHARES, taken, strict=True):
        for begin, end in zip(starts, [*starts[1:], len(records)], strict=True):
            most = int(share * records[begin:end].sum() + 0.5)
            assert found[begin:end].sum() == min(most, there[begin:end].sum())
        assert (found <= there).all()
    assert len(starts) == len(records) if not many or len(records) <= 2 else len(starts) <= 4


@pytest.mark.parametrize("model", OPEN, ids=lambda model: model.name)
@pytest.mark.parametrize("secrets", [64, 1])
def test_it_loses_far_less_than_cuts_where_secrets_go_with_columns(
    model: Model, secrets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carving, "_FEW", secrets)
    problem, engine = problem_of(correlated(900, model))
    outcome = greedy_clustering(problem, engine)
    assert outcome.search["mode"] == "carving"
    cuts = min(cost_of(problem, search(problem, engine).recoding) for search in (mondrian, top_down))
    assert cost_of(problem, outcome.recoding) < 0.9 * cuts


def test_nothing_is_carved_where_every_part_fails() -> None:
    case = correlated(40, TCloseness(t=0.0, sensitive=COLUMN))
    assert set(carve(blocks_of(case)).tolist()) == {0}
