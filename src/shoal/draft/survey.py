"""Which columns of a survey say who lives together, and how many people of the population a record stands for."""

from functools import cache

from shoal.draft.profile import Profile
from shoal.draft.propose import words_of
from shoal.draft.wording import read_texts

_MEMBERS = 12  # records that a household has on average, at most
_DECIMALS = 3  # nobody weighs people so exactly: a column called weight with more is a sampling weight


@cache
def _words(key: str) -> frozenset[str]:
    return frozenset(read_texts("names")[key].split())


def names_household(name: str) -> bool:
    """Whether a name is that of a household's number: ``hh_id``, ``Haushaltsnummer``, ``household``."""
    words, joined = set(words_of(name)), "".join(words_of(name))
    households, numbers = _words("household_words"), _words("number_words")
    together = any(joined.startswith(each) and joined.removeprefix(each) in numbers for each in households)
    return together or bool(words & households and words & numbers) or joined in households


def survey_column(profile: Profile, *, of_survey: bool) -> str | None:
    """``household`` or ``weight`` where name and values fit; ``of_survey`` where a column numbers households."""
    if profile.missing or profile.constant:
        return None
    if names_household(profile.name):
        return "household" if _fits_households(profile) else None
    return "weight" if _fits_weights(profile) and _names_weight(profile, of_survey=of_survey) else None


def _fits_households(profile: Profile) -> bool:
    """Whether the values are numbers or codes that a few records each have in common."""
    numbered = all(any(sign.isdigit() for sign in value) for value in profile.counts)
    return numbered and profile.distinct < profile.present <= _MEMBERS * profile.distinct


def _fits_weights(profile: Profile) -> bool:
    """Whether the values are numbers above 0 that sum to no fewer people than records."""
    numbers = profile.numbers
    return numbers is not None and numbers[0][0] > 0 and sum(value * n for value, n in numbers) >= profile.present


def _names_weight(profile: Profile, *, of_survey: bool) -> bool:
    """Whether the name is that of a sampling weight: a weight alone may be that of a body."""
    words, joined = set(words_of(profile.name)), "".join(words_of(profile.name))
    if words & _words("sampling_weight_names") or joined in _words("sampling_weight_names"):
        return True
    if words & _words("weight_words") and words & _words("sampling_words"):
        return True
    return words <= _words("weight_words") and (of_survey or profile.decimals >= _DECIMALS)
