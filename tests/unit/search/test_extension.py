"""New records join published classes only where every model goes on to hold, and as many as can be do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import extension_oracle as oracle
from oracles.lattice_oracle import Label, Secret
from shoal.models import (
    AlpDif,
    AlphaKAnonymity,
    EntropyLDiversity,
    GroupLeakage,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveCLDiversity,
    TCloseness,
)
from shoal.search.extension import ClassCandidates, Extension, ExtensionResult
from shoal.table.classes import ClassStats, Histogram
from support.model_cases import CATEGORIES, COLUMN, DOMAIN, NUMBERS, RANDOM, TREE, VALUES
from support.search_cases import DOMAINS, SECOND, _paths_from_root, spec_of

SHARES = ("k-anonymity", "p-sensitive", "p-alpha-sensitive", "p-plus-alpha-sensitive", "distinct-l-diversity",
          "alpha-k-anonymity", "group-leakage")  # fmt: skip
"""Models that more records never break, and models that limit shares."""


def secret() -> Secret:
    paths: dict[Label, tuple[Label, ...]] = {}
    _paths_from_root(TREE, ("*",), paths)
    return Secret(CATEGORIES, VALUES, paths, NUMBERS)


@dataclass(frozen=True)
class Case:
    """Published classes, and new records with the classes that they may join."""

    before: tuple[tuple[Label, ...], ...]
    new: tuple[tuple[Label, tuple[int, ...]], ...]
    models: tuple[Model, ...]
    alone: bool = True

    def extended(self) -> ExtensionResult:
        place = {value: code for code, value in enumerate(VALUES)}
        owner = np.array([c for c, each in enumerate(self.before) for _ in each], dtype=np.int64)
        codes = np.array([place[value] for each in self.before for value in each], dtype=np.int32)
        held = Histogram.of(owner, codes, len(self.before), len(VALUES))
        sizes = np.array([len(each) for each in self.before], dtype=np.int64)
        extension = Extension(
            models=self.models,
            before=ClassStats(sizes, {COLUMN: held}, {COLUMN: DOMAIN}),
            secrets={COLUMN: np.array([place[value] for value, _ in self.new], dtype=np.int32)},
            alone=self.alone,
        )
        lengths = [len(classes) for _, classes in self.new]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return extension.extend(
            ClassCandidates(starts, np.array([c for _, each in self.new for c in each], dtype=np.int64))
        )

    def added(self, found: ExtensionResult) -> list[list[Label]]:
        classes: list[list[Label]] = [[] for _ in self.before]
        for (value, _), cls in zip(self.new, found.row_class.tolist(), strict=True):
            if cls >= 0:
                classes[cls].append(value)
        return classes


def values(most: int = 6) -> st.SearchStrategy[list[Label]]:
    return st.lists(st.sampled_from(VALUES[:-1]), max_size=most) | st.lists(st.sampled_from(VALUES[:2]), max_size=most)


@st.composite
def cases(draw: st.DrawFn, names: Sequence[str] = tuple(RANDOM), *, choices: int = 3) -> Case:
    before = [tuple(draw(values())) for _ in range(draw(st.integers(1, 4)))]
    models: tuple[Model, ...] = ()
    for name in draw(st.lists(st.sampled_from(sorted(names)), min_size=1, max_size=3)):
        model = draw(RANDOM[name])
        if oracle.satisfied(before, [spec_of(each) for each in (*models, model)], secret()):
            models = (*models, model)  # what is published satisfies the policy
    classes = st.integers(0, len(before) - 1)
    new = [
        (value, tuple(draw(st.lists(classes, max_size=choices, unique=True))))
        for value in draw(st.lists(st.sampled_from(VALUES[:-1]), max_size=14))
    ]
    return Case(tuple(before), tuple(new), models or (KAnonymity(1),), draw(st.booleans()))


@settings(max_examples=300)
@given(cases())
def test_every_model_holds_together_and_alone_whatever_is_added(case: Case) -> None:
    found = case.extended()
    added, specs = case.added(found), [spec_of(model) for model in case.models]
    assert oracle.satisfied([[*old, *new] for old, new in zip(case.before, added, strict=True)], specs, secret())
    if case.alone:
        assert oracle.satisfied(added, specs, secret())


@given(cases())
def test_a_record_joins_a_class_that_may_take_it_or_none_with_a_reason(case: Case) -> None:
    found = case.extended()
    for (_, classes), joined, tried in zip(case.new, found.row_class.tolist(), found.tried.tolist(), strict=True):
        assert joined in {-1, *classes}
        assert (tried == -1) == (not classes)
        if joined == -1 and classes:
            assert tried in classes
            assert found.why[tried].model in case.models
            assert case.alone or found.why[tried].together


@pytest.mark.slow
@settings(max_examples=300)
@given(cases(SHARES, choices=1))
def test_with_limits_on_shares_as_few_records_as_possible_are_withheld(case: Case) -> None:
    added, specs = case.added(case.extended()), [spec_of(model) for model in case.models]
    for place, old in enumerate(case.before):
        new = [value for value, classes in case.new if classes == (place,)]
        assert len(added[place]) == oracle.most_added(old, new, specs, secret(), alone=case.alone)


@given(cases(tuple(set(RANDOM) - {"t-closeness", "alp-dif"}), choices=1))
def test_no_withheld_record_could_join_what_is_released_of_its_class(case: Case) -> None:
    found, specs = case.extended(), [spec_of(model) for model in case.models]
    added = case.added(found)
    for (value, classes), joined in zip(case.new, found.row_class.tolist(), strict=True):
        if joined == -1 and classes and added[classes[0]]:
            more = [*added[classes[0]], value]
            together = oracle.satisfied([[*case.before[classes[0]], *more]], specs, secret())
            assert not (together and (not case.alone or oracle.satisfied([more], specs, secret())))


@given(cases(choices=1), st.randoms(use_true_random=False))
def test_which_records_stay_does_not_depend_on_their_order(case: Case, random: object) -> None:
    order = list(range(len(case.new)))
    random.shuffle(order)  # type: ignore[attr-defined]
    other = Case(case.before, tuple(case.new[place] for place in order), case.models, case.alone)
    kept = [sorted(map(str, each)) for each in case.added(case.extended())]
    assert [sorted(map(str, each)) for each in other.added(other.extended())] == kept


def test_a_share_that_the_new_records_exceed_costs_only_the_records_beyond_it() -> None:
    case = Case((("HIV", "Flu", "Flu", "Flu"),), tuple((value, (0,)) for value in ("HIV",) * 5 + ("Flu",) * 3),
                (KAnonymity(2), AlphaKAnonymity({"HIV": 0.5}, sensitive=COLUMN)))  # fmt: skip
    found = case.extended()
    assert sorted(map(str, case.added(found)[0])) == ["Flu"] * 3 + ["HIV"] * 3
    assert found.why[0].model.name == "alpha-k-anonymity"
    assert not found.why[0].together
    replacing = Case(case.before, case.new, case.models, alone=False)
    assert sorted(map(str, replacing.added(replacing.extended())[0])) == ["Flu"] * 3 + ["HIV"] * 5


def test_fewer_new_records_than_k_are_withheld_unless_the_earlier_release_is_withdrawn() -> None:
    case = Case((("HIV", "Flu", "Asthma"),), (("Cancer", (0,)),), (KAnonymity(3), PSensitive(2, sensitive=COLUMN)))
    assert case.added(case.extended()) == [[]]
    replacing = Case(case.before, case.new, case.models, alone=False)
    assert replacing.added(replacing.extended()) == [["Cancer"]]


def test_a_class_that_is_not_published_yet_must_hold_by_itself() -> None:
    new = (("HIV", (1,)), ("Flu", (1,)))
    for alone in (True, False):
        few = Case((("HIV", "Flu", "Asthma"), ()), new, (KAnonymity(3),), alone)
        assert few.added(few.extended()) == [[], []]
        enough = Case(few.before, (*new, ("Flu", (1,))), few.models, alone)
        assert len(enough.added(enough.extended())[1]) == 3


def test_records_that_fit_several_classes_gather_where_they_are_enough() -> None:
    """Each class alone would have too few; the smaller ones give theirs to the largest."""
    before = (("HIV", "Flu"),) * 3
    new = (("HIV", (0, 2)), ("Flu", (1, 2)), ("Flu", (2,)))
    case = Case(before, new, (KAnonymity(2), PSensitive(2, sensitive=COLUMN)))
    found = case.extended()
    assert (found.row_class >= 0).sum() >= 2
    assert [len(each) for each in case.added(found)] in ([0, 0, 3], [0, 0, 2])


def test_new_records_may_not_shift_the_whole_until_published_classes_fail() -> None:
    """All new records have one value: the union's distribution moves away from a class that nobody joins."""
    before = (("HIV", "Flu") * 5, ("HIV", "Flu") * 5)
    new = tuple(("HIV", (0,)) for _ in range(40))
    case = Case(before, new, (TCloseness(0.1, sensitive=COLUMN),), alone=False)
    added = case.added(case.extended())
    assert oracle.satisfied(
        [[*old, *more] for old, more in zip(before, added, strict=True)], [spec_of(m) for m in case.models], secret()
    )
    assert len(added[0]) < 40


