"""The key ``engine`` of a policy, and tables that Spark reads and writes."""

from __future__ import annotations

from typing import Any

import pytest

import shoal
from shoal.errors import DataError, PolicyError
from shoal.evidence.describe import describe_policy
from shoal.io.source import data_source

BASE: dict[str, Any] = {"columns": {"age": {"role": "quasi"}}, "privacy": [{"model": "k-anonymity", "k": 2}]}


def test_the_engine_is_this_machine_unless_said() -> None:
    assert shoal.Policy(**BASE).engine.name == "local"


def test_a_name_alone_is_enough() -> None:
    assert shoal.Policy(**BASE, engine="spark").engine.name == "spark"


def test_tables_of_spark_are_places_as_one_text() -> None:
    policy = shoal.Policy(
        **BASE,
        engine={"name": "spark", "cells": 10, "settings": {"spark.cores.max": 4, "spark.speculation": True}},
        data={"spark": {"format": "csv", "path": "in/a b?.csv", "options": {"sep": ";"}}, "missing": ["?"]},
        output={"spark": {"format": "delta", "table": "clinic.released"}},
    )
    assert policy.data is not None
    assert policy.data.path == "spark:csv:in/a b%3F.csv?sep=%3B"
    assert policy.data.missing == ["?"]
    assert policy.output == "spark:delta:table:clinic.released"
    assert policy.engine.settings == {"spark.cores.max": "4", "spark.speculation": "true"}
    assert shoal.Policy.model_validate(policy.to_dict()) == policy


@pytest.mark.parametrize(
    ("keys", "path", "words"),
    [
        ({"engine": "sparc"}, "engine.name", "must be one of local, spark"),
        ({"engine": {"name": "spark", "cells": 0}}, "engine.cells", "above 0"),
        ({"engine": {"name": "spark", "blocks": True}}, "engine.blocks", "above 0"),
        ({"engine": {"cells": 5}}, "engine.cells", "setting of the Spark engine"),
        ({"engine": {"name": "spark", "settings": {"spark.master": None}}}, "engine.settings", "a single value"),
        ({"data": {"spark": {"path": "x"}}}, "data.spark", "engine: spark"),
        ({"output": {"spark": {"path": "x"}}}, "output.spark", "engine: spark"),
        ({"engine": "spark", "data": {"spark": {"paht": "x"}}}, "data.path", "a path or a table"),
        ({"engine": "spark", "data": {"spark": 3}}, "data.path", "a path or a table"),
        ({"engine": "spark", "output": {"spark": {"path": "x", "table": "y"}}}, "output", "a path or a table"),
        ({"output": {"folder": "x"}}, "output", "the key spark"),
    ],
)
def test_what_is_wrong_is_told_with_its_path(keys: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(PolicyError) as error:
        shoal.Policy(**BASE, **keys)
    assert [problem.where for problem in error.value.problems] == [path]
    assert words in str(error.value)


def test_settings_of_the_session_stay_out_of_the_evidence() -> None:
    policy = shoal.Policy(**BASE, engine={"name": "spark", "settings": {"spark.hadoop.fs.s3a.secret.key": "hush"}})
    assert describe_policy(policy)["engine"] == {"name": "spark"}


def test_other_commands_say_that_they_do_not_read_tables_of_spark() -> None:
    policy = shoal.Policy(**BASE, engine="spark", data={"spark": {"path": "x"}})
    with pytest.raises(DataError) as caught:
        data_source(policy)
    assert caught.value.code == "spark-only"
