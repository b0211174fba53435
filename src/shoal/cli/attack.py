"""`shoal attack`: what attackers get out of a release, in a paragraph each, those that succeed first."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from shoal.attacks.attack import AttackResult
from shoal.cli.commands import interruptible, load_policy
from shoal.cli.progress import progress_bar
from shoal.errors import InputError
from shoal.formatting import percent, pluralize
from shoal.io import Place
from shoal.pipeline.attack import AttackReport, attack
from shoal.pipeline.conditions import exceeded, read_condition
from shoal.present.attacks import attacker_sentence, baseline_phrase, verdict_sentence

_WIDTH = 100
_INDENT = " " * 6


@interruptible
def run_attack(
    release: Path,
    policy_path: Path,
    *,
    original: Place | None,
    earlier: Sequence[Path],
    earlier_policies: Sequence[Path],
    seed: int,
    ruled_out: int,
    fail_on: Sequence[str],
    as_json: bool,
) -> None:
    """Attack a release and say what came of it; exit 1 when a condition of ``--fail-on`` is exceeded."""
    conditions = [read_condition(text) for text in fail_on]
    if len(earlier) != len(earlier_policies):
        raise InputError(
            f"there are {len(earlier)} --earlier and {len(earlier_policies)} --earlier-policy. Give each earlier "
            "release its policy, in the same order."
        )
    policy = load_policy(policy_path)
    before = [(one, load_policy(other)) for one, other in zip(earlier, earlier_policies, strict=True)]
    with progress_bar() as progress:
        report = attack(
            release, policy, original=original, earlier=before, seed=seed, ruled_out=ruled_out, progress=progress
        )
    found = report.to_dict()
    failed = exceeded(conditions, report.attacks)
    if as_json:
        typer.echo(json.dumps({**found, **({"failed": failed} if conditions else {})}))
    else:
        for line in attack_lines(str(release), report):
            typer.echo(line)
        for line in condition_lines(failed, [condition.text for condition in conditions]):
            typer.echo(line)
    if failed:
        raise typer.Exit(1)


def attack_lines(name: str, report: AttackReport) -> Iterator[str]:
    """The whole report, line by line: leaks, attacks that found nothing, then those that were not made."""
    head = f"{name}: {report} (seed {report.seed})."
    yield from textwrap.wrap(head, _WIDTH, break_long_words=False, break_on_hyphens=False)
    tried = [each for each in report.attacks if each.status == "tried"]
    for each in sorted(tried, key=lambda each: not each.leak):
        yield ""
        yield from _paragraph("LEAK" if each.leak else "ok", f"{_title(each)}: {verdict_sentence(each)}")
        yield from _filled(f"{attacker_sentence(each)} {_figures(each)}")
    others = [each for each in report.attacks if each.status != "tried"]
    if others:
        yield ""
    for each in others:
        yield from _paragraph("-", f"{_title(each)}: {verdict_sentence(each)}")


def _title(each: AttackResult) -> str:
    return f"{each.name} ({each.sensitive})" if each.sensitive else each.name


def _figures(each: AttackResult) -> str:
    """What was counted, in a sentence."""
    told = f"Exposed: {each.records or 0:,} of {pluralize(each.of or 0, 'record')}"
    if each.rate is not None:
        interval = "" if each.interval is None else f" ({percent(each.interval[0])} to {percent(each.interval[1])})"
        told += f"; success {percent(each.rate)}{interval}"
    if each.baseline is not None:
        told += f", baseline {percent(each.baseline)} ({baseline_phrase(each)})"
    return f"{told}."


def condition_lines(failed: Sequence[Mapping[str, Any]], asked: Sequence[str]) -> Iterator[str]:
    """The conditions, and by what they are exceeded."""
    if asked:
        yield ""
    for text in asked:
        broken = [each for each in failed if each["condition"] == text]
        for each in broken:
            on = f" on {each['sensitive']}" if each["sensitive"] else ""
            yield f"FAIL  {text}: {each['records']:,} of {pluralize(each['of'], 'record')} exposed{on}"
        if not broken:
            yield f"ok    {text}: not exceeded"


def _paragraph(mark: str, text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=f"{mark:<6}", subsequent_indent=_INDENT)


def _filled(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
