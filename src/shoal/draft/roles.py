"""The role that a column is drafted with, and why: by what its name and its values say.

A name is split into words (``dateOfBirth`` and ``date_of_birth`` are the same three) and looked up in a vocabulary,
``names.yaml``; earlier entries win. A draft errs on the safe side: what may help to single a person out is a
quasi-identifier, what may name a person or cannot be judged is not released.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod
from typing import Any

from shoal.draft.profile import LISTED, DateForm, Profile, date_form
from shoal.draft.propose import Proposal, propose, words_of
from shoal.draft.wording import read_texts, sentence
from shoal.encode.spellings import fold, is_blank


@dataclass(frozen=True)
class Meaning:
    """What a column seems to hold."""

    kind: str
    """``direct``: names a person by itself. ``date``, ``secret``, ``known``: a date, something people keep to
    themselves, something that others may know. ``number``: a running number or code, of what is not said."""
    what: str  # in words, for the comment
    shared: bool = False  # whether different people may well have the same one, as with names and addresses


@dataclass(frozen=True)
class _Vocabulary:
    number_words: frozenset[str]
    person_words: frozenset[str]
    event_words: frozenset[str]
    entries: tuple[tuple[Meaning, frozenset[str], tuple[str, ...]], ...]  # each meaning with its words and stems


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
    number, person, event = (frozenset(content[f"{kind}_words"].split()) for kind in ("number", "person", "event"))
    return _Vocabulary(number, person, event, entries)


def meaning_of(name: str) -> Meaning | None:
    """What the name suggests; ``None`` when it says nothing that is known."""
    known, words, joined = _vocabulary(), set(words_of(name)), "".join(words_of(name))
    if _numbers_one_of(known.person_words | known.event_words, words, joined):
        return Meaning("direct", "a number given to one person or event")
    return next(
        (meaning for meaning, own, stems in known.entries if words & own or any(stem in joined for stem in stems)), None
    )


@cache
def _unknown_values() -> frozenset[str]:
    return frozenset(fold(each) for each in read_texts("names")["unknown_values"])


def is_unknown(value: str) -> bool:
    """Whether a sensitive value says that nothing is known, or nothing at all."""
    return is_blank(value) or fold(value) in _unknown_values()


def tells_people_apart(name: str) -> bool:
    """Whether the name suggests that every person has one value, and nobody else the same: a number, not an event's."""
    meaning, words, joined = meaning_of(name), set(words_of(name)), "".join(words_of(name))
    of_person = meaning is not None and meaning.kind == "direct" and not meaning.shared
    return of_person and not _numbers_one_of(_vocabulary().event_words, words, joined)


def _numbers_one_of(kinds: frozenset[str], words: set[str], joined: str) -> bool:
    """Whether a name has a word for a number and one of these kinds of things: patient_id, caseNo."""
    numbers = _vocabulary().number_words
    together = any(joined.endswith(word) and joined.removesuffix(word) in kinds for word in numbers)
    return together or bool(words & numbers and words & kinds)


MOST_NODES = 1_000_000
"""Far below what a search takes at most, so that the first run of a draft is a matter of a minute, not of a day."""


