"""A release or its evidence that was changed after it was published is found by `shoal verify`, each way tried."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.evidence.evidence import VOLATILE, seal, to_json
from support.cli import Cli, Ran, snapshot

pytestmark = pytest.mark.slow

Rows = list[list[str]]


@pytest.fixture
def released(cli: Cli, tmp_path: Path) -> Path:
    """The demo's folder."""
    assert cli("demo", "--out", tmp_path).code == 0
    return tmp_path


def verify(cli: Cli, folder: Path, *options: object) -> Ran:
    return cli("verify", folder / "hospital-release.csv", "--policy", folder / "hospital.yaml", *options)


def rows_of(path: Path) -> Rows:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write_rows(path: Path, rows: Rows) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def cell_changed(rows: Rows) -> None:
    """The ward of one patient, which no model looks at."""
    place = rows[0].index("ward")
    rows[5][place] = "North" if rows[5][place] != "North" else "South"


def secret_changed(rows: Rows) -> None:
    """Two patients of one class change their conditions for each other's category and all: every count stays."""
    place = rows[0].index("condition")
    other = next(row for row in rows[2:] if row[:6] == rows[1][:6] and row[place] != rows[1][place])
    rows[1][place : place + 2], other[place : place + 2] = other[place : place + 2], rows[1][place : place + 2]


def row_added(rows: Rows) -> None:
    rows.append(list(rows[1]))


def row_removed(rows: Rows) -> None:
    """Of a large class, which satisfies the policy without it."""
    del rows[_largest(rows)[0]]


def class_split(rows: Rows) -> None:
    """Half of the largest class gets a finer label, so that both halves still satisfy k."""
    places, age = _largest(rows), rows[0].index("age")
    low = int(rows[places[0]][age][1:].split(",")[0])
    for place in places[::2]:
        rows[place][age] = f"[{low}, {low + 10})"


def classes_merged(rows: Rows) -> None:
    """All records of one sex become the other: fewer and larger classes, and nothing true."""
    place = rows[0].index("sex")
    for row in rows[1:]:
        row[place] = "F"


def _largest(rows: Rows) -> list[int]:
    classes: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(rows[1:], start=1):
        classes.setdefault(tuple(row[:6]), []).append(place)
    return max(classes.values(), key=len)


CHANGES = [cell_changed, secret_changed, row_added, row_removed, class_split, classes_merged]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("original", [False, True])
def test_a_changed_release_fails(cli: Cli, released: Path, change: Callable[[Rows], None], original: bool) -> None:
    options = ["--original", released / "hospital.csv"] if original else []
    assert verify(cli, released, *options).code == 0
    rows = rows_of(released / "hospital-release.csv")
    before = [list(row) for row in rows]
    change(rows)
    assert rows != before
    write_rows(released / "hospital-release.csv", rows)
    ran = verify(cli, released, *options)
    assert ran.code == 1
    assert "FAIL  hash" in ran.out


@pytest.mark.parametrize("change", [row_added, row_removed, class_split, classes_merged])
def test_a_changed_release_with_the_hash_made_right_is_found_by_its_figures(
    cli: Cli, released: Path, change: Callable[[Rows], None]
) -> None:
    """The policy still holds; the evidence knows better, even where its hash and its seal were made right."""
    path = released / "hospital-release.csv"
    rows = rows_of(path)
    change(rows)
    write_rows(path, rows)
    forge(released, release_sha256=digest(path))
    ran = verify(cli, released)
    assert ran.code == 1
    assert "ok    hash" in ran.out
    assert "ok    evidence-seal" in ran.out
    assert "FAIL  evidence-figures" in ran.out


def test_a_changed_cell_is_found_by_the_attacks_once_the_hash_is_made_right(cli: Cli, released: Path) -> None:
    path = released / "hospital-release.csv"
    header, *rows = rows_of(path)
    cell_changed([header, *rows])
    write_rows(path, [header, *sorted(rows)])
    forge(released, release_sha256=digest(path))
    ran = verify(cli, released)
    assert ran.code == 1
    assert "FAIL  evidence-attacks" in ran.out
    ran = verify(cli, released, "--original", released / "hospital.csv")
    assert ran.code == 1
    assert "FAIL  truthfulness" in ran.out


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def load(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "hospital-release.evidence.json").read_text(encoding="utf-8"))
    return content


