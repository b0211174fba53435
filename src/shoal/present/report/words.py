"""What models, measures and stages mean, for a reader who does not program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

AT_LEAST, AT_MOST = "at least", "at most"


@dataclass(frozen=True)
class ModelWords:
    """A model in words."""

    title: str
    sentence: str
    bounds: Mapping[str, str] = field(default_factory=dict)
    """For each parameter, on which side of it a class must lie."""


@dataclass(frozen=True)
class MeasureWords:
    """A measure in words."""

    title: str
    sentence: str
    higher_is_better: bool
    scale: str
    """The values it can take, in words."""


CLASS = (
    "A class is a group of released records that are equal in all quasi-identifiers, the columns by which a person "
    "might be recognized. Someone who recognizes a person by them finds the class, not the record."
)

MODELS: dict[str, ModelWords] = {
    "k-anonymity": ModelWords(
        "k-anonymity",
        "Every class has at least k records, so nobody can be narrowed down to fewer than k records by the "
        "quasi-identifiers.",
        {"k": AT_LEAST},
    ),
    "p-sensitive": ModelWords(
        "p-sensitivity",
        "Every class has at least p different values of the sensitive column, so knowing a person's class does not "
        "by itself tell the value.",
        {"p": AT_LEAST},
    ),
    "p-alpha-sensitive": ModelWords(
        "(p, α)-sensitivity",
        "Every class has at least p different sensitive values, and the weights of its records, from 0 in the most "
        "to 1 in the least sensitive category, add up to at least α, so no class is made of grave values alone.",
        {"p": AT_LEAST, "alpha": AT_LEAST},
    ),
    "p-plus-alpha-sensitive": ModelWords(
        "(p⁺, α)-sensitivity",
        "Every class has values of at least p different categories, and the weights of its records, from 0 in the "
        "most to 1 in the least sensitive category, add up to at least α, so a class does not give away even the "
        "category.",
        {"p": AT_LEAST, "alpha": AT_LEAST},
    ),
    "group-leakage": ModelWords(
        "Group leakage",
        "Every class has values of at least p different categories, and each category with a limit α makes up at "
        "most that share of any class, so grave categories can be kept rarer than harmless ones.",
        {"p": AT_LEAST, "alpha": AT_MOST},
    ),
    "alp-dif": ModelWords(
        "(alp, dif)-anonymity",
        "For each protected value, its share of a class is at most alp on average over the records that have the "
        "value, and in no class does it exceed that average by more than dif, so the value is neither easy to guess "
        "on the whole nor given away by single classes.",
        {"alp": AT_MOST, "dif": AT_MOST},
    ),
    "distinct-l-diversity": ModelWords(
        "Distinct l-diversity",
        "Every class has at least l different values of the sensitive column, so knowing a person's class does not "
        "by itself tell the value.",
        {"l": AT_LEAST},
    ),
    "entropy-l-diversity": ModelWords(
        "Entropy l-diversity",
        "The sensitive values of every class are at least as mixed as l equally frequent values would be (measured "
        "by entropy), so a few values do not outweigh all others.",
        {"l": AT_LEAST},
    ),
    "recursive-cl-diversity": ModelWords(
        "Recursive (c, l)-diversity",
        "In every class the most frequent sensitive value occurs less than c times as often as the l-th most frequent "
        "value and all rarer ones together, so the most frequent value does not outweigh the rarer ones.",
        {"l": AT_LEAST, "c": AT_MOST},
    ),
    "alpha-k-anonymity": ModelWords(
        "(α, k)-anonymity",
        "No limited sensitive value makes up more than a share α of any class, so nobody who knows a person's class "
        "can guess such a value with more certainty than that.",
        {"alpha": AT_MOST},
    ),
    "t-closeness": ModelWords(
        "t-closeness",
        "The sensitive values of every class are distributed nearly as in the whole release, at a distance of at most "
        "t between 0 (equal) and 1, so knowing a person's class tells little beyond what the whole release tells.",
        {"t": AT_MOST},
    ),
}
"""The models by their names in the policy. The k of a model's full name is asked for by k-anonymity beside it."""

_UNIT = "0 to 1"
_COUNT = "0 or more"

