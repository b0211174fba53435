"""Spellings of one sensitive value: `HIV`, `hiv` and `HIV ` are one secret, and would count as three.

Values whose spellings are alike stop a run until the policy says whether they are the same (``same``) or differ
(``different``). Nothing is merged on suspicion: a wrong guess would publish something that is not true.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import numpy as np
import pyarrow as pa

from shoal.edits import PolicyEdit
from shoal.errors import PolicyProblem
from shoal.formatting import listing, pluralize
from shoal.hierarchies import Label
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.policy.spec import ColumnSpec
from shoal.policy.yaml_text import flow_yaml
from shoal.table.distinct_rows import DistinctColumn, DistinctRows

_LISTED = 10  # groups that a message spells out; all of them are in its facts and in the mapping that it offers
_NUMBER = re.compile(r"-?[0-9]+(?:[.,:/-][0-9]+)*")  # and dates, and ranges of numbers
_DECIMAL = re.compile(r"-?[0-9]+[.][0-9]+")
_TELLING = frozenset("%‰#&@*?")  # punctuation that changes what a text says: 5% is not 5, and HIV? is not HIV


def fold(text: str) -> str:
    """What spellings of one value have in common.

    The text in Unicode's compatibility form (NFKC) and without case, without white space, control characters and
    punctuation. These stay where they tell values apart: between two digits (1.5 is not 15), a hyphen at either end
    (-5 is not 5, and B- is not B), symbols such as + and <, and the signs % ‰ # & @ * ?. Zeros at the end of a decimal
    fraction change nothing (3000.0 is 3000).
    """
    if text.isascii() and (text.isalnum() or _NUMBER.fullmatch(text)):  # what most values are
        return text.rstrip("0").rstrip(".") if _DECIMAL.fullmatch(text) else text.lower()
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    runs = [(separates, "".join(characters)) for separates, characters in groupby(plain, _separates)]
    if all(separates for separates, _ in runs):
        return "".join(plain.split())
    folded = []
    for place, (separates, run) in enumerate(runs):
        before = runs[place - 1][1][-1] if place else ""
        after = runs[place + 1][1][0] if place + 1 < len(runs) else ""
        if not separates:
            folded.append(run)
        elif before.isdigit() and after.isdigit():
            folded.append("".join(run.split()) or " ")
        elif "-" in run and not (before and after):
            folded.append("-")
    found = "".join(folded)
    return found.rstrip("0").rstrip(".") if _DECIMAL.fullmatch(found) else found


@cache
def _separates(character: str) -> bool:
    return unicodedata.category(character)[0] in "PZC" and character not in _TELLING


@dataclass(frozen=True)
class Spellings:
    """The spellings of a column that are alike: groups of values with their records, the one to keep first."""

    column: str
    spec: ColumnSpec
    groups: tuple[Mapping[str, int], ...]
    published: frozenset[Label] = frozenset()  # values that a release has already, and that must stay what they are

    @staticmethod
    def of(
        column: str, spec: ColumnSpec, values: Iterable[tuple[Label, int]], published: Collection[Label] = ()
    ) -> Spellings:
        """The groups among the values of a column, after merging, about which the policy says nothing.

        The most frequent value comes first, of equally frequent ones the first by code point; before them any that is
        already ``published``, then any that is unknown, then any that has a category. The missing value is not a
        spelling of anything, and neither values that are all unknown nor numbers in bins need be told apart.
        """
        alike: dict[str, dict[str, int]] = {}
        for value, records in values:
            if value is not None and (spec.bins is None or parse_decimal(value) is None):
                alike.setdefault(fold(value), {})[value] = records
        different = [set(each) for each in spec.different or ()]
        unknown, categorized = spec.unknown_values, {value for each in spec.category_values.values() for value in each}
        fixed = (published, unknown, categorized)
        groups = []
        for group in alike.values():
            if len(group) > 1 and not any(set(group) <= each for each in (*different, unknown)):
                ranked = sorted(
                    group.items(), key=lambda each: (*(each[0] not in known for known in fixed), -each[1], each[0])
                )
                groups.append(dict(ranked))
        groups.sort(key=lambda group: (-sum(group.values()), *group))
        return Spellings(column, spec, tuple(groups), frozenset(published))

    @property
    def same(self) -> dict[str, list[str]]:
        """What the policy says under ``same``, and every group merged into its first value."""
        merged = {value: list(spellings) for value, spellings in (self.spec.same or {}).items()}
        for value, *others in self.groups:
            listed = [*merged.pop(value, ()), *(each for other in others for each in (other, *merged.pop(other, ())))]
            merged[value] = [each for each in dict.fromkeys(listed) if each != value]
        return merged

    @property
    def different(self) -> list[list[str]]:
        """What the policy says under ``different``, and every group: none of its values is another."""
        whole = [
            each for each in self.spec.different or () if not any(set(each) <= set(group) for group in self.groups)
        ]
        return [*whole, *map(list, self.groups)]

    @property
    def edits(self) -> tuple[PolicyEdit, ...]:
        """Both ways out: to merge the groups, unless the policy or a release says otherwise, and to keep them apart."""
        said = {value for values in self.spec.different or () for value in values}
        fixed = any(said & set(group) or len(self.published & set(group)) > 1 for group in self.groups)
        apart = PolicyEdit(("columns", self.column, "different"), self.different)
        return (apart,) if fixed else (PolicyEdit(("columns", self.column, "same"), self.same), apart)

    def problems(self) -> list[PolicyProblem]:
        """One problem with every group and the ways out, or none."""
        if not self.groups:
            return []
        texts = [
            listing([f"{value!r} ({pluralize(n, 'record')})" for value, n in each.items()]) for each in self.groups
        ]
        count = "a value is" if len(texts) == 1 else f"{len(texts):,} values are"
        message = (
            f"{count} spelled in several ways, which would count as different values: {'; '.join(texts[:_LISTED])}"
        )
        message += f"; and {len(texts) - _LISTED:,} more." if len(texts) > _LISTED else "."
        when = {"same": "they are the same", "different": "they differ"}
        keys = [(str(edit.path[-1]), flow_yaml(edit.value)) for edit in self.edits]
        fix = "; ".join(f"if {when[key]}, write {key}: {value}" for key, value in keys)
        facts = {"groups": [dict(group) for group in self.groups]}
        where = f"columns.{self.column}.same"
        return [
            PolicyProblem(
                where, message, f"{fix[0].upper()}{fix[1:]}.", facts, edits=self.edits, code="spellings-of-one-value"
            )
        ]


def blank_problems(column: str, spec: ColumnSpec, values: Iterable[tuple[Label, int]]) -> list[PolicyProblem]:
    """Values of blanks alone, which say as little as a missing one: a problem unless the policy says what they are.

    Where the column has nothing else they make no difference.
    """
    said = {*spec.unknown_marks, *(value for each in spec.category_values.values() for value in each)}
    others = {value: n for value, n in values if value is not None and value not in said}
    blank = {value: n for value, n in others.items() if is_blank(value)}
    if not blank or len(blank) == len(others):
        return []
    edit = PolicyEdit(("columns", column, "unknown"), [*(spec.unknown or ()), *blank])
    records = pluralize(sum(blank.values()), "record has", "records have")
    message = f"{records} blanks alone, which would count as a value."
    fix = f"Write unknown: {flow_yaml(edit.value)}, or declare them as missing under data."
    facts = {"values": blank}
    return [PolicyProblem(f"columns.{column}.unknown", message, fix, facts, edits=(edit,), code="blank-value")]


def is_blank(value: str) -> bool:
    """Whether a text has white space, control and format characters alone."""
    return all(unicodedata.category(character)[0] in "ZC" for character in value)


@dataclass(frozen=True)
class MergedSpellings:
    """What was merged in a column."""

    spellings: int  # different spellings that were replaced by their value
    records: int  # records that had one


def merged_spellings(rows: DistinctRows, columns: Mapping[str, ColumnSpec]) -> dict[str, MergedSpellings]:
    """What `merge_rows` merges, by column, where the policy lists spellings."""
    found = {}
    for name, spec in columns.items():
        if spec.same and name in rows.columns:
            column = rows.columns[name]
            value_of = spec.value_of
            other = np.array([label in value_of for label in column.labels], dtype=np.bool_)
            found[name] = MergedSpellings(int(other.sum()), int(rows.counts[other[column.codes]].sum()))
    return found


def merge_rows(rows: DistinctRows, columns: Mapping[str, ColumnSpec]) -> DistinctRows:
    """The rows with each spelling that a policy lists under ``same`` replaced by its value."""
    return rows.merged({name: spec.value_of for name, spec in columns.items() if spec.same})


def merge_table(table: pa.Table, columns: Mapping[str, ColumnSpec]) -> pa.Table:
    """The same for a table with a row per record."""
    for place, name in enumerate(table.column_names):
        if name in columns and columns[name].same:
            column = DistinctColumn.of(table.column(name)).merged(columns[name].value_of)
            table = table.set_column(place, name, column.of_type())
    return table
