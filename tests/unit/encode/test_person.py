"""Identifiers of people: those that say nobody, and spellings that would make one person several."""

from __future__ import annotations

import pytest

import shoal
from shoal.errors import PolicyError
from support.attack_cases import policy_of, table_of

COLUMNS = {"patient": {"role": "identifier"}, "sex": {"role": "quasi"}}


def release(*patients: str | None) -> shoal.Release:
    policy = policy_of(COLUMNS, person="patient", privacy=[{"model": "k-anonymity", "k": 2}])
    return shoal.anonymize(table_of(("patient", "sex"), [(patient, "F") for patient in patients]), policy)


def problems(*patients: str | None) -> list[tuple[str, dict[str, object]]]:
    with pytest.raises(PolicyError) as raised:
        release(*patients)
    return [(problem.code, dict(problem.facts)) for problem in raised.value.problems]


@pytest.mark.parametrize("other", ["P1 ", " P1", "P1\t", "P1\u00a0", "\ufeffP1", "P\u200b1", "\uff301"])
def test_one_person_is_not_spelled_in_several_ways(other: str) -> None:
    assert problems("P1", other, "P1", "P2") == [("spellings-of-one-person", {"values": 1, "records": 3})]


def test_neither_spelling_need_be_the_plain_one() -> None:
    assert problems("A  1", "A 1 ", "B ") == [("spellings-of-one-person", {"values": 1, "records": 2})]


@pytest.mark.parametrize("nobody", [None, " ", "\t", "\u200b"])
def test_a_blank_is_nobody(nobody: str | None) -> None:
    assert problems("P1", nobody, "P2") == [("missing-person", {"records": 1})]


@pytest.mark.parametrize("other", ["p1", "P-1", "P 1", "P01"])
def test_identifiers_that_look_different_are_different_people(other: str) -> None:
    assert release("P1", other).evidence["people"]["people"] == 2
