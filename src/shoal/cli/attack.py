"""`shoal attack`: what attackers learn from a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import FailOn, Json, Original, PolicyOption
from shoal.cli.run import echo_json, echo_lines, load_policy, progress_bar
from shoal.errors import InputError


def attack(
    release: Annotated[Path, typer.Argument(help="Release to attack.")],
    policy: PolicyOption,
    *,
    original: Original = None,
    earlier: Annotated[
        list[Path] | None, typer.Option(help="Earlier release about the same people. Repeatable.")
    ] = None,
    earlier_policy: Annotated[
        list[Path] | None, typer.Option(help="Policy of an earlier release, in the same order. Repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed for drawing samples.")] = 0,
    rule_out: Annotated[
        int, typer.Option(min=1, help="Values that an attacker with background knowledge can rule out.")
    ] = 3,
    fail_on: FailOn = None,
    as_json: Json = False,
) -> None:
    """Attack a release the way an intruder would, and report what was learned and how much it is worth."""
    from shoal.pipeline.attack import attack as attack_release
    from shoal.pipeline.registry_options import exceeded, read_condition
    from shoal.present.terminal import attack_lines, condition_lines

    conditions = [read_condition(text) for text in fail_on or []]
    releases, policies = earlier or [], earlier_policy or []
    if len(releases) != len(policies):
        raise InputError(
            f"--earlier is given {len(releases)} times and --earlier-policy {len(policies)} times. Give each earlier "
            "release its policy, in the same order.",
            code="earlier-policies",
        )
    own = load_policy(policy)
    before = [(path, load_policy(other)) for path, other in zip(releases, policies, strict=True)]
    with progress_bar() as progress:
        report = attack_release(
            release, own, original=original, earlier=before, seed=seed, ruled_out=rule_out, progress=progress
        )
    failed = exceeded(conditions, report.attacks)
    if as_json:
        echo_json({**report, **({"failed": failed} if conditions else {})})
    else:
        echo_lines(attack_lines(str(release), report))
        echo_lines(condition_lines(failed, [condition.text for condition in conditions]))
    if failed:
        raise typer.Exit(1)
