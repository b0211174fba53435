"""A claim of what became of each record is checked, never believed: whatever is changed in it, or released, shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encode import resolve as encoding
from shoal.encode.result import Result
from shoal.errors import VerificationError
from shoal.io import in_order_of_cells
from shoal.pipeline.run import make_release
from shoal.pipeline.verify import claim_of, verify
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.verification import Claim, CountedRows, Verification

AGES = {"20": "f", "25": "m", "31": "f", "38": "m", "44": "f", "52": "m"}
CONDITIONS = ["HIV", "Flu", "Asthma", "Cold"]
COLUMNS = {
    "clinic": {"role": "identifier"},
    "patient": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20, 40]}},
    "sex": {"role": "quasi"},
    "dx": {"role": "sensitive", "same": {"HIV": ["hiv"]}},
    "ward": {"role": "insensitive"},
}


def events(seed: int = 1, records: int = 80, people: int = 30) -> pa.Table:
    """Visits of people of two clinics with the same numbers; a person is a pair."""
    chosen = np.random.default_rng(seed)
    rows = []
    for _ in range(records):
        person = int(chosen.integers(people))
        age = list(AGES)[(person + int(chosen.random() < 0.2)) % len(AGES)]
        dx = "hiv" if chosen.random() < 0.1 else CONDITIONS[int(chosen.integers(4))]
        rows.append((f"c{person % 2}", str(person // 2), age, AGES[age], dx, ["w1", None][int(chosen.integers(2))]))
    rows += [("c9", "1", "99", "x", "Flu", None), ("c9", "2", "98", "x", "hiv", "w1")]  # too few of their kind
    return pa.table({name: pa.array([row[j] for row in rows]) for j, name in enumerate(COLUMNS)})


def policy_of(*models: dict[str, Any], **keys: Any) -> Policy:
    privacy = list(models) or [{"model": "k-anonymity", "k": 4}, {"model": "p-sensitive", "p": 2, "sensitive": "dx"}]
    content = {"columns": COLUMNS, "privacy": privacy, "person": ["clinic", "patient"], "suppression": 0.3}
    content |= {"algorithm": "optimal", **keys}
    return Policy.model_validate(content)


def people_check(found: Verification) -> tuple[bool, dict[str, Any]]:
    (check,) = [each for each in found.checks if each.name == "people"]
    return check.passed, dict(check.facts)


ORIGINAL = events()
RESULT = make_release(ORIGINAL, policy_of())
CLAIM = claim_of(RESULT)
assert CLAIM is not None


def checked(release: pa.Table = RESULT.table, claim: Claim = CLAIM, original: Any = ORIGINAL) -> Verification:
    return verify(release, RESULT.policy, original, claim=claim)


def test_a_true_claim_counts_people():
    found = checked()
    assert found.passed
    kept = RESULT.record_recoding.row_class >= 0
    pairs = list(zip(ORIGINAL["clinic"].to_pylist(), ORIGINAL["patient"].to_pylist(), strict=True))
    released = {pair for pair, there in zip(pairs, kept, strict=True) if there}
    suppressed = int((~kept).sum())
    counted = {"counted": True, "people": len(released), "records": int(kept.sum()), "suppressed": suppressed}
    assert suppressed > 0
    assert people_check(found) == (True, counted)


def test_the_original_may_be_counted_and_its_rows_in_any_order():
    order = np.random.default_rng(5).permutation(ORIGINAL.num_rows)
    assert checked(original=ORIGINAL.take(pa.array(order))).passed
    assert checked(original=CountedRows(ORIGINAL, np.ones(ORIGINAL.num_rows, dtype=np.int64))).passed


def column_of(table: pa.Table, name: str) -> list[Any]:
    column = table.column(name)
    return (column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column).to_pylist()


def with_column(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values, pa.string()))


def two_rows(differ: str, alike: str | None = None) -> tuple[int, int]:
    """Two released rows of the claim that differ in a column, and are alike in another."""
    kept = np.flatnonzero(CLAIM.class_of >= 0).tolist()
    of, like = column_of(CLAIM.table, differ), column_of(CLAIM.table, alike or differ)
    return next(
        (a, b) for a in kept for b in kept
        if of[a] != of[b] and (alike is None or like[a] == like[b]) and CLAIM.class_of[a] != CLAIM.class_of[b]
    )  # fmt: skip


def swap(claim: Claim, name: str) -> Claim:
    first, second = two_rows(name)
    values = column_of(claim.table, name)
    values[first], values[second] = values[second], values[first]
    return replace(claim, table=with_column(claim.table, name, values))


def swap_classes(claim: Claim) -> Claim:
    first, second = two_rows("dx")
    classes = claim.class_of.copy()
    classes[[first, second]] = classes[[second, first]]
    return replace(claim, class_of=classes)


def move_record(claim: Claim) -> Claim:
    row = int(np.flatnonzero(claim.class_of >= 0)[0])
    classes = claim.class_of.copy()
    classes[row] = (classes[row] + 1) % claim.labels.num_rows
    return replace(claim, class_of=classes)


def drop_person(claim: Claim) -> Claim:
    who = column_of(claim.table, "patient")
    kept = np.array([each != who[0] for each in who])
    return Claim(claim.table.filter(pa.array(kept)), claim.counts[kept], claim.class_of[kept], claim.labels)


def everybody_alone(claim: Claim) -> Claim:
    return replace(claim, table=with_column(claim.table, "patient", [f"p{n}" for n in range(claim.table.num_rows)]))


def release_suppressed(claim: Claim) -> Claim:
    classes = claim.class_of.copy()
    classes[classes < 0] = 0
    return replace(claim, class_of=classes)


def suppress_one(claim: Claim) -> Claim:
    classes = claim.class_of.copy()
    classes[np.flatnonzero(classes >= 0)[0]] = -1
    return replace(claim, class_of=classes)


def count_twice(claim: Claim) -> Claim:
    return replace(claim, counts=claim.counts + (np.arange(len(claim.counts)) == 0))


def change_label(claim: Claim) -> Claim:
    labels = column_of(claim.labels, "age")
    return replace(claim, labels=with_column(claim.labels, "age", ["[0, 10)", *labels[1:]]))


def generalize_label(claim: Claim) -> Claim:
    labels = column_of(claim.labels, "sex")
    return replace(claim, labels=with_column(claim.labels, "sex", ["*" for _ in labels]))


FALSE_CLAIMS: dict[str, tuple[Callable[[Claim], Claim], str]] = {
    "swapped people": (lambda claim: swap(claim, "patient"), "other-original"),
    "swapped secrets": (lambda claim: swap(claim, "dx"), "other-original"),
    "swapped ages": (lambda claim: swap(claim, "age"), "other-original"),
    "a person left out": (drop_person, "other-original"),
    "everybody another person": (everybody_alone, "other-original"),
    "a record twice": (count_twice, "other-original"),
    "no person": (lambda claim: replace(claim, table=claim.table.drop_columns(["patient"])), "other-original"),
    "fewer classes than named": (lambda claim: replace(claim, labels=claim.labels.slice(0, 1)), "other-original"),
    "fewer rows than counts": (lambda claim: replace(claim, class_of=claim.class_of[1:]), "other-original"),
    "classes swapped": (swap_classes, "other-labels"),
    "a record moved": (move_record, "other-labels"),
    "a label that does not cover": (change_label, "other-labels"),
    "suppressed records released": (release_suppressed, "other-labels"),
    "a more general label": (generalize_label, "other-release"),
    "a released record suppressed": (suppress_one, "other-release"),
}


@pytest.mark.parametrize("name", FALSE_CLAIMS)
def test_a_false_claim_is_refused(name):
    change, reason = FALSE_CLAIMS[name]
    found = checked(claim=change(CLAIM))
    passed, facts = people_check(found)
    assert not found.passed
    assert (passed, facts["counted"], facts["reason"]) == (False, False, reason)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def as_release(rows: list[tuple[Any, ...]]) -> pa.Table:
    names = RESULT.table.column_names
    return in_order_of_cells(
        pa.table({name: pa.array([row[j] for row in rows], pa.string()) for j, name in enumerate(names)})
    )


def move_one(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    first = rows[0]
    other = next(row for row in rows if row[:2] != first[:2])
    return [(*other[:2], *first[2:]), *rows[1:]]


def exchange_secrets(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The same values in other classes: the sizes of classes stay what they are."""
    first = rows[0]
    place = next(j for j, row in enumerate(rows) if row[:2] != first[:2] and row[2] != first[2])
    other = rows[place]
    rows[0], rows[place] = (*first[:2], other[2], first[3]), (*other[:2], first[2], other[3])
    return rows


