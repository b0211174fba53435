"""A model that a package offers as an entry point works everywhere, without any other change.

The package is the one that docs/extending.md shows, installed as a folder with metadata on the path of a new process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.pages import DOCS

POLICY = """
data: patients.csv
columns:
  age: {role: quasi, hierarchy: {intervals: [10, 20, 40]}}
  zip: {role: quasi, hierarchy: {mask: right}}
  condition: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 3}
  - {model: known-values, least: 2}
suppression: 0.2
output: release.csv
"""
MODEL = "[shoal.models]\nknown-values = known_values:KnownValues\n"
RUN = """
import json
from pathlib import Path
import shoal
from shoal.errors import InfeasibleError, PolicyError
from shoal.models import MODELS
from shoal.policy import Policy
from shoal.ui.desk.choices import choices

told = {}
policy = Policy.load("policy.yaml")
schema = json.dumps(Policy.model_json_schema())
told["schema"] = "known-values" in schema and "smallest number of known values in a class" in schema
try:
    policy.changed(privacy=[{"model": "known-values", "least": 0}])
except PolicyError as error:
    told["problems"] = [[each.where, each.code] for each in error.problems]
told["algorithms"] = {}
for name in ("optimal", "incognito", "greedy-lattice", "mondrian", "top-down", "greedy-clustering"):
    release = shoal.anonymize("patients.csv", policy.changed(algorithm=name))
    asked = next(each for each in release.evidence["models"] if each["model"] == "known-values")
    reached = asked["reached"]["least"]
    told["algorithms"][name] = [release.evidence["verified"], asked["holds"], asked["asked"], reached >= 2]
shoal.publish(policy)
told["attacks"] = len(release.evidence["attacks"])
checked = shoal.verify("release.csv", policy, "patients.csv")
told["checks"] = {check.name: check.passed for check in checked.checks}
told["strict"] = {
    check.name: check.passed
    for check in shoal.verify("release.csv", policy.changed(privacy=[{"model": "known-values", "least": 99}])).checks
}["known-values[condition]"]
told["attacked"] = bool(shoal.attack("release.csv", policy, original="patients.csv").to_dict())
told["report"] = MODELS["known-values"].summary in Path("release.report.html").read_text(encoding="utf-8")
card = next(each for each in choices(None, {})["models"] if each["name"] == "known-values")
told["card"] = [card["title"], card["sensitive"], [each["name"] for each in card["parameters"]]]
told["documented"] = list(MODELS)[-1]
try:
    shoal.anonymize("patients.csv", policy.changed(suppression=0, privacy=[{"model": "known-values", "least": 99}]))
except InfeasibleError as error:
    told["suggested"] = "known-values(condition).least" in str(error.diagnosis)
print(json.dumps(told))
"""


def toy_model() -> str:
    """The code of the model on the page."""
    page = (DOCS / "extending.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return str(code)


def install(folder: Path, entry_points: str, **modules: str) -> None:
    """A package with its metadata, as an installer leaves it."""
    metadata = folder / "toy_models-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-models\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(entry_points)
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")


def run(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", script]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A table with missing sensitive values, and a policy that asks for the toy model."""
    conditions = ["Flu", "", "HIV", "Asthma", "Flu", "", "Cancer"]
    rows = [f"{20 + 7 * place % 50},{14200 + place % 9},{conditions[place % 7]}" for place in range(60)]
    (tmp_path / "patients.csv").write_text("\n".join(["age,zip,condition", *rows, ""]))
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def test_a_model_of_another_package_works_everywhere(clinic: Path) -> None:
    points = MODEL + "[shoal.checks]\nknown-values = known_values:check\n"
    install(clinic / "site", points, known_values=toy_model())
    ran = run(clinic, RUN)
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    assert told["schema"] is True
    assert told["problems"] == [["privacy[0].least", "out-of-range"]]
    assert len(told["algorithms"]) == 6
    assert all(each == [True, True, {"least": 2}, True] for each in told["algorithms"].values())
    assert told["attacks"] > 0
    assert told["attacked"] is True
    assert told["checks"]["known-values[condition]"] is True
    assert all(told["checks"].values())
    assert told["strict"] is False
    assert told["report"] is True
    assert told["card"] == ["Known values", True, ["least"]]
    assert told["documented"] == "known-values"
    assert told["suggested"] is True


def test_a_model_without_a_check_of_its_own_is_not_verified(clinic: Path) -> None:
    install(clinic / "site", MODEL, known_values=toy_model())
    ran = run(clinic, "import shoal; shoal.publish(shoal.Policy.load('policy.yaml'))")
    assert "VerificationError" in ran.stderr
    assert "known-values[condition]" in ran.stderr
    assert not (clinic / "release.csv").exists()


@pytest.mark.parametrize(
    ("points", "module", "code"),
    [
        ("known-values = known_values:KnownValues", "import nowhere", "plugin-not-loadable"),
        ("known-values = known_values:KnownValues", "KnownValues = 5", "plugin-wrong-kind"),
        ("other-name = known_values:KnownValues", None, "plugin-name"),
        ("k-anonymity = shoal.models.k_anonymity:KAnonymity", "", "plugin-name-taken"),
    ],
)
def test_a_package_that_cannot_be_used_is_named(clinic: Path, points: str, module: str | None, code: str) -> None:
    install(clinic / "site", f"[shoal.models]\n{points}\n", known_values=toy_model() if module is None else module)
    script = (
        "from shoal.errors import PluginError\n"
        "try:\n    import shoal.models\n"
        "except PluginError as error:\n    print(error.code, error)\n"
    )
    said = run(clinic, script).stdout
    assert said.startswith(code)
    assert "toy-models" in said
