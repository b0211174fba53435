"""`shoal reproduce`: a folder that appears whole or not at all, and what the papers' experiments show in it."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from shoal.datasets import adult
from shoal.reproduce import PAPERS, Reproduction, reproduce, run
from shoal.reproduce.paper import FAILED, Results, Section, Statement, Task
from support.adult_cases import made_up, real_folder, write_csv
from support.cli import Cli, snapshot


@pytest.fixture(autouse=True)
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which Adult lies nowhere."""
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    monkeypatch.setattr(adult, "cache_folder", lambda: tmp_path / "no-cache")
    monkeypatch.chdir(tmp_path)


def test_worked_tables_need_no_data(cli: Cli, tmp_path: Path) -> None:
    ran = cli("reproduce", "man", "--out", "there/man")
    assert ran.code == 0, ran.err
    assert set(snapshot(tmp_path / "there" / "man")) == {"REPORT.md", "man-table-3.csv", "man-statements.csv"}
    report = (tmp_path / "there/man/REPORT.md").read_text(encoding="utf-8")
    assert "**The paper reports.**" in report
    assert "**We measure.**" in report
    assert "**Why they differ.**" in report
    assert "NOT REPRODUCED** " not in report


def test_json_has_every_statement_and_every_path(cli: Cli, tmp_path: Path) -> None:
    ran = cli("reproduce", "mahesh", "--out", "out", "--json")
    told = json.loads(ran.out)
    assert told["reproduced"] is True
    assert told["papers"] == ["mahesh"]
    assert {Path(path).name for path in told["paths"]} == set(snapshot(tmp_path / "out"))
    (section,) = told["sections"]
    assert {each["verdict"] for each in section["statements"]} == {"equal", "slip of the paper", "the paper is silent"}


def test_without_adult_the_message_says_where_it_may_come_from(cli: Cli, tmp_path: Path) -> None:
    ran = cli("reproduce", "--out", "out")
    assert ran.code == 2
    assert ran.error == "adult-not-found"
    assert "--download" in ran.err
    assert not (tmp_path / "out").exists()


def test_an_unknown_paper_is_answered_with_the_known_ones(cli: Cli) -> None:
    ran = cli("reproduce", "son")
    assert ran.code == 2
    assert "Did you mean 'sun'?" in ran.err
    assert "campan" in ran.err


def test_a_folder_with_something_in_it_is_left_alone_without_force(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    before = snapshot(tmp_path)
    ran = cli("reproduce", "man", "--out", "out")
    assert ran.code == 2
    assert ran.error == "not-empty"
    assert snapshot(tmp_path) == before
    assert cli("reproduce", "man", "--out", "out", "--force").code == 0
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "out" / "REPORT.md").is_file()


