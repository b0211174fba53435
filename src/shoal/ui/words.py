"""What the page says about each model, parameter, algorithm, option and measure; a test checks that none is missing.

The facts are those of ``docs/models``, ``docs/choosing.md``, ``docs/algorithms`` and ``docs/measures.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.present.report.words import MODELS


def model_title(model: str) -> str:
    """What the page calls a model."""
    return MODELS[model].title if model in MODELS else model


@dataclass(frozen=True)
class ModelCard:
    """A model for somebody who has to decide: the fear it answers, whom it is for, an example, what it leaves open."""

    fear: str
    protects: str
    audience: str
    example: str
    leaves_open: tuple[str, ...]


@dataclass(frozen=True)
class Bounds:
    """What a number may be, and where a person begins."""

    label: str
    help: str
    start: Any
    low: float = 0
    high: float = math.inf
    open_low: bool = False
    step: float = 1

    def to_dict(self) -> dict[str, Any]:
        """As the page has it: no bound is null."""
        return {
            "label": self.label,
            "help": self.help,
            "start": self.start,
            "low": self.low,
            "high": None if math.isinf(self.high) else self.high,
            "open_low": self.open_low,
            "step": self.step,
        }


MODEL_CARDS: Mapping[str, ModelCard] = {
    "k-anonymity": ModelCard(
        "A record is found.",
        "At least k records look alike in everything that others may know, so nobody can tell which of them is a "
        "certain person's.",
        "Everybody in the table. Ask for it always.",
        "With k = 5 whoever knows age, sex and home of a neighbour finds five records or more that fit; a guess is "
        "right once in five times at best.",
        (
            "It says nothing about the sensitive column: if all five have the same illness, it is known.",
            "It counts records, not people: five records of one patient are a class of five.",
            "It holds for the columns named as quasi-identifiers only.",
        ),
    ),
    "p-sensitive": ModelCard(
        "Everybody in a class has the same secret.",
        "Every class (the records that look alike) has at least p different sensitive values.",
        "Tables with a sensitive column whose values are all equally grave. The least that such a column needs.",
        "With p = 3 a neighbour finds at least three different illnesses among the records that fit. Who can rule out "
        "one of them still faces two.",
        (
            "How often each value occurs: nine HIV and one flu are two values.",
            "Values that are alike: HIV and cancer are two values, and both grave.",
        ),
    ),
    "p-alpha-sensitive": ModelCard(
        "A class has grave secrets only.",
        "Every class has at least p different values and a total weight of at least α. A record weighs 0 in the most "
        "sensitive category and 1 in the least sensitive one.",
        "Tables whose values differ in how sensitive they are, and are released themselves. Needs categories.",
        "With p = 2 and α = 1 a class of HIV and cancer alone fails; one flu among them weighs 1 and is enough.",
        (
            "Shares: fifty HIV and one flu weigh 1.",
            "Classes of one middle category: four kinds of chronic illness may satisfy both.",
        ),
    ),
    "p-plus-alpha-sensitive": ModelCard(
        "All secrets of a class are equally grave.",
        "Every class has at least p different categories and a total weight of at least α, so not even the kind of a "
        "secret follows from the class.",
        "Tables in which learning how grave somebody's secret is would already hurt. Needs categories.",
        "With p = 2 a class of HIV and cancer fails, since both are in the gravest category.",
        (
            "Shares: nine grave and two harmless records satisfy p = 2 and α = 2.",
            "It is as good as the categories: what lies in one is declared to be alike.",
        ),
    ),
    "group-leakage": ModelCard(
        "A grave kind of secret becomes likely.",
        "Every class has at least p different categories, and each category has at most its share α of the class.",
        "Tables in which some categories must stay unlikely for everybody, each to its own degree. Needs categories.",
        "With α = 0.4 for the gravest category a neighbour believes with at most 40 % that somebody has something "
        "grave.",
        (
            "Values inside a category: with a limit of 0.5, half of a class may be HIV and nothing else grave.",
            "A limit below the category's share of the whole table cannot be reached without leaving records out.",
        ),
    ),
    "alp-dif": ModelCard(
        "A few named values become likely.",
        "For each value that you name: the belief in it, averaged over those who have it, is at most alp, and in no "
        "class more than dif above that average.",
        "Tables in which a few values are the secret (a diagnosis, a conviction) and the rest are not.",
        "With alp = 0.4 and dif = 0.2 for HIV nobody is believed to have it with more than 60 %.",
        (
            "Values that are not named.",
            "Two named values together may fill a class between them.",
            "It depends on the whole release, so a search cannot skip anything and may take long.",
        ),
    ),
    "distinct-l-diversity": ModelCard(
        "Everybody in a class has the same secret.",
        "Every class has at least l different sensitive values. It is p-sensitive under another name.",
        "Where others ask for l-diversity and mean the count.",
        "With l = 3 a neighbour finds at least three different illnesses among the records that fit.",
        ("How often each value occurs, and how alike values are.",),
    ),
    "entropy-l-diversity": ModelCard(
        "A secret becomes nearly certain.",
        "The values of every class are as evenly spread as l equally frequent ones would be.",
        "Columns with many values of roughly equal frequency.",
        "With l = 2 two values of half a class each just suffice; nine of one and one of another do not.",
        (
            "One single limit: half of a class may be one value if the other half is spread wide.",
            "A column with one very frequent value often cannot reach it at all.",
        ),
    ),
    "recursive-cl-diversity": ModelCard(
        "People know what somebody does not have.",
        "The most frequent value of every class is less than c times all values from the l-th on together. It goes on "
        "holding, one l lower, when an attacker rules a value out.",
        "Where attackers are expected to know what people do not have, and frequencies matter.",
        "With l = 2 and c = 2 the most frequent value has less than two thirds of a class.",
        (
            "How grave or how alike values are.",
            "Two parameters that are hard to explain; (α, k)-anonymity limits the share directly.",
        ),
    ),
    "alpha-k-anonymity": ModelCard(
        "A certain secret becomes likely.",
        "No sensitive value has more than a share α of any class. One limit for all values, or one for each value.",
        "Where a plain limit on certainty is wanted that can be said in one sentence.",
        "With α = 0.5 nobody is believed to have any one illness with more than 50 %.",
        (
            "Values that are alike: HIV and cancer with 0.5 each fill a class.",
            "Rare values: from 1 % to 50 % is a large step, and allowed by α = 0.5.",
        ),
    ),
    "t-closeness": ModelCard(
        "A group is shown to be different from the rest.",
        "The sensitive values of every class are distributed nearly as in the whole release: at most t has to move.",
        "Where it would hurt to show that a district or an age group is different.",
        "With t = 0.3 knowing somebody's class changes the belief in an illness by 30 percentage points at most.",
        (
            "The whole distribution: if 40 % of the release have HIV, everybody is believed to, with 40 %.",
            "Small classes differ by chance, so a small t forces large classes and costs much detail.",
        ),
    ),
}


def _share(label: str, meaning: str, start: Any, *, above_zero: bool = False) -> Bounds:
    """A number from 0 to 1."""
    return Bounds(label, meaning, start, high=1, open_low=above_zero, step=0.05)


PARAMETERS: Mapping[str, Mapping[str, Bounds]] = {
    "k-anonymity": {"k": Bounds("k", "records that every class has at least", 5, low=1)},
    "p-sensitive": {"p": Bounds("p", "different values that every class has at least", 2, low=1)},
    "p-alpha-sensitive": {
        "p": Bounds("p", "different values that every class has at least", 2, low=1),
        "alpha": Bounds("α (alpha)", "total weight that every class has at least", 1, step=0.5),
    },
    "p-plus-alpha-sensitive": {
        "p": Bounds("p", "different categories that every class has at least", 2, low=1),
        "alpha": Bounds("α (alpha)", "total weight that every class has at least", 1, step=0.5),
    },
    "group-leakage": {
        "p": Bounds("p", "different categories that every class has at least", 2, low=1),
        "alpha": _share("α (alpha)", "largest share of a class that each category may have", 0.5, above_zero=True),
    },
    "alp-dif": {
        "limits": _share("limits", "for each protected value", {"alp": 0.5, "dif": 0.2}),
    },
    "distinct-l-diversity": {"l": Bounds("l", "different values that every class has at least", 2, low=1)},
    "entropy-l-diversity": {
        "l": Bounds("l", "equally frequent values that a class is as uncertain as", 2, low=1, step=0.5)
    },
    "recursive-cl-diversity": {
        "l": Bounds("l", "the rank from which values are summed", 2, low=1),
        "c": Bounds("c", "how many times that sum the most frequent value stays below", 2, open_low=True, step=0.5),
    },
    "alpha-k-anonymity": {
        "alpha": _share("α (alpha)", "largest share of a class that a value may have", 0.5, above_zero=True)
    },
    "t-closeness": {
        "t": _share("t", "largest distance of a class from the whole release", 0.3),
        "distance": Bounds("distance", "what it costs to move from one value to another", "equal"),
    },
}
"""Where a person begins; t after docs/choosing.md, the others the least that means something, or the docs' examples."""

