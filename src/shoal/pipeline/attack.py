"""`attack`: a release attacked by its own maker, before others do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.attacks.battery import RULED_OUT, AttackReport, Stage, check_options
from shoal.attacks.earlier_releases import read_earlier
from shoal.attacks.scene_setup import rows_of_release
from shoal.encode.resolve import resolve, unknown_columns, used_columns
from shoal.errors import PolicyError
from shoal.io.source import read_distinct
from shoal.pipeline.run import as_policy
from shoal.policy import Policy
from shoal.search.problem import Progress, no_progress

__all__ = ["AttackReport", "attack"]


def attack(
    release: Any,
    policy: Policy | str | Path,
    *,
    original: Any = None,
    earlier: Sequence[tuple[Any, Policy | str | Path]] = (),
    seed: int = 0,
    ruled_out: int = RULED_OUT,
    progress: Progress = no_progress,
) -> AttackReport:
    """Attack a release as those would who want to know a secret.

    ``release`` is the path of a CSV or Parquet file, or a pandas, polars or Arrow table; ``original`` a path, read as
    the policy's ``data`` says, or a table: without it, attacks that need it are reported as not tried. ``earlier`` are
    releases of the same people, each with its policy. Samples and halves are drawn from ``seed``; ``ruled_out`` is how
    many values an attacker with background knowledge can rule out.

    Raises `DataError` or `PolicyError` for input that cannot be read, or that does not belong together.
    """
    check_options(seed, ruled_out)
    asked = as_policy(policy)
    progress("reading", 0.0)
    rows = rows_of_release(release, asked)
    before = [read_earlier(one, other) for one, other in earlier]
    stage = Stage(asked, rows, before, seed, ruled_out, progress)
    if original is None:
        return stage.report()
    # earlier releases may show columns that this one does not
    wanted = {*used_columns(asked), *(name for each in before for name in each.released.quasi)}
    people, names, hint = read_distinct(original, asked, sorted(wanted))
    lacking = unknown_columns({name: asked.columns[name] for name in used_columns(asked)}, names, hint)
    if lacking:
        raise PolicyError(lacking, asked.source)
    return stage.report(people, resolve(asked, people))
