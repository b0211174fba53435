"""Progress on a terminal, for anything that takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from shoal.algorithms.problem import Progress, no_progress

_PATIENCE = 1.0
"""Seconds before a bar appears: short runs stay quiet."""


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A callback that draws a bar on stderr once a run has taken a second; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console  # noqa: PLC0415 - only where it is seen
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
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
