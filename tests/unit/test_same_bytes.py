"""The comparison of recordings sees every change, and accepts those that are explained."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from support.scripts import load_script

TOOL = Path(__file__).parents[2] / "tools" / "same_bytes_compare.py"
RECORD: dict[str, Any] = {
    "commands": [{"argv": ["anonymize", "policy.yaml"], "exit": 0, "json": {"verified": True}}],
    "documents": {
        "release.evidence.json": {
            "released": 10,
            "columns": {"age": {"crowd": 5, "ncp": 0.123456789012}, "Zip.code": {"crowd": 4, "ncp": 0.5}},
            "attacks": [{"name": "linkage", "verdict": "Nobody is linked."}],
        }
    },
    "sha256": {"release.csv": "00"},
    "texts": {},
}


@pytest.fixture
def tool() -> Any:
    return load_script(TOOL)


def evidence(record: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = record["documents"]["release.evidence.json"]
    return found


def compared(tool: Any, folder: Path, change: Any, explained: dict[str, Any] | None = None) -> int:
    new = copy.deepcopy(RECORD)
    change(new)
    for name, record in (("old", RECORD), ("new", new)):
        (folder / name / "case").mkdir(parents=True)
        (folder / name / "case" / "record.json").write_text(json.dumps(record), encoding="utf-8")
    (folder / "renamed.json").write_text(json.dumps(explained or {}), encoding="utf-8")
    code: int = tool.compare(folder / "old", folder / "new", renamed=folder / "renamed.json", details=True)
    return code


def test_equal_recordings_have_no_difference(tool: Any, tmp_path: Path) -> None:
    assert compared(tool, tmp_path, lambda _: None) == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["commands"][0].update(exit=1),
        lambda record: record["commands"][0]["json"].update(verified=False),
        lambda record: record["sha256"].update({"release.csv": "01"}),
        lambda record: record["sha256"].clear(),
        lambda record: record["documents"].clear(),
        lambda record: evidence(record).update(released=11),
        lambda record: evidence(record).update(released=10.0),
        lambda record: evidence(record).update(further=None),
        lambda record: evidence(record)["columns"].pop("age"),
        lambda record: evidence(record)["attacks"].append({}),
    ],
)
def test_an_unexplained_change_is_a_failure(tool: Any, tmp_path: Path, change: Any) -> None:
    assert compared(tool, tmp_path, change) == 1


def rename_crowd(record: dict[str, Any]) -> None:
    for column in evidence(record)["columns"].values():
        column["least"] = column.pop("crowd")


@pytest.mark.parametrize(
    ("change", "explained"),
    [
        (rename_crowd, {"renamed": {"columns.*.crowd": "columns.*.least"}}),
        (rename_crowd, {"renamed": {"evidence:columns.*.crowd": None}, "added": ["columns.*.least"]}),
        (lambda record: evidence(record)["columns"]["age"].update(ncp=0.123456789), {"rounded": ["columns.*.ncp"]}),
        (lambda record: evidence(record)["attacks"][0].update(verdict="None."), {"wording": ["**.verdict"]}),
        (lambda record: evidence(record)["attacks"][0].update(name="link"),
         {"codes": {"attacks.*.name": {"linkage": "link"}}}),
    ],
)  # fmt: skip
def test_an_explained_change_is_none(tool: Any, tmp_path: Path, change: Any, explained: dict[str, Any]) -> None:
    assert compared(tool, tmp_path, change, explained) == 0


def test_an_explanation_for_another_document_explains_nothing(tool: Any, tmp_path: Path) -> None:
    assert compared(tool, tmp_path, rename_crowd, {"renamed": {"recoding:columns.*.crowd": "columns.*.least"}}) == 1


def test_a_renamed_value_must_be_the_same(tool: Any, tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        rename_crowd(record)
        evidence(record)["columns"]["age"]["least"] = 6

    assert compared(tool, tmp_path, change, {"renamed": {"columns.*.crowd": "columns.*.least"}}) == 1


def test_a_new_attack_makes_no_other_differ(tool: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def insert(record: dict[str, Any]) -> None:
        evidence(record)["attacks"].insert(0, {"name": "proximity", "sensitive": "Zip.code", "verdict": "None."})

    assert compared(tool, tmp_path / "bare", insert) == 1
    assert "linkage" not in capsys.readouterr().out
    for path, code in (("attacks.proximity *", 0), ("attacks.proximity", 1), ("attacks.*", 0)):
        assert compared(tool, tmp_path / path.replace("*", "any"), insert, {"added": [path]}) == code
