"""The text of a draft: a policy with a comment wherever a person has something to decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from shoal.draft.propose import Proposal
from shoal.draft.roles import MOST_NODES, Decision, SearchableDecisions
from shoal.draft.text_format import MissingMarks, TextFormat
from shoal.draft.wording import sentence
from shoal.draft.yaml_lines import Plain, comment, flow, indented, key, scalar, shown
from shoal.formatting import listing, percent, pluralize
from shoal.models import MODELS
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.lattice.nodes import MOST_NODES as MOST_SEARCHED

K = 5
P = 2


@dataclass(frozen=True)
class Facts:
    """Everything in a draft."""

    data: str
    """The data file, relative to the policy."""
    output: str
    found: TextFormat | None
    """How the text file is written; ``None`` for other kinds of files."""
    sheet: str | None
    """The sheet of a workbook."""
    marks: MissingMarks
    fitted: SearchableDecisions
    records: int
    unique: int
    """Records that no other equals on all quasi-identifiers."""
    unreadable: Sequence[tuple[str, str]] = ()
    """Columns whose cells are not single values, with their type."""

    @property
    def decisions(self) -> list[Decision]:
        """The columns in the order of the file."""
        return self.fitted.decisions


def policy_text(facts: Facts) -> str:
    """The draft as YAML text."""
    sections = [_head(facts), _data(facts), _columns(facts), _privacy(facts), _rest(facts)]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _head(facts: Facts) -> list[str]:
    return comment(
        f"A draft of a policy for {shown(facts.data)}: what its columns are, and the privacy of its release.",
        "It was guessed from names and values, on the safe side, and knows nothing else about the data. Read it column "
        "by column, correct what is wrong, and then run: shoal anonymize THIS_FILE",
        "It lists values of the data and how many records have them, so protect it as well as the data.",
        "All models count records, not people. If a person can have several records, make one row per person first.",
    )


def _data(facts: Facts) -> list[str]:
    lines = [f"path: {scalar(facts.data)}"]
    if facts.sheet is not None:
        lines.append(f"sheet: {scalar(facts.sheet)}")
    if facts.found is not None:
        lines += comment(f"separator: {facts.found.why_separator}.")
        lines.append(f"separator: {scalar(facts.found.separator)}")
        lines += comment(f"encoding: {facts.found.why_encoding}.")
        lines.append(f"encoding: {scalar(facts.found.encoding)}")
    lines += comment("missing: cells without a value. A missing value counts as a value of its own below.")
    for mark in facts.marks.missing[1:]:
        cells = _cells(facts.marks.counts[mark])
        lines += comment(f"{scalar(mark)} is in {cells}; if it is a value, remove it from the list.")
    for mark, reasons in facts.marks.doubtful.items():
        name, reason = next(iter(reasons.items()))
        where = f"{scalar(mark)} is in {_cells(facts.marks.counts[mark])} and not on the list"
        lines += comment(f"{where}: in {shown(name)} {sentence(reason, {})}.")
    lines.append(f"missing: {flow(facts.marks.missing)}")
    return [*comment("The table. The path is relative to this file."), "data:", *indented(lines, 1)]


def _cells(where: dict[str, int]) -> str:
    """How many cells in which columns."""
    return f"{pluralize(sum(where.values()), 'cell')} ({listing([shown(name) for name in where], most=6)})"


def _columns(facts: Facts) -> list[str]:
    lines = [
        "# What each column is:",
        "#   identifier   names a person by itself, or must not be released: left out",
        "#   quasi        others may know it (age, sex, home, dates ...): generalized by the levels of its hierarchy",
        "#   sensitive    people keep it to themselves: released, and protected by the models below",
        "#   insensitive  neither known to others nor secret: released as it is",
        "# Columns that are not listed here are not released.",
        *comment(*_about_quasi(facts)),
        *comment(
            *(
                f"{shown(name)} is not listed: values of its type ({kind}) cannot be written as text."
                for name, kind in facts.unreadable
            )
        ),
        "columns:",
    ]
    for each in facts.decisions:
        lines += indented(_column(each), 1)
    return lines


def _about_quasi(facts: Facts) -> Iterator[str]:
    """How many records the quasi-identifiers single out, and which columns found no place among them."""
    if facts.records:
        count = sum(each.role == "quasi" for each in facts.decisions)
        columns = f"the {count} quasi-identifiers below together" if count > 1 else "the quasi-identifier below"
        yield (
            f"By {columns}, {facts.unique:,} of {pluralize(facts.records, 'record')} "
            f"({percent(facts.unique / facts.records)}) are unique: anyone who knows these values of a person finds "
            "the record."
        )
    else:
        yield "The file has no records: roles are guessed from names, and nothing can be released."
    if facts.fitted.left_out:
        yield (
            f"{pluralize(facts.fitted.left_out, 'more column')} may help to single people out and "
            f"{'is' if facts.fitted.left_out == 1 else 'are'} not released here: each "
            f"quasi-identifier multiplies the search by its levels. This draft stays below {MOST_NODES:,} nodes (it "
            f"has {facts.fitted.nodes:,}) so that a first run is quick; at most {MOST_SEARCHED:,} can be searched. "
            "Fewer quasi-identifiers also keep more detail in each."
        )


def _column(decision: Decision) -> list[str]:
    lines = [*comment(*filter(None, (decision.why, decision.warning))), f"role: {decision.role}"]
    if decision.proposal is not None:
        lines += [*comment(decision.proposal.note), *_hierarchy(decision.proposal)]
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
    (most, records), *others = decision.values
    listed: list[tuple[Plain, int]] = [*others, *([(None, decision.missing)] if decision.missing else [])]
    return [
        *comment(
            f"Some models ({listing(_by_categories())}) need categories that say how sensitive values are, most "
            'sensitive first. To use one, sort the values, remove the "# " before the lines, and require the model '
            "below. (As an example, the most frequent value is in a category of its own.)"
        ),
        "# categories:",
        "#   most sensitive:",
        *(f"#     - {flow(value)}  # records: {count:,}" for value, count in listed),
        "#   least sensitive:",
        f"#     - {scalar(most)}  # records: {records:,}",
    ]


def _by_categories() -> list[str]:
    return [name for name, model in MODELS.items() if model.needs_categories]


def _first_models() -> tuple[str, str]:
    """The simplest model of class sizes and the simplest of sensitive values, which a draft requires."""
    with_column = {name: "sensitive" in {field.name for field in fields(model)} for name, model in MODELS.items()}
    return next(name for name in MODELS if not with_column[name]), next(name for name in MODELS if with_column[name])


def _privacy(facts: Facts) -> list[str]:
    sensitive = [each for each in facts.decisions if each.role == "sensitive"]
    by_size, by_values = _first_models()
    others = [name for name in MODELS if name not in {by_size, by_values}]
    lines = comment(
        "Privacy requirements. They hold for every class, that is, for the records with the same released "
        f"quasi-identifiers. {by_size}: at least {K} records. {by_values}: at least {P} different values of a "
        "sensitive column.",
        f"Other models: {listing(others)}.",
    )
    if 0 < facts.records < K:
        lines += comment(f"The data has only {pluralize(facts.records, 'record')}: no release of it can satisfy this.")
    if not sensitive:
        example = flow({"model": by_values, "p": P, "sensitive": "COLUMN"})
        lines += comment(
            "No column is marked sensitive. If one holds what people keep to themselves, give it that role and add: "
            f"- {example}"
        )
    lines += ["privacy:", f"  - {flow({'model': by_size, 'k': K})}"]
    protected = [each.name for each in sensitive if each.distinct >= P]
    return [*lines, *(f"  - {flow({'model': by_values, 'p': P, 'sensitive': name})}" for name in protected)]


def _rest(facts: Facts) -> list[str]:
    default = Policy.model_fields["algorithm"].get_default(call_default_factory=True).name
    others = [f"{name} ({algorithm.summary})" for name, algorithm in ALGORITHMS.items() if name != default]
    return [
        *comment(
            f"How the release is found. {default}: {ALGORITHMS[default].summary}. Other algorithms: {listing(others)}."
        ),
        f"algorithm: {default}",
        "",
        *comment("At most this share of records is suppressed, where they would force all others to lose detail."),
        "suppression: 0.05",
        "",
        *comment("Where the release goes, relative to this file; .csv or .parquet."),
        f"output: {scalar(facts.output)}",
    ]
