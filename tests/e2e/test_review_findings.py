"""Releases that were once wrong, refused or slow."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.errors import PolicyError
from support.cli import Cli


def test_a_suppressed_value_does_not_stretch_the_hierarchy_of_the_rest(tmp_path: Path) -> None:
    """Heights count the values released: one that is suppressed must neither shrink the distances nor show."""
    rows = [("x", value) for value in (50, 300, 50, 300)] + [("y", value) for value in (50, 300, 300, 300)]
    table = pd.DataFrame([*rows, ("z", 5)], columns=["city", "pay"])
    cuts = [[0, 10, 20, 1000], [0, 20, 1000]]
    policy = shoal.Policy(
        columns={"city": {"role": "quasi"}, "pay": {"role": "sensitive", "hierarchy": {"intervals": cuts}}},
        privacy=[
            {"model": "k-anonymity", "k": 2},
            {"model": "t-closeness", "t": 0.1, "distance": "hierarchical", "sensitive": "pay"},
        ],
        algorithm="optimal",
        suppression=0.2,
    )
    release = shoal.anonymize(table, policy)
    assert release.evidence["suppressed"] == 1
    release.write(tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv", policy).passed
    assert shoal.verify(tmp_path / "release.csv", policy, original=table).passed
    assert release.evidence["models"][1]["reached"]["t"] == pytest.approx(0.0625)


def test_a_mask_gives_no_hierarchical_distance_because_the_longest_code_would_decide_it() -> None:
    policy = shoal.Policy(
        columns={"city": {"role": "quasi"}, "code": {"role": "sensitive", "hierarchy": "mask"}},
        privacy=[{"model": "t-closeness", "t": 0.5, "distance": "hierarchical", "sensitive": "code"}],
    )
    with pytest.raises(PolicyError, match="no hierarchy"):
        shoal.anonymize(pa.table({"city": ["x", "x"], "code": ["11", "12"]}), policy)


@pytest.mark.parametrize(
    ("values", "hierarchy"),
    [
        (["1200.50", "1300.00", "99.90", "1300.00"], {"intervals": [100, 1000]}),
        (
            ["01.02.2020", "03.02.2020", "01.02.2020", "04.05.2021"],
            {"dates": {"units": ["year"], "format": "%d.%m.%Y"}},
        ),
        (["039", "39", "40", "41"], {"intervals": [10]}),
    ],
)
def test_a_sensitive_value_is_released_as_its_hierarchy_writes_it(
    values: list[str], hierarchy: dict[str, object]
) -> None:
    table = pa.table({"city": ["x"] * 4, "secret": values})
    for distance in ("equal", "hierarchical"):
        policy = shoal.Policy(
            columns={"city": {"role": "quasi"}, "secret": {"role": "sensitive", "hierarchy": hierarchy}},
            privacy=[
                {"model": "k-anonymity", "k": 2},
                {"model": "t-closeness", "t": 0.5, "distance": distance, "sensitive": "secret"},
            ],
        )
        assert shoal.anonymize(table, policy).evidence["verified"]


def test_a_released_record_without_any_value_is_not_taken_for_a_suppressed_one() -> None:
    table = pa.table({"age": [30, 41, 52, 63], "condition": ["Flu", "HIV", None, "Flu"]})
    policy = shoal.Policy(
        columns={"age": {"role": "quasi", "hierarchy": {"intervals": [5]}}, "condition": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": 4}],
        suppressed="star",
    )
    assert shoal.anonymize(table, policy).evidence["suppressed"] == 0


def test_a_category_may_bear_the_name_of_its_value() -> None:
    table = pa.table({"age": [30, 41, 52, 63], "condition": ["HIV", "Other", "Flu", "Flu"]})
    policy = shoal.Policy(
        columns={
            "age": {"role": "quasi"},
            "condition": {"role": "sensitive", "categories": {"HIV": ["HIV"], "Other": ["Other", "Flu"]}},
        },
        privacy=[{"model": "k-anonymity", "k": 2}],
    )
    assert shoal.anonymize(table, policy).evidence["verified"]


def test_negative_zero_leaves_no_trace_of_the_row_order() -> None:
    one = pa.table({"age": [1, 1, 1, 1], "rest": [0.0, -0.0, -0.0, 0.0]})
    other = one.take(pa.array([1, 0, 3, 2]))
    policy = shoal.Policy(
        columns={"age": {"role": "quasi"}, "rest": {"role": "insensitive"}}, privacy=[{"model": "k-anonymity", "k": 2}]
    )
    texts = [str(shoal.anonymize(table, policy).table.column("rest").to_pylist()) for table in (one, other)]
    assert texts[0] == texts[1] == "[0.0, 0.0, 0.0, 0.0]"


def test_many_classes_with_missing_cells_take_no_time_with_their_square() -> None:
    rows = 40_000
    table = pa.table({"a": [i // 2 for i in range(rows)], "b": [None if i % 4 < 2 else "x" for i in range(rows)]})
    policy = shoal.Policy(
        columns={"a": {"role": "quasi"}, "b": {"role": "quasi"}}, privacy=[{"model": "k-anonymity", "k": 2}]
    )
    started = time.monotonic()
    evidence = shoal.anonymize(table, policy).evidence
    assert evidence["classes"] == rows // 2
    assert time.monotonic() - started < 60  # it was minutes


def test_the_evidence_does_not_name_the_folders_of_the_input(tmp_path: Path) -> None:
    folder = tmp_path / "Hospital Smith"
    folder.mkdir()
    (folder / "secret_input.csv").write_text("age\n1\n1\n", encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(
        f"data: {folder / 'secret_input.csv'}\ncolumns: {{age: {{role: quasi}}}}\n"
        "privacy: [{model: k-anonymity, k: 2}]\noutput: out.csv\n",
        encoding="utf-8",
    )
    shoal.publish(tmp_path / "policy.yaml")
    for name in ("out.csv", "out.evidence.json", "out.report.html"):
        content = (tmp_path / name).read_text(encoding="utf-8")
        assert "Hospital Smith" not in content
        assert "secret_input" not in content


@pytest.mark.parametrize("column", [[30, -9, 41], [30.0, -9.0, 41.0], ["30", "-9", "41"]])
def test_a_mark_of_a_missing_value_means_the_same_in_numbers_and_texts(column: list[object]) -> None:
    table = pa.table({"age": column, "condition": ["Flu", "HIV", "Flu"]})
    policy = shoal.Policy(
        data={"path": "unused.csv", "missing": ["-9"]},
        columns={"age": {"role": "quasi"}, "condition": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": 1}],
    )
    assert shoal.anonymize(table, policy).table.column("age").to_pylist().count(None) == 1


def test_the_range_method_warns_in_a_sentence_and_releases_the_paper_s_table(cli: Cli, tmp_path: Path) -> None:
    rows = ["47602,22,Gastritis", "47605,30,Bronchitis", "47607,32,Cancer", "47673,36,Flu", "47677,29,Ulcer"]
    (tmp_path / "t.csv").write_text("\n".join(["zip,age,disease", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "p.yaml").write_text(
        "data: t.csv\ncolumns:\n  zip: {role: quasi, hierarchy: {mask: right}}\n"
        "  age: {role: quasi, hierarchy: {intervals: [5, 10]}}\n  disease: {role: sensitive}\n"
        "privacy: [{model: k-anonymity, k: 1}]\n"
        "algorithm: {name: range, group: {zip: 1}, ranges: [age]}\noutput: r.csv\n",
        encoding="utf-8",
    )
    ran = cli("anonymize", tmp_path / "p.yaml")
    assert ran.code == 0, ran.err
    assert ran.err.startswith("shoal: warning: ")
    assert ".py" not in ran.err
    assert "4760*,22<=32,Bronchitis" in (tmp_path / "r.csv").read_text(encoding="utf-8")