def forge(folder: Path, **changes: Any) -> None:
    """Change the evidence as somebody would who knows how it is sealed."""
    path = folder / "hospital-release.evidence.json"
    content = {**load(folder), **changes}
    path.write_text(to_json({**content, "evidence_sha256": seal(content)}), encoding="utf-8")


def test_any_fact_of_the_evidence_that_is_edited_is_noticed(cli: Cli, released: Path) -> None:
    evidence, path = load(released), released / "hospital-release.evidence.json"
    for key, value in evidence.items():
        if key in VOLATILE:
            continue
        edited = {**evidence, key: _edited(value)}
        path.write_text(to_json(edited), encoding="utf-8")
        ran = verify(cli, released)
        assert ran.code == 1, key
        assert "FAIL  evidence" in ran.out, key
    path.write_text(to_json({**evidence, **dict.fromkeys(VOLATILE[2:]), "seconds": 99.0}), encoding="utf-8")
    assert verify(cli, released).code == 0, "time and memory are not sealed"


def _edited(value: Any) -> Any:
    """Something else of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value[::-1] if value != value[::-1] else f"{value}x"
    if isinstance(value, list):
        return value[:-1] if value else ["x"]
    if isinstance(value, dict):
        return dict(list(value.items())[:-1]) if value else {"x": {}}
    return 0.5


def leaking(evidence: dict[str, Any]) -> dict[str, Any]:
    """Evidence that hides what attackers got."""
    attacks = [
        {**each, "records": 0, "leak": False} if each["name"] == "background" else each for each in evidence["attacks"]
    ]
    return {"attacks": attacks}


def stronger(evidence: dict[str, Any]) -> dict[str, Any]:
    """Evidence that claims more than is reached."""
    models = [
        {**each, "reached": {**each["reached"], "alpha": 9}} if each["sensitive"] else each
        for each in evidence["models"]
    ]
    return {"models": models}


@pytest.mark.parametrize(
    ("claims", "check"),
    [
        (
            lambda evidence: {"released": evidence["released"] + 1, "records": evidence["records"] + 1},
            "evidence-figures",
        ),
        (lambda evidence: {"classes": evidence["classes"] - 1}, "evidence-figures"),
        (lambda evidence: {"class_sizes": {**evidence["class_sizes"], "smallest": 7}}, "evidence-figures"),
        (lambda _: {"suppressed": 0}, "evidence-figures"),
        (lambda evidence: {"checks": evidence["checks"][:-4]}, "evidence-figures"),
        (lambda _: {"verified": False}, "evidence-figures"),
        (stronger, "evidence-figures"),
        (leaking, "evidence-attacks"),
        (lambda _: {"policy_sha256": "0" * 64, "policy": {}}, "evidence-policy"),
        (lambda _: {"release_sha256": "0" * 64}, "hash"),
        (lambda _: {"release_sha256": None}, "hash"),
    ],
)
def test_evidence_forged_with_its_seal_is_found_where_the_file_says_otherwise(
    cli: Cli, released: Path, claims: Callable[[dict[str, Any]], dict[str, Any]], check: str
) -> None:
    forge(released, **claims(load(released)))
    ran = verify(cli, released)
    assert ran.code == 1
    assert "ok    evidence-seal" in ran.out
    assert f"FAIL  {check}" in ran.out


def differing(cli: Cli, folder: Path, *options: object, name: str = "evidence-figures") -> list[str]:
    """The facts that a check finds recorded otherwise."""
    ran = verify(cli, folder, "--json", *options)
    (check,) = [each for each in json.loads(ran.out)["checks"] if each["name"] == name]
    assert ran.code == int(not check["passed"])
    return [each["fact"] for each in check["facts"]["problems"]]


def inside(key: str, **changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda evidence: {key: {**evidence[key], **changes}}


def in_column(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda evidence: {"columns": {**evidence["columns"], "age": {**evidence["columns"]["age"], **changes}}}


def said(name: str, message: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Another message of a check, with its facts as they are."""
    return lambda evidence: {
        "checks": [{**each, "message": message} if each["name"] == name else each for each in evidence["checks"]]
    }


