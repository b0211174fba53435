from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from shoal.evidence.evidence import evidence_schema, to_json
from support.cli import Cli

PATIENTS = """name,age,country,zipcode,condition,ward
Ann,27,USA,14248,HIV,A
Ben,28,Canada,14207,HIV,B
Cem,26,USA,14246,Cancer,A
Dee,25,Canada,14249,Cancer,B
Eva,41,China,13053,Hepatitis,A
Fay,48,Japan,13074,Phthisis,A
Gus,45,India,13064,Asthma,A
Hal,42,India,13062,Heart Disease,A
Ida,33,USA,14242,Flu,A
Jon,37,Canada,14204,Flu,
Kim,36,Canada,14205,Flu,A
Lea,35,USA,14248,Indigestion,A
"""

POLICY = """data: patients.csv
columns:
  name:      {role: identifier}
  age:       {role: quasi, hierarchy: {intervals: [5, 10, 20]}}
  zipcode:   {role: quasi, hierarchy: {mask: right}}
  country:   {role: quasi, hierarchy: {tree: {America: [USA, Canada], Asia: [China, Japan, India]}},
              boundary: [America, Asia]}
  condition: {role: sensitive, publish: both, categories: {
              Top Secret: [HIV, Cancer], Secret: [Phthisis, Hepatitis],
              Less Secret: [Heart Disease, Asthma], Non Secret: [Flu, Indigestion]}}
  ward:      {role: insensitive}
privacy:
  - {model: k-anonymity, k: 4}
  - {model: p-plus-alpha-sensitive, p: 2, alpha: 2, sensitive: condition}
algorithm: optimal
suppression: 0.05
output: release.csv
"""


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(evidence_schema())


def checked_json(evidence: Mapping[str, Any]) -> str:
    """The evidence as text, which must be what its schema says."""
    text = to_json(evidence)
    _validator().validate(json.loads(text))
    return text


@pytest.fixture(autouse=True)
def _evidence_is_what_its_schema_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every evidence that a test of this folder lets write in its own process is validated."""
    monkeypatch.setattr("shoal.pipeline.run.to_json", checked_json)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    return Cli(monkeypatch, capfd)


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A folder with Sun's Table 1 as patients.csv and a policy for it."""
    (tmp_path / "patients.csv").write_text(PATIENTS, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path
