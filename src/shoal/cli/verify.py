"""`shoal verify`: a release checked against its policy, its evidence, and limits on what attacks may expose."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import FailOn, Json, Original, PolicyOption, option
from shoal.cli.run import echo_result, load_policy, progress_bar


def verify(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="Release to check.")],
    policy: PolicyOption,
    original: Original = None,
    evidence: Annotated[Path | None, option("Evidence of the release, if it is not next to the release.")] = None,
    fail_on: FailOn = None,
    as_json: Json = False,
) -> None:
    """Check a written release independently: its policy, its evidence and, with the original, its truthfulness."""
    from shoal.pipeline.audit.audit import audit
    from shoal.pipeline.registry_options import read_condition
    from shoal.present.terminal import condition_lines, decision_lines, verification_lines

    conditions = [read_condition(text) for text in fail_on or []]
    with progress_bar() as progress:
        audited = audit(release, load_policy(policy), original, evidence=evidence, progress=progress)
    failed, found = audited.exceeded(conditions), audited.verification
    lines = [*decision_lines(audited.verdict), *verification_lines(str(release), found)]
    lines += condition_lines(failed, [each.text for each in conditions])
    judged = {} if audited.verdict is None else {"verdict": audited.verdict}
    echo_result({**found.to_dict(), **judged, **({"failed": failed} if conditions else {})}, lines, as_json=as_json)
    if failed or not found.passed:
        raise typer.Exit(1)
