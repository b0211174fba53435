"""Classes cut in blocks elsewhere: the partition is the one that is made in one place."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError
from shoal.models import AlpDif, DistinctLDiversity, KAnonymity, TCloseness
from shoal.search import ALGORITHMS
from support.model_cases import COLUMN
from support.search_cases import Case, cases, problem_of

MODELS = st.sampled_from(
    [
        (KAnonymity(2),),
        (KAnonymity(2), DistinctLDiversity(2, sensitive=COLUMN)),
        (TCloseness(0.6, sensitive=COLUMN),),
        (KAnonymity(2), AlpDif({"HIV": {"alp": 0.9, "dif": 0.5}}, sensitive=COLUMN)),
    ]
)


@dataclass
class Elsewhere:
    """Somebody who gets everything in writing and knows nothing else."""

    blocks: int
    least: int = 0
    done: list[int] = field(default_factory=list)

    def __call__(self, work: Callable[[Any], Any], blocks: Sequence[Any]) -> list[Any]:
        self.done.append(len(blocks))
        sent = pickle.dumps(work)
        return [pickle.loads(pickle.dumps(pickle.loads(sent)(pickle.loads(pickle.dumps(each))))) for each in blocks]


@settings(max_examples=60)
@given(case=cases(max_rows=30, models=MODELS), blocks=st.integers(1, 4))
def test_blocks_make_the_partition_of_one_place(case: Case, blocks: int) -> None:
    problem, engine = problem_of(case)
    try:
        whole = ALGORITHMS["mondrian"].run(problem, engine)
    except InfeasibleError:
        return
    problem, engine = problem_of(case)
    engine.remote = Elsewhere(blocks)
    remote = ALGORITHMS["mondrian"].run(problem, engine)
    assert np.array_equal(whole.recoding.row_class, remote.recoding.row_class)
    assert np.array_equal(whole.recoding.nodes, remote.recoding.nodes)
    assert whole.search == remote.search
    assert engine.remote.done or blocks > 1, "one class is there from the first"


def test_few_records_are_not_sent_anywhere() -> None:
    case = Case(({"*": {"a": None, "b": None}},), (("a",), ("b",)) * 4, {}, (KAnonymity(2),))
    problem, engine = problem_of(case)
    engine.remote = Elsewhere(1, least=100)
    ALGORITHMS["mondrian"].run(problem, engine)
    assert not engine.remote.done


def test_blocks_are_of_about_the_same_size() -> None:
    from shoal.search.local.blocks import prepare
    from shoal.search.local.mondrian import class_sets
    from shoal.search.local.partition import Tally, record_space

    leaves = [str(number) for number in range(12)]
    case = Case(({"*": dict.fromkeys(leaves)},), tuple((leaf,) for leaf in leaves), {}, (KAnonymity(1),))
    problem, engine = problem_of(case)
    space = record_space(prepare(problem, engine))
    owner = np.array([0] * 5 + [1] * 4 + [2] * 2 + [3])
    active = Tally(owner, np.arange(12), np.ones(12, dtype=np.int64), 4)
    blocks = class_sets(space, active, 2)
    assert [len(classes.item) for (_, classes), _ in blocks] == [6, 6]
    assert sorted(np.concatenate([mine for _, mine in blocks]).tolist()) == list(range(12))


@pytest.mark.parametrize("name", ["optimal", "top-down", "greedy-clustering"])
def test_other_algorithms_stay_where_they_are(name: str) -> None:
    case = Case(({"*": {"a": None, "b": None}},), (("a",), ("b",)) * 4, {}, (KAnonymity(2),))
    problem, engine = problem_of(case)
    engine.remote = Elsewhere(1)
    ALGORITHMS[name].run(problem, engine)
    assert not engine.remote.done
