"""A release that conceals, as a person makes and checks it: what needs the key, and that nothing else does."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from shoal.encode.conceal_key import CONCEAL_VARIABLE
from support.cli import Cli

KEY = "4f" * 32
POLICY = """\
data: people.csv
output: release.csv
columns:
  zip: {{role: quasi, hierarchy: {{mask: right}}}}
  cond: {{role: sensitive}}
privacy:
  - {{model: k-anonymity, k: {k}}}
  - {{model: alpha-k-anonymity, alpha: {{HIV: 0.5}}, sensitive: cond}}
suppression: {suppression}
algorithm: {{name: {algorithm}, conceal: true}}
"""
LEFT_OUT = [("11", "HIV"), ("11", "HIV"), ("12", "HIV"), ("12", "Flu"), ("21", "HIV"), ("21", "Flu")]


def prepare(folder: Path, people: list[tuple[str, str]], **asked: object) -> None:
    rows = "".join(f"{place},{cond}\n" for place, cond in people)
    (folder / "people.csv").write_text("zip,cond\n" + rows, encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY.format(**asked), encoding="utf-8")


def many() -> list[tuple[str, str]]:
    draw = Random(1)
    return [(str(draw.randrange(100, 400)), draw.choice(["HIV", "Flu", "Cold"])) for _ in range(120)]


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "greedy-clustering"])
def test_evidence_passes_its_audit_with_and_without_the_key(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str, key: str | None
) -> None:
    if key is None:
        monkeypatch.delenv(CONCEAL_VARIABLE, raising=False)
    else:
        monkeypatch.setenv(CONCEAL_VARIABLE, key)
    people = LEFT_OUT if algorithm == "optimal" else many()
    k, suppression = (2, 0.4) if algorithm == "optimal" else (4, 0)
    prepare(tmp_path, people, algorithm=algorithm, k=k, suppression=suppression)
    assert cli("anonymize", tmp_path / "policy.yaml").code == 0
    evidence = json.loads((tmp_path / "release.evidence.json").read_text(encoding="utf-8"))
    (informed,) = [each for each in evidence["attacks"] if each["name"] == "informed"]
    assert (informed["status"], informed["certain"]) == ("tried", 0)
    original = ("--original", tmp_path / "people.csv")
    for given in (key, None):  # whoever checks the release need not have the key
        if given is None:
            monkeypatch.delenv(CONCEAL_VARIABLE, raising=False)
        ran = cli("verify", tmp_path / "release.csv", "--policy", tmp_path / "policy.yaml", *original)
        assert ran.code == 0, ran.out + ran.err
    ran = cli("attack", tmp_path / "release.csv", "--policy", tmp_path / "policy.yaml", *original, "--json")
    assert ran.code == 0, ran.err
    (again,) = [each for each in json.loads(ran.out)["attacks"] if each["name"] == "informed"]
    assert again["outcome"] in (informed["outcome"], "key-unknown", "classes-overlap")
