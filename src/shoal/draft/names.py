"""What the name of a column says about it.

A name is split into words (``dateOfBirth`` and ``date_of_birth`` are the same three) and looked up in a vocabulary,
``names.yaml``. Earlier entries win: a column ``date_of_diagnosis`` is a date first. The vocabulary helps with a draft
and decides nothing by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from shoal.draft.wording import read_texts

_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
_POSTAL_WORDS, _POSTAL_STEMS = {"zip", "plz", "cp"}, ("zipcode", "postcode", "postalcode", "postleitzahl")


@dataclass(frozen=True)
class Meaning:
    """What a column seems to hold."""

    kind: str
    """``direct``: names a person by itself. ``date``, ``secret``, ``known``: a date, something people keep to
    themselves, something that others may know. ``number``: a running number or code, of what is not said."""
    what: str
    """In words, for the comment."""
    shared: bool = False
    """Whether different people may well have the same one, as with names and addresses."""


@dataclass(frozen=True)
class _Vocabulary:
    number_words: frozenset[str]
    person_words: frozenset[str]
    entries: tuple[tuple[Meaning, frozenset[str], tuple[str, ...]], ...]
    """Each meaning with its words and stems."""


@cache
def _vocabulary() -> _Vocabulary:
    content = read_texts("names")
    entries = tuple(
        (
            Meaning(each["kind"], each["what"], shared=each.get("shared", False)),
            frozenset(each["words"].split()),
            tuple(each.get("stems", "").split()),
        )
        for each in content["entries"]
    )
    number_words, person_words = (frozenset(content[key].split()) for key in ("number_words", "person_words"))
    return _Vocabulary(number_words, person_words, entries)


def words_of(name: str) -> list[str]:
    """The words of a column's name, in small letters."""
    return [word.casefold() for part in _CAMEL.split(name) for word in _WORD.findall(part)]


def meaning_of(name: str) -> Meaning | None:
    """What the name suggests; ``None`` when it says nothing that is known."""
    known, words, joined = _vocabulary(), set(words_of(name)), "".join(words_of(name))
    together = any(
        joined.endswith(word) and joined.removesuffix(word) in known.person_words for word in known.number_words
    )
    if together or (words & known.number_words and words & known.person_words):
        return Meaning("direct", "a number given to one person or event")
    return next(
        (meaning for meaning, own, stems in known.entries if words & own or any(stem in joined for stem in stems)), None
    )


def is_postal(name: str) -> bool:
    """Whether the name is that of a postal code, whose first characters are the larger area."""
    words = words_of(name)
    return bool(_POSTAL_WORDS & set(words)) or any(stem in "".join(words) for stem in _POSTAL_STEMS)
