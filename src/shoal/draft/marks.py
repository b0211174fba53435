"""Cells that look as if they meant: no value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

MARKS = frozenset({"", "?", "??", "-", "--", ".", "*", "na", "n/a", "#n/a", "n.a.", "nan", "null"})
"""In small letters and without outer blanks. A lone ``*`` would read as a suppressed value in the release."""
_TWO_LETTERS = re.compile(r"[A-Z]{2}")


@dataclass
class Marks:
    """The marks found in a table, and in which columns how often; those that may be values as well stay values."""

    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    """By mark, then by column."""
    doubtful: dict[str, dict[str, str]] = field(default_factory=dict)
    """Marks that may be values in some column: by mark, then the reason by column."""

    def add(self, column: str, counts: Mapping[str, int]) -> None:
        """Look through the different values of a column."""
        for value, count in counts.items():
            if value.strip().casefold() in MARKS:
                self.counts.setdefault(value, {})[column] = count
                if reason := _doubt(value, counts):
                    self.doubtful.setdefault(value, {})[column] = reason

    @property
    def missing(self) -> list[str]:
        """The cells that mean no value: the empty one and those found, without the doubtful ones, in a fixed order."""
        return ["", *sorted(mark for mark in self.counts if mark and mark not in self.doubtful)]


def _doubt(mark: str, counts: Mapping[str, int]) -> str:
    """Why a mark may be a value here: the policy's marks hold for all columns, so one such column is enough."""
    if mark == "-" and "+" in counts:
        return 'beside "+" it may mean negative'
    others = [value for value in counts if value.strip().casefold() not in MARKS]
    if mark == "NA" and len(others) > 1 and all(_TWO_LETTERS.fullmatch(value) for value in others):
        return "beside other codes of two letters it may be one (Namibia)"
    return ""
