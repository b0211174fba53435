"""Who a record is about: identifiers that say nobody, and those that would make one person several."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

from shoal.errors import PolicyProblem
from shoal.formatting import pluralize
from shoal.table.distinct_rows import DistinctColumn, DistinctRows


def person_problems(columns: Sequence[str], rows: DistinctRows) -> Iterator[PolicyProblem]:
    """Records of nobody cannot be counted as somebody's, nor those of one person as those of several."""
    for name in columns:
        column = rows.columns.get(name)
        if column is None:
            continue
        unclear = {code: _seen(label) for code, label in enumerate(column.labels) if label is None or not _clear(label)}
        missing = [code for code, text in unclear.items() if not text]
        if missing:
            records = _records(rows, column, missing)
            message = f"{pluralize(records, 'record has', 'records have')} no value in {name!r}."
            fix = "Fill it in, or leave these records out of the data: whose they are cannot be guessed."
            yield PolicyProblem("person", message, fix, {"records": records}, code="missing-person")
        alike = _alike(column, {code: text for code, text in unclear.items() if text})
        if alike:
            records = _records(rows, column, [code for codes in alike for code in codes])
            spelled = pluralize(len(alike), "value is", "values are")
            message = (
                f"{spelled} spelled in several ways in {name!r} ({pluralize(records, 'record')}), which differ in "
                "white space or characters that look the same: one person would count as several."
            )
            facts = {"values": len(alike), "records": records}
            yield PolicyProblem("person", message, "Write each in one way.", facts, code="spellings-of-one-person")


def _alike(column: DistinctColumn, unclear: dict[int, str]) -> list[list[int]]:
    """The labels that look the same, as groups of their codes; two that are clear never do."""
    spelled: dict[str | None, set[int]] = {}
    for code, text in unclear.items():
        spelled.setdefault(text, set()).add(code)
    for code, label in enumerate(column.labels) if spelled else ():
        if label in spelled:
            spelled[label].add(code)
    return [sorted(codes) for codes in spelled.values() if len(codes) > 1]


def _records(rows: DistinctRows, column: DistinctColumn, codes: Sequence[int]) -> int:
    return int(rows.counts[np.isin(column.codes, codes)].sum())


def _clear(label: str) -> bool:
    """Whether a text is as it looks, as nearly all identifiers are."""
    return label.isascii() and label.isprintable() and " " not in label


def _seen(label: str | None) -> str:
    """What can be seen of a text: without white space around it and more than one blank inside, without control and
    format characters, in Unicode's compatibility form (NFKC)."""
    text = unicodedata.normalize("NFKC", label or "")
    kept = (each for each in text if each.isspace() or unicodedata.category(each) not in {"Cc", "Cf"})
    return " ".join("".join(kept).split())