FALSE_RELEASES: dict[str, Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]]] = {
    "a record in another class": move_one,
    "secrets exchanged between classes": exchange_secrets,
    "a record left out": lambda rows: rows[1:],
    "a record twice": lambda rows: [rows[0], *rows],
    "another secret": lambda rows: [(*rows[0][:2], "Cold" if rows[0][2] != "Cold" else "Flu", rows[0][3]), *rows[1:]],
    "another ward": lambda rows: [(*rows[0][:3], None if rows[0][3] else "w1"), *rows[1:]],
    "another label": lambda rows: [("*", *rows[0][1:]), *rows[1:]],
}


@pytest.mark.parametrize("name", FALSE_RELEASES)
def test_a_changed_release_is_not_what_was_claimed(name):
    found = checked(release=as_release(FALSE_RELEASES[name](rows_of(RESULT.table))))
    passed, facts = people_check(found)
    assert (passed, facts["reason"]) == (False, "other-release")


def test_a_person_without_an_id_is_refused():
    original = with_column(ORIGINAL, "patient", [None, *column_of(ORIGINAL, "patient")[1:]])
    passed, facts = people_check(checked(original=original))
    assert (passed, facts["reason"], facts["records"]) == (False, "other-original", 1)
    passed, facts = people_check(verify(RESULT.table, RESULT.policy, original))
    assert (passed, facts["reason"], facts["records"]) == (False, "missing-person", 1)
    values = column_of(CLAIM.table, "patient")
    same = with_column(CLAIM.table, "patient", [None, *values[1:]])
    found = checked(claim=replace(CLAIM, table=same), original=CountedRows(same, CLAIM.counts))
    assert people_check(found)[1]["reason"] == "missing-person"


