"""`shoal verify`: a release held against its policy, against its evidence, and against limits on what attackers get."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from shoal.cli.attack import condition_lines
from shoal.cli.commands import interruptible, load_policy
from shoal.cli.progress import progress_bar
from shoal.cli.show import counted
from shoal.io import Place
from shoal.pipeline.audit.audit import Audit, audit
from shoal.pipeline.conditions import read_condition


@interruptible
def run_verify(
    release: Path,
    policy_path: Path,
    *,
    original: Place | None,
    evidence: Path | None,
    fail_on: Sequence[str],
    as_json: bool,
) -> None:
    """Verify a release; exit 1 when a check fails or a condition of ``--fail-on`` is exceeded."""
    conditions = [read_condition(text) for text in fail_on]
    policy = load_policy(policy_path)
    with progress_bar() as progress:
        found = audit(release, policy, original, evidence=evidence, progress=progress)
    failed = found.exceeded(conditions)
    if as_json:
        told = {**found.verification.to_dict(), **({"failed": failed} if conditions else {})}
        typer.echo(json.dumps(told))
    else:
        _show(release, found)
        for line in condition_lines(failed, [condition.text for condition in conditions]):
            typer.echo(line)
    if failed or not found.verification.passed:
        raise typer.Exit(1)


def _show(release: Path, found: Audit) -> None:
    verification = found.verification
    for check in verification.checks:
        typer.echo(f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.message}")
    broken = [check for check in verification.checks if not check.passed]
    of_evidence = [check for check in broken if check.name == "hash" or check.name.startswith("evidence")]
    verdict = "does NOT hold" if len(broken) > len(of_evidence) else "holds"
    if of_evidence:
        verdict += ", but the evidence is not that of this release" if verdict == "holds" else ""
    size = counted(verification.records, "record", "records")
    if verification.classes is not None:
        size += f" in {counted(verification.classes, 'class', 'classes')}"
    typer.echo(f"{release}: the policy {verdict} ({size}).")
