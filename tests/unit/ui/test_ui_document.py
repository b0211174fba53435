"""The policy as the page edits it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import PolicyError
from shoal.policy import Policy
from shoal.ui.desk import document
from shoal.ui.server.workspace import Workspace

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
    assert document.parse(document.dump(content)) == content


def test_short_forms_are_written_out_for_the_page() -> None:
    settled = document.settled(POLICY)
    assert settled["columns"]["age"]["hierarchy"] == {"flat": True}
    assert Policy.model_validate(settled) == Policy.model_validate(POLICY)


def test_a_document_with_problems_is_kept_and_its_problems_are_told(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    wrong = {**POLICY, "privacy": [{"model": "k-anonymity", "k": 0}]}
    document.save(workspace, wrong)
    content, text = document.load(workspace)
    assert content == wrong
    assert document.settled(content) == wrong
    assert "k: 0" in text
    assert [each.where for each in document.problems_of(content)] == ["privacy[0].k"]


def test_what_is_no_yaml_is_an_error() -> None:
    with pytest.raises(PolicyError):
        document.parse("a: [")
