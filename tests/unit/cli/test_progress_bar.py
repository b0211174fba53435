"""Progress fits the terminal: what is done comes first, and the bar after it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from shoal.cli.run import bar_on


def line(width: int, description: str) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    bar = bar_on(console)
    bar.add_task(description, total=1.0, completed=0.42)
    with console.capture() as captured:
        console.print(bar.get_renderable())
    return captured.get()


@pytest.mark.parametrize("width", [40, 60, 79, 100, 160])
def test_one_line_with_share_stage_bar_and_time(width: int) -> None:
    for description in ("searching", "searching subsets of the quasi-identifiers"):
        shown = line(width, description)
        assert shown.count("\n") == 1
        assert shown.startswith(" 42% searching")
        assert shown.index("━") > shown.index("searching")
        assert "0:00:00" in shown
        assert len(shown.rstrip("\n")) <= width
    assert "…" in line(40, "searching subsets of the quasi-identifiers")
