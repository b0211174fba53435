"""What an algorithm must have refused to release what it did, as far as quasi-identifiers alone tell.

A search takes what holds. Whoever knows everybody's quasi-identifiers and the code sees which finer candidates it came
by and did not take: in each of them a model failed, and that says something about secrets. A candidate is given here
by the groups of tuples that it consists of; what holds in it is for the models to say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.models import least_size
from shoal.search.conceal import REFUSED, decoy_chances
from shoal.search.problem import Problem
from shoal.table.classes import Floats, Mask

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
SecretValues = Mapping[str, Codes]
"""For each sensitive column that models read, the value of each secret."""


@dataclass(frozen=True, eq=False)
class DealtClasses:
    """Classes with secrets dealt to their people, by entries in ascending order of the class."""

    owner: Ints
    tuples: Ints
    secret: Ints
    count: Ints
    n: int
    values: SecretValues
    n_secrets: int


Uncut = Callable[[DealtClasses], Mask]
"""Which of some classes a search would leave as they are."""


@dataclass(frozen=True, eq=False)
class RefusedNode:
    """A finer candidate for the whole table that would have been taken with so many records in failing groups."""

    name: str  # what was refused, for the details of an attack
    group: Ints  # of each tuple
    tolerated: int
    by_chance: float = 0.0  # the most probably that it is refused although it holds


@dataclass(frozen=True, eq=False)
class Refusals:
    """All that is known to have been refused, and how probably that would have happened to what holds.

    Where the search conceals, each chance is the largest that there may be: with a smaller one a refusal says more.
    """

    failed: Ints
    """For each tuple that is suppressed the group with which it was: the group failed a model, unless its size
    explains it. -1 for tuples that are released, and where nothing follows."""
    nodes: Sequence[RefusedNode] = ()
    uncut: Uncut | None = None
    uncut_classes: Callable[[Ints, Ints], bool] | None = None
    """Whether a released class, by its tuples and the records of each, is certain to be one that was not cut."""
    failed_by_chance: Floats | None = None
    """For each tuple, how probably its group is left out although it holds; None where that is not possible."""
    uncut_by_chance: Callable[[int], float] | None = None
    """How probably a class of so many records stays whole although it could be cut; None where it cannot."""
    concealed: bool = False


def judged_alone(problem: Problem) -> bool:
    """Whether every group can be judged by its own records and what is known of the whole release."""
    if problem.counts_people or not all(model.judges_classes for model in problem.models):
        return False
    return not problem.budget or not any(model.whole_table for model in problem.models)


def refused_by_chance(problem: Problem) -> float:
    """How probably a node for the whole table is refused although it holds."""
    return 0.0 if problem.concealing is None else REFUSED


def failed_by_chance(problem: Problem, group: NDArray[np.integer]) -> Floats | None:
    """How probably the group of each tuple is left out although it holds (`shoal.search.decoys`)."""
    if problem.concealing is None or not problem.budget:
        return None
    sizes = np.bincount(group, weights=problem.table.counts, minlength=1).astype(np.int64)
    possible = sizes >= least_size(model for model in problem.models if model.column is None and not model.whole_table)
    chances = np.zeros(len(sizes))
    chances[possible] = decoy_chances(sizes[possible])
    return np.asarray(chances[group])


def failed_groups(problem: Problem, group: NDArray[np.integer], shown: Codes) -> Ints:
    """The groups of suppressed tuples that are large enough, so that a model on secrets must have failed."""
    sizes = np.bincount(group, weights=problem.table.counts, minlength=1)
    suppressed = shown[0] < 0
    return np.where(suppressed & (sizes[group] >= least_size(problem.models)), group, -1).astype(np.int64)