@pytest.mark.parametrize(
    "model",
    [
        TCloseness(0.2, sensitive=COLUMN),
        TCloseness(0.2, distance="ordered", sensitive=COLUMN),
        AlpDif({"HIV": {"alp": 0.6, "dif": 0.1}}, sensitive=COLUMN),
        EntropyLDiversity(1.9, sensitive=COLUMN),
        RecursiveCLDiversity(2, c=1.5, sensitive=COLUMN),
    ],
    ids=lambda model: model.name,
)
def test_models_on_shares_let_balanced_records_join(model: Model) -> None:
    """A class of the same mixture as what is published is taken as a whole."""
    before = (("HIV", "Flu") * 4, ("HIV", "Flu") * 4)
    new = tuple((value, (place,)) for place in (0, 1) for value in ("HIV", "Flu") * 3)
    case = Case(before, new, (KAnonymity(3), model))
    assert [len(each) for each in case.added(case.extended())] == [6, 6]


def test_a_record_withheld_for_one_column_comes_back_when_another_settles_the_matter() -> None:
    """Withholding one by one takes a record too many here; it is released after all."""
    pairs = [("HIV", "Flu"), ("Cancer", "Cancer"), ("Flu", "Cancer"), ("HIV", "HIV"), ("Phthisis", "Flu")]
    place = {value: code for code, value in enumerate(VALUES)}
    nothing = Histogram(np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))
    limits = {"Top Secret": 0.4, "Secret": 0.5}
    models = (GroupLeakage(2, alpha=limits, sensitive=COLUMN), AlphaKAnonymity(0.5, sensitive=SECOND))
    extension = Extension(
        models=models,
        before=ClassStats(np.zeros(1, dtype=np.int64), {COLUMN: nothing, SECOND: nothing}, DOMAINS),
        secrets={
            name: np.array([place[pair[j]] for pair in pairs], dtype=np.int32)
            for j, name in enumerate((COLUMN, SECOND))
        },
        alone=True,
    )
    found = extension.extend(ClassCandidates(np.arange(6), np.zeros(5, dtype=np.int64)))
    kept = [pair for pair, cls in zip(pairs, found.row_class.tolist(), strict=True) if cls >= 0]

    def holds(some: Sequence[tuple[Label, Label]]) -> bool:
        return all(
            oracle.satisfied([[pair[j] for pair in some]], [spec_of(model)], secret()) for j, model in enumerate(models)
        )

    assert kept
    assert holds(kept)
    assert not any(holds([*kept, pair]) for pair in pairs if pair not in kept)
