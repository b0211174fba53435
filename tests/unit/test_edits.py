"""Edits of a policy change what they name and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.edits import PolicyEdit, apply_edits
from shoal.errors import InputError

SECRET = {"role": "sensitive"}
QUASI = {"role": "quasi", "hierarchy": "flat"}
ENTRY = {"model": "p-sensitive", "p": 3}
POLICY: dict[str, Any] = {
    "columns": {"q": {**QUASI, "boundary": 1}, "a": SECRET, "b": SECRET, "c": SECRET},
    "privacy": [{"model": "k-anonymity", "k": 400}, ENTRY],
    "suppression": 0,
}


def test_an_edit_leaves_everything_else_as_it_was() -> None:
    before = {**POLICY, "columns": dict(POLICY["columns"])}
    less = apply_edits(POLICY, [PolicyEdit(("privacy", 0, "k"), 2)])
    assert less == {**POLICY, "privacy": [{"model": "k-anonymity", "k": 2}, ENTRY]}
    assert apply_edits(POLICY, [PolicyEdit(("suppression",), 0.25)]) == {**POLICY, "suppression": 0.25}
    free = apply_edits(POLICY, [PolicyEdit(("columns", "q", "boundary"))])
    assert free["columns"] == {**POLICY["columns"], "q": QUASI}
    assert before == POLICY


def test_an_entry_on_several_columns_is_split_only_where_it_must_be() -> None:
    one = apply_edits(POLICY, [PolicyEdit(("privacy", 1, "p"), 2, "b")])
    assert one["privacy"][1:] == [{**ENTRY, "sensitive": ["a", "c"]}, {**ENTRY, "p": 2, "sensitive": "b"}]
    every = apply_edits(POLICY, [PolicyEdit(("privacy", 1, "p"), 2, name) for name in "abc"])
    assert every["privacy"][1:] == [{**ENTRY, "p": 2}]


def test_edits_of_several_entries_go_to_their_own_ones() -> None:
    named = [{**ENTRY, "sensitive": ["a", "b"]}, {**ENTRY, "sensitive": "c"}]
    edits = [PolicyEdit(("privacy", 0, "p"), 1, "a"), PolicyEdit(("privacy", 1, "p"), 2, "c")]
    changed = apply_edits({**POLICY, "privacy": named}, edits)
    assert [(each["p"], each["sensitive"]) for each in changed["privacy"]] == [(1, "a"), (3, "b"), (2, "c")]


def test_a_limit_of_the_missing_value_can_be_changed() -> None:
    entry = {"model": "alpha-k-anonymity", "alpha": {None: 0.1, "x": 0.2}, "sensitive": "a"}
    changed = apply_edits({**POLICY, "privacy": [entry]}, [PolicyEdit(("privacy", 0, "alpha", None), 0.5, "a")])
    assert changed["privacy"] == [{**entry, "alpha": {None: 0.5, "x": 0.2}}]


@pytest.mark.parametrize(
    "edit",
    [
        PolicyEdit(("privacy", 7, "k"), 1),
        PolicyEdit(("privacy", 1, "p"), 1, "gone"),
        PolicyEdit(("columns", "gone", "boundary")),
        PolicyEdit(("suppression", "deeper"), 1),
        PolicyEdit(("privacy", 0)),
    ],
)
def test_an_edit_that_does_not_fit_the_policy_is_refused(edit: PolicyEdit) -> None:
    with pytest.raises(InputError) as raised:
        apply_edits(POLICY, [edit])
    assert raised.value.code == "edit-outdated"


def test_an_edit_is_plain_data_and_back() -> None:
    edit = PolicyEdit(("privacy", 0, "alpha", None), 0.5, "a")
    assert PolicyEdit.from_dict(edit.to_dict()) == edit
    for wrong in (None, {}, {"path": []}, {"path": 3}, ["path"]):
        with pytest.raises(InputError) as raised:
            PolicyEdit.from_dict(wrong)
        assert raised.value.code == "edit-unreadable"
