"""More cells than the driver may hold, blocks that the cluster cuts, and data that cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError, PolicyError, VerificationError
from shoal.io.spark import cluster as spark
from shoal.io.spark import source as spark_source
from support.spark_cases import COLUMNS, as_bytes, policy, table

OPTIMAL = {"name": "optimal"}
QUASI = {name: COLUMNS[name] for name in ("age", "Zip.code", "joined", "condition", "id")}


def test_columns_left_out_of_the_cells_ride_along(session: Any, tmp_path: Path) -> None:
    columns = {**QUASI, "id": {"role": "insensitive"}, "fee": COLUMNS["fee"]}  # every record is a cell of its own
    data = table()
    ours = shoal.anonymize(data, policy(OPTIMAL, columns=columns))
    theirs = shoal.anonymize(
        session.createDataFrame(data), policy(OPTIMAL, columns=columns, engine={"name": "spark", "cells": 155})
    )
    assert theirs.evidence["engine"]["cells"] == data.num_rows
    assert sorted(theirs.evidence["engine"]["left_out_of_cells"]) == ["fee", "id"]
    assert as_bytes(theirs.table, tmp_path) == as_bytes(ours.table, tmp_path)
    told = {check["name"]: check for check in theirs.evidence["checks"]}
    assert told["insensitive"]["passed"]
    assert {each["status"] for each in theirs.evidence["attacks"] if "insensitive" in each["name"]} == {"not tried"}


def test_a_value_invented_beside_the_cells_is_found(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {**QUASI, "id": {"role": "insensitive"}}
    real = spark.mapped

    def spoilt(given: spark.Named, function: Any, empty: pa.Table) -> spark.Named:
        def invented(batch: pa.RecordBatch) -> pa.Table:
            made = function(batch)
            place = made.column_names.index("id")
            return made.set_column(place, "id", pa.array(["nobody"] * made.num_rows, pa.string()))

        return real(given, invented, empty)

    monkeypatch.setattr(spark, "mapped", spoilt)
    asked = policy(OPTIMAL, columns=columns, engine={"name": "spark", "cells": 155})
    with pytest.raises(VerificationError, match="insensitive"):
        shoal.anonymize(session.createDataFrame(table()), asked)


def test_what_does_not_fit_is_coarsened_and_said(session: Any, tmp_path: Path) -> None:
    columns = {name: column for name, column in QUASI.items() if name != "id"}
    data = table()
    ours = shoal.anonymize(data, policy(OPTIMAL, columns=columns))
    asked = policy(OPTIMAL, columns=columns, engine={"name": "spark", "cells": 100})
    theirs = shoal.anonymize(session.createDataFrame(data), asked)
    engine = theirs.evidence["engine"]
    assert engine["coarsened"]
    assert engine["cells_held"] <= 100 < engine["cells"]
    assert all(theirs.evidence["levels"][name] >= level for name, level in engine["coarsened"].items())
    assert all(ours.evidence["levels"][name] >= level for name, level in engine["coarsened"].items())
    assert as_bytes(theirs.table, tmp_path) == as_bytes(ours.table, tmp_path), "nothing finer was better anyway"
    assert theirs.evidence["levels"] == ours.evidence["levels"]
    assert theirs.evidence["measures"] == ours.evidence["measures"]
    assert "truthfulness" in theirs.evidence["not_done"]


def test_a_coarsened_local_recoding_is_true_of_the_original(session: Any) -> None:
    columns = {name: column for name, column in QUASI.items() if name != "id"}
    asked = policy({"name": "mondrian"}, columns=columns, engine={"name": "spark", "cells": 80})
    made = shoal.anonymize(session.createDataFrame(table()), asked)
    assert made.evidence["engine"]["coarsened"]
    shoal.verify(made.table, asked, original=table()).raise_if_failed()


def test_what_cannot_be_coarsened_any_further_is_an_error(session: Any) -> None:
    columns = {name: column for name, column in QUASI.items() if name != "id"}
    asked = policy(OPTIMAL, columns=columns, engine={"name": "spark", "cells": 3})
    with pytest.raises(DataError, match=r"engine\.cells"):
        shoal.anonymize(session.createDataFrame(table()), asked)


@pytest.mark.parametrize("options", [{}, {"ranges": ["age"]}], ids=["nodes", "ranges"])
def test_blocks_cut_by_the_cluster_are_those_of_one_machine(
    session: Any, tmp_path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    algorithm, data = {"name": "mondrian", **options}, table(900)
    sent: list[int] = []
    real = spark.SparkWorkers.__call__

    def counted(self: spark.SparkWorkers, work: Any, blocks: Any) -> Any:
        sent.append(len(blocks))
        return real(self, work, blocks)

    monkeypatch.setattr(spark.SparkWorkers, "__call__", counted)
    ours = shoal.anonymize(data, policy(algorithm))
    theirs = shoal.anonymize(session.createDataFrame(data), policy(algorithm, engine={"name": "spark", "blocks": 3}))
    assert sent
    assert set(sent) == {3}
    assert as_bytes(theirs.table, tmp_path) == as_bytes(ours.table, tmp_path)
    assert theirs.evidence["search"] == ours.evidence["search"]


def test_a_column_without_single_values_is_refused(session: Any) -> None:
    nested = session.createDataFrame([(["a"], "x")], "age array<string>, condition string")
    content = {
        "columns": {"age": {"role": "quasi"}, "condition": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
    }
    with pytest.raises(DataError, match="'age' has the type"):
        shoal.anonymize(nested, shoal.Policy.model_validate(content))


def test_a_column_that_is_not_there_is_refused(session: Any) -> None:
    with pytest.raises(PolicyError, match=r"columns\.age"):
        shoal.anonymize(session.createDataFrame(table().drop_columns(["age"])), policy(OPTIMAL))


@pytest.mark.usefixtures("session")
def test_a_record_of_another_length_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    path.write_text("age,condition\n21,flu\n22\n23,flu\n")
    content = {
        "data": str(path),
        "columns": {"age": {"role": "quasi"}, "condition": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "engine": "spark",
    }
    with pytest.raises(DataError, match="Spark could not do its part"):
        shoal.anonymize(policy=shoal.Policy.model_validate(content))


@pytest.mark.usefixtures("session")
def test_data_that_is_nowhere_is_an_error_of_the_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read as parquet"):
        shoal.anonymize(tmp_path / "none.parquet", policy(OPTIMAL, engine="spark"))


def test_errors_of_a_worker_are_told_without_traces(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        return session.sql("select raise_error('out of disk')").collect()

    monkeypatch.setattr(spark_source, "_fit", failing)
    with pytest.raises(DataError, match="out of disk") as error:
        shoal.anonymize(session.createDataFrame(table()), policy(OPTIMAL))
    assert "\n" not in str(error.value)
