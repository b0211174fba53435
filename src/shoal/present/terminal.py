"""What the command line shows of results: tables and sentences, line by line, made from facts."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.formatting import listing, number, pluralize
from shoal.present.attacks import (
    COMPOSITION_ASSUMPTION,
    COUNTED_IN_RECORDS,
    composition_notes,
    declared,
    exposed_phrase,
    success_phrase,
    verdict_sentence,
    whom_phrase,
)
from shoal.present.bound import bound_phrase
from shoal.present.choice import choice_line
from shoal.present.people import people_sentences
from shoal.present.report.requirements import flat_parameters, unknown_sentence
from shoal.present.verdict import verdict_lines
from shoal.present.warnings import warning_sentence

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.attacks.attack import AttackResult
    from shoal.attacks.battery import AttackReport
    from shoal.attacks.verdict.verdict import Verdict
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
        if isinstance(value, bool):
            shown += [name] if value else []
            continue
        text = "unlimited" if value is None else number(value) if isinstance(value, (int, float)) else str(value)
        shown.append(f"{name} of {of.removesuffix(']')} = {text}" if bracket else f"{name} = {text}")
    return ", ".join(shown)


def model_lines(models: Sequence[Mapping[str, Any]], indent: str, naming: Callable[[str], str] = str) -> Iterator[str]:
    """Each model with what was required and what is reached."""
    for model in models:
        column = f" on {model['sensitive']}" if model["sensitive"] else ""
        required, reached = parameters(model["asked"]), parameters(model["reached"])
        yield f"{indent}{naming(model['model'])}{column}: {required} required; {reached} reached"


def decision_lines(verdict: Verdict | None) -> Iterator[str]:
    """The verdict: the decision, then what stands behind it and what would help."""
    for kind, text in () if verdict is None else verdict_lines(verdict):
        yield folded(f"  {kind}: {text}" if kind else text)


def release_lines(evidence: Mapping[str, Any]) -> Iterator[str]:
    """A release in a few lines."""
    yield (
        f"Verified: {evidence['released']:,} of {pluralize(evidence['records'], 'record')} released in "
        f"{pluralize(evidence['classes'], 'class')}, {evidence['suppressed']:,} suppressed "
        f"({evidence['seconds']:.2f} s)."
    )
    yield from (f"  {sentence}" for sentence in people_sentences(evidence["people"])) if "people" in evidence else ()
    for name, table in evidence.get("tables", {}).items():
        released = f"{table['released']:,} of {pluralize(table['records'], 'record')} released"
        yield f"  table {name}: {released}, ncp {table['ncp']:.4f}"
    yield from model_lines(evidence["models"], "  ")
    if evidence["levels"]:
        heights = {name: column.get("height") for name, column in evidence["columns"].items()}
        levels = ", ".join(f"{name} {level} of {heights[name]}" for name, level in evidence["levels"].items())
        yield f"  generalization levels: {levels}"
    if (chosen := choice_line(evidence["search"])) is not None:
        yield f"  {chosen}"
    measures = evidence["measures"]
    yield f"  loss {measures['loss']:.4f}, ncp {measures['ncp']:.4f}, precision {measures['precision']:.4f}"
    bound = evidence.get("bound")
    if bound is not None and not bound["estimated"] and bound["gap"] is not None:
        checked = " (checked by the verifier)" if bound.get("checked") else ""
        yield f"  ncp is {bound_phrase(bound['gap'], estimated=False)}{checked}"
    for name, column in evidence["columns"].items():
        if column.get("spellings_merged"):
            merged, records = column["spellings_merged"], pluralize(column["records_merged"], "record")
            yield f"  {name}: {pluralize(merged, 'spelling')} merged into other values ({records})"
        if column.get("unknown"):
            yield folded(f"  {name}: {unknown_sentence(column['unknown'])}")
        if column["role"] == "pseudonym":
            yield f"  {name}: released as a pseudonym, which links all records of a person"
    if evidence["not_released"]:
        unnamed = f" (not in the policy: {', '.join(evidence['not_named'])})" if evidence["not_named"] else ""
        yield f"  not released: {', '.join(evidence['not_released'])}{unnamed}"
    for warning in evidence.get("warnings") or ():
        yield folded(f"  warning: {warning_sentence(warning)}")


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
            whom = whom_phrase(each, each.of or 0)
            yield f"    {each.sensitive}: {each.records:,} of {whom} may be in several releases exposed"
        elif names:
            yield folded(f"    {each.sensitive or 'all columns'}: {verdict_sentence(each)}")
    assumed = [COMPOSITION_ASSUMPTION] if any(each.status == "tried" for each in found.results) else []
    yield from (folded(f"    {note}") for note in (*composition_notes(found.notes), *assumed))


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
        yield folded(f"  withheld: {pluralize(each['records'], 'record')}, {withheld_because(each)}")
    if not applied["replaces"]:
        yield "  new records alone:"
        yield from model_lines(evidence["models"], "    ")
    union = applied["together"]
    yield f"  all {pluralize(union['records'], 'record')} in {pluralize(union['classes'], 'class')}:"
    yield from model_lines(union["models"], "    ")


def none_released_text(records: int, withheld: Sequence[Mapping[str, Any]]) -> str:
    """Why no new record can be released."""
    reasons = "; ".join(f"{number(each['records'])}: {withheld_because(each)}" for each in withheld)
    return (
        f"none of the {pluralize(records, 'new record')} can be released without weakening what is published "
        f"({reasons}). Gather more records first, or make a new release with `shoal anonymize`."
    )


def withheld_because(each: Mapping[str, Any]) -> str:
    """The reason for which some records are withheld."""
    if each["reason"] == "value":
        return f"{each['column']} is {each['what']} ({pluralize(each['values'], 'value')})"
    if each["reason"] == "no class":
        return "no published class covers their values"
    model = f"{each['model']} on {each['sensitive']}" if each["sensitive"] else each["model"]
    among = "together with the records published before" if each["seen"] == "together" else "among the new records"
    ranges = {name: dict.fromkeys(map(number, ends)) for name, ends in each["reached"].items()}
    reached = ", ".join(f"{name} = {' to '.join(ends)}" for name, ends in ranges.items())
    required = f"{parameters(each['asked'])} required; {reached} reached"
    return f"{pluralize(each['classes'], 'class')} would fail {model} {among}: {required}"


def withheld_records(table: pa.Table, reasons: Sequence[Mapping[str, Any] | None]) -> list[str]:
    """The withheld records with their values and reasons, numbered as in the data."""
    shown = [
        [str(index), *map(_cell, row.values()), withheld_because(reason)]
        for index, (row, reason) in enumerate(zip(table.to_pylist(), reasons, strict=True), start=1)
        if reason is not None
    ]
    return aligned([["record", *table.column_names, "withheld because of"], *shown]) if shown else []


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def verification_lines(release: str, verification: Verification) -> Iterator[str]:
    """Every check, then the verdict."""
    uncounted = verification.people_counted is False
    for check in verification.checks:
        mark = NOTHING if check.passed and uncounted and check.name == "people" else "ok" if check.passed else "FAIL"
        yield f"{mark:<4}  {check.name}: {check.message}"
    failed = {check.name: check for check in verification.checks if not check.passed}
    of_policy = [name for name in failed if name != "hash" and not name.startswith("evidence")]
    verdict = "the policy does NOT hold" if of_policy else "the policy holds"
    if uncounted and not of_policy:
        verdict = "no violation was found, but the policy counts people, which only the original allows (--original)"
    elif of_policy == ["people"] and failed["people"].facts["reason"] == "several-classes":
        verdict = (
            "it cannot be decided whether the policy holds: it counts people, and some records fit several classes"
        )
    if failed and not of_policy:
        verdict += ", but the evidence does not match this release"
    size = pluralize(verification.records, "record")
    if verification.classes is not None:
        size += f" in {pluralize(verification.classes, 'class')}"
    yield f"{release}: {verdict} ({size})."


def attack_lines(release: str, report: AttackReport) -> Iterator[str]:
    """The attacks: leaks first, then attacks that found nothing, then those that were not tried."""

    def paragraph(mark: str, text: str) -> str:
        return textwrap.fill(text, WIDTH, initial_indent=f"{mark:<6}", subsequent_indent=" " * 6)

    yield folded(f"{release}: {report} (seed {report.seed}).")
    gap = True  # before each attack that was tried, and once before all others
    for each in sorted(report.attacks, key=lambda each: (each.status != "tried", not each.leak, not _explained(each))):
        tried = each.status == "tried"
        if tried or gap:
            yield ""
        gap = tried
        name = f"{each.name} ({each.sensitive})" if each.sensitive else each.name
        mark = NOTHING if not tried else "LEAK" if each.leak else "note" if _explained(each) else "ok"
        yield paragraph(mark, f"{name}: {verdict_sentence(each)}")
        if tried:
            exposed = f"Exposed: {exposed_phrase(each)}."
            yield paragraph("", f"{declared(each, 'attacker')} {exposed} {success_phrase(each)}.")
    if any(each.counted for each in report.attacks):
        yield from ("", folded(COUNTED_IN_RECORDS))


def _explained(result: AttackResult) -> bool:
    """Whether an attack exposes people, but no more than chance or the baseline explains."""
    return result.outcome == "explained" and bool(result.records)


def condition_lines(failed: Sequence[Mapping[str, Any]], conditions: Sequence[str]) -> Iterator[str]:
    """Each condition of ``--fail-on``, and what exceeds it."""
    if conditions:
        yield ""
    for condition in conditions:
        exceeding = [each for each in failed if each["condition"] == condition]
        for each in exceeding:
            if "decision" in each:
                yield f"FAIL  {condition}: the verdict is {each['decision']}"
                continue
            column = f" on {each['sensitive']}" if each["sensitive"] else ""
            yield f"FAIL  {condition}: {each['records']:,} of {pluralize(each['of'], 'record')} exposed{column}"
        if not exceeding:
            yield f"ok    {condition}: not exceeded"


def lattice_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """The minimal nodes as a table, and what its numbers mean."""
    nodes, quasi = facts["minimal_nodes"], facts["quasi"]
    found = f"{pluralize(len(nodes), 'minimal node')} of {facts['nodes']:,} ({facts['checked']:,} checked)"
    yield f"{found}, best {facts['metric']} first."
    yield folded(f"Columns {listing(quasi)}: generalization level, 0 for original values.")
    sensitive = list(nodes[0]["exposure"]) if nodes else []
    if sensitive:
        yield folded(
            "Columns homogeneity and similarity: records exposed to these attacks because their class has a single "
            f"sensitive value or a single category; {NOTHING} if the sensitive column has no categories."
        )
    yield ""
    exposures = [(column, attack) for column in sensitive for attack in ("homogeneity", "similarity")]
    measures = ("loss", "ncp", "precision")
    rows = [[*quasi, *measures, "classes", "suppressed", *(": ".join(each) for each in exposures)]]
    for node in nodes:
        row = [str(node["levels"][name]) for name in quasi]
        row += [f"{node['measures'][name]:.4f}" for name in measures]
        row += [f"{node[name]:,}" for name in ("classes", "suppressed")]
        exposed = (node["exposure"][column].get(attack, {}) for column, attack in exposures)
        rows.append([*row, *(str(each.get("records", NOTHING)) for each in exposed)])
    yield from aligned(rows, str.rjust)


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
    used, names = model["records"], ("accuracy", "balanced_accuracy", "auc")
    original, released, held_out = (
        f"{used[f'{name}_used']:,} of {used[name]:,}" for name in ("train", "released", "test")
    )
    yield f"  trained on {original} original records and {released} released records,"
    classes = pluralize(model["classes"], "class")
    yield f"  tested on {held_out} held-out original records ({classes}, seed {model['seed']})"
    rows = [["  model", "trained on", "accuracy", "balanced accuracy", "AUC"]]
    for learner, scores in model["scores"].items():
        for table in ("original", "release"):
            note = "" if scores["converged"][table] else " (not converged)"
            figures = [NOTHING if each["value"] is None else "{value:.4f} ({low:.4f} to {high:.4f})".format_map(each)
                       for each in map(scores[table].get, names)]  # fmt: skip
            rows.append([f"  {learner}", f"{table}{note}", *figures])
    rows.append(["  most common class", NOTHING, *(f"{model['baseline'][name]:.4f}" for name in names)])
    yield from aligned(rows)


def _query_lines(queries: Mapping[str, Any]) -> Iterator[str]:
    errors, suppressed = queries["relative_error"], queries["all_generalized"]
    yield f"Relative error of {pluralize(queries['count'], 'count query', 'count queries')}:"
    yield (
        "  median {median:.4f}, mean {mean:.4f}, quartiles {lower_quartile:.4f} and {upper_quartile:.4f}, "
        "largest {largest:.4f}"
    ).format_map(errors)
    yield f"  for counts below {number(queries['sanity_bound'])}, relative to that number"
    every = "median {median:.4f}, mean {mean:.4f}".format_map(suppressed)
    yield f"  if every quasi-identifier were released as *: {every}"
    for each in queries.get("listed", ()):
        query = ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in each["query"].items())
        yield f"  {{{query}}}: {pluralize(each['records'], 'record')}, {each['estimate']:,.1f} by the release"
