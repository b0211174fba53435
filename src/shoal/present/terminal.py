"""What the command line shows of results: tables and sentences, line by line, made from facts."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.formatting import listing, number, pluralize
from shoal.present.attacks import (
    COMPOSITION_ASSUMPTION,
    composition_notes,
    declared,
    success_phrase,
    verdict_sentence,
)
from shoal.present.report.requirements import flat_parameters

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.attacks.attack import AttackResult
    from shoal.attacks.battery import AttackReport
    from shoal.evidence.evidence import Evidence
    from shoal.verification import Verification

WIDTH = 100
NOTHING = "-"


def aligned(rows: Sequence[Sequence[str]], justify: Callable[[str, int], str] = str.ljust) -> list[str]:
    """The rows of a table as lines, its columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(justify(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def folded(text: str, width: int = WIDTH) -> str:
    """A long line on several; those of an indented line are indented further."""
    indent = text[: len(text) - len(text.lstrip())]
    below = f"{indent}  " if indent else ""
    return textwrap.fill(text, width, subsequent_indent=below, break_on_hyphens=False, break_long_words=False)


def parameters(values: Mapping[str, Any]) -> str:
    """Parameters of a model in one line: ``p = 2, alpha of HIV = 0.5``."""
    shown = []
    for parameter, value in flat_parameters(values):
        name, bracket, of = parameter.partition("[")
        text = "unlimited" if value is None else number(value) if isinstance(value, (int, float)) else str(value)
        shown.append(f"{name} of {of.removesuffix(']')} = {text}" if bracket else f"{name} = {text}")
    return ", ".join(shown)


def model_lines(models: Sequence[Mapping[str, Any]], indent: str) -> Iterator[str]:
    """Each model with what was required and what is reached."""
    for model in models:
        column = f" on {model['sensitive']}" if model["sensitive"] else ""
        required, reached = parameters(model["asked"]), parameters(model["reached"])
        yield f"{indent}{model['model']}{column}: {required} required; {reached} reached"


def release_lines(evidence: Mapping[str, Any]) -> Iterator[str]:
    """A release in a few lines."""
    yield (
        f"Verified: {evidence['released']:,} of {pluralize(evidence['records'], 'record')} released in "
        f"{pluralize(evidence['classes'], 'class')}, {evidence['suppressed']:,} suppressed "
        f"({evidence['seconds']:.2f} s)."
    )
    yield from model_lines(evidence["models"], "  ")
    if evidence["levels"]:
        heights = {name: column.get("height") for name, column in evidence["columns"].items()}
        levels = ", ".join(f"{name} {level} of {heights[name]}" for name, level in evidence["levels"].items())
        yield f"  generalization levels: {levels}"
    measures = evidence["measures"]
    yield f"  loss {measures['loss']:.4f}, ncp {measures['ncp']:.4f}, precision {measures['precision']:.4f}"
    if evidence["not_released"]:
        unnamed = f" (not in the policy: {', '.join(evidence['not_named'])})" if evidence["not_named"] else ""
        yield f"  not released: {', '.join(evidence['not_released'])}{unnamed}"


def sample_lines(table: pa.Table, rows: int = 8) -> list[str]:
    """A few rows, spread over a table."""
    step = max(table.num_rows // rows, 1)
    sample = table.to_pylist()[::step][:rows]
    return aligned([table.column_names, *(list(map(_cell, row.values())) for row in sample)])


def composition_lines(evidence: Evidence) -> Iterator[str]:
    """What the release reveals together with earlier ones, if it was checked against a registry."""
    found = evidence.composition
    if found is None:
        return
    names = listing([f"{each.name} ({each.date})" for each in found.earlier])
    yield f"  checked against {names}" if names else "  the registry has no earlier release to check against"
    for each in found.results:
        if each.status == "tried":
            people = pluralize(each.of or 0, "person", "people")
            yield f"    {each.sensitive}: {each.records:,} of {people} who may be in several releases exposed"
        elif names:
            yield folded(f"    {each.sensitive or 'all columns'}: {verdict_sentence(each)}")
    for note in composition_notes(found.notes):
        yield folded(f"    {note}")
    if any(each.status == "tried" for each in found.results):
        yield folded(f"    {COMPOSITION_ASSUMPTION}")


def applied_lines(evidence: Mapping[str, Any]) -> Iterator[str]:
    """What became of new records."""
    applied = evidence["applied"]
    classes = pluralize(applied["classes_joined"], "published class")
    if applied["classes_added"]:
        classes += f" and {pluralize(applied['classes_added'], 'new class')}"
    yield (
        f"Verified: {evidence['released']:,} of {pluralize(evidence['records'], 'new record')} can be released in "
        f"{classes}, {evidence['suppressed']:,} withheld ({evidence['seconds']:.2f} s)."
    )
    for each in applied["withheld"]:
        yield folded(f"  withheld: {pluralize(each['records'], 'record')}, {_withheld_because(each)}")
    if not applied["replaces"]:
        yield "  new records alone:"
        yield from model_lines(evidence["models"], "    ")
    union = applied["together"]
    yield f"  all {pluralize(union['records'], 'record')} in {pluralize(union['classes'], 'class')}:"
    yield from model_lines(union["models"], "    ")


def _withheld_because(each: Mapping[str, Any]) -> str:
    if each["reason"] == "value":
        return f"{each['column']} is {each['what']} ({pluralize(each['values'], 'value')})"
    if each["reason"] == "no class":
        return "no published class covers their values"
    column = f" on {each['sensitive']}" if each["sensitive"] else ""
    among = "together with the records published before" if each["seen"] == "together" else "among the new records"
    reached = ", ".join(
        f"{name} = {number(low)}" if low == high else f"{name} = {number(low)} to {number(high)}"
        for name, (low, high) in each["reached"].items()
    )
    return (
        f"{pluralize(each['classes'], 'class')} would fail {each['model']}{column} {among}: "
        f"{parameters(each['asked'])} required; {reached} reached"
    )


def withheld_records(table: pa.Table, reasons: Sequence[str | None]) -> list[str]:
    """The withheld records with their values and reasons, numbered as in the data."""
    shown = [
        [str(index), *map(_cell, row.values()), reason]
        for index, (row, reason) in enumerate(zip(table.to_pylist(), reasons, strict=True), start=1)
        if reason is not None
    ]
    return aligned([["record", *table.column_names, "withheld because of"], *shown]) if shown else []


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def verification_lines(release: str, verification: Verification) -> Iterator[str]:
    """Every check, then the verdict."""
    for check in verification.checks:
        yield f"{'ok' if check.passed else 'FAIL':<4}  {check.name}: {check.message}"
    failed = [check.name for check in verification.checks if not check.passed]
    of_evidence = [name for name in failed if name == "hash" or name.startswith("evidence")]
    verdict = "the policy does NOT hold" if len(failed) > len(of_evidence) else "the policy holds"
    if of_evidence and len(failed) == len(of_evidence):
        verdict += ", but the evidence does not match this release"
    size = pluralize(verification.records, "record")
    if verification.classes is not None:
        size += f" in {pluralize(verification.classes, 'class')}"
    yield f"{release}: {verdict} ({size})."


def attack_lines(release: str, report: AttackReport) -> Iterator[str]:
    """The attacks: leaks first, then attacks that found nothing, then those that were not tried."""
    yield folded(f"{release}: {report} (seed {report.seed}).")
    tried = [each for each in report.attacks if each.status == "tried"]
    for each in sorted(tried, key=lambda each: not each.leak):
        exposed = f"Exposed: {each.records or 0:,} of {pluralize(each.of or 0, 'record')}."
        yield ""
        yield _paragraph("LEAK" if each.leak else "ok", f"{_attack_name(each)}: {verdict_sentence(each)}")
        yield _paragraph("", f"{declared(each, 'attacker')} {exposed} {success_phrase(each)}.")
    others = [each for each in report.attacks if each.status != "tried"]
    if others:
        yield ""
    for each in others:
        yield _paragraph(NOTHING, f"{_attack_name(each)}: {verdict_sentence(each)}")


def _attack_name(each: AttackResult) -> str:
    return f"{each.name} ({each.sensitive})" if each.sensitive else each.name


def _paragraph(mark: str, text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=f"{mark:<6}", subsequent_indent=" " * 6)


def condition_lines(failed: Sequence[Mapping[str, Any]], conditions: Sequence[str]) -> Iterator[str]:
    """Each condition of ``--fail-on``, and what exceeds it."""
    if conditions:
        yield ""
    for condition in conditions:
        exceeding = [each for each in failed if each["condition"] == condition]
        for each in exceeding:
            column = f" by {each['sensitive']}" if each["sensitive"] else ""
            yield f"FAIL  {condition}: {each['records']:,} of {pluralize(each['of'], 'record')} exposed{column}"
        if not exceeding:
            yield f"ok    {condition}: not exceeded"


def lattice_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """The minimal nodes as a table, and what its numbers mean."""
    nodes, quasi = facts["minimal_nodes"], facts["quasi"]
    columns = list(nodes[0]["exposure"]) if nodes else []
    yield (
        f"{pluralize(len(nodes), 'minimal node')} of {facts['nodes']:,} ({facts['checked']:,} checked), best "
        f"{facts['metric']} first."
    )
    yield folded(f"Columns {listing(quasi)}: generalization level, 0 for original values.")
    if columns:
        yield folded(
            "Columns homogeneity and similarity: records exposed to these attacks because their class has a single "
            f"sensitive value or a single category; {NOTHING} if the sensitive column has no categories."
        )
    yield ""
    exposures = [(column, attack) for column in columns for attack in ("homogeneity", "similarity")]
    rows = [
        [
            *(str(node["levels"][name]) for name in quasi),
            *(f"{node['measures'][name]:.4f}" for name in ("loss", "ncp", "precision")),
            f"{node['classes']:,}",
            f"{node['suppressed']:,}",
            *(str(node["exposure"][column].get(attack, {}).get("records", NOTHING)) for column, attack in exposures),
        ]
        for node in nodes
    ]
    header = [*quasi, "loss", "ncp", "precision", "classes", "suppressed", *(": ".join(each) for each in exposures)]
    yield from aligned([header, *rows], str.rjust)


def utility_lines(utility: Mapping[str, Any]) -> Iterator[str]:
    """Scores of models and errors of count queries."""
    if "model" in utility:
        yield from _model_lines(utility["model"])
    if "model" in utility and "queries" in utility:
        yield ""
    if "queries" in utility:
        yield from _query_lines(utility["queries"])


def _model_lines(model: Mapping[str, Any]) -> Iterator[str]:
    yield f"Predicting {model['target']}:"
    if "not_measured" in model:
        yield f"  not measured: {model['not_measured']}"
        return
    records, measures = model["records"], ("accuracy", "balanced_accuracy", "auc")
    yield (
        f"  trained on {records['train_used']:,} of {records['train']:,} original records and "
        f"{records['released_used']:,} of {records['released']:,} released records,"
    )
    yield (
        f"  tested on {records['test_used']:,} of {records['test']:,} held-out original records "
        f"({pluralize(model['classes'], 'class')}, seed {model['seed']})"
    )
    rows = [["  model", "trained on", "accuracy", "balanced accuracy", "AUC"]]
    for learner, scores in model["scores"].items():
        for table in ("original", "release"):
            note = "" if scores["converged"][table] else " (not converged)"
            rows.append([f"  {learner}", f"{table}{note}", *(_score(scores[table][name]) for name in measures)])
    rows.append(["  most common class", NOTHING, *(f"{model['baseline'][name]:.4f}" for name in measures)])
    yield from aligned(rows)


def _score(score: Mapping[str, float | None]) -> str:
    return NOTHING if score["value"] is None else f"{score['value']:.4f} ({score['low']:.4f} to {score['high']:.4f})"


def _query_lines(queries: Mapping[str, Any]) -> Iterator[str]:
    errors, suppressed = queries["relative_error"], queries["all_generalized"]
    yield f"Relative error of {pluralize(queries['count'], 'count query', 'count queries')}:"
    yield (
        f"  median {errors['median']:.4f}, mean {errors['mean']:.4f}, quartiles {errors['lower_quartile']:.4f} and "
        f"{errors['upper_quartile']:.4f}, largest {errors['largest']:.4f}"
    )
    yield f"  for counts below {number(queries['sanity_bound'])}, relative to that number"
    yield (
        f"  if every quasi-identifier were released as *: median {suppressed['median']:.4f}, "
        f"mean {suppressed['mean']:.4f}"
    )
    for each in queries.get("listed", ()):
        query = ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in each["query"].items())
        yield f"  {{{query}}}: {pluralize(each['records'], 'record')}, {each['estimate']:,.1f} by the release"
