"""What all tests share: helpers importable as ``support``, ``oracles`` and ``golden``, markers, hypothesis profiles."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from shoal.search.kernels.compiling import compile_ahead
from shoal.search.kernels.load import COVERING, GROUPING, NEIGHBOURS, REFINING

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

# The first call of an example may compile or import, so none has a deadline. With CI set every run draws the same
# examples, so that a change is judged by the same cases each time; without it each run draws new ones.
ALWAYS_THE_SAME = bool(os.environ.get("CI"))
settings.register_profile("shoal", deadline=None, derandomize=ALWAYS_THE_SAME)
settings.register_profile("quick", deadline=None, derandomize=ALWAYS_THE_SAME, max_examples=10)
settings.load_profile("shoal")

NEEDS = ("browser", "postgres", "spark")
"""Markers of tests that need more than Python; these tests are slow as well."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="Write what is printed to the golden files and documentation."
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        compile_ahead(
            [*GROUPING, *COVERING, *NEIGHBOURS, *REFINING], lambda *_: None
        )  # once, rather than by each process
    if "not slow" in config.option.markexpr:
        settings.load_profile("quick")
    for name, default in {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, default)  # a suite in the background ignores it; tests send it nevertheless


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(item.get_closest_marker(name) for name in NEEDS):
            item.add_marker("slow")
