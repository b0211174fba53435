"""The text of a draft: a policy with a comment wherever a person has something to decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shoal.draft.lattice import MOST_NODES, Fitted
from shoal.draft.marks import Marks
from shoal.draft.propose import Proposal
from shoal.draft.roles import Decision
from shoal.draft.sniff import Found
from shoal.draft.yaml_lines import Plain, comment, flow, indented, key, scalar, shown
from shoal.search.lattice.nodes import MOST_NODES as MOST_SEARCHED

K = 5
P = 2


@dataclass(frozen=True)
class Facts:
    """All that a draft tells."""

    data: str
    """The data file, relative to the policy."""
    output: str
    found: Found | None
    """How the text file is written; ``None`` for a file that tells so itself."""
    sheet: str | None
    """The sheet of a workbook."""
    marks: Marks
    fitted: Fitted
    records: int
    unique: int
    """Records that no other equals on all quasi-identifiers."""
    unreadable: Sequence[tuple[str, str]] = ()
    """Columns of a type that has no single value a cell, with their type."""

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
        "It was guessed from names and values, always to the safe side, and knows nothing else about the data. Read it "
        "column by column, correct what is wrong, and then run: shoal anonymize THIS_FILE",
        "It lists values of the data and how many records have them: keep it as safe as the data itself.",
        "All models count records, not people. If a person can have several records, make one row a person first.",
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
    lines += comment("missing: cells that mean: no value. A missing value is a value of its own in what follows.")
    for mark in facts.marks.missing[1:]:
        cells = _cells(facts.marks.counts[mark])
        lines += comment(f"{scalar(mark)} stands in {cells}; if it is a value, take it off the list.")
    for mark, reasons in facts.marks.doubtful.items():
        name, reason = next(iter(reasons.items()))
        cells = _cells(facts.marks.counts[mark])
        lines += comment(f"{scalar(mark)} stands in {cells} and is not on the list: in {shown(name)} {reason}.")
    lines.append(f"missing: {flow(facts.marks.missing)}")
    return [*comment("The table. The path is relative to this file."), "data:", *indented(lines, 1)]


def _cells(where: dict[str, int]) -> str:
    """How many cells in which columns."""
    total = sum(where.values())
    columns = ", ".join(shown(name) for name in list(where)[:5])
    more = f" and {len(where) - 5} more columns" if len(where) > 5 else ""
    return f"{total:,} cell{'s' if total != 1 else ''} ({columns}{more})"


def _columns(facts: Facts) -> list[str]:
    lines = [
        "# What each column is:",
        "#   identifier   names a person by itself, or is not to be released: left out",
        "#   quasi        others may know it (age, sex, home, dates ...): generalized by the levels of its hierarchy",
        "#   sensitive    people keep it to themselves: released, and protected by the models below",
        "#   insensitive  neither known to others nor secret: released as it is",
        "# Columns that are not named here are not released.",
        *comment(*_about_quasi(facts)),
        *comment(
            *(
                f"{shown(name)} is not named: values of its type ({kind}) are no text."
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
            f"On {columns}, {facts.unique:,} of {facts.records:,} records ({100 * facts.unique / facts.records:.1f} %) "
            "are unique: who knows these values of a person finds the record."
        )
    else:
        yield "The file has no records: the roles are guessed from the names, and nothing can be released."
    if facts.fitted.left_out:
        yield (
            f"{facts.fitted.left_out:,} more columns may help to single people out and are not released here: each "
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
    told: list[tuple[Plain, int]] = [*others, *([(None, decision.missing)] if decision.missing else [])]
    return [
        *comment(
            "Models that know how sensitive a value is need categories, most sensitive first. Sort the values, take "
            'the "# " before the lines away, and ask p-plus-alpha-sensitive below. (Only as an example, the most '
            "frequent value stands apart.)"
        ),
        "# categories:",
        "#   most sensitive:",
        *(f"#     - {flow(value)}  # records: {count:,}" for value, count in told),
        "#   least sensitive:",
        f"#     - {scalar(most)}  # records: {records:,}",
    ]


def _privacy(facts: Facts) -> list[str]:
    sensitive = [each for each in facts.decisions if each.role == "sensitive"]
    lines = comment(
        "What must hold for every class, that is the records that look alike in the release. k-anonymity: at least "
        f"{K} records. p-sensitive: at least {P} different values of a sensitive column.",
        "Others: p-alpha-sensitive, p-plus-alpha-sensitive and group-leakage (with categories), distinct-l-diversity, "
        "entropy-l-diversity, recursive-cl-diversity, alpha-k-anonymity, t-closeness, alp-dif.",
    )
    if 0 < facts.records < K:
        lines += comment(f"The data has fewer records ({facts.records}) than {K}: no release of it can satisfy this.")
    if not sensitive:
        lines += comment(
            "No column is marked sensitive. If one holds what people keep to themselves, give it that role and add: "
            "- {model: p-sensitive, p: 2, sensitive: COLUMN}"
        )
    lines += ["privacy:", f"  - {flow({'model': 'k-anonymity', 'k': K})}"]
    protected = [each.name for each in sensitive if each.distinct >= P]
    return [*lines, *(f"  - {flow({'model': 'p-sensitive', 'p': P, 'sensitive': name})}" for name in protected)]


def _rest(facts: Facts) -> list[str]:
    return [
        *comment(
            "How the release is found. optimal: one level for each column, the best by a measure. Others: "
            "greedy-lattice (for more columns than optimal can search), incognito (all minimal solutions)."
        ),
        "algorithm: optimal",
        "",
        *comment("At most this share of the records is left out, where they would force all others to lose detail."),
        "suppression: 0.05",
        "",
        *comment("Where the release goes, relative to this file; .csv or .parquet."),
        f"output: {scalar(facts.output)}",
    ]