def test_an_original_that_does_not_say_who_is_refused():
    original = CountedRows(ORIGINAL.drop_columns(["patient"]), np.ones(ORIGINAL.num_rows, dtype=np.int64))
    passed, facts = people_check(checked(original=original))
    assert (passed, facts["reason"]) == (False, "no-person-column")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("suppressed", ["drop", "star"])
@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "range"])
def test_every_algorithm_makes_releases_whose_claims_hold(algorithm, suppressed, seed):
    release = shoal.anonymize(events(seed), policy_of(algorithm=algorithm, suppressed=suppressed))
    (check,) = [each for each in release.evidence["checks"] if each["name"] == "people"]
    assert check["facts"]["counted"]
    assert check["facts"]["records"] == release.evidence["released"]


def test_ranges_and_the_range_algorithm_are_claimed_too():
    for algorithm in (
        {"name": "range", "group": {"sex": 1}, "ranges": ["age"], "safe": True},
        {"name": "mondrian", "ranges": ["age"]},
    ):
        release = shoal.anonymize(events(), policy_of(algorithm=algorithm))
        assert any("<=" in label for label in release.table["age"].to_pylist())
        assert [each["passed"] for each in release.evidence["checks"] if each["name"] == "people"] == [True]


@pytest.mark.parametrize(
    "mistake",
    [lambda rows, columns: None, lambda rows, columns: np.arange(rows.n_rows, dtype=np.int32)],  # noqa: ARG005
    ids=["records counted instead", "everybody taken for several"],
)
def test_a_run_that_miscounts_people_is_stopped(mistake, monkeypatch):
    monkeypatch.setattr(encoding, "person_codes", mistake)
    one = pa.table(
        {
            "clinic": ["c"] * 8,
            "patient": ["1"] * 5 + ["2", "3", "4"],
            "age": ["20"] * 5 + ["52"] * 3,
            "sex": ["f"] * 8,
            "dx": CONDITIONS * 2,
            "ward": ["w1"] * 8,
        }
    )
    with pytest.raises(VerificationError) as caught:
        shoal.anonymize(one, policy_of({"model": "k-anonymity", "k": 3}))
    assert "k-anonymity" in {check.name for check in caught.value.verification.failures}


