"""Which people are in which class: a release does not say, since it has no person in it.

The run that made a release hands over a `Claim`: what became of each original record. Nothing of it is believed. Its
records must be those of the original, each as often; each label must be one that the original value may be released
as; and what it says was released must be the released file, row by row and as often. Then people are counted by it.

Later there is no claim. Then the classes are those that follow from the original and the release alone, and where these
leave open which class a record is in, nobody can count the people in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.verification.canonical_text import (
    Coded,
    Codes,
    Label,
    Mask,
    code,
    distinct_codes,
    packed,
    same_memory,
    text_column,
    values_and_codes,
)
from shoal.verification.classes import Assignment, in_people
from shoal.verification.labels import Labels
from shoal.verification.matching.assign import OPEN, assign
from shoal.verification.matching.match import aligned_fit
from shoal.verification.model_conditions import unjudged_in_records
from shoal.verification.original_checks import capped, pairings, published_as, released_as
from shoal.verification.result import Check
from shoal.verification.stated_policy import StatedPolicy

Rows = tuple[Mapping[str, Any], Codes]  # columns of text, and how many records each row stands for


@dataclass(frozen=True, eq=False)
class Claim:
    """What a run says became of each original record."""

    table: pa.Table  # the original: all columns that are released, and those that say who a record is about
    counts: Codes  # records that each row stands for
    class_of: NDArray[np.integer[Any]]  # the row of `labels` that it was released with; -1: it was suppressed
    labels: pa.Table  # the released quasi-identifiers of each class


def uncounted_people(policy: StatedPolicy) -> Check:
    """Without the original nobody is known."""
    facts = {"counted": False, "reason": "no-original", "not_judged": unjudged_in_records(policy)}
    return Check("people", True, _UNCOUNTED["no-original"], facts)


_UNCOUNTED = {
    "no-original": "people were not counted: only the original says who a record is about",
    "no-person-column": "the original has no column that says who a record is about",
    "missing-person": "records of the original do not say who they are about",
    "several-classes": "some records of the original fit several classes",
    "other-original": "what the run reports about the original records does not match the original",
    "other-labels": "the run reports labels that the original values may not be released as",
    "other-release": "what the run reports as released does not match the release",
}


def _refused(reason: str, records: int, policy: StatedPolicy) -> Check:
    facts = {"counted": False, "reason": reason, "records": records, "not_judged": unjudged_in_records(policy)}
    number = f" ({records:,} records)" if records else ""
    return Check("people", False, f"people cannot be counted: {_UNCOUNTED[reason]}{number}", facts)


def _counted(assignment: Assignment, suppressed: int) -> Check:
    classes = assignment.classes
    assert classes.person is not None, "people are counted"
    people, records = len(distinct_codes(classes.person.copy())), int(classes.counts.sum())
    facts = {"counted": True, "people": people, "records": records, "suppressed": suppressed}
    return Check("people", True, f"{people:,} people with {records:,} released records, each in a known class", facts)


def count_people(
    release: Rows, original: Rows, policy: StatedPolicy, labels: Mapping[str, Labels]
) -> tuple[Assignment | None, Check]:
    """The people of each class by the release, without suppressed rows, and the original alone."""
    cells, counts = release
    texts, there = original
    person = _person(texts, there, policy)
    if isinstance(person, Check):
        return None, person
    shown = {name: column for name, column in texts.items() if name in cells}
    became = assign(pairings(cells, shown, policy, labels), counts, there)
    if (became == OPEN).any():
        return None, _refused("several-classes", int(there[became == OPEN].sum()), policy)
    kept = became >= 0
    columns = {name: cells[name] for name in policy.names("quasi")}
    classes = in_people(columns, became[kept], there[kept], person[kept])
    published = {name: cells[name].take(pa.array(became[kept])) for name in policy.names("sensitive")}
    assignment = Assignment(classes, published)
    return assignment, _counted(assignment, int(there[~kept].sum()))


def check_claim(
    claim: Claim, release: Rows, stars: Mask, original: Rows, policy: StatedPolicy, labels: Mapping[str, Labels]
) -> tuple[Assignment | None, Check]:
    """The people of each class by a claim; none where anything of it is not as the release and the original have it.

    ``stars`` are the released rows that may stand for suppressed records.
    """
    cells, wanted = release
    texts = original[0]
    if any(name not in texts for name in policy.person):
        return None, _refused("no-person-column", 0, policy)
    counts, class_of = claim.counts, np.asarray(claim.class_of, dtype=np.int64)
    given = {name: _text(claim.table.column(name), name) for name in texts if name in claim.table.column_names}
    whole = len(counts) == len(class_of) == claim.table.num_rows and bool((counts > 0).all())
    whole &= set(given) == set(texts) and set(claim.labels.column_names) == set(policy.names("quasi"))
    if not whole or int(class_of.max(initial=-1)) >= claim.labels.num_rows or int(class_of.min(initial=-1)) < -1:
        return None, _refused("other-original", 0, policy)
    if other := _different((given, counts), original, policy):
        return None, _refused("other-original", other, policy)
    person = _person(given, counts, policy)
    if isinstance(person, Check):
        return None, person
    kept = class_of >= 0
    shown = {name: _text(claim.labels.column(name), name) for name in claim.labels.column_names}
    wrong = np.zeros(len(counts), dtype=np.bool_)
    for name, kind in labels.items():
        wrong |= _wrong_labels(given[name], class_of, shown[name], kind, policy, name)
    if wrong.any():
        return None, _refused("other-labels", int(counts[wrong].sum()), policy)
    suppressed, class_of, counts, person = int(counts[~kept].sum()), class_of[kept], counts[kept], person[kept]
    published = _published({name: given[name] for name in given if name in cells and name not in shown}, kept, policy)
    if policy.suppressed == "star":
        wanted = _without(wanted, stars, suppressed)
    if other := _unequal(_released(shown, class_of, published, counts), (cells, wanted)):
        return None, _refused("other-release", other, policy)
    classes = in_people(shown, class_of, counts, person)
    assignment = Assignment(classes, {name: published[name] for name in policy.names("sensitive")})
    return assignment, _counted(assignment, suppressed)


def _person(texts: Mapping[str, Any], there: Codes, policy: StatedPolicy) -> Codes | Check:
    """The person of each row of the original; a failing check where there is none."""
    if any(name not in texts for name in policy.person):
        return _refused("no-person-column", 0, policy)
    coded = [_codes(texts[name]) for name in policy.person]
    missing = np.logical_or.reduce([codes < 0 for codes in coded])
    if missing.any():
        return _refused("missing-person", int(there[missing].sum()), policy)
    if len(coded) == 1:
        return coded[0]
    keys = packed(coded, [int(codes.max(initial=0)) + 1 for codes in coded], len(there))
    return np.unique(keys, return_inverse=True)[1]


def _codes(column: Any) -> Codes:
    """A number for each text, -1 for none; of a dictionary without doubles those that it has, since people are many."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if len(chunks) == 1 and pa.types.is_dictionary(column.type):
        listed = chunks[0].dictionary
        if not listed.null_count and len(listed.unique()) == len(listed):
            return np.asarray(chunks[0].indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    return values_and_codes(column)[1]


def _text(column: Any, name: str) -> Any:
    """A column as text; codes with a dictionary of texts stay so, since they take less memory."""
    kind = column.type
    return column if pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type) else text_column(column, name)