DISTANCES: Mapping[str, str] = {
    "equal": "equal: any two values are equally far apart",
    "ordered": "ordered: by their places in the order, for numbers and dates with a hierarchy",
    "hierarchical": "hierarchical: by their place in a tree or in categories",
}


@dataclass(frozen=True)
class Preset:
    """A beginning that others use, with the reason for every figure (docs/choosing.md)."""

    id: str
    title: str
    why: str
    k: int
    suppression: float | None = None
    categories: bool = False
    """Whether (p⁺, α) is asked beside it on the columns that have categories."""

    def to_dict(self) -> dict[str, Any]:
        """As the page has it."""
        return {
            "id": self.id,
            "title": self.title,
            "why": self.why,
            "k": self.k,
            "suppression": self.suppression,
            "categories": self.categories,
        }


PRESETS = (
    Preset(
        "internal",
        "Internal sharing: k = 3",
        "Practice ranges from k = 3 for internal use. Contracts and access control must do the rest, and sensitive "
        "columns need a model of their own.",
        3,
    ),
    Preset(
        "health",
        "Health data: k = 10, (p⁺, α), 5 %",
        "A good beginning for health data: k = 10, (p⁺, α) where there are categories (p = 2 categories, α = 1: one "
        "harmless record in every class), and 5 % of the records may be left out.",
        10,
        0.05,
        categories=True,
    ),
    Preset(
        "public",
        "Public release: k = 12",
        "The European Medicines Agency recommends a risk of at most 0.09 for publishing clinical reports; k = 12 keeps "
        "1/k below it. No law that we know names a k. Sensitive columns need a model of their own.",
        12,
    ),
)


