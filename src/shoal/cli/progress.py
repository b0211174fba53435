"""Progress on a terminal, for anything that takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shoal.search.problem import Progress, no_progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

_PATIENCE = 1.0
"""Seconds before a bar appears: short runs stay quiet."""
_NARROW = 100
"""On terminals below this width the bar is short and the time that remains is left out."""


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A callback that draws a bar on stderr once a run has taken a second; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console

    bar = bar_on(Console(stderr=True))
    started, task = time.monotonic(), bar.add_task("", total=1.0)

    def show(stage: str, share: float) -> None:
        if time.monotonic() - started > _PATIENCE:
            if not bar.live.is_started:
                bar.start()
            bar.update(task, description=stage, completed=share)

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()


def bar_on(console: Console) -> Bar:
    """One line that fits the console: the share done, what is being done (cut where it is long), then the bar."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    narrow = console.width < _NARROW
    bar = 8 if narrow else 40
    rest = 5 + bar + 7 + (0 if narrow else 7) + 4  # the other columns and the blanks between
    room = max(console.width - rest, 1)
    return Bar(
        TextColumn("{task.percentage:3.0f} %"),
        TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", max_width=room)),
        BarColumn(bar),
        TimeElapsedColumn(),
        *([] if narrow else [TimeRemainingColumn()]),
        console=console,
        transient=True,
    )
