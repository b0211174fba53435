"""Searches that conceal: some of what holds is refused, nothing that fails is released, nothing is betrayed."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from oracles.concealment_oracle import SHAPES, Outcome, SmallTables, World, betraying
from shoal.encode.conceal_key import CONCEAL_VARIABLE
from shoal.errors import InfeasibleError, InputError, PolicyError
from shoal.pipeline.why.explain import why
from shoal.search import ALGORITHMS
from shoal.search.conceal import DECOYS, PART_REFUSED, REFUSED, Veto, as_marks, decoy_chances, summed_marks
from shoal.search.engine import LocalEngine
from shoal.search.search_result import SearchResult
from support.model_cases import COLUMN
from support.search_cases import Case, problem_of

KEY, OTHER_KEY = "4f" * 32, "a7" * 32
K = {"model": "k-anonymity", "k": 3}
ASKED: dict[str, list[dict[str, Any]]] = {
    "p-sensitive": [K, {"model": "p-sensitive", "p": 2, "sensitive": "secret"}],
    "alpha-k": [K, {"model": "alpha-k-anonymity", "alpha": 0.6, "sensitive": "secret"}],
    "t-closeness": [K, {"model": "t-closeness", "t": 0.4, "sensitive": "secret"}],
    "alp-dif": [K, {"model": "alp-dif", "limits": {"HIV": {"alp": 0.4, "dif": 0.4}}, "sensitive": "secret"}],
}
OPTIONS: dict[str, dict[str, Any]] = {"range": {"group": {"zip": 2, "sex": 1}, "ranges": ["age"], "safe": True}}


def table(records: int = 600) -> pa.Table:
    draw = Random(3)
    return pa.table(
        {
            "age": [str(draw.randrange(20, 60)) for _ in range(records)],
            "sex": [draw.choice("FM") for _ in range(records)],
            "zip": [f"{draw.randrange(1, 4)}{draw.randrange(3)}{draw.randrange(3)}" for _ in range(records)],
            "secret": draw.choices(["HIV", "Flu", "Asthma", "Cold"], [1, 4, 3, 3], k=records),
        }
    )


def policy(algorithm: str, privacy: list[dict[str, Any]], *, conceal: bool = True, **more: Any) -> shoal.Policy:
    suppression = more.pop("suppression", 0.1)
    return shoal.Policy(
        columns={
            "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
            "sex": {"role": "quasi", "hierarchy": "flat"},
            "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
            "secret": {"role": "sensitive"},
        },
        privacy=privacy,
        suppression=suppression,
        algorithm={"name": algorithm, **OPTIONS.get(algorithm, {}), **more} | ({"conceal": True} if conceal else {}),
    )


def release(asked: shoal.Policy) -> shoal.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return shoal.anonymize(table(), asked)


@pytest.fixture
def given_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONCEAL_VARIABLE, KEY)


class TestVeto:
    def test_the_same_key_gives_the_same_answers_and_another_key_others(self) -> None:
        codes = np.arange(300, dtype=np.int32).reshape(3, 100)
        first, again, other = (Veto(key, given=True) for key in (b"a" * 32, b"a" * 32, b"b" * 32))
        assert np.array_equal(first.marks(codes), again.marks(codes))
        assert not np.array_equal(first.marks(codes), other.marks(codes))

    def test_the_mark_of_a_group_does_not_depend_on_the_order_of_its_records(self) -> None:
        marks = Veto(b"a" * 32, given=True).marks(np.arange(10, dtype=np.int32).reshape(1, 10))
        counts, group = np.arange(1, 11), np.array([0, 1] * 5)
        order = np.random.default_rng(1).permutation(10)
        assert np.array_equal(
            summed_marks(marks, counts, group, 2), summed_marks(marks[order], counts[order], group[order], 2)
        )

    def test_as_many_are_refused_as_the_chance_says(self) -> None:
        veto, numbers = Veto(b"a" * 32, given=True), as_marks(np.arange(100_000))
        for chance in (REFUSED, PART_REFUSED):
            refused = veto.refuses("node", numbers, chance=chance).mean()
            assert abs(refused - chance) < 0.005
        together = veto.refuses("node", numbers, chance=0.5) & veto.refuses("cut", numbers, chance=0.5)
        assert abs(together.mean() - 0.25) < 0.01

    def test_decoys_are_expected_to_take_their_share_of_the_records_at_most(self) -> None:
        sizes = np.array([5, 5, 6, 7, 40, 200])
        chances = decoy_chances(sizes)
        assert (chances > 0).all()
        assert chances.max() <= REFUSED
        assert (chances * sizes).sum() <= DECOYS * sizes.sum() + 1e-9

    def test_the_key_is_not_shown(self) -> None:
        assert "aaaa" not in repr(Veto(b"a" * 32, given=True))


@pytest.mark.slow
@pytest.mark.usefixtures("given_key")
@pytest.mark.parametrize("models", ASKED)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_release_is_verified(algorithm: str, models: str) -> None:
    try:
        made = release(policy(algorithm, ASKED[models]))
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            release(policy(algorithm, ASKED[models], conceal=False))
        return
    assert made.evidence["verified"]
    assert made.evidence["search"]["conceal"] == {"key": "given"}


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "top-down", "greedy-clustering"])
def test_the_key_decides(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for key in (KEY, KEY, OTHER_KEY):
        monkeypatch.setenv(CONCEAL_VARIABLE, key)
        made.append(release(policy(algorithm, ASKED["p-sensitive"])).data)
    assert made[0].equals(made[1])
    if algorithm != "optimal":  # which may have the same best node
        assert not made[0].equals(made[2])


def test_without_a_key_one_is_made_for_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CONCEAL_VARIABLE, raising=False)
    made = [release(policy("mondrian", ASKED["p-sensitive"])) for _ in range(3)]
    assert made[0].evidence["search"]["conceal"] == {"key": "fresh"}
    assert not made[0].data.equals(made[1].data) or not made[0].data.equals(made[2].data)


@pytest.mark.usefixtures("given_key")
def test_neither_key_nor_what_was_refused_is_in_the_evidence() -> None:
    for algorithm in ("optimal", "incognito", "greedy-lattice", "mondrian", "top-down"):
        evidence = release(policy(algorithm, ASKED["alpha-k"])).evidence
        assert KEY not in json.dumps(dict(evidence), default=str)
        assert not {"checked", "minimal_nodes", "path", "rounds", "taken", "refined"} & set(evidence["search"])


@pytest.mark.usefixtures("given_key")
def test_nothing_is_refused_where_no_model_looks_at_a_secret() -> None:
    for algorithm in ("optimal", "mondrian"):
        with_it, without = (release(policy(algorithm, [K], conceal=conceal)).data for conceal in (True, False))
        assert with_it.equals(without)


@pytest.mark.parametrize(
    ("algorithm", "option"),
    [("mondrian", {"refine": 1}), ("top-down", {"refine": 1}), ("greedy-clustering", {"faithful": True})],
)
def test_options_that_choose_by_secrets_are_refused(algorithm: str, option: dict[str, Any]) -> None:
    with pytest.raises(PolicyError) as caught:
        release(policy(algorithm, ASKED["p-sensitive"], **option))
    assert [problem.code for problem in caught.value.problems] == ["conceal-not-possible"]


def test_a_key_that_could_be_guessed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONCEAL_VARIABLE, "too short")
    with pytest.raises(PolicyError) as caught:
        release(policy("optimal", ASKED["p-sensitive"]))
    assert [problem.code for problem in caught.value.problems] == ["conceal-key-short"]
    assert "too short" not in str(caught.value)


def test_a_release_whose_key_is_gone_cannot_be_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = policy("mondrian", ASKED["p-sensitive"])
    monkeypatch.delenv(CONCEAL_VARIABLE, raising=False)
    with pytest.raises(InputError) as caught:
        why(asked, table(), record=1)
    assert caught.value.code == "conceal-key-missing"
    monkeypatch.setenv(CONCEAL_VARIABLE, KEY)
    assert why(asked, table(), record=1)


class TestSmallTables:
    """Over all tables of a shape: is there a release that only one value of somebody explains?"""

    @pytest.mark.parametrize("algorithm", ["optimal", "greedy-lattice", "range"])
    def test_concealing_leaves_no_secret_certain(self, algorithm: str) -> None:
        tables = SHAPES[3]
        assert betraying(tables.sizes, _released(tables, algorithm, conceal=False))
        assert not betraying(tables.sizes, _released(tables, algorithm, conceal=True))

    @pytest.mark.slow
    @pytest.mark.parametrize("algorithm", ["incognito", "mondrian", "top-down", "greedy-clustering"])
    def test_nor_with_the_other_algorithms(self, algorithm: str) -> None:
        tables, runs = SHAPES[2], 60 if ALGORITHMS[algorithm].scope == "local" else None
        assert betraying(tables.sizes, _released(tables, algorithm, conceal=False))
        assert not betraying(tables.sizes, _released(tables, algorithm, conceal=True, runs=runs))


def _released(
    tables: SmallTables, algorithm: str, *, conceal: bool, runs: int | None = None
) -> dict[Outcome, set[World]]:
    """The releases of all tables of a shape, each with the originals that explain it."""
    explained = tables.explained(algorithm, conceal=conceal, runs=runs)
    return {outcome: originals for outcome, originals in explained.items() if outcome.release is not None}


def concealed(case: Case, algorithm: str, key: bytes) -> SearchResult:
    problem, _ = problem_of(case)
    problem = replace(problem, veto=Veto(key, given=True))
    return ALGORITHMS[algorithm].run(problem, LocalEngine(problem.table, problem.ladders, problem.domains))


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "top-down"])
def test_draws_read_no_secrets_and_no_order(algorithm: str) -> None:
    """Whoever has which secret: where every class holds anyway, the release has the same classes."""
    draw = Random(8)
    case = SHAPES[0].case
    rows = tuple((draw.choice(["11", "12", "21"]), "1") for _ in range(60))
    secrets = tuple(draw.choice(["HIV", "Flu"]) for _ in rows)
    models = (case.models[0], replace(case.models[1], alpha=1.0))
    asked = replace(case, rows=rows, sensitive={COLUMN: secrets}, models=models, budget=12)
    swapped = replace(asked, sensitive={COLUMN: tuple(draw.sample(secrets, len(secrets)))})
    shuffled = asked.shuffled(order := draw.sample(range(60), 60))
    for key in (b"a" * 32, b"b" * 32, b"c" * 32):
        first, second, third = (concealed(each, algorithm, key).recoding for each in (asked, swapped, shuffled))
        assert np.array_equal(first.row_class, second.row_class)
        assert np.array_equal(first.row_class[order], third.row_class)
