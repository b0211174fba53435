"""The attacks one after the other on a scene that is set, and what they found.

Needs nothing of how tables are read, so that the pipeline can attack what it has just made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from shoal.attacks import composition, downcoding, inference, inversion, linkage, minimality
from shoal.attacks.background import background
from shoal.attacks.earlier_releases import Earlier, composed
from shoal.attacks.estimate import NEEDS_ORIGINAL, Estimate, not_applicable, not_tried
from shoal.attacks.homogeneity import homogeneity, homogeneity_insensitive
from shoal.attacks.inversion import RangeMethod
from shoal.attacks.people import population_scene
from shoal.attacks.scene import Population, Released
from shoal.attacks.scene_setup import Rows, released_scene, rows_of_recoding, rows_of_release
from shoal.attacks.similarity import similarity
from shoal.attacks.skewness import skewness
from shoal.encode.resolve import Resolved, resolve
from shoal.errors import InputError
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.problem import Progress, no_progress
from shoal.table.distinct_rows import DistinctRows
from shoal.table.recoding import Recoding

RULED_OUT = 3
"""Values that the attacker with background knowledge can rule out, unless said otherwise."""
BY_INSENSITIVE = ("homogeneity-insensitive", linkage.WITH_INSENSITIVE)
"""The attacks by insensitive columns, which are not made where these were kept apart."""
_NO_EARLIER = "no earlier release was given."
_NOTHING_SENSITIVE = "the policy names no sensitive column."


@dataclass(frozen=True)
class AttackReport:
    """What each attack found."""

    estimates: tuple[Estimate, ...]
    seed: int

    @property
    def leaks(self) -> tuple[Estimate, ...]:
        """The attacks that got more than their baseline explains."""
        return tuple(each for each in self.estimates if each.leak)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, ready for JSON."""
        return {"attacks": [each.to_dict() for each in self.estimates], "seed": self.seed}

    def __str__(self) -> str:
        tried = sum(each.status == "tried" for each in self.estimates)
        names = ", ".join(dict.fromkeys(each.name for each in self.leaks))
        return f"{len(self.leaks)} of {tried} attacks found a leak{': ' + names if names else ''}"


def attack_tables(
    policy: Policy,
    released: pa.Table | None,
    original: DistinctRows | None = None,
    *,
    resolved: Resolved | None = None,
    recoding: Recoding | None = None,
    seed: int = 0,
    ruled_out: int = RULED_OUT,
    progress: Progress = no_progress,
) -> AttackReport:
    """The attacks on a release that was just made.

    With ``original``, ``resolved`` (of these rows) and ``recoding`` the released table is not needed, and nothing is
    encoded a second time; the report is the same as from the tables alone.
    """
    check_options(seed, ruled_out)
    if original is not None and resolved is not None and recoding is not None:
        rows = rows_of_recoding(policy, original, resolved, recoding)
    else:
        rows, recoding = rows_of_release(released, policy), None
    stage = Stage(policy, rows, [], seed, ruled_out, progress)
    if original is None:
        return stage.report()
    return stage.report(original, resolved or resolve(policy, original), recoding)


def check_options(seed: int, ruled_out: int) -> None:
    """Refuse a seed or a number of values that makes no sense."""
    if seed < 0:
        raise InputError(f"the seed is {seed}; a seed is a whole number from 0 on.")
    if ruled_out < 1:
        raise InputError(f"{ruled_out} values are to be ruled out; at least 1 can be.")


def _unseen(rows: Rows) -> str:
    """Why attacks by insensitive columns were not made."""
    names = ", ".join(rows.unseen)
    return f"at this size {names} were released without being held against each other in memory."


