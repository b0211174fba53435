"""The text of a draft: a policy with a comment wherever a person has something to decide."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from shoal.draft.propose import Proposal
from shoal.draft.roles import Decision
from shoal.draft.text_format import MissingMarks, TextFormat
from shoal.draft.wording import (
    comment,
    flow,
    indented,
    key,
    read_texts,
    scalar,
    sentence,
    short_text,
    values_phrase,
)
from shoal.formatting import listing, percent, pluralize
from shoal.models import MODELS
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.lattice.nodes import MOST_NODES as MOST_SEARCHED

K = 5
P = 2


@dataclass(frozen=True)
class PolicyDraft:
    """Everything in a draft."""

    data: str  # the data file, relative to the policy
    output: str
    text_format: TextFormat | None  # how the text file is written; ``None`` for other kinds of files
    sheet: str | None  # the sheet of a workbook
    unpacked: str | None  # what a compressed file may unpack to, where it was given
    marks: MissingMarks
    decisions: list[Decision]  # the columns in the order of the file
    nodes: int
    left_out: int  # quasi-identifiers that are not released, so that the search stays small
    records: int
    unique: int  # records that no other equals on all quasi-identifiers
    unreadable: Sequence[tuple[str, str]] = ()  # columns whose cells are not single values, with their type


def policy_text(facts: PolicyDraft) -> str:
    """The draft as YAML text."""
    sections = [
        _comment("head", data=short_text(facts.data)),
        _data(facts),
        _columns(facts),
        _person(facts),
        _privacy(facts),
        _survey(facts),
        _rest(facts),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _person(facts: PolicyDraft) -> list[str]:
    """Who a record is about, where an identifier that says so has a value in several records."""
    found = next((each for each in facts.decisions if each.numbers_people), None)
    if found is None:
        return _comment("records-counted")
    line, column = f"person: {scalar(found.name)}", short_text(found.name)
    if found is not _person_column(facts):
        missing = pluralize(found.missing, "record")
        return _comment("person-missing", column=column, missing=missing, example=line)
    return [*_comment("person", column=column, values=values_phrase(found.facts)), line]


def _person_column(facts: PolicyDraft) -> Decision | None:
    """The column that the draft tells people apart by; one with missing values cannot be it."""
    found = next((each for each in facts.decisions if each.numbers_people), None)
    return None if found is None or found.missing else found


def _comment(key: str, **figures: Any) -> list[str]:
    """A comment of ``policy_comments.yaml`` with its figures."""
    return comment(*(text.format_map(figures) for text in read_texts("policy_comments")[key]))


def _data(facts: PolicyDraft) -> list[str]:
    lines = [f"path: {scalar(facts.data)}"]
    if facts.sheet is not None:
        lines.append(f"sheet: {scalar(facts.sheet)}")
    if facts.unpacked is not None:
        lines.append(f"unpacked: {scalar(facts.unpacked)}")
    if (text := facts.text_format) is not None:
        lines += [*comment(f"separator: {text.why_separator}."), f"separator: {scalar(text.separator)}"]
        lines += [*comment(f"encoding: {text.why_encoding}."), f"encoding: {scalar(text.encoding)}"]
    lines += _comment("missing")
    cells = {
        mark: f"{pluralize(sum(where.values()), 'cell')} ({listing([short_text(name) for name in where], most=6)})"
        for mark, where in facts.marks.counts.items()
    }
    for mark in facts.marks.missing[1:]:
        lines += _comment("mark", mark=scalar(mark), cells=cells[mark])
    for mark, reasons in facts.marks.doubtful.items():
        name, reason = next(iter(reasons.items()))
        lines += _comment(
            "doubtful-mark", mark=scalar(mark), cells=cells[mark], column=short_text(name), reason=sentence(reason, {})
        )
    lines.append(f"missing: {flow(facts.marks.missing)}")
    return [*_comment("data"), "data:", *indented(lines, 1)]


def _columns(facts: PolicyDraft) -> list[str]:
    lines = [f"# {line}" for line in read_texts("policy_comments")["roles"]]
    if facts.records:
        count = sum(each.role == "quasi" for each in facts.decisions)
        columns = f"the {count} quasi-identifiers below together" if count > 1 else "the quasi-identifier below"
        share, records = percent(facts.unique / facts.records), pluralize(facts.records, "record")
        lines += _comment("unique", columns=columns, unique=facts.unique, records=records, share=share)
    else:
        lines += _comment("no-records")
    if facts.left_out:
        columns = pluralize(facts.left_out, "more column")
        lines += _comment("left-out", columns=columns, nodes=facts.nodes, most=MOST_SEARCHED)
    for name, kind in facts.unreadable:
        lines += _comment("unreadable", column=short_text(name), type=kind)
    return [*lines, "columns:", *(line for each in facts.decisions for line in indented(_column(each), 1))]


def _column(decision: Decision) -> list[str]:
    lines = [*comment(*filter(None, (decision.why, decision.warning))), f"role: {decision.role}"]
    if decision.proposal is not None:
        hierarchy = _hierarchy(decision.proposal)
        active = decision.role == "quasi"
        lines += [*comment(decision.proposal.note), *(hierarchy if active else [f"# {line}" for line in hierarchy])]
    if decision.same:
        spelled = [f"  {key(value)} {flow(spellings)}" for value, spellings in decision.same.items()]
        lines += [*_comment("same"), "same:", *spelled]
    if decision.unknown:
        lines += [*_comment("unknown"), f"unknown: {flow(list(decision.unknown))}"]
    if decision.role == "sensitive" and len(decision.values) > 1:
        lines += _categories(decision)
    return [key(decision.name), *indented(lines, 1)]


def _hierarchy(proposal: Proposal) -> list[str]:
    if proposal.groups is None:
        return [f"hierarchy: {flow(proposal.spec)}"]
    name, values = proposal.groups
    return ["hierarchy:", "  tree:", f"    {key(name)}", *(f"      - {scalar(value)}" for value in values)]


def _categories(decision: Decision) -> list[str]:
    """A skeleton that is not active: which value is how sensitive, only a person can say."""
    (most, records), *listed = decision.values
    return [
        *_comment("categories", models=listing([name for name, model in MODELS.items() if model.needs_categories])),
        "# categories:",
        "#   most sensitive:",
        *(f"#     - {flow(value)}  # records: {count:,}" for value, count in listed),
        "#   least sensitive:",
        f"#     - {scalar(most)}  # records: {records:,}",
    ]


def _privacy(facts: PolicyDraft) -> list[str]:
    """Requirements by the simplest model of class sizes and the simplest of sensitive values."""
    with_column = [name for name, model in MODELS.items() if "sensitive" in {each.name for each in fields(model)}]
    by_size, by_values = next(name for name in MODELS if name not in with_column), with_column[0]
    others = listing([name for name in MODELS if name not in {by_size, by_values}])
    sensitive = [each for each in facts.decisions if each.role == "sensitive"]
    counted = "people" if _person_column(facts) is not None else "records"
    lines = _comment("privacy", by_size=by_size, by_values=by_values, k=K, p=P, others=others, counted=counted)
    if 0 < facts.records < K:
        lines += _comment("too-few-records", records=pluralize(facts.records, "record"))
    if not sensitive:
        lines += _comment("no-sensitive", example=flow({"model": by_values, "p": P, "sensitive": "COLUMN"}))
    lines += ["privacy:", f"  - {flow({'model': by_size, 'k': K})}"]
    protected = [each.name for each in sensitive if each.distinct >= P]
    return [*lines, *(f"  - {flow({'model': by_values, 'p': P, 'sensitive': name})}" for name in protected)]


def _survey(facts: PolicyDraft) -> list[str]:
    """The columns of households and of weights: the first of each."""
    lines = []
    for what in ("household", "weight"):
        found = next((each for each in facts.decisions if each.reasons == (what,)), None)
        if found is not None:
            lines += _comment(what, column=short_text(found.name), population=found.facts.get("population"))
            lines.append(f"{what}: {scalar(found.name)}")
    return lines


def _rest(facts: PolicyDraft) -> list[str]:
    default = Policy.model_fields["algorithm"].get_default(call_default_factory=True).name
    others = [f"{name} ({algorithm.summary})" for name, algorithm in ALGORITHMS.items() if name != default]
    return [
        *_comment("algorithm", default=default, summary=ALGORITHMS[default].summary, others=listing(others)),
        f"algorithm: {default}",
        "",
        *_comment("suppression"),
        "suppression: 0.05",
        "",
        *_comment("output"),
        f"output: {scalar(facts.output)}",
    ]
