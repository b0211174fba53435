"""The policy as the page edits it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shoal.policy import Policy
from shoal.policy.yaml_text import dump_yaml, parse_yaml
from shoal.ui.desk import document

TEXT = st.text(st.characters(blacklist_characters="\x00", blacklist_categories=("Cs", "Cc")), max_size=8)
DOCUMENTS: st.SearchStrategy[Any] = st.recursive(
    st.none() | TEXT | st.integers(-1000, 1000) | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.none() | TEXT, inner, max_size=4),
    max_leaves=20,
)
POLICY = {"columns": {"age": {"role": "quasi", "hierarchy": "flat"}}, "privacy": [{"model": "k-anonymity", "k": 2}]}


@given(DOCUMENTS)
def test_a_document_comes_back_from_the_page_as_it_went(content: Any) -> None:
    assert document.from_page(document.to_page(content)) == content


@given(st.dictionaries(st.none() | TEXT, DOCUMENTS, max_size=4))
def test_the_file_holds_what_the_page_has(content: Any) -> None:
    assert parse_yaml(dump_yaml(content), "x") == content


def test_short_forms_are_written_out_for_the_page() -> None:
    settled = document.check_document(POLICY).document
    assert settled["columns"]["age"]["hierarchy"] == {"flat": True}
    assert Policy.model_validate(settled) == Policy.model_validate(POLICY)


def test_a_document_with_problems_is_kept_and_its_problems_are_reported(tmp_path: Path) -> None:
    wrong = {**POLICY, "privacy": [{"model": "k-anonymity", "k": 0}]}
    path = tmp_path / "policy.yaml"
    path.write_text(dump_yaml(wrong))
    for checked in (document.check_file(path), document.check_document(wrong)):
        assert checked.document == wrong
        assert [each.where for each in checked.problems] == ["privacy[0].k"]
        assert checked.policy is None
    assert document.check_file(tmp_path / "none.yaml").document == {}


def test_what_is_no_yaml_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("a: [")
    checked = document.check_file(path)
    assert checked.problems
    assert checked.document == {}
