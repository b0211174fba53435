"""What commands share: reading the policy, progress on the terminal, and printing."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import typer

from shoal.errors import InterruptedRunError, PolicyError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

    from shoal.policy import Policy
    from shoal.search.problem import Progress

P = ParamSpec("P")
_PATIENCE = 1.0  # seconds before a progress bar appears: short runs stay quiet
_NARROW = 100  # on narrower terminals the bar is short and the remaining time is left out


def interruptible(command: Callable[P, None]) -> Callable[P, None]:
    """A command that ends with `InterruptedRunError` on Ctrl-C; the pipeline has cleaned up by then."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            raise InterruptedRunError from None

    return run


def load_policy(path: Path, data: Any = None, algorithm: str | None = None) -> Policy:
    """Read a policy, with another algorithm if one is named, which keeps the options that it takes as well.

    A policy with problems is also checked against the data, so that all problems are reported together.
    """
    from shoal.pipeline.prepare import complete_problems
    from shoal.policy import Policy
    from shoal.search import shared_options

    try:
        policy = Policy.load(path)
    except PolicyError as error:
        raise complete_problems(error, path, data) from None
    if algorithm is None or algorithm == policy.algorithm.name:
        return policy
    given = policy.algorithm.model_dump(exclude_unset=True)
    options = {name: value for name, value in given.items() if name in shared_options(algorithm)}
    dropped = sorted(set(given) - set(options) - {"name"})
    if dropped:
        typer.echo(f"shoal: {algorithm} does not use the policy's {', '.join(dropped)}; ignored.", err=True)
    return policy.changed(algorithm={**options, "name": algorithm})


def echo_result(
    facts: Mapping[str, Any], lines: Iterable[str], *, as_json: bool, paths: Mapping[str, object] | None = None
) -> None:
    """Print a result: as JSON, or as lines followed by the files that were written."""
    if as_json:
        from shoal.facts import plain

        written = {} if paths is None else {"paths": {name: str(path) for name, path in paths.items()}}
        typer.echo(json.dumps(plain({**facts, **written})))
        return
    for line in lines:
        typer.echo(line.rstrip())
    width = max(map(len, paths or {}), default=0)
    for name, path in (paths or {}).items():
        typer.echo(f"  {name:<{width}} {path}")


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A callback that draws a bar on stderr once a run has taken a second; silent where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda _stage, _share: None
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
    """One line that fits the console: the share done, the stage (shortened where it is long), then the bar."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    narrow = console.width < _NARROW
    bar = 8 if narrow else 40
    others = 4 + bar + 7 + (0 if narrow else 7) + 4  # the other columns and the spaces between
    room = max(console.width - others, 1)
    return Bar(
        TextColumn("{task.percentage:3.0f}%"),
        TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", max_width=room)),
        BarColumn(bar),
        TimeElapsedColumn(),
        *([] if narrow else [TimeRemainingColumn()]),
        console=console,
        transient=True,
    )
