"""Where releases of Spark's go: names, hidden folders, and folders that are put in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.errors import DataError, OutputError
from shoal.io.spark.sink import SparkSink
from shoal.io.spark.source import spark_location, text_options
from shoal.policy.spec import DataSpec

POLICY = shoal.Policy(columns={"age": {"role": "quasi"}}, privacy=[{"model": "k-anonymity", "k": 2}], engine="spark")


def target(out: Any, *, force: bool = False) -> SparkSink:
    return SparkSink(POLICY, out, force=force)


def fill(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "part-0.csv").write_text(text)


def test_a_hidden_folder_gets_its_name(tmp_path: Path) -> None:
    goal = target(tmp_path / "a release.csv")
    with goal.hidden_folder() as hidden:
        fill(Path(str(hidden.path)), "new")
        assert Path(str(hidden.path)).name.startswith(".shoal-")
        goal.put_folder(hidden)
    assert [path.name for path in tmp_path.iterdir()] == ["a release.csv"]


def test_what_is_left_under_a_hidden_name_is_removed(tmp_path: Path) -> None:
    goal = target(tmp_path / "release.csv")
    with goal.hidden_folder() as hidden:
        fill(Path(str(hidden.path)), "half")
    assert not list(tmp_path.iterdir())


def test_an_old_release_goes_only_when_told_to(tmp_path: Path) -> None:
    fill(tmp_path / "release.csv", "old")
    with pytest.raises(OutputError) as caught:
        target(tmp_path / "release.csv")
    assert caught.value.code == "output-exists"
    goal = target(tmp_path / "release.csv", force=True)
    with goal.hidden_folder() as hidden:
        fill(Path(str(hidden.path)), "new")
        goal.put_folder(hidden)
    assert (tmp_path / "release.csv" / "part-0.csv").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_old_release_comes_back_when_the_new_one_cannot_be_put_in_place(tmp_path: Path) -> None:
    fill(tmp_path / "release.csv", "old")
    goal = target(tmp_path / "release.csv", force=True)
    with goal.hidden_folder() as hidden, pytest.raises(OutputError) as caught:
        goal.put_folder(hidden)  # nothing was written there
    assert caught.value.code == "not-placed"
    assert (tmp_path / "release.csv" / "part-0.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_release_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    goal = target(tmp_path / "release.csv")
    with goal.hidden_folder() as hidden:
        fill(Path(str(hidden.path)), "new")
        fill(tmp_path / "release.csv", "somebody else's")
        with pytest.raises(OutputError) as caught:
            goal.put_folder(hidden)
        assert caught.value.code == "output-exists"
    assert (tmp_path / "release.csv" / "part-0.csv").read_text() == "somebody else's"


def test_a_folder_that_is_not_there_is_told_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as caught:
        target(tmp_path / "none" / "release.csv")
    assert caught.value.code == "no-folder"


def test_an_output_of_no_known_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as caught:
        target(tmp_path / "release.xlsx")
    assert caught.value.code == "unknown-format"


def test_no_output_at_all_is_refused() -> None:
    with pytest.raises(OutputError) as caught:
        target(None)
    assert caught.value.code == "no-output"


def test_evidence_lies_beside_a_local_release_and_else_beside_the_policy(tmp_path: Path) -> None:
    beside = SparkSink(POLICY, tmp_path / "claims.parquet").documents
    assert beside["evidence"] == tmp_path / "claims.evidence.json"
    table = SparkSink(POLICY, "spark:delta:table:clinic.claims").documents
    assert table["report"] == Path("clinic.claims.report.html")
    with pytest.raises(OutputError) as caught:
        SparkSink(POLICY, "spark:delta:table:clinic.claims", evidence=tmp_path / "evidence.txt")
    assert caught.value.code == "evidence-name"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("spark:parquet:hdfs:/namenode/x", "hdfs://namenode/x"),
        ("spark:parquet:s3a://bucket/x/", "s3a://bucket/x"),
        ("spark:csv:dbfs:/x", "dbfs:/x"),
        ("file:/x.parquet", "file:/x.parquet"),
    ],
)
def test_addresses_keep_their_slashes(given: str, path: str) -> None:
    assert spark_location(given, None, "data").path == path


def test_a_relative_path_is_relative_to_the_policy(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY.to_yaml())
    loaded = shoal.Policy.load(file)
    assert spark_location("in.parquet", loaded, "data").path == str(tmp_path / "in.parquet")


def test_spark_reads_few_encodings() -> None:
    location = spark_location("/x.csv", None, "data")
    assert text_options(DataSpec(path="/x.csv", encoding="latin-1"), location)["encoding"] == "ISO-8859-1"
    with pytest.raises(DataError, match="cp1252") as caught:
        text_options(DataSpec(path="/x.csv", encoding="cp1252"), location)
    assert caught.value.code == "unknown-encoding"
