"""A new release beside earlier ones: whose candidates become too few together, and who only seems to be exposed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import attack_oracle as oracle
from shoal.attacks.attack import AttackResult
from shoal.attacks.attackers import composition as module
from shoal.attacks.registry.entry import Entry
from support.release_cases import CHAINS, COLUMNS, QUASI, composed, entry_of, new_release, policy_of, table_of

NAMES = list(COLUMNS)
TWO = ({"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 2, "sensitive": "illness"})
PEOPLE = [("a1", "a1", "HIV"), ("a1", "b1", "flu"), ("a2", "a1", "cold"), ("a2", "b1", "gout")]
BY_HOME = [(home, "*") for home, _, _ in PEOPLE]
BY_WORK = [("*", work, illness) for _, work, illness in PEOPLE]


def estimated(
    people: list[Any],
    shown: list[Any],
    *before: list[Any],
    columns: dict[str, Any] | None = None,
    models: tuple[Any, ...] = TWO,
    earlier_columns: dict[str, Any] | None = None,
) -> AttackResult:
    """This release by what everybody shows, earlier ones by their rows."""
    policy = policy_of(columns or COLUMNS, *models)
    other = policy_of(earlier_columns or columns or COLUMNS, *models)
    new = new_release(policy, table_of(NAMES, people), shown)
    entries = [entry_of(other, table_of(NAMES, rows), name=f"r{place}") for place, rows in enumerate(before)]
    (found,) = composed(new, *entries).results
    return found


def test_two_releases_that_are_diverse_each_reveal_together_and_are_caught() -> None:
    found = estimated(PEOPLE, BY_HOME, BY_WORK)
    assert found.leak
    assert (found.records, found.of) == (4, 4)
    assert found.certain == 4
    assert found.details["by_earlier_release"] == {"r0": 4}


def test_two_releases_of_the_same_classes_are_not_flagged() -> None:
    again = [(home, "*", illness) for home, _, illness in PEOPLE]
    found = estimated(PEOPLE, BY_HOME, again)
    assert (found.leak, found.records, found.of) == (False, 0, 4)


def test_fewer_than_p_values_are_too_few_even_if_none_is_certain() -> None:
    """Each release leaves three values, both together two."""
    people = [("a1", "a1", "HIV"), ("a1", "b1", "flu"), ("a1", "b2", "cold"), ("a2", "a1", "flu"), ("a2", "b1", "gout")]
    people += [("a2", "a1", "mumps")]
    shown = [(home, "*") for home, _, _ in people]
    before = [("*", "a1", "HIV"), ("*", "a1", "flu"), ("*", "a1", "mumps")]
    three = ({"model": "p-sensitive", "p": 3},)
    found = estimated(people, shown, before, models=three)
    assert found.details["values_required"] == 3
    assert (
        found.records == 3
    )  # a1/a1: {HIV, flu} of {HIV, flu, cold}; both of a2/a1: {flu, mumps} of {flu, gout, mumps}
    assert found.certain == 0
    assert estimated(people, shown, before, models=TWO).records == 0


def test_what_an_earlier_release_tells_alone_is_not_the_new_ones_doing() -> None:
    alone = [("a1", "a1", "HIV"), ("a2", "b1", "gout"), ("a2", "b1", "cold")]
    found = estimated(PEOPLE, BY_HOME, alone)
    assert found.records == 0  # of a1/a1 the earlier release leaves one value already


def test_whoever_was_suppressed_is_not_in_the_release() -> None:
    found = estimated(PEOPLE, [None, *BY_HOME[1:]], BY_WORK)
    assert found.of == 3


def test_people_who_fit_no_earlier_class_with_their_secret_were_not_in_it() -> None:
    elsewhere = estimated(PEOPLE, BY_HOME, [("b2", "*", "HIV"), ("b2", "*", "flu")])
    assert (elsewhere.of, elsewhere.details["not_in_an_earlier_release"], elsewhere.details["misled"]) == (0, 4, 0)
    changed = estimated(PEOPLE, BY_HOME, [("a1", "*", "mumps"), ("a1", "*", "flu")])
    assert (changed.of, changed.details["misled"]) == (1, 1)
    assert changed.records == 1  # flu, of {HIV, flu} and {mumps, flu}


def test_three_releases_may_reveal_what_no_two_do() -> None:
    people = [("a1", "a1", "HIV"), ("a1", "b1", "flu"), ("a1", "b1", "cold")]
    shown = [("a1", "*")] * 3
    first = [("*", "a1", "HIV"), ("*", "a1", "flu"), ("*", "a1", "gout")]
    second = [("*", "A", "HIV"), ("*", "A", "cold"), ("*", "A", "gout")]
    for before in ([first], [second]):
        assert estimated(people, shown, *before, models=TWO).records == 0
    both = estimated(people, shown, first, second, models=TWO)
    assert both.records == 1
    assert both.details["by_earlier_release"] == {"r0": 0, "r1": 0}


def test_a_release_that_the_person_cannot_have_been_in_does_not_hide_what_another_reveals() -> None:
    """The second earlier release misleads about everybody; the first still reveals."""
    strange = [("*", "*", "mumps"), ("*", "*", "rash")]
    found = estimated(PEOPLE, BY_HOME, BY_WORK, strange)
    assert (found.records, found.details["misled"]) == (4, 4)


GROUPS = {"Grave": ["HIV", "Cancer"], "Light": ["flu", "cold"], "Other": ["gout"]}
CATEGORIZED = COLUMNS | {"illness": {"role": "sensitive", "publish": "values", "categories": GROUPS}}
PLUS = ({"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 0, "sensitive": "illness"},)


def test_a_category_that_becomes_certain_is_an_exposure_where_categories_are_promised() -> None:
    people = [("a1", "a1", "HIV"), ("a1", "a1", "Cancer"), ("a1", "b1", "flu"), ("a2", "a1", "gout")]
    shown = [(home, "*") for home, _, _ in people]
    before = [("*", work, illness) for _, work, illness in people]
    kept = estimated(people, shown, before, columns=CATEGORIZED, models=(TWO[1],))
    assert kept.records == 0  # two values are left to both of a1/a1
    promised = estimated(people, shown, before, columns=CATEGORIZED, models=PLUS)
    assert promised.details["categories_required"] == 2
    assert promised.records == 2


def test_where_categories_are_published_values_of_an_earlier_release_count_as_theirs() -> None:
    columns = CATEGORIZED | {"illness": {**CATEGORIZED["illness"], "publish": "categories"}}
    people = [("a1", "a1", "HIV"), ("a1", "b1", "flu"), ("a2", "a1", "gout"), ("a2", "b1", "gout")]
    shown = [(home, "*") for home, _, _ in people]
    before = [("*", "a1", "Cancer"), ("*", "a1", "gout")]
    found = estimated(people, shown, before, columns=columns, models=PLUS, earlier_columns=CATEGORIZED)
    assert found.records == 1  # a1/a1: Grave of {Grave, Light} and {Grave, Other}


def test_a_published_category_of_an_earlier_release_stands_for_all_its_values() -> None:
    earlier = CATEGORIZED | {"illness": {**CATEGORIZED["illness"], "publish": "categories"}}
    before = [("*", "a1", "Grave"), ("*", "a1", "Other")]
    found = estimated(PEOPLE, BY_HOME, before, columns=CATEGORIZED, models=(TWO[1],), earlier_columns=earlier)
    assert found.records == 1  # a1/a1: HIV of {HIV, flu} and {HIV, Cancer, gout}; a2/a1 was not in it


def both(columns: dict[str, Any], other: dict[str, Any], people: Any, shown: Any, before: Any) -> Any:
    names = [name for name in other if name in {*COLUMNS, "shoe"}]
    entry = entry_of(policy_of(other, *TWO), table_of(names, before))
    return composed(new_release(policy_of(columns, *TWO), table_of(NAMES, people), shown), entry)


def test_labels_whose_meaning_is_lost_are_not_tried_and_the_reason_is_told() -> None:
    other = COLUMNS | {"work": {"role": "quasi", "hierarchy": {"tree": {"Near": ["a1"], "Far": ["b1"]}}}}
    found = both(COLUMNS, other, PEOPLE, BY_HOME, [("*", "Near", "HIV"), ("*", "Near", "cold")])
    assert (found.results[0].status, found.results[0].outcome) == ("not tried", "unreadable-labels")
    gone = {"code": "labels-gone", "column": "work", "kind": "tree", "labels": ["Near"], "release": "first"}
    assert found.results[0].details["unreadable"] == (gone,)


def test_labels_of_a_changed_tree_are_read_as_it_is_now_and_that_is_told() -> None:
    other = COLUMNS | {"work": {"role": "quasi", "hierarchy": {"tree": {"A": ["a1"], "B": ["b1", "b2"]}}}}
    found = both(COLUMNS, other, PEOPLE, BY_HOME, [("*", "A", "HIV"), ("*", "A", "cold")])
    assert found.results[0].records == 2
    assert found.notes == ({"code": "hierarchy-changed", "release": "first", "column": "work", "kind": "tree"},)


def test_a_column_that_the_data_no_longer_has_tells_nothing() -> None:
    other = COLUMNS | {"shoe": {"role": "quasi"}}
    before = [("*", work, illness, "42") for _, work, illness in PEOPLE]
    found = both(COLUMNS, {"home": QUASI, "work": QUASI, "illness": COLUMNS["illness"], "shoe": other["shoe"]},
                 PEOPLE, BY_HOME, before)  # fmt: skip
    assert found.results[0].records == 4
    assert found.notes == ({"code": "column-not-in-data", "release": "first", "column": "shoe"},)


def test_nothing_earlier_and_nothing_in_common_do_not_apply() -> None:
    new = new_release(policy_of(COLUMNS, *TWO), table_of(NAMES, PEOPLE), BY_HOME)
    assert composed(new).results[0].status == "not applicable"
    other = policy_of({"home": QUASI, "job": {"role": "sensitive"}})
    entry = entry_of(other, table_of(["home", "job"], [("a1", "cook")]))
    assert composed(new, entry).results[0].status == "not applicable"
    stranger = policy_of({"shoe": {"role": "quasi"}, "illness": {"role": "sensitive"}})
    entry = entry_of(stranger, table_of(["shoe", "illness"], [("42", "HIV")]))
    assert composed(new, entry).results[0].outcome == "no-shared-columns"
    none = policy_of({"home": QUASI, "work": QUASI})
    bare = new_release(none, table_of(["home", "work"], [row[:2] for row in PEOPLE]), BY_HOME)
    assert composed(bare, entry).results[0].status == "not applicable"


labels = st.sampled_from(list(CHAINS))
persons = st.lists(st.tuples(labels, labels, st.sampled_from(["HIV", "flu", "cold", None])), min_size=1, max_size=8)


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[Any], list[Any], list[list[Any]], int]:
    """People, what the new release shows of them, and some earlier releases of some of them, perhaps with changes."""
    people = [*draw(persons), ("a1", "b1", "flu")]
    secrets = st.sampled_from(["HIV", "flu", "cold", None])

    def shown(person: Any) -> Any:
        return tuple(draw(st.sampled_from(CHAINS[value])) for value in person[:2])

    now = [shown(person) if draw(st.integers(0, 5)) else None for person in people]
    now[-1] = ("*", "*")
    earlier = []
    for _ in range(draw(st.integers(1, 3))):
        rows = [
            (*shown(person), person[2] if draw(st.integers(0, 4)) else draw(secrets))
            for person in people
            if draw(st.integers(0, 3))
        ]
        earlier.append(rows or [("*", "*", "HIV")])
    return people, now, earlier, draw(st.integers(1, 4))


@pytest.mark.slow
@pytest.mark.parametrize("at_a_time", [2, 100_000])
@settings(max_examples=150)
@given(case=releases())
def test_exposed_are_those_whom_the_definition_leaves_too_few_candidates(case: Any, at_a_time: int) -> None:
    people, now, earlier, p = case
    mine = [((*label,), person[2]) for label, person in zip(now, people, strict=True) if label is not None]
    others = [[((home, work), illness) for home, work, illness in rows] for rows in earlier]
    exposed = shared = misled = certain = 0
    for label, (home, work, illness) in zip(now, people, strict=True):
        if label is None or illness is None:  # nobody's unknown secret is told
            continue
        of_mine, *sets = (oracle.candidates((home, work), rows, [CHAINS, CHAINS]) - {None} for rows in (mine, *others))
        inside = [of_mine, *(each for each in sets if illness in each)]
        misled += any(each and illness not in each for each in sets)
        if len(inside) == 1:
            continue
        shared += 1
        left = set.intersection(*inside)
        tighter = len(left) < max(2, p) and all(len(left) < len(each) for each in inside)
        exposed += tighter
        certain += tighter and len(left) == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PEOPLE_AT_A_TIME", at_a_time)
        found = estimated(people, now, *earlier, models=({"model": "p-sensitive", "p": p},))
    assert (found.of, found.records) == (shared, exposed)
    assert (found.details["misled"], found.certain) == (misled, certain)


def test_an_entry_read_back_says_the_same() -> None:
    policy = policy_of(COLUMNS, *TWO)
    entry = entry_of(policy, table_of(NAMES, BY_WORK))
    again = Entry.from_json(entry.to_json().encode(), entry.name)
    new = new_release(policy, table_of(NAMES, PEOPLE), BY_HOME)
    assert composed(new, again).to_dict() == composed(new, entry).to_dict()


@settings(max_examples=60)
@given(case=releases())
def test_a_release_read_by_its_own_signature_tells_the_same(case: Any) -> None:
    """As where records were published before: what readers see is then read by labels, not by the recoding."""
    people, now, earlier, p = case
    policy = policy_of(COLUMNS, {"model": "p-sensitive", "p": p})
    new = new_release(policy, table_of(NAMES, people), now)
    entries = [entry_of(policy, table_of(NAMES, rows), name=f"r{place}") for place, rows in enumerate(earlier)]
    mine = [(*label, person[2]) for label, person in zip(now, people, strict=True) if label is not None]
    shown = entry_of(policy, table_of(NAMES, mine)).signature
    assert composed(replace(new, shown=shown), *entries).to_dict() == composed(new, *entries).to_dict()


def test_records_published_before_hide_new_ones() -> None:
    """Alone the two people of a1 have two candidates; with what their class had before, three."""
    people, shown = PEOPLE[:2], BY_HOME[:2]
    policy = policy_of(COLUMNS, *TWO)
    new = new_release(policy, table_of(NAMES, people), shown)
    entry = entry_of(policy, table_of(NAMES, [("*", "a1", "HIV"), ("*", "a1", "gout")]))
    assert composed(new, entry).results[0].records == 1
    before = [("a1", "*", illness) for illness in ("HIV", "flu", "gout")]
    together = entry_of(policy, table_of(NAMES, before)).signature
    assert composed(replace(new, shown=together), entry).results[0].records == 0
