"""Sensitive numbers from end to end: bins, (k, e), (ε, m), the proximity attack and the warning, on an awkward file."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv

import shoal
from shoal.evidence.evidence import seal, to_json
from shoal.io.source import load_table
from shoal.pipeline.forecast import forecast
from support.cli import Cli, snapshot

POLICY = """\
data: {{path: staff.csv, separator: ";"}}
columns:
  name: {{role: identifier}}
  age: {{role: quasi, hierarchy: {{intervals: [5, 10, 20]}}}}
  town: {{role: quasi}}
  salary: {salary}
privacy:
  - {{model: k-anonymity, k: 3}}
  - {model}
algorithm: {algorithm}
suppression: 0.1
output: {output}
"""
P = "{model: p-sensitive, p: 3, sensitive: salary}"
KE = "{model: k-e, k: 3, e: 500.5, sensitive: salary}"
EM = "{model: epsilon-m, epsilon: 0.1, m: 2, relative: true, sensitive: salary}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file with quotes, spaces, exponents, leading zeros, negative and missing numbers."""
    draw, lines = random.Random(4), ["name;age;town;salary"]
    for place in range(240):
        age = draw.randint(20, 64)
        salary = -50 if place == 7 else 1000 + age * 60 + draw.randint(0, 400)
        text = draw.choice([str(salary), f" {salary}", f"0{salary}", f"{salary * 10}e-1", "", str(salary)])
        lines.append(f'"Person; {place}";{age};{draw.choice(["Ää", "B", "C"])};"{text}"')
    (tmp_path / "staff.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def written(folder: Path, **parts: str) -> Path:
    given = {"salary": "{role: sensitive}", "model": P, "algorithm": "mondrian", "output": "release.csv", **parts}
    (folder / "policy.yaml").write_text(POLICY.format(**given), encoding="utf-8")
    return folder / "policy.yaml"


def classes(release: Path) -> list[list[str]]:
    """The sensitive cells of each class, read off the file."""
    found = defaultdict(list)
    with release.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["age"], row["town"]].append(row["salary"])
    return list(found.values())


def numbers(each: list[str]) -> list[Fraction]:
    return [Fraction(text.strip()) for text in each if text]


@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "greedy-clustering", "top-down"])
def test_every_class_of_the_file_has_numbers_that_lie_apart(cli: Cli, folder: Path, algorithm: str) -> None:
    policy = written(folder, model=KE, algorithm=algorithm)
    assert cli("anonymize", policy).code == 0
    for each in map(numbers, classes(folder / "release.csv")):
        assert len(set(each)) >= 3
        assert max(each) - min(each) >= Fraction("500.5")
    assert cli("verify", folder / "release.csv", "--policy", policy, "--original", folder / "staff.csv").code == 0


@pytest.mark.parametrize("algorithm", ["mondrian", "incognito", "greedy-clustering"])
def test_around_no_number_of_the_file_lie_more_than_half_of_its_class(cli: Cli, folder: Path, algorithm: str) -> None:
    policy = written(folder, model=EM, algorithm=algorithm)
    assert cli("anonymize", policy).code == 0
    for each in map(numbers, classes(folder / "release.csv")):
        assert all(2 * sum(abs(y - x) * 10 <= abs(x) for y in each) <= len(each) for x in each)
    assert cli("verify", folder / "release.csv", "--policy", policy, "--original", folder / "staff.csv").code == 0


