"""Commands that examine a table or a release: verify, attack, risk and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.shared import (
    Algorithm,
    Data,
    FailOn,
    Json,
    Original,
    PolicyFile,
    PolicyOption,
    echo_json,
    echo_lines,
    load_policy,
    progress_bar,
    read_location,
)
from shoal.errors import InputError


def verify(
    release: Annotated[Path, typer.Argument(help="Release to check.")],
    policy: PolicyOption,
    original: Original = None,
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="Evidence of the release, if it is not next to it.")
    ] = None,
    fail_on: FailOn = None,
    as_json: Json = False,
) -> None:
    """Check a written release independently: its policy, its evidence and, with the original, its truthfulness."""
    from shoal.pipeline.audit.audit import audit
    from shoal.pipeline.conditions import read_condition
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


def attack(
    release: Annotated[Path, typer.Argument(help="Release to attack.")],
    policy: PolicyOption,
    *,
    original: Original = None,
    earlier: Annotated[
        list[Path] | None, typer.Option("--earlier", help="Earlier release about the same people. Repeatable.")
    ] = None,
    earlier_policy: Annotated[
        list[Path] | None,
        typer.Option("--earlier-policy", help="Policy of an earlier release, in the same order. Repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed for drawing samples.")] = 0,
    rule_out: Annotated[
        int, typer.Option("--rule-out", min=1, help="Values that an attacker with background knowledge can rule out.")
    ] = 3,
    fail_on: FailOn = None,
    as_json: Json = False,
) -> None:
    """Attack a release the way an intruder would, and report what was learned and how much it is worth."""
    from shoal.pipeline.attack import attack as attack_release
    from shoal.pipeline.conditions import exceeded, read_condition
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


def risk(
    data: Annotated[
        Any, typer.Argument(parser=read_location, metavar="DATA", help="Table to examine: data or a release.")
    ],
    policy: PolicyOption,
    max_columns: Annotated[
        int, typer.Option("--max-columns", min=1, help="Examine every subset of up to this many quasi-identifiers.")
    ] = 3,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Count the records whose risk is higher; 0.2 means classes below 5.")
    ] = 0.2,
    population: Annotated[
        Path | None, typer.Option("--population", help="Table of the population that the data was sampled from.")
    ] = None,
    sampling_fraction: Annotated[
        float | None, typer.Option("--sampling-fraction", help="Share of the population that was sampled.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure the risk of a table as it is: who is unique, by which columns, and what attackers can expect."""
    from shoal.pipeline.risk import risk as measure_risk
    from shoal.present.risk_text import risk_lines

    with progress_bar() as progress:
        measured = measure_risk(
            data,
            load_policy(policy, data),
            max_columns=max_columns,
            threshold=threshold,
            population=population,
            sampling_fraction=sampling_fraction,
            progress=progress,
        )
    if as_json:
        echo_json(measured.to_dict())
    else:
        echo_lines(risk_lines(measured))


def why(
    policy: PolicyFile,
    data: Data = None,
    row: Annotated[int | None, typer.Option("--row", help="Record, by its number in the data, from 1.")] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", help="Records, by a quasi-identifier: column=value. Repeatable.")
    ] = None,
    in_class: Annotated[
        int | None, typer.Option("--class", help="Class, by its number in the order of the release, from 1.")
    ] = None,
    algorithm: Algorithm = None,
    as_json: Json = False,
) -> None:
    """Explain why a record or a class is as general as it is, and what prevents more detail. Writes nothing."""
    from shoal.pipeline.why.explain import why as explain
    from shoal.present.terminal import folded

    chosen = load_policy(policy, data, algorithm)
    values = wanted_values(where or [], chosen.names("quasi"))
    if sum([row is not None, bool(values), in_class is not None]) != 1:
        raise InputError(
            "Choose one record with --row, records with --where column=value, or a class with --class.",
            code="why-selection",
        )
    with progress_bar() as progress:
        explanation = explain(chosen, data, record=row, where=values, in_class=in_class, progress=progress)
    if as_json:
        echo_json(explanation.to_dict())
    else:
        echo_lines(folded(line, 110) for line in str(explanation).splitlines())


def wanted_values(where: Sequence[str], quasi: Sequence[str]) -> dict[str, str | None]:
    """The values in ``column=value`` texts; an empty value is the missing one."""
    values: dict[str, str | None] = {}
    for text in where:
        signs = [index for index, sign in enumerate(text) if sign == "="]
        if not signs:
            raise InputError(
                f"--where {text!r} has no =. Write it as column=value, for example --where age=34.", code="where-form"
            )
        index = next((each for each in signs if text[:each] in quasi), signs[0])  # a column name may contain =
        if text[:index] in values:
            raise InputError(f"--where names the column {text[:index]!r} twice.", code="where-twice")
        values[text[:index]] = text[index + 1 :] or None
    return values
