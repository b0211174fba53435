"""The sentences of a draft by their codes: why a column has its role, what a hierarchy does, how the file is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.formatting import pluralize

_SENTENCES = {
    # why a column has its role
    "name": "Its name suggests {meaning}.",
    "name-unique": "Its name suggests {meaning} ({values}).",
    "name-known": "Its name suggests {meaning}, which others may know.",
    "name-secret": "Its name suggests {meaning}, which people keep to themselves ({values}).",
    "name-only": "Its name suggests {meaning}; there are no records to judge by.",
    "name-number": "Its name suggests a number or code, and it has {values}.",
    "one-secret": "All values are the same, so no model can protect it: whoever is in the release has this value.",
    "unique-secrets": "The values are released as they are, and nearly all differ: someone who knows one finds the "
    "record.",
    "identifying-format": "Nearly all of its {values} look like {format}.",
    "dates": "Its values are dates, and others may know when something happened.",
    "constant": "Every record has the same value, so it tells nobody apart.",
    "few-values": "Nothing is known about it, but its {values} may help to single a person out. If nobody outside can "
    "know them, make it insensitive (released as it is) or sensitive (protected).",
    "nothing-known": "Nothing is known about it: not released until you decide.",
    "no-values": "No value in any of the {missing:,} records, so there is nothing to release. Check the missing marks "
    "above.",
    "free-text": "Free text, which may name people. Not released; to release it, decide what it is and change its "
    "role.",
    "singles-out": "Nothing is known about it, and its {values} single out nearly everyone. Not released until you "
    "decide what it is.",
    "too-many-columns": "Its {distinct:,} different values may help to single a person out, but there are more such "
    "columns than one search can take (see above). Not released; to release it, make it quasi and another one "
    "identifier.",
    "stand-in": "A policy needs a quasi-identifier and no column looks like one, so this one is used.",
    # what is doubtful about the records
    "person-repeats": "{values}: several records may belong to one person; k would count records, not people. Make one "
    "row per person first.",
    "value-repeats": "{values}: unless different people share a value, several records belong to one person; k would "
    "count records, not people. Make one row per person first.",
    # what a hierarchy does
    "flat": "flat: a value is kept or becomes *.",
    "flat-stand-in": "flat: a value is kept or becomes *; only values that many records share survive.",
    "flat-many": "flat: a value is kept or becomes *. Its {distinct:,} values are too many to list here; a tree or a "
    "file of levels (hierarchy: {{levels: {{path: FILE.csv}}}}) would keep more of them.",
    "decimal-commas": "flat: a value is kept or becomes *. These look like numbers with a decimal comma; written with "
    "a point they could become intervals.",
    "ambiguous-dates": "These look like dates, but it is unclear whether they are written {formats}. When you know, "
    "write: hierarchy: {example}",
    "periods": "dates: periods of the calendar, finest first.",
    "mask": "mask: characters become * from the right, one level after the other.",
    "intervals": "intervals: the widths of the levels; each is a multiple of the one before.",
    "one-group": "tree: all {distinct:,} values are in one group, most frequent first. Sort them into several named "
    "groups (and groups of groups): then a value can become its group's name before it becomes *. As it is, a value is "
    "kept or becomes {group}.",
    # how the file is read
    "given": "as given",
    "byte-order-mark": "the file starts with the byte order mark of UTF-16",
    "default": "the default",
    "valid-utf-8": "the whole file is valid UTF-8",
    "guessed-encoding": "a guess: the file is not UTF-8, and {encoding} is usual then; check accented letters",
    "splits-header": "it splits the header into {columns} columns",
    "one-column": "the usual one; there is one column",
    # why a mark may be a value
    "may-be-negative": 'next to "+" it may mean negative',
    "may-be-namibia": "next to other codes of two letters it may be one (Namibia)",
}


def sentence(code: str, facts: Mapping[str, Any]) -> str:
    """The sentence of a code with its facts; ``values`` is made of how many values and records there are."""
    words = dict(facts)
    if "distinct" in facts and "present" in facts:
        different = "1 value" if facts["distinct"] == 1 else f"{facts['distinct']:,} different values"
        words["values"] = f"{different} in {pluralize(facts['present'], 'record')}"
    return _SENTENCES[code].format_map(words)