def invented(evidence: dict[str, Any]) -> dict[str, Any]:
    """A check that nobody made."""
    blessed = {"name": "blessed", "passed": True, "message": "approved by the ministry", "facts": {}}
    return {"checks": [*evidence["checks"], blessed]}


def unreached(evidence: dict[str, Any]) -> dict[str, Any]:
    """Less loss than there is, with a ratio and a gap that fit it."""
    ratio = 0.1 / evidence["bound"]["ncp"]
    return {"bound": {**evidence["bound"], "reached": 0.1, "ratio": ratio, "gap": ratio - 1}}


def unweak(evidence: dict[str, Any]) -> dict[str, Any]:
    return {"models": [{**each, "weakest": {}} for each in evidence["models"]]}


def innocent(evidence: dict[str, Any]) -> dict[str, Any]:
    exposed = {"homogeneity": {"classes": 0, "records": 0}, "similarity": {"classes": 3, "records": 30}}
    return {"exposure": {**evidence["exposure"], "condition": exposed}}


@pytest.mark.parametrize(
    ("claims", "fact"),
    [
        (inside("levels", age=0), "levels.age"),
        (inside("levels", age=99), "levels.age"),
        (lambda _: {"levels": None}, "levels"),
        (lambda _: {"seed": 12345}, "seed"),
        (inside("bound", ratio=1.0), "bound.ratio"),
        (said("k-anonymity", "holds in every class, and always will"), "checks.k-anonymity.message"),
        (said("truthfulness", "every record is true"), "checks.truthfulness.message"),
        (said("suppression", "nobody is suppressed"), "checks.suppression.message"),
        (invented, "checks.blessed"),
        (lambda _: {"algorithm": "mondrian"}, "algorithm"),
        (inside("class_sizes", mean=99.0), "class_sizes.mean"),
        (inside("class_sizes", quartiles=[9.0, 9.0, 9.0]), "class_sizes.quartiles"),
        (inside("class_sizes", classes_by_size={"99": 1}), "class_sizes.classes_by_size.99"),
        (in_column(labels_released=999), "columns.age.labels_released"),
        (innocent, "exposure.condition.similarity.classes"),
        (unweak, "models.k-anonymity.weakest.k"),
    ],
)
@pytest.mark.parametrize("original", [False, True])
def test_every_fact_that_the_file_shows_is_compared(
    cli: Cli, released: Path, claims: Callable[[dict[str, Any]], dict[str, Any]], fact: str, original: bool
) -> None:
    forge(released, **claims(load(released)))
    assert fact in differing(cli, released, *(["--original", released / "hospital.csv"] if original else []))


@pytest.mark.parametrize(
    ("claims", "fact"),
    [
        (inside("measures", ncp=0.0001), "measures.ncp"),
        (inside("measures", discernibility=1.0), "measures.discernibility"),
        (unreached, "bound.reached"),
        (in_column(ncp=0.0), "columns.age.ncp"),
        (in_column(hierarchy_values=3), "columns.age.hierarchy_values"),
        (lambda _: {"not_released": []}, "not_released"),
    ],
)
def test_what_only_the_original_tells_is_compared_beside_it_and_else_said_not_to_be(
    cli: Cli, released: Path, claims: Callable[[dict[str, Any]], dict[str, Any]], fact: str
) -> None:
    forge(released, **claims(load(released)))
    assert differing(cli, released) == []
    assert fact in differing(cli, released, "--original", released / "hospital.csv")


