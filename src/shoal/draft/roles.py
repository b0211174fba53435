"""The role that a column is drafted with, and why.

A draft errs on the safe side: what may help to single a person out is a quasi-identifier, what may name a person or
cannot be judged is not released, and every decision says its reason so that a person can overrule it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from shoal.draft.calendar import DateForm, date_form
from shoal.draft.names import Meaning, meaning_of
from shoal.draft.profile import LISTED, Profile
from shoal.draft.propose import Proposal, propose


@dataclass(frozen=True)
class Decision:
    """A column's role in the draft."""

    name: str
    role: str
    why: str
    likely: bool = False
    """For a quasi-identifier: whether its name or its dates say so, not only that it has few values."""
    proposal: Proposal | None = None
    distinct: int = 0
    values: tuple[tuple[str, int], ...] = ()
    """For a sensitive column with few values: these, with their records."""
    missing: int = 0
    warning: str = ""
    """What speaks against the table as it stands: a number of people that repeats."""

    def not_released(self, why: str) -> Decision:
        """The same column, kept out of the release."""
        return replace(self, role="identifier", why=why, proposal=None)


def decide(profile: Profile) -> Decision:
    """The role of a column, from its name and its values."""
    meaning = meaning_of(profile.name)
    if not profile.counts:
        return _without_values(profile, meaning)
    dates = date_form(profile)
    if (why := _identifier(profile, meaning, dates)) is not None:
        return Decision(
            profile.name, "identifier", why, distinct=profile.distinct, warning=_repeats(profile, meaning, dates)
        )
    if meaning is not None and meaning.sort == "secret" and dates is None:
        return _sensitive(profile, meaning)
    if meaning is not None and meaning.sort in {"known", "date"}:
        return _quasi(profile, dates, f"The name says that it is {meaning.what}, which others may know.", likely=True)
    if dates is not None:
        return _quasi(profile, dates, "Its values are dates, and others may know when something happened.", likely=True)
    if profile.constant:
        return Decision(profile.name, "insensitive", "Every record has the same value: it tells nobody apart.")
    why = (
        f"Nothing is known about it, but its {_values(profile)} may help to single a person out. If nobody outside can "
        "know them, make it insensitive (released as it is) or sensitive (protected)."
    )
    warning = _repeats(profile, meaning, dates) if profile.distinct > LISTED else ""
    return replace(_quasi(profile, dates, why, likely=False), warning=warning)


def by_name(name: str) -> Decision:
    """The role of a column of a table that has no records, from its name alone."""
    meaning = meaning_of(name)
    what = f"The name says that it is {meaning.what}; there are no records to judge by." if meaning else ""
    if meaning is not None and meaning.sort == "secret":
        return Decision(name, "sensitive", what)
    if meaning is not None and meaning.sort in {"known", "date"}:
        return Decision(name, "quasi", what, likely=True)
    return Decision(name, "identifier", what or "Nothing is known about it: not released until you decide.")


def _without_values(profile: Profile, meaning: Meaning | None) -> Decision:
    why = f"No value in any of the {profile.missing:,} records, so nothing to release. Check the missing marks above."
    if meaning is not None:
        why += f" The name says that it is {meaning.what}."
    return Decision(profile.name, "identifier", why, missing=profile.missing)


def _identifier(profile: Profile, meaning: Meaning | None, dates: DateForm | None) -> str | None:
    """Why the column is not released; ``None`` when it may be."""
    sort = meaning.sort if meaning is not None else ""
    if sort == "direct" and meaning is not None:
        counts = f" ({_values(profile)})" if profile.distinct == profile.present else ""
        return f"The name says that it is {meaning.what}{counts}."
    if dates is None and profile.identifying_format is not None:
        return f"Nearly all of its {_values(profile)} are written like {profile.identifying_format}."
    if sort == "number" and profile.mostly_distinct:
        return f"The name says that it is a number or code, and it has {_values(profile)}."
    many = profile.mostly_distinct or (profile.distinct > LISTED and sort != "secret")
    if profile.prose and many and sort not in {"known", "date"}:
        return "Free text, which may name people. Not released; to release it, decide what it is and change the role."
    if profile.nearly_unique and sort in {"", "number"} and dates is None:
        return (
            f"Nothing is known about it, and with {_values(profile)} it singles out nearly everyone. Not released "
            "until you decide what it is."
        )
    return None


def _repeats(profile: Profile, meaning: Meaning | None, dates: DateForm | None) -> str:
    """A warning where a column that tells people apart has fewer values than records: k counts records."""
    numbered = meaning is not None and meaning.sort in {"direct", "number"}
    written = dates is None and profile.identifying_format is not None
    if not (numbered or written) or profile.distinct == profile.present:
        return ""
    if meaning is not None and meaning.sort == "direct" and not meaning.shared:
        doubt = "several records may be one person's"
    else:
        doubt = "unless different people share one, several records are one person's"
    return f"{_values(profile)}: {doubt}; k would count records, not people. Make one row a person first."


def _sensitive(profile: Profile, meaning: Meaning) -> Decision:
    why = f"The name says that it is {meaning.what}, which people keep to themselves ({_values(profile)})."
    if profile.distinct == 1:
        why += " All values are the same, so no model can protect it: whoever is in the release has this value."
    elif profile.nearly_unique:
        why += " The values are released as they are, and nearly all differ: someone who knows one finds the record."
    few = profile.distinct <= LISTED and profile.numbers is None
    return Decision(
        profile.name,
        "sensitive",
        why,
        distinct=profile.distinct,
        values=tuple(profile.counts.items()) if few else (),
        missing=profile.missing,
    )


def _quasi(profile: Profile, dates: DateForm | None, why: str, *, likely: bool) -> Decision:
    proposal = propose(profile, dates)
    return Decision(
        profile.name, "quasi", why, likely=likely, proposal=proposal, distinct=profile.distinct, missing=profile.missing
    )


def _values(profile: Profile) -> str:
    """How many values in how many records, in words."""
    values = "1 value" if profile.distinct == 1 else f"{profile.distinct:,} different values"
    records = "1 record" if profile.present == 1 else f"{profile.present:,} records"
    return f"{values} in {records}"
