"""`shoal attack`: what attackers learn from a release."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import FailOn, Json, Original, PolicyOption, option
from shoal.cli.run import echo_result, load_policy, progress_bar
from shoal.errors import InputError


def attack(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="Release to attack.")],
    policy: PolicyOption,
    *,
    original: Original = None,
    earlier: Annotated[list[Path] | None, option("Earlier release about the same people. Repeatable.")] = None,
    earlier_policy: Annotated[
        list[Path] | None, option("Policy of an earlier release, in the same order. Repeatable.")
    ] = None,
    seed: Annotated[int, option("Seed for drawing samples.", min=0)] = 0,
    rule_out: Annotated[int, option("Values that an attacker with background knowledge can rule out.", min=1)] = 3,
    fail_on: FailOn = None,
    as_json: Json = False,
) -> None:
    """Attack a release as an intruder would, and report what can be learned that was not known anyway."""
    from shoal.pipeline.attack import attack as attack_release
    from shoal.pipeline.registry_options import exceeded, read_condition
    from shoal.present.terminal import attack_lines, condition_lines, decision_lines

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
    failed = exceeded(conditions, report.attacks, report.verdict)
    lines = [*decision_lines(report.verdict), "", *attack_lines(str(release), report)]
    lines += condition_lines(failed, [each.text for each in conditions])
    echo_result({**report, **({"failed": failed} if conditions else {})}, lines, as_json=as_json)
    if failed:
        raise typer.Exit(1)
