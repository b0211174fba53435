"""Bad input: a clear paragraph, exit 2 (or 1 where the privacy cannot be reached), and nothing on disk changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.conftest import PATIENTS, POLICY
from support.cli import Cli, snapshot

LINES = PATIENTS.splitlines(keepends=True)


def data(text: str, encoding: str = "utf-8") -> Callable[[Path], None]:
    return lambda folder: (folder / "patients.csv").write_bytes(text.encode(encoding)) and None


def policy(old: str, new: str) -> Callable[[Path], None]:
    assert old in POLICY
    return lambda folder: (folder / "policy.yaml").write_text(POLICY.replace(old, new), encoding="utf-8") and None


def no_data(folder: Path) -> None:
    (folder / "patients.csv").unlink()


def output_folder_is_a_file(folder: Path) -> None:
    (folder / "out").write_text("in the way", encoding="utf-8")
    policy("output: release.csv", "output: out/release.csv")(folder)


def output_exists(folder: Path) -> None:
    (folder / "release.csv").write_text("older,release\n", encoding="utf-8")


def five_hundred_quasi(folder: Path) -> None:
    names = [f"q{i}" for i in range(500)]
    rows = [",".join(names), *(",".join(str((i * j) % 7) for j in range(500)) for i in range(20))]
    (folder / "patients.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    columns = "".join(f"  {name}: {{role: quasi}}\n" for name in names)
    rest = "privacy: [{model: k-anonymity, k: 2}]\nalgorithm: optimal\noutput: release.csv\n"
    (folder / "policy.yaml").write_text(f"data: patients.csv\ncolumns:\n{columns}{rest}", encoding="utf-8")


def one_secret(folder: Path) -> None:
    rows = [",".join([*line.split(",")[:4], "Flu", "A\n"]) for line in LINES[1:]]
    (folder / "patients.csv").write_text("".join([LINES[0], *rows]), encoding="utf-8")


CASES: dict[str, tuple[Callable[[Path], None], str, list[str]]] = {
    "no such file": (no_data, "no-such-file", ["patients.csv"]),
    "empty file": (data(""), "empty-file", ["patients.csv"]),
    "header only": (data(LINES[0]), "no-records", []),
    "one row": (data("".join(LINES[:2])), "infeasible", ["k-anonymity", "1 record"]),
    "ragged row": (data(PATIENTS + "Max,30\n"), "uneven-rows", ["patients.csv", "14"]),
    "too many fields": (data(PATIENTS + "Max,30,USA,14207,Flu,A,x\n"), "uneven-rows", ["patients.csv", "14"]),
    "wrong separator": (data(PATIENTS.replace(",", ";")), "unknown-column", ["columns.age"]),
    "latin-1": (data(PATIENTS + "Zoë,30,USA,14207,Flu,A\n", "latin-1"), "wrong-encoding", ["utf-8"]),
    "duplicate columns": (data(PATIENTS.replace("ward", "age", 1)), "column-name-twice", ["age"]),
    "no value at all": (
        data("".join([LINES[0], *(line.replace(line.split(",")[1], "", 1) for line in LINES[1:])])),
        "no-values",
        ["columns.age", "12 records"],
    ),
    "numbers as text": (
        data(PATIENTS.replace(",27,", ',"1,027",')),
        "values-not-numbers",
        ["columns.age.hierarchy", "1,027"],
    ),
    "value not in the tree": (
        data(PATIENTS.replace("Japan", "Jpan")),
        "values-not-in-hierarchy",
        ["country", "Jpan", "1 record", "Japan"],
    ),
    "value without category": (
        data(PATIENTS.replace("Asthma", "Astma")),
        "values-without-category",
        ["categories", "Astma", "Asthma"],
    ),
    "one level for each of 500 quasi-identifiers": (five_hundred_quasi, "lattice-too-large", ["500"]),
    "one secret for all": (one_secret, "infeasible", ["p-plus-alpha-sensitive"]),
    "sensitive and quasi at once": (
        policy("ward:      {role: insensitive}", "condition: {role: quasi}"),
        "listed-twice",
        ["condition"],
    ),
    "model on a quasi-identifier": (
        policy("sensitive: condition", "sensitive: age"),
        "wrong-role",
        ["privacy[1].sensitive", "'age'", "quasi"],
    ),
    "k larger than the table": (policy("k: 4", "k: 13"), "infeasible", ["k-anonymity", "13"]),
    "unknown column": (policy("zipcode: ", "zipcod: "), "unknown-column", ["columns.zipcod", "'zipcode'"]),
    "unknown model": (policy("k-anonymity", "k-anonimity"), "unknown-model", ["'k-anonymity'"]),
    "unknown key": (policy("suppression:", "supression:"), "unknown-key", ["'suppression'"]),
    "p larger than k": (policy("p: 2", "p: 5"), "more-than-class-size", ["privacy[1].p", "k = 4"]),
    "not YAML": (policy("columns:", "columns: ["), "invalid-yaml", ["policy.yaml", "YAML"]),
    "unwritable output": (output_folder_is_a_file, "output-blocked", ["release.csv"]),
    "existing output": (output_exists, "output-blocked", ["release.csv", "--force"]),
    "unknown output format": (policy("release.csv", "release.xyz"), "unknown-output-suffix", ["release.xyz"]),
    "output over the input": (policy("release.csv", "patients.csv"), "output-blocked", ["patients.csv"]),
}
"""What is wrong, the code that names it, and facts that the message must have."""


@pytest.mark.parametrize("name", CASES)
def test_bad_input_gets_a_clear_word_and_changes_nothing(name: str, cli: Cli, clinic: Path) -> None:
    spoil, code, words = CASES[name]
    spoil(clinic)
    before = snapshot(clinic)
    ran = cli("anonymize", clinic / "policy.yaml")
    assert code in (ran.problems or (ran.error,)), ran.err
    assert ran.code == (1 if code == "infeasible" else 2)
    assert ran.out == ""
    assert "Traceback" not in ran.err
    for word in words:
        assert word in ran.err
    assert snapshot(clinic) == before


def test_every_problem_of_policy_and_data_is_told_at_once(cli: Cli, clinic: Path) -> None:
    spoiled = (
        POLICY.replace("k: 4", "k: 0")
        .replace("[America, Asia]", "[Amerika]")
        .replace("zipcode:   {role: quasi, hierarchy: {mask: right}}", "zip: {role: quasi, hierarchy: {masc: right}}")
        .replace("Flu, Indigestion", "Flu")
    )
    (clinic / "policy.yaml").write_text(spoiled, encoding="utf-8")
    ran = cli("anonymize", clinic / "policy.yaml")
    assert ran.code == 2
    for word in ("privacy[0].k", "Amerika", "'mask'", "Indigestion", "columns.zip"):
        assert word in ran.err


@pytest.mark.parametrize(
    "arguments", [[], ["anonymize"], ["anonymise", "p.yaml"], ["verify", "r.csv"], ["lattice", "none.yaml"]]
)
def test_wrong_usage_is_exit_2(arguments: list[str], cli: Cli) -> None:
    ran = cli(*arguments)
    assert ran.code == 2
    assert "Traceback" not in ran.err


def test_a_column_of_one_value_is_released_like_any_other(cli: Cli, clinic: Path) -> None:
    rows = [line.rstrip("\n") + (",year\n" if i == 0 else ",2020\n") for i, line in enumerate(LINES)]
    (clinic / "patients.csv").write_text("".join(rows), encoding="utf-8")
    (clinic / "policy.yaml").write_text(POLICY.replace("  ward:", "  year: {role: quasi}\n  ward:"), encoding="utf-8")
    ran = cli("anonymize", clinic / "policy.yaml")
    assert ran.code == 0, ran.err
    assert "2020" in (clinic / "release.csv").read_text(encoding="utf-8")


def test_five_hundred_columns_that_the_policy_does_not_name_are_no_trouble(cli: Cli, clinic: Path) -> None:
    extra = [f"x{i}" for i in range(494)]
    rows = [LINES[0].rstrip("\n") + "," + ",".join(extra)]
    rows += [line.rstrip("\n") + "," + ",".join(str(i * n) for i in range(494)) for n, line in enumerate(LINES[1:])]
    (clinic / "patients.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    ran = cli("anonymize", clinic / "policy.yaml")
    assert ran.code == 0, ran.err
    assert "x493" in ran.out
    header = (clinic / "release.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "age,country,zipcode,condition,condition_category,ward"
