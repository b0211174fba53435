"""Releases over time in words, for a terminal: what several tell together, and which new records are withheld."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer

from shoal.cli.show import aligned, counted, parameters
from shoal.evidence import Evidence
from shoal.formatting import pluralize
from shoal.present.attacks import COMPOSITION_ASSUMPTION, composition_notes, verdict_sentence

_WIDTH = 100


def show_composition(evidence: Evidence) -> None:
    """What the release reveals together with earlier ones, where it was compared with them."""
    found = evidence.composition
    if found is None:
        return
    names = ", ".join(f"{each.name} ({each.date})" for each in found.earlier)
    typer.echo(
        f"  composition: compared with {names}" if names else "  composition: the registry has no earlier release"
    )
    for each in found.results:
        if each.status == "tried":
            people = pluralize(each.of or 0, "person", "people")
            typer.echo(f"    {each.sensitive}: {each.records:,} of {people} exposed who may be in several releases")
        elif names:
            typer.echo(_filled(f"    {each.sensitive or 'nothing'}: {verdict_sentence(each)}"))
    for note in composition_notes(found.notes):
        typer.echo(_filled(f"    {note}"))
    if any(each.status == "tried" for each in found.results):
        typer.echo(_filled(f"    {COMPOSITION_ASSUMPTION}"))


def show_applied(evidence: Mapping[str, Any]) -> None:
    """What became of new records, in a few lines."""
    applied = evidence["applied"]
    joined, added = applied["classes_joined"], applied["classes_added"]
    where = f"{counted(joined, 'published class', 'published classes')} and {added} new" if added else counted(
        joined, "published class", "published classes"
    )  # fmt: skip
    typer.echo(
        f"Verified: {evidence['released']} of {counted(evidence['records'], 'new record', 'new records')} can be "
        f"released in {where}, {evidence['suppressed']} withheld ({evidence['seconds']:.2f} s)."
    )
    for line in withheld_lines(applied["withheld"]):
        typer.echo(line)
    whole = applied["together"]
    if not applied["replaces"]:
        typer.echo("  of the new records alone:")
        for line in _model_lines(evidence["models"]):
            typer.echo(line)
    typer.echo(f"  of all {counted(whole['records'], 'record', 'records')} in {whole['classes']} classes:")
    for line in _model_lines(whole["models"]):
        typer.echo(line)


def withheld_lines(withheld: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Every reason with its records."""
    for each in withheld:
        yield _filled(f"  withheld: {counted(each['records'], 'record', 'records')}, {_reason(each)}")


def _reason(each: Mapping[str, Any]) -> str:
    if each["reason"] == "value":
        return f"{each['column']} is {each['what']} ({counted(each['values'], 'value', 'values')})"
    if each["reason"] == "no class":
        return "no published class covers their values"
    on = f" on {each['sensitive']}" if each["sensitive"] else ""
    seen = "with the records published before" if each["seen"] == "together" else "by the new records alone"
    reached = ", ".join(
        f"{name} {low:g}" if low == high else f"{name} {low:g} to {high:g}"
        for name, (low, high) in each["reached"].items()
    )
    classes = counted(each["classes"], "class", "classes")
    return f"{classes} would fail {each['model']}{on} {seen}: {reached}; asked {parameters(each['asked'])}"


def _model_lines(models: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for model in models:
        on = f" on {model['sensitive']}" if model["sensitive"] else ""
        yield f"    {model['model']}{on}: asked {parameters(model['asked'])}; reached {parameters(model['reached'])}"


def show_records(names: Sequence[str], rows: Sequence[Sequence[Any]], reasons: Sequence[str | None]) -> None:
    """The withheld records with their values and their reasons, numbered as in the data."""
    shown = [
        [str(number), *("" if cell is None else str(cell) for cell in row), reason]
        for number, (row, reason) in enumerate(zip(rows, reasons, strict=True), start=1)
        if reason is not None
    ]
    if shown:
        for line in aligned([["record", *names, "withheld because of"], *shown], str.ljust):
            typer.echo(line.rstrip())


def _filled(text: str) -> str:
    indent = text[: len(text) - len(text.lstrip())]
    return textwrap.fill(text, _WIDTH, subsequent_indent=indent + "  ", break_on_hyphens=False)