def test_a_file_in_the_place_of_the_folder_is_told_before_the_work(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_make", lambda *_: pytest.fail("the work was begun"))
    (tmp_path / "out").write_text("a file")
    assert cli("reproduce", "man", "--out", "out").error == "not-a-folder"
    assert cli("reproduce", "man", "--out", "out/below").error == "not-writable"


def test_stopping_it_leaves_nothing(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_: object) -> list[Section]:
        raise KeyboardInterrupt

    tasks = (*PAPERS["man"], Task("man", "stopped", stopped))
    monkeypatch.setitem(PAPERS, "man", tasks)
    ran = cli("reproduce", "man", "--out", "out")
    assert ran.code == 130
    assert "no output was written" in ran.err
    assert snapshot(tmp_path) == {}


def test_a_folder_that_cannot_be_filled_is_taken_away_again(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    ran = cli("reproduce", "man", "--out", "out")
    assert ran.code == 2
    assert "No space left on device" in ran.err
    assert snapshot(tmp_path) == {}


def test_a_statement_that_does_not_come_out_fails_the_run_and_is_shown(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Statement("Table 9: k", "4", "3")

    def made(_: object) -> list[Section]:
        sheet = Results([wrong.to_dict()]).sheet("man-wrong")
        return [Section("man", "t", "s", "r", "m", "d", (sheet,), statements=(wrong,))]

    monkeypatch.setitem(PAPERS, "man", (Task("man", "wrong", made),))
    ran = cli("reproduce", "man", "--out", "out")
    assert ran.code == 1
    assert f"{FAILED}: {wrong.about}: " in ran.out
    assert f"**{FAILED}** Man, Li & Wang, Table 9: k" in (tmp_path / "out/REPORT.md").read_text(encoding="utf-8")
    assert FAILED in (tmp_path / "out/man-wrong.csv").read_text(encoding="utf-8")


def rows(made: Reproduction, name: str) -> list[dict[str, str]]:
    (path,) = (path for path in made.paths if path.name == f"{name}.csv")
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """A quick reproduction of everything, on a made-up table with the columns and values of Adult."""
    folder = tmp_path_factory.mktemp("adult")
    return reproduce(data=write_csv(folder, made_up(300)), out=folder / "out", quick=True)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """A quick reproduction of everything on samples of the real table."""
    return reproduce(data=real_folder(), out=tmp_path_factory.mktemp("real") / "out", quick=True)


@pytest.fixture(params=["made", "real"])
def either(request: pytest.FixtureRequest) -> Reproduction:
    found: Reproduction = request.getfixturevalue(request.param)
    return found


@pytest.mark.slow
def test_everything_that_must_hold_holds(either: Reproduction) -> None:
    assert either.failures == ()
    assert {section.paper for section in either.sections} == set(PAPERS)


@pytest.mark.slow
def test_the_report_shows_every_plot_and_links_every_sheet(either: Reproduction) -> None:
    report = either.paths[0].read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(([a-z0-9-]+\.(?:svg|csv))\)", report))
    assert named == {path.name for path in either.paths[1:]}
    assert {path.name for path in either.paths[0].parent.iterdir()} == {path.name for path in either.paths}
    for path in either.paths:
        if path.suffix == ".svg":
            assert ET.parse(path).getroot().tag.endswith("svg")


@pytest.mark.slow
def test_no_minimal_node_of_p_plus_is_open_to_the_similarity_attack(either: Reproduction) -> None:
    found = rows(either, "sun-similarity")
    assert {row["open"] for row in found if row["model"] == "p-plus-alpha-sensitive"} == {"0"}
    assert all(int(row["minimal nodes"]) > 0 for row in found)


@pytest.mark.slow
def test_some_minimal_nodes_of_p_sensitivity_are_open_to_it(real: Reproduction) -> None:
    found = [row for row in rows(real, "sun-similarity") if row["suppression"] == "0.05"]
    opened = {row["model"]: int(row["open"]) / int(row["minimal nodes"]) for row in found}
    assert opened["p-sensitive"] > 0
    assert opened["p-plus-alpha-sensitive"] == 0


@pytest.mark.slow
def test_a_stronger_model_never_distorts_less(either: Reproduction) -> None:
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows(either, "sun-time-and-distortion"):
        at = found.setdefault((row["axis"], row["value"]), {})
        at[row["model"]] = float(row["Incognito distortion ratio"])
    for at in found.values():
        assert at["p-sensitive"] <= at["p-alpha-sensitive"] <= at["p-plus-alpha-sensitive"]


@pytest.mark.slow
def test_the_local_recoding_distorts_less_than_the_best_full_domain_one(either: Reproduction) -> None:
    for row in rows(either, "sun-time-and-distortion"):
        assert float(row["top-down distortion ratio"]) <= float(row["Incognito distortion ratio"])


@pytest.mark.slow
def test_limits_on_leakage_protect_their_values(real: Reproduction) -> None:
    found = {(row["model"], row["k"]): row for row in rows(real, "wang-compared")}
    smallest = min(int(k) for _, k in found)
    plain, limited = (found[model, str(smallest)] for model in ("k-anonymity", "(alp, dif)"))
    assert float(limited["homogeneous records"]) < float(plain["homogeneous records"])
    assert float(limited["precision"]) < float(plain["precision"])


@pytest.mark.slow
def test_boundaries_are_kept_and_cost_records_and_their_lack_shows(either: Reproduction) -> None:
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for row in rows(either, "campan-experiments"):
        by_kind.setdefault(row["algorithm"], []).append(row)
        assert row["verified"] == "yes"
    free = by_kind.pop("GreedyPKClustering")
    assert all(int(row["constraint violations"]) > 0 for row in free)
    assert all(int(row["suppressed"]) == 0 for row in free)
    assert all(int(row["constraint violations"]) == 0 for kind in by_kind.values() for row in kind)
    ours, theirs = ([float(row["NTIL"]) for row in by_kind[kind]] for kind in ("Shoal's own clustering", "GreedyCPKA"))
    assert all(one <= other for one, other in zip(ours, theirs, strict=True))


@pytest.mark.slow
def test_everything_but_times_repeats_whatever_the_order_of_the_file(made: Reproduction, tmp_path: Path) -> None:
    again = reproduce("sun", data=write_csv(tmp_path / "data", made_up(300)[::-1]), out=tmp_path / "out", quick=True)
    timed = ("seconds",)
    for name in ("sun-similarity", "sun-time-and-distortion"):
        before, after = (
            [{key: value for key, value in row.items() if not key.endswith(timed)} for row in rows(each, name)]
            for each in (made, again)
        )
        assert before == after
