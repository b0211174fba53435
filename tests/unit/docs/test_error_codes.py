"""The lists of error codes in the documentation: read from the source, complete, and each code usable by a program."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from support.pages import DOCS
from support.scripts import load_script

SOURCE = """
from shoal.errors import DataError, PolicyProblem

def check(path):
    message = f"{path} has no records."
    raise DataError(message, code="no-records")

def problem(name):
    return PolicyProblem(f"columns.{name}", "has two roles.", "Choose one.", code="two-roles")

def found(facts):
    return Finding(code="not-an-error")

def explained(kind=DataError, what="the cluster failed", code="cluster-failed"):
    raise kind(what, code=code)
"""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_script(DOCS / "_extensions" / "error_codes.py")


def test_codes_are_found_with_their_class_and_message(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(SOURCE, encoding="utf-8")
    assert [(each.name, each.carrier, each.message) for each in tool.specific_codes(tmp_path)] == [
        ("cluster-failed", "DataError", "the cluster failed: …"),
        ("no-records", "DataError", "… has no records."),
        ("two-roles", "PolicyProblem", "has two roles."),
    ]


def test_every_class_of_errors_has_its_own_code(tool: ModuleType) -> None:
    codes = [each.name for each in tool.class_codes()]
    assert len(set(codes)) == len(codes)


def test_codes_are_lower_case_words_with_hyphens(tool: ModuleType) -> None:
    for each in [*tool.class_codes(), *tool.specific_codes()]:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", each.name), each
