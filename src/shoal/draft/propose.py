"""A hierarchy for a quasi-identifier, read off its values.

Every proposal is built the way the policy will build it, so that no draft proposes what its data refuse.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.draft.profile import LISTED, DateForm, Profile, round_widths
from shoal.draft.wording import Plain, flow, sentence
from shoal.hierarchies import HierarchyError, Label, boundary_caps, capped_levels
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.spec import HierarchySpec
from shoal.policy.yaml_text import parse_yaml

_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
_POSTAL_WORDS, _POSTAL_STEMS = {"zip", "plz", "cp"}, ("zipcode", "postcode", "postalcode", "postleitzahl")
_FEW = 4  # up to this many values, groups are not worth naming
_MANY_CODES = 10  # from this many codes of one length on, masking keeps more than value or star
_LONGEST_MASKED = 6
"""Longer codes are masked two or more characters at a time, so that they have no more levels than this."""


@dataclass(frozen=True)
class Proposal:
    """A hierarchy as the policy writes it, how many levels it has, and what the steward should know about it."""

    spec: Plain
    levels: int
    reason: str  # code of what the steward should know: see `shoal.draft.wording`
    facts: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[str, tuple[str, ...]] | None = None
    """For a tree: the name of its one group and the values in it, most frequent first."""

    @property
    def note(self) -> str:
        """The reason in words."""
        return sentence(self.reason, self.facts)


def propose(profile: Profile, dates: DateForm | None) -> Proposal:
    """The first of the hierarchies that suit the column's values and can be built for them."""
    for spec, reason in _candidates(profile, dates):
        try:
            return Proposal(spec, _levels(spec, profile), reason)
        except HierarchyError:
            continue
    ambiguous = dates is not None and not dates.clear
    if _FEW < profile.distinct <= LISTED and not ambiguous and not profile.decimal_commas:
        return _one_group(profile)
    facts: dict[str, Any] = {"distinct": profile.distinct}
    if dates is not None and ambiguous:
        reason = "ambiguous-dates"
        example = flow({"dates": {"units": ["month", "year"], "format": dates.formats[0]}})
        facts |= {"formats": " or ".join(map(str, dates.formats)), "example": example}
    elif profile.decimal_commas:
        reason = "decimal-commas"
    else:
        reason = "flat" if profile.distinct <= _FEW else "flat-many"
    return Proposal("flat", _levels("flat", profile), reason, facts)


def _candidates(profile: Profile, dates: DateForm | None) -> Iterator[tuple[Plain, str]]:
    if dates is not None and dates.clear:
        spec: dict[str, Plain] = {"units": dates.units()}
        if dates.formats[0] is not None:
            spec["format"] = dates.formats[0]
        yield {"dates": spec if len(spec) > 1 else spec["units"]}, "periods"
    if is_postal(profile.name) or profile.leading_zeros or _is_code(profile):
        yield _mask(profile), "mask"
    if profile.numbers is not None and profile.distinct > 2:
        widths = round_widths(profile.numbers, decimals=profile.decimals)
        if widths:
            yield {"intervals": widths}, "intervals"


def words_of(name: str) -> list[str]:
    """The words of a column's name, in small letters."""
    return [word.casefold() for part in _CAMEL.split(name) for word in _WORD.findall(part)]


def is_postal(name: str) -> bool:
    """Whether the name is that of a postal code, whose first characters are the larger area."""
    words = words_of(name)
    return bool(_POSTAL_WORDS & set(words)) or any(stem in "".join(words) for stem in _POSTAL_STEMS)


def _is_code(profile: Profile) -> bool:
    """Whether the values are codes of one length with letters and digits, many enough to be masked."""
    mixed = all(any(sign.isdigit() for sign in value) for value in profile.counts)
    return (profile.length or 0) > 1 and not profile.all_digits and mixed and profile.distinct > _MANY_CODES


def _mask(profile: Profile) -> Plain:
    longest = max(map(len, profile.counts))
    if longest <= _LONGEST_MASKED:
        return {"mask": "right"}
    stride = -(-longest // _LONGEST_MASKED)
    return {"mask": {"side": "right", "steps": list(range(stride, longest, stride))}}


def _one_group(profile: Profile) -> Proposal:
    """All values under one name, for the steward to sort into groups."""
    name = "any"
    while name in profile.counts:
        name += " value"
    spec: Plain = {"tree": {name: list(profile.counts)}}
    facts = {"distinct": profile.distinct, "group": flow(name)}
    return Proposal(spec, _levels(spec, profile), "one-group", facts, (name, tuple(profile.counts)))


def _levels(spec: Plain, profile: Profile) -> int:
    """How many levels the lattice will have for the column. Raises `HierarchyError`."""
    where = f"columns.{profile.name}.hierarchy"
    values: list[Label] = [*profile.counts, *([None] if profile.missing else [])]
    counts = [*profile.counts.values(), *([profile.missing] if profile.missing else [])]
    declared = hierarchy_source(HierarchySpec.model_validate(parse_yaml(flow(spec), where)), Path(), where)
    hierarchy = declared.build(values, counts, where).hierarchy
    return len(capped_levels(hierarchy, boundary_caps(hierarchy, None, where)).nodes)
