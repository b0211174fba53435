"""The page keeps what a policy accepts when it loads, edits and saves the document."""

from __future__ import annotations

import json

from shoal.policy import Policy
from shoal.ui.desk.document import check_document, from_page, to_page

CONTENT = {
    "columns": {"age": {"role": "quasi"}, "ward": {"role": "insensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "accept": [{"attack": "linkage-insensitive", "column": "ward", "reason": "Nobody knows it."}],
}


def test_accepted_leaks_go_to_the_page_and_come_back() -> None:
    shown = json.loads(json.dumps(to_page(Policy.model_validate(CONTENT).to_dict())))
    shown["suppression"] = 0.1
    back = check_document(from_page(shown))
    assert back.problems == []
    assert back.valid().accept == Policy.model_validate(CONTENT).accept


def test_a_wrong_entry_is_a_problem_of_the_page() -> None:
    (problem,) = check_document(CONTENT | {"accept": [{"attack": "linkage", "reason": ""}]}).problems_to_page()
    assert (problem["where"], problem["code"], problem["section"]) == ("accept[0].reason", "blank-reason", "accept")
