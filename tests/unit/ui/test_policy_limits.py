"""What the server refuses before anything is done with it, and what a policy on the page may not name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.errors import InputError, PolicyError
from shoal.policy.yaml_text import dump_yaml
from shoal.ui.desk.document import check_document, check_file
from shoal.ui.server.policy_limits import check_incoming, checked_document

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
        for check in (check_incoming, checked_document):
            with pytest.raises(InputError) as raised:
                check(document)
            assert raised.value.code == "file-outside-session"


@pytest.mark.parametrize("document", [
    {"columns": {"tree": {"role": "quasi", "hierarchy": {"tree": {"levels": ["/a", "../b"]}}}}},
    {"columns": {"a": {"categories": {"path": ["C:\\x"]}}}, "output": "release.csv"},
    {"data": {"path": "../mine/people.csv"}},
    {"data": {"path": "people.csv"}, "privacy": [{"model": "k-anonymity", "k": 5}]},
])  # fmt: skip
def test_values_that_only_look_like_paths_are_taken(document: Any) -> None:
    assert checked_document(document) is document


@pytest.mark.parametrize("document", [None, [], "x", 5, [{"a": 1}]])
def test_a_policy_is_a_mapping(document: Any) -> None:
    with pytest.raises(InputError) as raised:
        checked_document(document)
    assert raised.value.code == "policy-not-a-mapping"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_cannot_be_answered_again_is_refused(value: float) -> None:
    for check, document in ((checked_document, {"data": [value]}), (check_incoming, {"a": {"b": [value]}})):
        with pytest.raises(InputError) as raised:
            check(document)
        assert raised.value.code == "not-a-number"


@pytest.mark.parametrize("document", [{"\ud800": 1}, {"a": "\udfff"}, {"data": {"path": "\ud800"}}])
def test_half_a_character_is_refused(document: Any) -> None:
    with pytest.raises(UnicodeEncodeError):
        checked_document(document)


def test_aliases_that_grow_are_counted_without_being_written_out() -> None:
    value: Any = ["x"]
    for _ in range(60):
        value = [value] * 10
    with pytest.raises(InputError) as raised:
        checked_document({"a": value})
    assert raised.value.code == "policy-too-large"


POLICY: dict[str, Any] = {
    "data": {"path": "people.csv"},
    "columns": {"age": {"role": "quasi", "hierarchy": "flat"}, "zip": {"role": "quasi"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": "release.csv",
}


def with_age(hierarchy: Any) -> dict[str, Any]:
    return {**POLICY, "columns": {**POLICY["columns"], "age": {"role": "quasi", "hierarchy": hierarchy}}}


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        (with_age({"levels": "/etc/passwd"}), "columns.age.hierarchy"),
        (with_age({"tree": "../other/tree.yaml"}), "columns.age.hierarchy"),
        ({**POLICY, "data": "/etc/passwd.csv"}, "data"),
        ({**POLICY, "data": "../other.csv"}, "data"),
        ({**POLICY, "data": {"postgresql": "postgresql://localhost/db", "table": "people"}}, "data"),
        ({**POLICY, "output": "postgresql://localhost/db#people"}, "output"),
        ({**POLICY, "registry": "releases"}, "registry"),
        ({**POLICY, "engine": "spark"}, "engine"),
    ],
)
def test_what_lies_outside_is_a_problem(tmp_path: Path, changed: dict[str, Any], where: str) -> None:
    assert [each.where for each in check_document(changed).problems] == [where]
    file = tmp_path / "policy.yaml"
    file.write_text(dump_yaml(changed))
    with pytest.raises(PolicyError):
        check_file(file).valid()


def test_the_table_of_the_session_is_none(tmp_path: Path) -> None:
    assert not check_document(POLICY).problems
    file = tmp_path / "policy.yaml"
    file.write_text(dump_yaml(POLICY))
    assert check_file(file).valid().names("quasi") == ["age", "zip"]


@pytest.mark.parametrize(
    ("key", "allowed"),
    [(None, True), ({"env": "SHOAL_PSEUDONYM_KEY"}, True), ({"env": "HOME"}, False), ({"file": "my.key"}, False)],
)
def test_the_key_of_pseudonyms_is_the_servers(key: Any, allowed: bool) -> None:
    person = {"role": "pseudonym"} if key is None else {"role": "pseudonym", "key": key}
    content = {
        "columns": {"id": person, "age": {"role": "quasi"}},
        "person": "id",
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "algorithm": "optimal",
    }
    assert [each.code for each in check_document(content).problems] == ([] if allowed else ["other-key"])
