"""Released pseudonyms: they tell whose records are one person's, so people and their linked classes can be counted.

A pseudonym is the first 128 bits of the HMAC-SHA-256 of a person's canonical text, in 32 hexadecimal digits. The linked
class of a person is the multiset of the labels of all their records in the release. Models must hold for linked
classes as a whole, and for the records with one combination of labels in each.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.verification.canonical_text import Codes, Label, code, packed
from shoal.verification.classes import Classes, group
from shoal.verification.people import distinct_people
from shoal.verification.result import Check
from shoal.verification.stated_policy import StatedPolicy

_FORM = re.compile(r"[0-9a-f]{32}")


def with_pseudonyms(columns: Mapping[str, Any], policy: StatedPolicy, key: bytes | None) -> dict[str, Any]:
    """The columns of an original with the pseudonym in its place, by the key; without the key, without the column."""
    name = policy.pseudonym
    if name is None or any(each not in columns for each in policy.person):
        return dict(columns)
    if key is None:
        return {each: column for each, column in columns.items() if each != name}
    coded = [code(columns[each]) for each in policy.person]
    person, rows = _people(columns, policy)
    made: list[Label] = []
    for row in rows.tolist():
        texts = [each.values[each.codes[row]] for each in coded]
        made.append(None if None in texts else _pseudonym([str(text) for text in texts], key))
    return {**columns, name: pa.array(made, pa.string()).take(pa.array(person))}


def _pseudonym(texts: list[str], key: bytes) -> str:
    message = texts[0] if len(texts) == 1 else json.dumps(texts, ensure_ascii=False)
    return hmac.digest(key, message.encode("utf-8"), hashlib.sha256)[:16].hex()


def check_pseudonyms(
    cells: Mapping[str, Any],
    counts: Codes,
    policy: StatedPolicy,
    original: tuple[Mapping[str, Any], Codes] | None,
    *,
    key: bytes | None,
) -> Check:
    """Every record has a pseudonym that is no identifier; with the original, people and pseudonyms go one to one.

    With the key, each record is compared with an original record of the same person as well, by `check_truth`; without
    it, the people of the original must at least suffice for the records that the pseudonyms link.
    """
    name = str(policy.pseudonym)
    released = code(cells[name])
    strange = [place for place, text in enumerate(released.values) if text is None or not _FORM.fullmatch(text)]
    wrong = int(counts[np.isin(released.codes, strange)].sum())
    problems = [f"{wrong:,} records have no pseudonym of 32 hexadecimal digits"] if wrong else []
    facts: dict[str, Any] = {"counted": True, "people": len(released.values), "malformed": wrong, "compared": None}
    if original is not None and all(each in original[0] for each in policy.person):
        columns, there = original
        known = {value for each in policy.person for value in code(columns[each]).values if value is not None}
        if leaked := len(known & set(released.values)):
            problems.append(f"{leaked:,} pseudonyms are identifiers of the original")
        facts |= {"identifiers": leaked, "compared": "by key" if key is not None else "by number of records"}
        people, rows = _people(columns, policy)
        if key is not None:
            of_each = {each: column.take(pa.array(rows)) for each, column in columns.items() if each in policy.person}
            made = set(with_pseudonyms(of_each, policy, key)[name].to_pylist())
            if len(made) != len(rows):
                problems.append("two people share a pseudonym")
            if others := len(set(released.values) - made):
                problems.append(f"{others:,} pseudonyms belong to nobody in the original")
        else:
            linked = np.sort(np.bincount(released.codes, weights=counts))[::-1]
            had = np.sort(np.bincount(people, weights=there))[::-1]
            if len(linked) > len(had) or bool((linked > had[: len(linked)]).any()):
                problems.append("the pseudonyms link more records than people in the original have")
    message = "; ".join(problems) or f"{len(released.values):,} people, told apart by their pseudonyms"
    if facts["compared"] == "by number of records" and not problems:
        message += "; whose they are was not checked, because the key is not set"
    return Check("pseudonyms", not problems, message, facts)


def _people(columns: Mapping[str, Any], policy: StatedPolicy) -> tuple[Codes, Codes]:
    """The number of each row's person, and a row of each person."""
    coded = [code(columns[each]) for each in policy.person]
    keys = packed([each.codes for each in coded], [len(each.values) for each in coded], len(coded[0].codes))
    _, rows, person = np.unique(keys, return_index=True, return_inverse=True)
    return person, rows


def linked_classes(cells: Mapping[str, Any], policy: StatedPolicy, counts: Codes) -> tuple[Classes, Classes]:
    """The classes of records in people, each within its linked class, and the linked classes as a whole."""
    plain = group(cells, policy.names("quasi"), counts)
    person = code(cells[str(policy.pseudonym)]).codes
    width = int(plain.class_of.max(initial=0)) + 1
    pairs, pair = np.unique(person * width + plain.class_of, return_inverse=True)
    often = np.bincount(pair, weights=counts).astype(np.int64)
    begins = np.flatnonzero(np.diff(pairs // width, prepend=-1)).tolist()
    shown = np.stack([pairs % width, often], axis=1)  # the classes of each person in order, and how often
    number: dict[bytes, int] = {}
    linked = np.array(
        [number.setdefault(shown[begin:end].tobytes(), len(number)) for begin, end in pairwise([*begins, len(pairs)])]
    )
    together = linked[np.unique(person, return_inverse=True)[1]]
    return (
        _in_people(plain, plain.class_of * max(len(number), 1) + together, person),
        _in_people(plain, together, person),
    )


def _in_people(plain: Classes, keys: Codes, person: Codes) -> Classes:
    _, rows, class_of = np.unique(keys, return_index=True, return_inverse=True)
    sizes = distinct_people(class_of, person, len(rows))
    return replace(plain, rows=rows, sizes=sizes, class_of=class_of, person=person)