@dataclass(frozen=True)
class Decision:
    """A column's role in the draft."""

    name: str
    role: str
    reasons: tuple[str, ...]  # codes: see `shoal.draft.wording`
    facts: Mapping[str, Any] = field(default_factory=dict)  # figures of the reasons
    likely: bool = False
    """For a quasi-identifier: whether its name or its dates say so, not only that it has few values."""
    proposal: Proposal | None = None  # of a quasi-identifier, or of a column that could be one but is left out
    distinct: int = 0
    values: tuple[tuple[str, int], ...] = ()  # for a sensitive column with few values: these, with their records
    missing: int = 0
    same: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For a sensitive column: values with their other spellings, which are not among its values."""
    unknown: Sequence[str] = ()  # for a sensitive column: values that say that nothing is known, not among its values
    doubt: str = ""  # code of what is doubtful about the records: a column that numbers people has repeated values

    @property
    def numbers_people(self) -> bool:
        """Whether it is not released, says who a record is about, and has a value in several records."""
        return self.role == "identifier" and self.doubt == "person-repeats" and tells_people_apart(self.name)

    @property
    def why(self) -> str:
        """The reasons in words."""
        return " ".join(sentence(code, self.facts) for code in self.reasons)

    @property
    def warning(self) -> str:
        """The doubt in words."""
        return sentence(self.doubt, self.facts) if self.doubt else ""


def decide(profile: Profile) -> Decision:
    """The role of a column, from its name and its values."""
    meaning = meaning_of(profile.name)
    kind = meaning.kind if meaning is not None else ""
    facts: dict[str, Any] = {"distinct": profile.distinct, "present": profile.present, "missing": profile.missing}
    if meaning is not None:
        facts["meaning"] = meaning.what

    def decision(role: str, *reasons: str, **more: Any) -> Decision:
        return Decision(profile.name, role, reasons, facts, distinct=profile.distinct, missing=profile.missing, **more)

    if not profile.counts:
        return decision("identifier", "no-values", *(["name"] if meaning else []))
    dates = date_form(profile)
    if dates is None and profile.identifying_format is not None:
        facts["format"] = profile.identifying_format
    reason = _not_released(profile, kind, dates)
    if reason is not None:
        return decision("identifier", reason, doubt=_repeats(profile, meaning, dates))
    if kind == "secret" and dates is None:
        more = ["one-secret"] if profile.distinct == 1 else ["unique-secrets"] if profile.nearly_unique else []
        few = profile.distinct <= LISTED and profile.numbers is None
        return decision("sensitive", "name-secret", *more, values=tuple(profile.counts.items()) if few else ())
    if kind in {"known", "date"}:
        return decision("quasi", "name-known", likely=True, proposal=propose(profile, dates))
    if dates is not None:
        return decision("quasi", "dates", likely=True, proposal=propose(profile, dates))
    if profile.constant:
        return decision("insensitive", "constant")
    doubt = _repeats(profile, meaning, dates) if profile.distinct > LISTED else ""
    return decision("quasi", "few-values", proposal=propose(profile, dates), doubt=doubt)


def by_name(name: str) -> Decision:
    """The role of a column of a table that has no records, from its name alone."""
    meaning = meaning_of(name)
    if meaning is None:
        return Decision(name, "identifier", ("nothing-known",))
    role = {"secret": "sensitive", "known": "quasi", "date": "quasi"}.get(meaning.kind, "identifier")
    return Decision(name, role, ("name-only",), {"meaning": meaning.what}, likely=role == "quasi")


def _not_released(profile: Profile, kind: str, dates: DateForm | None) -> str | None:
    """Why the column is not released; ``None`` when it may be."""
    if kind == "direct":
        return "name-unique" if profile.distinct == profile.present else "name"
    if dates is None and profile.identifying_format is not None:
        return "identifying-format"
    if kind == "number" and profile.mostly_distinct:
        return "name-number"
    many = profile.mostly_distinct or (profile.distinct > LISTED and kind != "secret")
    if profile.prose and many and kind not in {"known", "date"}:
        return "free-text"
    if profile.nearly_unique and kind in {"", "number"} and dates is None:
        return "singles-out"
    return None


def _repeats(profile: Profile, meaning: Meaning | None, dates: DateForm | None) -> str:
    """The doubt where a column that tells people apart has fewer values than records: k counts records."""
    numbered = meaning is not None and meaning.kind in {"direct", "number"}
    formatted = dates is None and profile.identifying_format is not None
    if not (numbered or formatted) or profile.distinct == profile.present:
        return ""
    own = meaning is not None and meaning.kind == "direct" and not meaning.shared
    return "person-repeats" if own else "value-repeats"


def searchable(decisions: Sequence[Decision]) -> tuple[list[Decision], int, int]:
    """Keep quasi-identifiers as far as the lattice can be searched; with the nodes of it, and how many were left out.

    Where not all fit, those of which nothing is known but that they have few values go first, all of them: which of
    them to keep is not a draft's to say. If columns with telling names are still too many, the last ones go.
    """
    chosen = {each.name for each in decisions if each.role == "quasi"}
    if _nodes(decisions, chosen) > MOST_NODES:
        likely = {each.name for each in decisions if each.role == "quasi" and each.likely}
        wanted, chosen = likely or chosen, set()
        for each in decisions:
            if each.name in wanted and _nodes(decisions, chosen | {each.name}) <= MOST_NODES:
                chosen.add(each.name)
    result = [
        replace(each, role="identifier", reasons=("too-many-columns",))
        if each.role == "quasi" and each.name not in chosen
        else each
        for each in decisions
    ]
    left_out = sum(old.role != new.role for old, new in zip(decisions, result, strict=True))
    return result, _nodes(decisions, chosen), left_out


def _nodes(decisions: Sequence[Decision], chosen: set[str]) -> int:
    return prod(each.proposal.levels for each in decisions if each.proposal is not None and each.name in chosen)