@dataclass(frozen=True, eq=False)
class Stage:
    """A release and what is known of the attackers."""

    policy: Policy
    rows: Rows
    earlier: Sequence[Earlier]
    seed: int
    ruled_out: int
    progress: Progress

    def report(
        self,
        original: DistinctRows | None = None,
        resolved: Resolved | None = None,
        recoding: Recoding | None = None,
    ) -> AttackReport:
        """Set the scene and let everybody try."""
        released = released_scene(self.rows, self.policy)
        population = None
        if original is not None and resolved is not None:
            released, population = population_scene(released, self.rows, self.policy, original, resolved, recoding)
        acts = list(self._acts(released, population, original, resolved))
        estimates: list[Estimate] = []
        for place, (name, act) in enumerate(acts):
            self.progress(f"attacking by {name}", place / len(acts))
            estimates += act()
        return AttackReport(tuple(estimates), self.seed)

    def _acts(
        self,
        released: Released,
        population: Population | None,
        original: DistinctRows | None,
        resolved: Resolved | None,
    ) -> Iterator[tuple[str, Callable[[], list[Estimate]]]]:
        """Each attack by name, ready to be run, in the order of reports."""
        yield "homogeneity", lambda: self._on_secrets("homogeneity", released, homogeneity)
        yield (
            "homogeneity-insensitive",
            lambda: self._on_secrets("homogeneity-insensitive", released, self._homogeneity_insensitive),
        )
        yield "similarity", lambda: self._on_secrets("similarity", released, similarity)
        yield "skewness", lambda: self._on_secrets("skewness", released, skewness)
        yield (
            "background",
            lambda: self._on_secrets(
                "background", released, lambda scene, column: background(scene, column, self.ruled_out)
            ),
        )
        yield "minimality", lambda: [self._minimality(released, population)]
        yield "inversion", lambda: [inversion.inversion(released, self._range_method(), population, self.seed)]
        yield "downcoding", lambda: [self._downcoding(released, population)]
        yield "linkage", lambda: self._linkage(released, population)
        yield (
            "inference",
            lambda: self._on_secrets(
                "inference", released, lambda scene, column: inference.inference(scene, column, self.seed)
            ),
        )
        yield "composition", lambda: self._composition(released, population, original, resolved)

    def _on_secrets(self, name: str, released: Released, one: Callable[[Released, str], Estimate]) -> list[Estimate]:
        """An attack on each sensitive column."""
        columns = list(released.stats.domains)
        if not columns:
            return [not_applicable(name, "Somebody who wants to know a secret.", _NOTHING_SENSITIVE)]
        return [one(released, column) for column in columns]

    def _homogeneity_insensitive(self, released: Released, column: str) -> Estimate:
        if self.rows.unseen:
            return not_tried("homogeneity-insensitive", linkage.ATTACKER_INSENSITIVE, _unseen(self.rows), column)
        return homogeneity_insensitive(released, column)

    def _minimality(self, released: Released, population: Population | None) -> Estimate:
        if population is None:
            return not_tried(minimality.NAME, minimality.ATTACKER, NEEDS_ORIGINAL)
        return minimality.minimality(released, population, self.policy.algorithm.name)

    def _downcoding(self, released: Released, population: Population | None) -> Estimate:
        if population is None:
            return not_tried(downcoding.NAME, downcoding.ATTACKER, NEEDS_ORIGINAL)
        return downcoding.downcoding(released, population)

    def _linkage(self, released: Released, population: Population | None) -> list[Estimate]:
        if population is not None and self.rows.unseen:
            first = linkage.linkage(released, population, self.seed)[0]
            return [first, not_tried(linkage.WITH_INSENSITIVE, linkage.ATTACKER_INSENSITIVE, _unseen(self.rows))]
        if population is not None:
            return linkage.linkage(released, population, self.seed)
        first = not_tried(linkage.NAME, linkage.ATTACKER, NEEDS_ORIGINAL)
        return [first, not_tried(linkage.WITH_INSENSITIVE, linkage.ATTACKER_INSENSITIVE, NEEDS_ORIGINAL)]

    def _composition(
        self,
        released: Released,
        population: Population | None,
        original: DistinctRows | None,
        resolved: Resolved | None,
    ) -> list[Estimate]:
        if not released.stats.domains:
            return [not_applicable(composition.NAME, composition.ATTACKER, _NOTHING_SENSITIVE)]
        if not self.earlier:
            return [not_tried(composition.NAME, composition.ATTACKER, _NO_EARLIER)]
        row_tuple = None if resolved is None else resolved.problem.table.row_tuple
        this = Earlier(released, self.policy)
        return composed(this, population, original, row_tuple, self.earlier, self.seed)

    def _range_method(self) -> RangeMethod | None:
        asked, quasi = self.policy.algorithm, self.policy.names("quasi")
        if ALGORITHMS[asked.name].search != "one-result":
            return None
        places = [tuple(quasi.index(name) for name in names) for names in (asked.group, asked.ranges)]
        return RangeMethod(places[0], places[1], asked.safe)
