"""What a kind of hierarchy declares: its key in a policy, the fields under it, their short form, and how it is built.

A new kind is one file of this package and its entry in `HIERARCHY_KINDS` (and the verifier's reading of its labels).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any

from shoal.declarations import REQUIRED
from shoal.hierarchies.hierarchy import HierarchySource, Label


class FieldKind(StrEnum):
    """What a field of a hierarchy's declaration may be."""

    NUMBER = "number"
    NUMBERS = "numbers"
    CUTS = "cuts"  # lists of cut points, the outer ones perhaps infinite
    BOUNDS = "bounds"  # the smallest and the largest value
    WHOLES = "whole numbers"
    TEXT = "text"
    TEXTS = "texts"
    CHARACTER = "character"
    CHOICE = "choice"
    VALUES = "values"  # values of the column, null for the missing one
    PATH = "path"  # a file, relative to the policy
    TREE = "tree"  # nested groups, or the path of a YAML file that has them
    PRESENT = "present"  # no more than ``true``


class Known(Enum):
    """How much of a hierarchy is known from its declaration alone, without any value of the data."""

    NOTHING = 0
    LEVELS = 1
    NODES = 2


class RunKind(StrEnum):
    """What the values of a column may be divided into, to be released as runs of neighbours."""

    NUMBERS = "steps of numbers"
    PERIODS = "periods of the calendar"
    ORDER = "an order of values"


@dataclass(frozen=True)
class HierarchyField:
    """One field of a hierarchy's declaration."""

    name: str
    kind: FieldKind
    help: str = ""
    default: Any = REQUIRED
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class HierarchyKind:
    """One kind of hierarchy."""

    key: str  # its key in a policy: ``hierarchy: {intervals: …}``
    summary: str
    fields: tuple[HierarchyField, ...]  # under the key; one field of the same name is written as the value itself
    build: Callable[[Mapping[str, Any], Path, str], HierarchySource]
    """The declared hierarchy from the fields, the folder of the policy and the path in it; raises `HierarchyError`."""
    example: str = ""
    short_forms: tuple[dict[str, Any], ...] = ()  # JSON Schema of the short forms
    expand: Callable[[Any], Any] = lambda value: value  # the fields that a short form stands for, else the value
    by_name: bool = False  # whether a policy may give its name alone
    known: Known = Known.NOTHING
    listed: bool = False  # whether its labels mean what the declaration lists, rather than what they say themselves
    runs: frozenset[RunKind] = frozenset()  # what its values may be divided into under ``ranges``
    on_a_scale: bool = False  # whether its leaves are points on a scale, such as numbers and dates
    shown_height: Callable[[Mapping[str, Any], Iterable[Label]], int] | None = None
    """Where the height depends on the data: the height, by the fields, that released labels show; else None."""

    @property
    def single(self) -> bool:
        """Whether the value of its only field is written under the key itself."""
        return len(self.fields) == 1 and self.fields[0].name == self.key