def test_what_is_not_compared_is_named_by_codes(cli: Cli, released: Path) -> None:
    never = ["bound-but-reached", "search", "utility", "composition", "versions", "distributions"]
    by_original = ["records", "measures", "column-figures", "data-columns", "bound"]
    for options, expected in (
        ([], [*by_original, *never]),
        (["--original", released / "hospital.csv"], never),
    ):
        checks = json.loads(verify(cli, released, "--json", *options).out)["checks"]
        facts = {each["name"]: each["facts"] for each in checks}
        assert facts["evidence-figures"] == {"problems": [], "not_compared": expected}
        assert facts["evidence-attacks"]["compared"] > 0
    (released / "hospital-release.evidence.json").write_text("{", encoding="utf-8")
    (check,) = [
        each for each in json.loads(verify(cli, released, "--json").out)["checks"] if each["name"] == "evidence"
    ]
    assert [each["code"] for each in check["facts"]["problems"]] == ["unreadable"]


def test_a_release_by_the_algorithm_of_the_command_is_that_of_its_policy(cli: Cli, released: Path) -> None:
    policy, path = released / "hospital.yaml", released / "local.csv"
    assert cli("anonymize", policy, "--algorithm", "mondrian", "--out", path).code == 0
    for options in ([], ["--original", released / "hospital.csv"]):
        ran = cli("verify", path, "--policy", policy, *options)
        assert ran.code == 0, ran.out
        assert "ok    evidence-policy" in ran.out
        assert "(mondrian)" in ran.out


def test_a_recorded_leak_that_is_none_is_named(cli: Cli, released: Path) -> None:
    attacks = [
        {**each, "leak": not each["leak"]} if each["name"] == "background" else each
        for each in load(released)["attacks"]
    ]
    forge(released, attacks=attacks)
    assert differing(cli, released, name="evidence-attacks") == ["attacks.background.leak"]


def test_a_policy_in_the_evidence_that_is_not_the_one_of_its_hash_is_found(cli: Cli, released: Path) -> None:
    told = load(released)["policy"]
    forge(released, policy={**told, "suppression": 0.9})
    ran = verify(cli, released, "--json")
    assert ran.code == 1
    (check,) = [each for each in json.loads(ran.out)["checks"] if each["name"] == "evidence-policy"]
    assert not check["passed"]
    assert check["facts"]["differing"] == ["suppression"]


def test_a_release_in_the_order_of_its_original_is_found(cli: Cli, released: Path) -> None:
    path = released / "hospital-release.csv"
    header, *rows = rows_of(path)
    write_rows(path, [header, *reversed(rows)])
    forge(released, release_sha256=digest(path))
    ran = verify(cli, released)
    assert ran.code == 1
    assert "FAIL  order" in ran.out


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"release_sha256": null}'])
def test_evidence_that_is_broken_fails(cli: Cli, released: Path, content: str) -> None:
    (released / "hospital-release.evidence.json").write_text(content, encoding="utf-8")
    ran = verify(cli, released)
    assert ran.code == 1
    assert "FAIL  evidence: hospital-release.evidence.json" in ran.out
    assert verify(cli, released, "--fail-on", "similarity>0").code == 1


def test_evidence_may_lie_elsewhere(cli: Cli, released: Path) -> None:
    shutil.move(released / "hospital-release.evidence.json", released / "kept.json")
    ran = verify(cli, released)
    assert ran.code == 0
    assert "  evidence" not in ran.out
    ran = verify(cli, released, "--evidence", released / "kept.json")
    assert ran.code == 0, ran.out
    assert "ok    hash" in ran.out
    assert "ok    evidence-attacks: " in ran.out
    rows = rows_of(released / "hospital-release.csv")
    cell_changed(rows)
    write_rows(released / "hospital-release.csv", rows)
    assert "FAIL  hash" in verify(cli, released, "--evidence", released / "kept.json").out
    missing = verify(cli, released, "--evidence", released / "nowhere.json")
    assert (missing.code, missing.error) == (2, "evidence-not-found")


