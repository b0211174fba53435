"""One cluster and one session for all tests of the Spark engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.spark import Cluster, need_spark, running_cluster, session_of

QUIET = ("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
"""PySpark leaves sockets of its own for the garbage collector to close."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("spark")
            for each in QUIET:
                item.add_marker(pytest.mark.filterwarnings(each))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    need_spark()
    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="session")
def session(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    warehouse = tmp_path_factory.mktemp("warehouse")
    with session_of(cluster, {"spark.sql.warehouse.dir": str(warehouse)}) as running:
        yield running
