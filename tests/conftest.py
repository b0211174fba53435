"""What all tests share: helpers importable as ``support``, ``oracles`` and ``golden``, markers, hypothesis profiles."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

settings.register_profile("shoal", deadline=None)  # the first call of an example may compile or import
settings.register_profile("quick", deadline=None, max_examples=10)
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


@pytest.fixture
def golden(update_golden: bool) -> Callable[[str, str], None]:
    """Compare a text with a file of tests/golden; ``pytest --update-golden`` writes the files again."""

    def check(name: str, text: str) -> None:
        path = Path(HERE) / "golden" / name
        if update_golden:
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{path} differs; see pytest --update-golden"

    return check


def pytest_configure(config: pytest.Config) -> None:
    if "not slow" in config.option.markexpr:
        settings.load_profile("quick")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a suite in the background; tests send SIGINT nevertheless
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(item.get_closest_marker(name) for name in NEEDS):
            item.add_marker("slow")