def visits_of_one(policy: Policy) -> tuple[pa.Table, pa.Table, Claim]:
    """Fifteen visits of one patient in a class of their own, and six people in another: 5-anonymous by records."""
    who = ["10"] * 15 + [str(n) for n in range(6)]
    original = pa.table(
        {
            "clinic": ["c"] * 21,
            "patient": who,
            "age": ["44"] * 15 + ["21"] * 6,
            "sex": ["f"] * 21,
            "dx": (CONDITIONS * 6)[:21],
            "ward": ["w1"] * 21,
        }
    )
    labels = pa.table({"age": ["[40, 50)", "[20, 30)"], "sex": ["f", "f"]})
    claim = Claim(original, np.ones(21, dtype=np.int64), np.array([0] * 15 + [1] * 6), labels)
    release = in_order_of_cells(
        pa.table(
            {"age": ["[40, 50)"] * 15 + ["[20, 30)"] * 6, **{name: original[name] for name in ("sex", "dx", "ward")}}
        )
    )
    assert verify(release, policy.changed(person=None), original).passed
    return original, release, claim


@pytest.mark.parametrize("claimed", [True, False])
def test_a_class_of_one_patients_records_does_not_pass(claimed):
    policy = policy_of({"model": "k-anonymity", "k": 5}, {"model": "p-sensitive", "p": 2, "sensitive": "dx"})
    original, release, claim = visits_of_one(policy)
    found = verify(release, policy, original, claim=claim if claimed else None)
    assert [check.name for check in found.failures] == ["k-anonymity"]
    (check,) = found.failures
    assert check.facts["counted"] == "people"
    assert check.facts["smallest_class"] == 1
    assert check.facts["failing_records"] == 15


def test_without_the_original_records_are_judged_and_people_are_not():
    models = [{"model": "k-anonymity", "k": 5}, {"model": "alpha-k-anonymity", "alpha": 0.1, "sensitive": "dx"}]
    policy = policy_of(*models)
    _, release, _ = visits_of_one(policy_of({"model": "k-anonymity", "k": 5}))
    found = verify(release, policy)
    assert found.passed
    assert found.people_counted is False
    facts = {"counted": False, "reason": "no-original", "not_judged": ["alpha-k-anonymity[dx]"]}
    assert people_check(found) == (True, facts)
    assert {check.name: check.facts.get("counted") for check in found.checks}["k-anonymity"] == "records"
    too_small = verify(release, policy_of({"model": "k-anonymity", "k": 7}))
    assert [check.name for check in too_small.failures] == ["k-anonymity"]


def test_records_that_fit_several_classes_leave_people_uncounted():
    """A class of all ages beside one of the twenties: somebody of 25 may be in either."""
    original = pa.table(
        {
            "clinic": ["c"] * 4,
            "patient": ["1", "2", "3", "4"],
            "age": ["25", "25", "52", "25"],
            "sex": ["f"] * 4,
            "dx": ["HIV", "Flu", "Flu", "HIV"],
            "ward": ["w1"] * 4,
        }
    )
    rows = [
        ("[20, 30)", "f", "HIV", "w1"),
        ("[20, 30)", "f", "Flu", "w1"),
        ("*", "f", "HIV", "w1"),
        ("*", "f", "Flu", "w1"),
    ]
    release, policy = as_release(rows), policy_of({"model": "k-anonymity", "k": 2})
    found = verify(release, policy, original)
    assert [check.name for check in found.failures] == ["people"]
    assert people_check(found)[1] == {"counted": False, "reason": "several-classes", "records": 2, "not_judged": []}
    labels = pa.table({"age": ["[20, 30)", "*"], "sex": ["f", "f"]})
    claim = Claim(original, np.ones(4, dtype=np.int64), np.array([0, 0, 1, 1]), labels)
    assert verify(release, policy, original, claim=claim).passed


def test_the_release_of_a_result_is_checked_again_when_it_is_written(tmp_path):
    release = shoal.anonymize(ORIGINAL, policy_of())
    release.write(tmp_path / "release.csv")
    assert verify(tmp_path / "release.csv", policy_of(), ORIGINAL).people_counted
    results: Result = release.result
    broken = replace(
        release, result=replace(results, recoding=replace(results.recoding, row_class=results.recoding.row_class[::-1]))
    )
    with pytest.raises(VerificationError):
        broken.write(tmp_path / "other.csv")
    assert not (tmp_path / "other.csv").exists()