def test_bins_are_published_and_counted_in_place_of_the_numbers(cli: Cli, folder: Path) -> None:
    policy = written(folder, salary="{role: sensitive, bins: [2500, 3500]}", model=P.replace("p: 3", "p: 2"))
    assert cli("anonymize", policy).code == 0
    shown = classes(folder / "release.csv")
    assert {text for each in shown for text in each} <= {"(-inf, 2500)", "[2500, 3500)", "[3500, inf)", ""}
    assert all(len(set(each)) >= 2 for each in shown)
    evidence = json.loads((folder / "release.evidence.json").read_text(encoding="utf-8"))
    assert evidence["columns"]["salary"]["published"] == "bins"
    assert "warnings" not in evidence
    assert cli("verify", folder / "release.csv", "--policy", policy, "--original", folder / "staff.csv").code == 0
    assert cli("attack", folder / "release.csv", "--policy", policy, "--original", folder / "staff.csv").code == 0


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"salary": "{role: sensitive, bins: 0}"}, "width-not-positive"),
        ({"salary": "{role: sensitive, bins: [3, 2]}"}, "cuts-not-increasing"),
        ({"salary": "{role: sensitive, bins: []}"}, "wrong-type"),
        ({"salary": "{role: sensitive, bins: wide}"}, "wrong-type"),
        ({"salary": "{role: sensitive, bins: 100, hierarchy: {intervals: [100]}}"}, "bins-and-other-groups"),
        ({"salary": "{role: sensitive, bins: 100, publish: values}"}, "bins-and-other-groups"),
        ({"salary": "{role: sensitive, bins: 100}", "model": KE}, "bins-not-numbers"),
        ({"salary": "{role: sensitive, bins: 100}", "model": EM}, "bins-not-numbers"),
        ({"model": KE.replace("e: 500.5", "e: -1")}, "out-of-range"),
        ({"model": EM.replace("relative: true", "relative: maybe")}, "wrong-type"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_code(cli: Cli, folder: Path, parts: dict[str, str], code: str) -> None:
    policy = written(folder, **parts)
    before = snapshot(folder)
    assert cli("anonymize", policy).code == 2
    assert snapshot(folder) == before
    with pytest.raises(shoal.errors.PolicyError) as caught:
        shoal.Policy.load(policy)
    assert code in {problem.code for problem in caught.value.problems}


@pytest.mark.parametrize("salary", ["{role: sensitive}", "{role: sensitive, bins: 100}"])
def test_texts_among_the_numbers_are_refused_with_a_code(cli: Cli, folder: Path, salary: str) -> None:
    lines = (folder / "staff.csv").read_text(encoding="utf-8") + '"X";30;B;"1,234"\n'
    (folder / "staff.csv").write_text(lines, encoding="utf-8")
    policy = written(folder, salary=salary, model=P if "bins" in salary else KE)
    before = snapshot(folder)
    ran = cli("anonymize", policy)
    assert (ran.code, snapshot(folder)) == (2, before)
    with pytest.raises(shoal.errors.PolicyError) as caught:
        shoal.anonymize(folder / "staff.csv", shoal.Policy.load(policy))
    assert {problem.code for problem in caught.value.problems} == {"values-not-numbers"}


MARKS = ["?", "n/a", "999999"]
UNKNOWN = 'unknown: ["?", n/a, 999999]'


def with_marks(folder: Path) -> None:
    """Marks in the place of some numbers, one of them a number itself."""
    path, draw = folder / "staff.csv", random.Random(6)
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    marked = [
        line if place % 9 else f'{line.rsplit(";", 1)[0]};"{draw.choice(MARKS)}"' for place, line in enumerate(lines)
    ]
    path.write_text("\n".join([head, *marked]) + "\n", encoding="utf-8")


@pytest.mark.parametrize("options", [(), ("--memory", "2GB")], ids=["held", "streamed"])
@pytest.mark.parametrize(
    "parts",
    [
        {"salary": f"{{role: sensitive, {UNKNOWN}}}", "model": KE},
        {"salary": f"{{role: sensitive, {UNKNOWN}}}", "model": EM},
        {"salary": f"{{role: sensitive, {UNKNOWN}, bins: 750}}", "model": P.replace("p: 3", "p: 2")},
        {"salary": f"{{role: sensitive, {UNKNOWN}}}", "model": P},
    ],
    ids=["k-e", "epsilon-m", "bins", "p-sensitive"],
)
def test_unknown_marks_are_no_numbers(cli: Cli, folder: Path, parts: dict[str, str], options: tuple[str, ...]) -> None:
    with_marks(folder)
    policy = written(folder, **parts)
    ran = cli("anonymize", policy, *options)
    assert ran.code == 0, ran.err
    shown = classes(folder / "release.csv")
    assert {text for each in shown for text in each} >= set(MARKS), "marks are released as they are"
    known = [[text for text in each if text and text not in MARKS] for each in shown]
    if parts["model"] == KE:
        assert all(max(each) - min(each) >= Fraction("500.5") for each in map(numbers, known))
    elif parts["model"] == EM:
        for each in map(numbers, known):
            assert all(2 * sum(abs(y - x) * 10 <= abs(x) for y in each) <= len(each) for x in each)
    else:
        assert all(len(set(each)) >= 2 for each in known)
    original = ("--policy", policy, "--original", folder / "staff.csv")
    assert cli("verify", folder / "release.csv", *original).code == 0
    evidence = json.loads((folder / "release.evidence.json").read_text(encoding="utf-8"))
    (attack,) = [each for each in evidence["attacks"] if each["name"] == "proximity"]
    assert attack["of"] == sum(map(len, known))
    assert ("warnings" in evidence) == (parts["model"] == P)


def test_a_few_texts_do_not_hide_the_warning(folder: Path) -> None:
    with_marks(folder)
    found = shoal.anonymize(folder / "staff.csv", shoal.Policy.load(written(folder)))
    (warning,) = found.facts.warnings
    assert (warning.code, warning.distinct > 100) == ("near-numbers", True)


def test_spellings_of_a_number_in_bins_need_no_mapping(cli: Cli, folder: Path) -> None:
    lines = (folder / "staff.csv").read_text(encoding="utf-8") + '"X";30;B;"2900"\n"Y";31;B;" 2900"\n'
    (folder / "staff.csv").write_text(lines, encoding="utf-8")
    assert (
        cli("anonymize", written(folder, salary="{role: sensitive, bins: 750}", model=P.replace("p: 3", "p: 2"))).code
        == 0
    )
    ran = cli("anonymize", written(folder), "--force")
    assert (ran.code, ran.problems) == (2, ("spellings-of-one-value",))


def attack_on(release: shoal.Release) -> Any:
    return next(each for each in release.facts.attacks if each.name == "proximity")


def test_the_warning_and_the_attack_go_where_the_numbers_are_kept_apart(folder: Path) -> None:
    near = shoal.anonymize(folder / "staff.csv", shoal.Policy.load(written(folder)))
    (warning,) = near.facts.warnings
    assert (warning.code, warning.sensitive, warning.models) == ("near-numbers", "salary", ("p-sensitive",))
    assert warning.distinct > 100
    assert attack_on(near).leak
    assert "Warning" in near.report(folder / "page.html").read_text(encoding="utf-8")
    for parts in ({"model": KE}, {"model": EM}):
        apart = shoal.anonymize(folder / "staff.csv", shoal.Policy.load(written(folder, **parts)))
        assert apart.facts.warnings is None
        assert not attack_on(apart).leak


def test_the_forecast_warns_before_anything_runs(folder: Path) -> None:
    policy = shoal.Policy.load(written(folder))
    found = forecast(load_table(folder / "staff.csv", policy), policy)
    assert [each.code for each in found.warnings] == ["near-numbers"]
    assert "different numbers" in str(found)


@pytest.mark.parametrize(
    "parts",
    [{"model": KE}, {"model": EM}, {"salary": "{role: sensitive, bins: 750}"}],
    ids=["k-e", "epsilon-m", "bins"],
)
def test_a_streamed_release_has_the_same_bytes(cli: Cli, folder: Path, parts: dict[str, str]) -> None:
    assert cli("anonymize", written(folder, **parts)).code == 0
    assert cli("anonymize", written(folder, **parts, output="streamed.csv"), "--memory", "2GB").code == 0
    assert (folder / "streamed.csv").read_bytes() == (folder / "release.csv").read_bytes()


def test_new_numbers_join_published_bins(folder: Path) -> None:
    policy = shoal.Policy.load(written(folder, salary="{role: sensitive, bins: 750}", model=P.replace("p: 3", "p: 2")))
    parsing, types = (
        arrow_csv.ParseOptions(delimiter=";"),
        arrow_csv.ConvertOptions(column_types={"salary": pa.string()}),
    )
    whole = arrow_csv.read_csv(folder / "staff.csv", parse_options=parsing, convert_options=types)
    release = shoal.anonymize(whole.slice(0, 200), policy)
    found = shoal.apply(release, whole.slice(200))
    shown = set(found.data["salary"].to_pylist())
    assert shown
    assert all(text is None or text.startswith("[") for text in shown)


def test_numbers_and_bins_of_two_releases_are_read_together(folder: Path) -> None:
    binned = shoal.Policy.load(written(folder, salary="{role: sensitive, bins: 750}", model=P.replace("p: 3", "p: 2")))
    first = shoal.anonymize(folder / "staff.csv", binned)
    plain = shoal.Policy.load(written(folder))
    second = shoal.anonymize(folder / "staff.csv", plain)
    with_number = sum(
        not line.endswith('""') for line in (folder / "staff.csv").read_text(encoding="utf-8").split("\n")[1:-1]
    )
    for policy, release, other, its in ((plain, second, first, binned), (binned, first, second, plain)):
        report = shoal.attack(release.data, policy, original=folder / "staff.csv", earlier=[(other.data, its)])
        (found,) = [each for each in report.attacks if each.name == "composition"]
        assert found.status == "tried"
        assert found.of == with_number, "nobody is attacked whose number is missing"


def test_evidence_without_its_warning_is_found_out(cli: Cli, folder: Path) -> None:
    policy = written(folder)
    assert cli("anonymize", policy).code == 0
    evidence = json.loads((folder / "release.evidence.json").read_text(encoding="utf-8"))
    assert cli("verify", folder / "release.csv", "--policy", policy).code == 0
    del evidence["warnings"]
    evidence["evidence_sha256"] = seal(evidence)
    (folder / "release.evidence.json").write_text(to_json(evidence), encoding="utf-8")
    assert cli("verify", folder / "release.csv", "--policy", policy).code == 1
