"""The attackers in words, and what helps against each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AttackWords:
    """An attack in words."""

    title: str
    remedy: str
    """What makes a release less open to it."""


ATTACKS: dict[str, AttackWords] = {
    "homogeneity": AttackWords(
        "A class with one value gives it away",
        "ask for several values in every class: p-sensitive, or an l-diversity.",
    ),
    "homogeneity-insensitive": AttackWords(
        "An insensitive column gives it away",
        "make those columns quasi-identifiers, or leave them out, unless nobody can know them.",
    ),
    "similarity": AttackWords(
        "A class of one category gives it away",
        "ask for several categories in every class: p-plus-alpha-sensitive or group-leakage.",
    ),
    "skewness": AttackWords(
        "A class makes a value likely",
        "limit how far classes may differ from the whole: t-closeness, or alpha-k-anonymity for single values.",
    ),
    "background": AttackWords(
        "Ruling values out",
        "ask for more values in every class (a larger p or l), or for recursive-cl-diversity.",
    ),
    "minimality": AttackWords(
        "Knowing how the search works",
        "choose a local algorithm, or allow some suppression: both leave open why a value was generalized.",
    ),
    "inversion": AttackWords(
        "Undoing the range method",
        "set safe: true for the range method, or choose another algorithm.",
    ),
    "downcoding": AttackWords(
        "Narrowing labels down",
        "choose a full-domain algorithm, where no label lies within another, or ask for a larger k.",
    ),
    "linkage": AttackWords(
        "Linking a list of people",
        "ask for a larger k, or choose a full-domain algorithm, where a person fits one class only.",
    ),
    "linkage-insensitive": AttackWords(
        "Linking by insensitive columns too",
        "make those columns quasi-identifiers, or leave them out, unless nobody can know them.",
    ),
    "inference": AttackWords(
        "Learning from all records",
        "limit how far classes may differ from the whole: t-closeness.",
    ),
    "composition": AttackWords(
        "Joining earlier releases",
        "withdraw an earlier release, or keep the same classes for the same people.",
    ),
}
"""The attacks by their names in the evidence."""