def test_another_policy_is_not_the_one_of_the_evidence_but_another_file_that_says_the_same_is(
    cli: Cli, released: Path
) -> None:
    policy = released / "hospital.yaml"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(f"{text}\n# read and approved\n", encoding="utf-8")
    ran = verify(cli, released)
    assert ran.code == 0, ran.out
    assert "ok    evidence-policy" in ran.out
    policy.write_text(text.replace("k: 5", "k: 4"), encoding="utf-8")
    ran = verify(cli, released)
    assert ran.code == 1
    assert "FAIL  evidence-policy" in ran.out
    assert "the policy holds, but the evidence does not match" in ran.out


def test_new_records_of_a_published_recoding_are_held_against_their_evidence_too(cli: Cli, released: Path) -> None:
    header, *lines = (released / "hospital.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    for name, part in (("hospital.csv", lines[:800]), ("new.csv", lines[800:])):
        (released / name).write_text("".join([header, *part]), encoding="utf-8")
    policy, first = released / "hospital.yaml", released / "first.csv"
    assert cli("anonymize", policy, "--recoding", "--out", first).code == 0
    apply = ("apply", released / "first.recoding.json", "--policy", policy, "--data", released / "new.csv")
    for name, options in (("alone.csv", []), ("all.csv", ["--union"]), ("instead.csv", ["--replaces"])):
        assert cli(*apply, "--out", released / name, *options).code == 0
        ran = cli("verify", released / name, "--policy", policy)
        assert ran.code == 0, ran.out
        assert "ok    evidence-figures" in ran.out
        rows = rows_of(released / name)
        write_rows(released / name, [*rows, rows[1]])
        ran = cli("verify", released / name, "--policy", policy)
        assert ran.code == 1
        assert "FAIL  evidence-figures" in ran.out


def test_limits_on_attacks_are_read_from_the_evidence(cli: Cli, released: Path) -> None:
    assert verify(cli, released, "--fail-on", "similarity>0", "--fail-on", "background>11").code == 0
    ran = verify(cli, released, "--fail-on", "similarity>0", "--fail-on", "background>0")
    assert ran.code == 1
    assert "ok    similarity>0" in ran.out
    assert "FAIL  background>0: 11 of 1,141 records" in ran.out
    told = json.loads(verify(cli, released, "--fail-on", "background>0.9%", "--json").out)
    assert told["passed"] is True
    assert [each["condition"] for each in told["failed"]] == ["background>0.9%"]
    for wrong, code in (
        ("backround>0", "condition-unknown-attack"),
        ("background", "condition-unreadable"),
        ("composition>0", "condition-not-tried"),
    ):
        ran = verify(cli, released, "--fail-on", wrong)
        assert (ran.code, ran.error) == (2, code)
    (released / "hospital-release.evidence.json").unlink()
    ran = verify(cli, released, "--fail-on", "similarity>0")
    assert (ran.code, ran.error) == (2, "no-evidence")


def test_a_limit_that_is_exceeded_keeps_a_release_from_being_written(cli: Cli, released: Path) -> None:
    before = snapshot(released)
    policy, out = released / "hospital.yaml", released / "other.csv"
    ran = cli("anonymize", policy, "--out", out, "--fail-on", "linkage-insensitive>5%", "--fail-on", "homogeneity>0")
    assert ran.code == 1
    assert ran.error == "exposed"
    assert snapshot(released) == before
    told = json.loads(cli("anonymize", policy, "--out", out, "--fail-on", "linkage-insensitive>5%", "--json").out)
    assert told["exit_code"] == 1
    assert [(each["name"], each["records"], each["of"]) for each in told["failed"]] == [
        ("linkage-insensitive", 186, 1141)
    ]
    unknown = cli("anonymize", policy, "--out", out, "--fail-on", "nobody>0")
    assert (unknown.code, unknown.error) == (2, "condition-unknown-attack")
    assert snapshot(released) == before
    assert cli("anonymize", policy, "--out", out, "--fail-on", "homogeneity>0").code == 0
    assert out.is_file()
