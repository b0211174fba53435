"""``shoal compare``: a grid of algorithms and parameters, its table on the terminal and its page on disk."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from shoal.cli.commands import interruptible, load_policy
from shoal.cli.progress import progress_bar
from shoal.cli.show import aligned, counted
from shoal.errors import InterruptedRunError
from shoal.pipeline.compare import Comparison, Plan, plan_comparison, run_comparison
from shoal.pipeline.compare.axes import read_settings
from shoal.pipeline.compare.values import Values, written

_NOTHING = "-"


@interruptible
def run_compare(
    policy_path: Path,
    *,
    algorithms: str,
    data: Path | None,
    short: Mapping[str, Values | None],
    settings: list[str],
    metric: str | None,
    risk: str,
    out: Path | None,
    releases: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Compare and write; exit 1 when no point has a verified release."""
    plan = plan_comparison(
        load_policy(policy_path, data),
        algorithms,
        data=data,
        short=short,
        settings=read_settings(settings),
        metric=metric,
        risk=risk,
        out=out,
        releases=releases,
        force=force,
    )
    say_plan(plan)
    try:
        with progress_bar() as progress:
            comparison = run_comparison(plan, progress=progress)
    except KeyboardInterrupt:
        finished = plan.done_by_now()
        raise InterruptedRunError(
            f"interrupted; {finished} of {counted(len(plan.points), 'point', 'points')} "
            f"{'is' if finished == 1 else 'are'} done and kept in {plan.folder.points}. "
            "Run the same command again to go on from there."
        ) from None
    if as_json:
        typer.echo(json.dumps({**comparison.to_dict(), "paths": {k: str(v) for k, v in plan.folder.outputs.items()}}))
    else:
        show_comparison(comparison)
        for name, path in plan.folder.outputs.items():
            typer.echo(f"  {name:<5} {path}")
    if not comparison.verified or any(point["status"] == "unverified" for point in comparison.points):
        raise typer.Exit(1)


def say_plan(plan: Plan) -> None:
    """How many points there are, before the first of them; on stderr, so that it never mixes with results."""
    parts = [counted(len(plan.algorithms), "algorithm", "algorithms")]
    parts += [f"{axis.name} {_values([written(value) for value in axis.values])}" for axis in plan.axes]
    said = [f"{counted(len(plan.points), 'point', 'points')}: {' × '.join(parts)}."]
    if plan.finished:
        said.append(f"{len(plan.finished)} done already.")
    impossible = sum(point.contradiction is not None for point in plan.points)
    if impossible:
        said.append(f"{impossible} cannot be, since their parameters contradict each other.")
    if not plan.releases:
        said.append("Releases are verified in memory and not written; --releases writes them.")
    if plan.policy.utility is not None:
        said.append("The policy's utility key is not measured here.")
    sys.stderr.write(f"{_wrapped(' '.join(said))}\n")


def _values(values: list[str]) -> str:
    return ", ".join(values) if len(values) <= 8 else f"{values[0]} to {values[-1]} ({len(values)} values)"


def show_comparison(comparison: Comparison) -> None:
    """The table, the points that cannot be, and the frontier in words."""
    exposed = [name for name in ("homogeneity", "similarity") if _any(comparison, name)]
    header = [
        "", "point", comparison.metric, "average", "highest", *exposed, "suppressed", "smallest", "seconds",
    ]  # fmt: skip
    rows = [_row(comparison, point, exposed) for point in comparison.points]
    lines = aligned([header, *rows], str.ljust)
    for line in lines:
        typer.echo(line.rstrip())
    for line in _reasons(comparison):
        typer.echo(_wrapped(line))
    typer.echo("")
    if comparison.frontier:
        typer.echo(
            _wrapped(
                f"On the frontier of {comparison.metric} and {comparison.risk} risk (* above), least loss first: "
                f"{', '.join(comparison.frontier)}. No other point is better in one and no worse in the other."
            )
        )
    else:
        typer.echo("No point has a verified release, so there is no frontier.")


def _reasons(comparison: Comparison) -> Iterator[str]:
    """Why points have no release; those with the same reason together."""
    groups: dict[tuple[str, str], list[str]] = {}
    for point in comparison.points:
        if point["status"] != "verified":
            nearest = f" Would do: {point['nearest_relaxation']}." if point.get("nearest_relaxation") else ""
            reason = str(point["reason"])
            stop = "" if reason.endswith((".", "!", "?")) else "."
            groups.setdefault((point["status"], f"{reason}{stop}{nearest}"), []).append(str(point["name"]))
    for (status, reason), names in groups.items():
        yield f"{', '.join(names)}: {status}. {reason}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 100, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def _any(comparison: Comparison, risk: str) -> bool:
    return any(risk in point["risk"] for point in comparison.verified)


def _row(comparison: Comparison, point: Mapping[str, Any], exposed: list[str]) -> list[str]:
    head = ["*" if point["name"] in comparison.frontier else "", str(point["name"])]
    if point["status"] != "verified":
        return [*head, str(point["status"]), *[_NOTHING] * (4 + len(exposed)), f"{point['seconds']:.2f}"]
    risk = point["risk"]
    return [
        *head,
        f"{point['measures'][comparison.metric]:.4f}",
        *(f"{risk[name]:.4f}" for name in ("average", "highest")),
        *(f"{risk[name]:.4f}" if name in risk else _NOTHING for name in exposed),
        str(point["suppressed"]),
        str(point["class_sizes"]["smallest"]),
        f"{point['seconds']:.2f}",
    ]
