"""What the server refuses before anything is done with it."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.errors import InputError
from shoal.ui.server.accepted import accept, accepted_policy

OUTSIDE = [
    "/etc/passwd",
    "../x",
    "a/../../b",
    "..",
    "C:\\x",
    "c:x",
    "\\\\host\\share",
    "~/x",
    "a\x00b",
    "..\\x",
    "file:///x",
]


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("key", ["levels", "tree", "registry", "path"])
def test_no_key_that_names_a_file_leads_out(path: str, key: str) -> None:
    for document in ({key: path}, {"columns": {"a": {"hierarchy": {key: path}}}}, {"x": [{key: path}]}):
        with pytest.raises(InputError, match="outside the session"):
            accept(document)
        with pytest.raises(InputError, match="outside the session"):
            accepted_policy(document)


@pytest.mark.parametrize("document", [
    {"columns": {"tree": {"role": "quasi", "hierarchy": {"tree": {"levels": ["/a", "../b"]}}}}},
    {"columns": {"a": {"categories": {"path": ["C:\\x"]}}}, "output": "release.csv"},
    {"data": {"path": "../mine/people.csv"}},
    {"data": {"path": "people.csv"}, "privacy": [{"model": "k-anonymity", "k": 5}]},
])  # fmt: skip
def test_values_that_only_look_like_paths_are_taken(document: Any) -> None:
    assert accepted_policy(document) is document


@pytest.mark.parametrize("document", [None, [], "x", 5, [{"a": 1}]])
def test_a_policy_is_a_mapping(document: Any) -> None:
    with pytest.raises(InputError, match="mapping"):
        accepted_policy(document)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_cannot_be_answered_again_is_refused(value: float) -> None:
    with pytest.raises(InputError, match="no number"):
        accepted_policy({"data": [value]})
    with pytest.raises(InputError, match="no number"):
        accept({"a": {"b": [value]}})


@pytest.mark.parametrize("document", [{"\ud800": 1}, {"a": "\udfff"}, {"data": {"path": "\ud800"}}])
def test_half_a_character_is_refused(document: Any) -> None:
    with pytest.raises(UnicodeEncodeError):
        accepted_policy(document)


def test_aliases_that_grow_are_counted_without_being_written_out() -> None:
    value: Any = ["x"]
    for _ in range(60):
        value = [value] * 10
    with pytest.raises(InputError, match="aliases"):
        accepted_policy({"a": value})
