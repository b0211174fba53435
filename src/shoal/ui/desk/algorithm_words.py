"""What the page says of each algorithm, option and measure; a test holds that none is forgotten.

The facts are those of ``docs/algorithms`` and ``docs/measures.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class AlgorithmWords:
    """An algorithm for somebody who has to choose one."""

    kind: str
    does: str
    when: str
    not_: str


FULL, LOCAL = "one level a column", "each class for itself"
ALGORITHMS: Mapping[str, AlgorithmWords] = {
    "optimal": AlgorithmWords(
        FULL,
        "Tries all combinations of levels and releases the one that loses least.",
        "First. One level a column is what most readers of a release expect, and no other such release is better.",
        "A few unusual people blur everybody, or are left out.",
    ),
    "incognito": AlgorithmWords(
        FULL,
        "Finds every combination of levels of which none can be lowered, and releases the best or the one you choose.",
        "To see the alternatives and decide by hand which column keeps its detail.",
        "With many columns the combinations are too many; it says so.",
    ),
    "greedy-clustering": AlgorithmWords(
        LOCAL,
        "Puts records that are alike into classes, in order of cost, and then improves the classes.",
        "Where little may be lost, and where there are boundaries. It loses least and takes longer.",
        "Labels of different width stand side by side, which an analysis has to deal with.",
    ),
    "top-down": AlgorithmWords(
        LOCAL,
        "Begins with everything blurred and makes it finer step by step where the models allow.",
        "A fast way where one column dominates, such as postal or diagnosis codes.",
        "It never takes a step back, so it is not the best possible.",
    ),
    "mondrian": AlgorithmWords(
        LOCAL,
        "Cuts the records in parts, each time in the column that spreads widest, as long as the models allow.",
        "The first one to try when one level a column loses too much: fast, and near the best.",
        "Labels of different width stand side by side, which an analysis has to deal with.",
    ),
    "range": AlgorithmWords(
        LOCAL,
        "Masks some columns to make groups, and turns numbers into ranges between neighbours of the group.",
        "To reproduce its paper, or with “one range a group” for numbers that should stay near the truth.",
        "As published it guarantees no model; a release that fails is refused.",
    ),
    "greedy-lattice": AlgorithmWords(
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
