"""Sensitive values of a release that are spellings of one value, and would count as several."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from shoal.verification.canonical_text import Codes, Label, code
from shoal.verification.result import Check, listed
from shoal.verification.stated_policy import StatedColumn, StatedPolicy

_PLAIN = re.compile(r"[A-Za-z0-9]+|-?[0-9]+(?:[.,:/-][0-9]+)*", re.ASCII)
_MEANS_SOMETHING = "%‰#&@*?"


def check_spellings(columns: Mapping[str, Any], policy: StatedPolicy, counts: Codes) -> list[Check]:
    """No cell holds a spelling that the policy reads as another value, or one that is alike unless it says they differ.

    The check is only made where the policy says something of spellings, or where it fails.
    """
    published = [name for name in policy.names("sensitive") if policy.columns[name].publish != "categories"]
    found: dict[str, list[Label]] = {}
    cells = 0
    for name in published:
        coded = code(columns[name])
        wrong = _left(coded.values, policy.columns[name]) | _alike(coded.values, policy.columns[name])
        if wrong:
            places = [place for place, value in enumerate(coded.values) if value in wrong]
            found[name] = [coded.values[place] for place in places]
            cells += int(counts[np.isin(coded.codes, places)].sum())
    said = [name for name in published if policy.columns[name].read_as or policy.columns[name].different]
    if not said and not found:
        return []
    message = "; ".join(f"{name}: {listed(values)}" for name, values in found.items())
    message = f"{cells:,} cells hold spellings of one value that count as several: {message}" if found else (
        f"no value of {', '.join(said)} is a spelling of another"
    )  # fmt: skip
    return [Check("spellings", not found, message, {"spellings": found, "cells": cells})]


def _left(values: Iterable[Label], column: StatedColumn) -> set[Label]:
    """Spellings that had to be replaced."""
    return {value for value in values if value in column.read_as}


def _alike(values: Iterable[Label], column: StatedColumn) -> set[Label]:
    """Values with spellings that are alike, not all of them unknown, and of which no list says that they all differ."""
    by_letters: dict[str, set[Label]] = {}
    for value in values:
        if value is not None:
            by_letters.setdefault(letters_of(value), set()).add(value)
    listed_apart = [set(each) for each in (*column.different, column.unknown)]
    groups = [group for group in by_letters.values() if len(group) > 1]
    return {value for group in groups if not any(group <= each for each in listed_apart) for value in group}


def letters_of(text: str) -> str:
    """A text without case, blanks and punctuation, but with those between digits, end hyphens and telling signs.

    A decimal fraction is without the zeros at its end.
    """
    letters = _letters(text)
    whole, point, digits = letters.removeprefix("-").partition(".")
    if point and all(part.isascii() and part.isdecimal() for part in (whole, digits)):
        digits = digits.rstrip("0")
        return ("-" if letters.startswith("-") else "") + (f"{whole}.{digits}" if digits else whole)
    return letters


def _letters(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text.casefold()
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    letters, gap = "", ""  # what stays, and what has been passed over since the last of it
    for character in text:
        if character not in _MEANS_SOMETHING and unicodedata.category(character)[0] in {"P", "Z", "C"}:
            gap += character
            continue
        if letters and letters[-1].isdigit() and gap and character.isdigit():
            letters += _without_blanks(gap) or " "
        elif not letters and "-" in gap:
            letters = "-"
        letters, gap = letters + character, ""
    if not letters:
        return _without_blanks(gap)
    return f"{letters}-" if "-" in gap else letters


def _without_blanks(text: str) -> str:
    return "".join(character for character in text if not character.isspace())
