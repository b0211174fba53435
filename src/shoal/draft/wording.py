"""The words of a draft, and pieces of YAML text that read back as exactly what they were made from.

A column name or a value may be anything: ``no``, ``012``, ``a: b``, ``# c``, a line break. A word is written as it is;
everything else goes through the YAML dumper, in double quotes and on one line.
"""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any

import yaml

from shoal.formatting import pluralize


def sentence(code: str, facts: Mapping[str, Any]) -> str:
    """The sentence of a code (``wording.yaml``) with its facts; ``values`` tells how many values and records."""
    words = dict(facts)
    if "distinct" in facts and "present" in facts:
        words["values"] = values_phrase(facts)
    return str(read_texts("wording")[code]).format_map(words)


def values_phrase(facts: Mapping[str, Any]) -> str:
    """``100 different values in 129 records``."""
    different = "1 value" if facts["distinct"] == 1 else f"{facts['distinct']:,} different values"
    return f"{different} in {pluralize(facts['present'], 'record')}"


@cache
def read_texts(name: str) -> dict[str, Any]:
    """A YAML file of this package: texts by their keys."""
    path = resources.files("shoal.draft") / f"{name}.yaml"
    texts: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return texts


WIDTH = 110  # where comments are broken
_WORDS = re.compile(r"[^\W\d_]\w*(?:[ ./-]\w+)*")
"""A letter first, then words: nothing in it has a meaning of its own in YAML."""
_NOT_TEXT = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Words that one version of YAML or another reads as something other than text."""
_LONGEST_KEY = 1000  # YAML wants ``key:`` within 1,024 characters; beyond, the key is marked by a question mark
_SHOWN = 40

Plain = str | int | Decimal | None | Sequence["Plain"] | Mapping[str, "Plain"]
"""What a policy is made of, as far as a draft needs it."""


def scalar(text: str) -> str:
    """A text as a YAML scalar on one line."""
    if _WORDS.fullmatch(text) and text.casefold() not in _NOT_TEXT:
        return text
    dumped: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=float("inf"))
    return dumped.removesuffix("\n")


def flow(value: Plain) -> str:
    """A value on one line: ``{intervals: [5, 10, 20]}``."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return scalar(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(flow(each) for each in value) + "]"
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def key(name: str) -> str:
    """A key that opens a block; what belongs to it follows on deeper lines."""
    written = scalar(name)
    return f"{written}:" if len(written) <= _LONGEST_KEY else f"? {written}\n:"


def short_text(text: str) -> str:
    """A text as a comment names it: on one line and not too long."""
    written = scalar(text)
    return written if len(written) <= _SHOWN else written[:_SHOWN] + "…"


def comment(*paragraphs: str) -> list[str]:
    """Comment lines, broken at blanks; each paragraph starts on a line of its own."""
    return [
        f"# {line}"
        for text in paragraphs
        for line in textwrap.wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    ]


def indented(lines: Iterable[str], depth: int) -> list[str]:
    """Lines moved to the right; an entry may hold several lines."""
    return ["  " * depth + line if line else "" for each in lines for line in each.split("\n")]