MEASURES: dict[str, MeasureWords] = {
    "ncp": MeasureWords(
        "NCP (normalized certainty penalty)",
        "How wide the released values are, on average over all quasi-identifier cells: 0 when every value is released "
        "as it was, 1 when each is fully generalized or suppressed.",
        higher_is_better=False,
        scale=_UNIT,
    ),
    "loss": MeasureWords(
        "Loss",
        "The NCP of the single columns, joined by a geometric mean of 1 + NCP in place of a plain mean.",
        higher_is_better=False,
        scale=_UNIT,
    ),
    "ntil": MeasureWords(
        "NTIL (normalized total information loss)",
        "How many levels of the hierarchy lie under the released value, out of all its levels, on average over the "
        "cells; a suppressed cell counts 1.",
        higher_is_better=False,
        scale=_UNIT,
    ),
    "distortion_ratio": MeasureWords(
        "Distortion ratio",
        "By how many levels values were raised, out of all levels they could be raised; a suppressed cell counts "
        "as raised to the top.",
        higher_is_better=False,
        scale=_UNIT,
    ),
    "precision": MeasureWords(
        "Precision",
        "One minus the share of its hierarchy's height by which a value was raised, on average over the cells: 1 when "
        "nothing was generalized.",
        higher_is_better=True,
        scale=_UNIT,
    ),
    "wang_loss": MeasureWords(
        "Loss of Wang, Xu and Qu",
        "Like NCP, with the width of a value measured against the number of all values, itself included.",
        higher_is_better=False,
        scale=_UNIT,
    ),
    "discernibility": MeasureWords(
        "Discernibility",
        "Each released record counts the size of its class, each suppressed record the size of the whole table, and "
        "all are added up.",
        higher_is_better=False,
        scale=_COUNT,
    ),
    "average_class_size": MeasureWords(
        "Average class size",
        "Released records divided by classes. Small classes keep more detail; the models decide how small they may be.",
        higher_is_better=False,
        scale=_COUNT,
    ),
    "suppressed": MeasureWords(
        "Suppressed records",
        "Records that are not in the release, or only as rows of *.",
        higher_is_better=False,
        scale=_COUNT,
    ),
    "constraint_violations": MeasureWords(
        "Boundary violations",
        "Released values that are generalized further than the boundary that the policy sets for them.",
        higher_is_better=False,
        scale=_COUNT,
    ),
}
"""The measures by their names in the evidence."""

STAGES = {
    "read": "Reading the data",
    "encode": "Preparing columns and hierarchies",
    "search": "Searching for the release",
    "recode": "Generalizing the records",
    "write": "Writing the release",
    "verify": "Independent check",
    "bound": "Bounding the least possible loss",
    "attack": "Attacking the release",
    "compose": "Comparing with earlier releases",
    "evidence": "Measuring the release",
    "utility": "Measuring utility for the task",
}

ROLES = {
    "identifier": "identifier",
    "quasi": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}

RELEASED_AS = {
    "identifier": "not released",
    "quasi": "generalized",
    "insensitive": "unchanged",
}

PUBLISHED = {
    "values": "values, unchanged",
    "categories": "categories instead of values",
    "both": "values and their categories",
}

NOT_PROTECTED = (
    (
        "Several records of one person.",
        "The models count records, not people. If a person has several records, a class of k records may hold fewer "
        "than k people, perhaps only one. Classes count people only if the table has one row per person.",
    ),
    (
        "Knowledge from elsewhere.",
        "Someone who knows more about a person than the quasi-identifiers (a date of admission, a relative's illness, "
        "an answer that can be ruled out) may narrow down a class further than the figures say.",
    ),
    (
        "Likely guesses.",
        "A class with several sensitive values can still make one of them much more likely than the others. Only "
        "models on sensitive columns limit this, and only as far as their limits go.",
    ),
    (
        "Presence.",
        "The models do not hide whether a person is in the table. If being in it is itself sensitive, that is not "
        "protected.",
    ),
    (
        "Other releases.",
        "Two releases about the same people, each safe alone, can be joined. The models look at this one only.",
    ),
    (
        "Wrong roles.",
        "A column by which people can be recognized, but which the policy does not declare as a quasi-identifier, is "
        "not generalized, and the classes do not take it into account.",
    ),
    (
        "General patterns.",
        "What the table shows about groups (a region, an age band) is true of the people in these groups, whether or "
        "not their records are in it.",
    ),
)
"""What the models do not protect from, whichever are required: in short, and in a sentence."""
