"""`shoal verify`: a release checked against its policy, its evidence, and limits on what attacks may expose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import FailOn, Json, Original, PolicyOption
from shoal.cli.run import echo_json, echo_lines, load_policy, progress_bar


def verify(
    release: Annotated[Path, typer.Argument(help="Release to check.")],
    policy: PolicyOption,
    original: Original = None,
    evidence: Annotated[Path | None, typer.Option(help="Evidence of the release, if it is not next to it.")] = None,
    fail_on: FailOn = None,
    as_json: Json = False,
) -> None:
    """Check a written release independently: its policy, its evidence and, with the original, its truthfulness."""
    from shoal.pipeline.audit.audit import audit
    from shoal.pipeline.registry_options import read_condition
    from shoal.present.terminal import condition_lines, verification_lines

    conditions = [read_condition(text) for text in fail_on or []]
    with progress_bar() as progress:
        audited = audit(release, load_policy(policy), original, evidence=evidence, progress=progress)
    failed = audited.exceeded(conditions)
    if as_json:
        echo_json({**audited.verification.to_dict(), **({"failed": failed} if conditions else {})})
    else:
        echo_lines(verification_lines(str(release), audited.verification))
        echo_lines(condition_lines(failed, [condition.text for condition in conditions]))
    if failed or not audited.verification.passed:
        raise typer.Exit(1)