@dataclass(frozen=True)
class AlgorithmCard:
    """An algorithm for somebody who has to choose one."""

    scope: str
    does: str
    when: str
    drawback: str


FULL, LOCAL = "one level per column", "each class separately"
ALGORITHM_CARDS: Mapping[str, AlgorithmCard] = {
    "optimal": AlgorithmCard(
        FULL,
        "Tries all combinations of levels and releases the one that loses least.",
        "First. One level a column is what most readers of a release expect, and no other such release is better.",
        "A few unusual people blur everybody, or are left out.",
    ),
    "incognito": AlgorithmCard(
        FULL,
        "Finds every combination of levels of which none can be lowered, and releases the best or the one you choose.",
        "To see the alternatives and decide by hand which column keeps its detail.",
        "With many columns the combinations are too many; it says so.",
    ),
    "greedy-clustering": AlgorithmCard(
        LOCAL,
        "Puts records that are alike into classes, in order of cost, and then improves the classes.",
        "Where little may be lost, and where there are boundaries. It loses least and takes longer.",
        "Labels of different width stand side by side, which an analysis has to deal with.",
    ),
    "top-down": AlgorithmCard(
        LOCAL,
        "Begins with everything blurred and makes it finer step by step where the models allow.",
        "A fast way where one column dominates, such as postal or diagnosis codes.",
        "It never takes a step back, so it is not the best possible.",
    ),
    "mondrian": AlgorithmCard(
        LOCAL,
        "Cuts the records in parts, each time in the column that spreads widest, as long as the models allow.",
        "The first one to try when one level a column loses too much: fast, and near the best.",
        "Labels of different width stand side by side, which an analysis has to deal with.",
    ),
    "range": AlgorithmCard(
        LOCAL,
        "Masks some columns to make groups, and turns numbers into ranges between neighbours of the group.",
        "To reproduce its paper, or with “one range a group” for numbers that should stay near the truth.",
        "As published it guarantees no model; a release that fails is refused.",
    ),
    "greedy-lattice": AlgorithmCard(
        FULL,
        "Walks one path: raises the column that costs least until the models hold.",
        "With more columns than optimal can search, or with weights that say which columns matter.",
        "It may miss the best combination, and with some models one that exists.",
    ),
}