def _taken(column: Any, rows: Codes) -> Any:
    """Values of a column by their rows, as codes with a dictionary."""
    coded = code(column)
    return _decoded(coded.values, coded.codes[rows])


def _decoded(values: Sequence[Label], codes: Codes) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(values, pa.string()))


def _different(claimed: Rows, original: Rows, policy: StatedPolicy) -> int:
    """Records that a claim has and the original has not as often, or the other way round; spellings are read as one."""
    given, counts = claimed
    texts, there = original
    same = len(counts) == len(there) and bool((counts == there).all())
    if same and all(same_memory(given[name], texts[name]) for name in texts):
        return 0
    read_as = {name: policy.columns[name].read_as for name in policy.names("sensitive")}

    def read(columns: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(columns)
        for name, spellings in read_as.items():
            if spellings and name in found:
                coded = code(found[name])
                values = [value if value is None else spellings.get(value, value) for value in coded.values]
                found[name] = _decoded(values, coded.codes)
        return found

    return _unequal((read(given), counts), (read(texts), there))


def _unequal(one: Rows, other: Rows) -> int:
    """Records that one of two tables with the same columns has and the other has not as often."""
    (left, here), (right, there) = one, other
    columns, widths = [], []
    for name in right:
        codes, width = _joint_codes(code(left[name]), code(right[name]))
        columns.append(codes)
        widths.append(width)
    keys, signed = packed(columns, widths, len(here) + len(there)), np.concatenate([here, -there])
    columns.clear()
    if int(keys.max(initial=0)) > 4 * len(keys):  # else counted in a table
        keys = np.unique(keys, return_inverse=True)[1]
    balance = np.bincount(keys, weights=signed)
    return int(max(balance[balance > 0].sum(), -balance[balance < 0].sum()))


def _joint_codes(one: Coded, other: Coded) -> tuple[NDArray[np.int32], int]:
    """The codes of two columns one after the other, equal values having equal codes."""
    index_of = {value: index for index, value in enumerate(dict.fromkeys([*one.values, *other.values]))}
    codes = [np.array([index_of[value] for value in each.values], dtype=np.int32)[each.codes] for each in (one, other)]
    return np.concatenate(codes), len(index_of)


def _wrong_labels(values: Any, class_of: Codes, labels: Any, kind: Labels, policy: StatedPolicy, name: str) -> Mask:
    """The rows whose value may not be released as the label of their class; each pair is judged once."""
    original, released = code(values), code(labels)
    chains = capped(kind.chains(original.values), policy, name)
    kept, width = class_of >= 0, max(len(released.values), 1)
    pairs = original.codes * width + released.codes[class_of]
    distinct = distinct_codes(pairs[kept])
    value, label = Coded(original.values, distinct // width), Coded(released.values, distinct % width)
    wrong = distinct[~aligned_fit(released_as(label, value, kind, chains))]
    return np.isin(pairs, wrong) & kept if len(wrong) else np.zeros(len(kept), dtype=np.bool_)


def _published(columns: Mapping[str, Any], kept: Mask, policy: StatedPolicy) -> dict[str, Any]:
    """The other columns as they must be released, of the rows that are."""
    found = {}
    for name, column in columns.items():
        coded = code(column)
        shown = {name: coded.values}
        if policy.columns[name].role == "sensitive":
            shown = published_as(name, coded.values, policy)
        for each, texts in shown.items():
            found[each] = _decoded(texts, coded.codes[kept])
    return found


def _released(shown: Mapping[str, Any], class_of: Codes, published: Mapping[str, Any], counts: Codes) -> Rows:
    """The released rows that a claim gives, far fewer than those of people: equal ones are one."""
    coded = [code(column) for column in published.values()]
    widths = [int(class_of.max(initial=0)) + 1, *(max(len(each.values), 1) for each in coded)]
    keys = packed([class_of, *(each.codes for each in coded)], widths, len(class_of))
    coded.clear()
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else order
    first, together = order[starts], np.add.reduceat(counts[order], starts) if len(keys) else counts
    rows = {name: _taken(column, class_of[first]) for name, column in shown.items()}
    return rows | {name: column.take(pa.array(first)) for name, column in published.items()}, together


def _without(counts: Codes, stars: Mask, suppressed: int) -> Codes:
    """The counts of released rows without those that stand for suppressed records, as far as there are such."""
    left = counts.copy()
    for row in np.flatnonzero(stars).tolist():
        removed = min(suppressed, int(left[row]))
        left[row] -= removed
        suppressed -= removed
    if suppressed and len(left):
        left[0] -= suppressed  # too few: the rows are not those that were claimed
    return left