OPTIONS: Mapping[str, tuple[str, str, str]] = {
    "metric": ("measure", "Measure to keep low", "What the algorithm minimizes."),
    "seed": (
        "whole",
        "Seed",
        "Where something is drawn at random it is drawn from this number; the same number gives the same result.",
    ),
    "refine": (
        "seconds",
        "Seconds to go on improving",
        "At most so long is the result improved after it was found. Empty for not at all.",
    ),
    "ranges": (
        "columns",
        "Columns released as ranges",
        "Numbers of these columns are released as the tight range of their class, such as 22<=30.",
    ),
    "weights": ("weights", "Weights", "From 0 to 1 for each column; columns without one count as usual."),
    "faithful": (
        "yes-no",
        "The paper's choices to the letter",
        "Clusters as Campan et al. 2010 have them. Every record is compared with every other, which takes long.",
    ),
    "safe": (
        "yes-no",
        "One range a group",
        "All records of a group share one range. Only then can the models hold as a rule.",
    ),
    "group": (
        "levels",
        "Columns that make the groups",
        "Each masked to a level: 0 for the values themselves. Empty for a column that makes no group.",
    ),
    "node": (
        "levels",
        "Levels to release",
        "One level for each column: one of the combinations that the picture under “Understand” offers. Empty for the "
        "best one.",
    ),
}
"""For each option of an algorithm: what kind of control it has, its label, and a sentence."""

WEIGHTS: Mapping[str, tuple[str, str]] = {
    "greedy-lattice": (
        "quasi",
        "A column of weight 1 costs nothing to blur, so give the columns that matter small weights. 0 when empty.",
    ),
    "greedy-clustering": ("sensitive", "How much each sensitive column counts; only with the paper's choices."),
}
"""The columns that weights are of, and what they mean, by algorithm."""

MEASURES: Mapping[str, str] = {
    "loss": "detail lost, giving up one column costing less than blurring all alike",
    "ncp": "detail lost, averaged over all cells",
    "ntil": "height of the released labels in their hierarchies",
    "distortion_ratio": "levels raised, of those that could be",
    "precision": "detail kept by levels (higher is better)",
    "wang_loss": "detail lost, averaged over all cells, by the whole domain",
    "discernibility": "how many records each record looks like",
    "average_class_size": "records in a class on average",
    "suppressed": "records left out",
    "constraint_violations": "cells beyond their boundary: 0 in every release",
}
