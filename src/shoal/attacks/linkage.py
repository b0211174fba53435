"""Linkage: an attacker who holds a list of people with their quasi-identifiers looks for each one's released record.

L. Sweeney, "k-anonymity: a model for protecting privacy", 2002; consistency after Gionis, Mazza & Tassa 2008
(k-Anonymization Revisited). A person's record is one of the n released records that the person's values fit - the
*crowd* - and nothing in the quasi-identifiers tells which, so the best guess links the person rightly with 1/n. Summed
over all people that is the expected number of right links. In a partition into classes it is the number of classes;
where labels overlap, as in local recodings, crowds are larger and links fewer. The baseline is a guess within a class:
the most that anybody can do who matches all people to all records at once, since within a class nothing tells records
apart. Exposed is who hides among fewer than the k that the policy asks for (fewer than two where it asks for none).

Where labels overlap, a class that a person fits may be out of the question, its records being all of others. Whoever
matches all people at once sees that (`shoal.attacks.matchings`): the crowd is what some assignment allows. Nobody is in
a crowd smaller than the smallest class, so this is looked at only where a class has fewer than k records; elsewhere it
could not expose anybody, and crowds are all records that fit.

Insensitive columns are released as they are and the models do not look at them. Whoever knows them of a person links
by them as well: the same attack with these columns added is reported beside, the quasi-identifiers alone its baseline.

Not covered: people outside the original, who would make crowds larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.attacks.estimate import Estimate, counted, not_applicable, percent
from shoal.attacks.fits import Cover, covers_of, fitting_pairs
from shoal.attacks.matchings import possible_pairs
from shoal.attacks.scene import Ints, Population, Released
from shoal.attacks.statistics import Interval, mean_interval

NAME = "linkage"
WITH_INSENSITIVE = "linkage-insensitive"
VICTIMS = 20_000
"""People who are looked for where each may fit several classes; a random sample where there are more."""
MOST_PAIRS = 1_000_000
"""Pairs of a tuple and a class, as the sample has them, up to which all people are matched at once; the report says
where there are more."""
_ATTACKER = "Somebody with a list of all people of the original and their quasi-identifiers"
ATTACKER = f"{_ATTACKER}."
ATTACKER_INSENSITIVE = f"{_ATTACKER}, and their insensitive columns as well."


@dataclass(frozen=True, eq=False)
class Crowds:
    """The released records that people fit."""

    sizes: Ints
    """Released records that the people of each distinct tuple fit, 0 left out."""
    people: Ints
    """How many people each of these figures is about."""
    of: int
    """People of the original who fit any released record, in all."""
    sampled: bool
    matching: str
    """Whether all people were matched at once: ``done``, ``not needed``, ``impossible`` or ``too many pairs``."""

    @property
    def smallest(self) -> int:
        """Size of the smallest crowd; 0 where nobody fits any record."""
        return int(self.sizes.min()) if len(self.sizes) else 0

    def mean(self) -> float:
        """Mean size of a crowd."""
        return float((self.sizes * self.people).sum() / max(self.people.sum(), 1))

    def rate(self) -> float:
        """Expected share of right links."""
        return float((self.people / self.sizes).sum() / max(self.people.sum(), 1))

    def interval(self) -> Interval | None:
        """The interval of the rate; None where everybody was looked for."""
        return mean_interval(np.repeat(1.0 / self.sizes, self.people)) if self.sampled else None

    def below(self, k: int) -> int:
        """People in crowds smaller than k, scaled up from the sample."""
        few = int(self.people[self.sizes < k].sum())
        return few if not self.sampled else round(few * self.of / max(int(self.people.sum()), 1))


def crowds(released: Released, population: Population, seed: int, *, insensitive: bool = False) -> Crowds:
    """Count the released records that people fit, with the insensitive columns or without."""
    covers = covers_of(released, population)
    codes, counts, cells, sizes = population.codes, population.counts, released.cells, released.sizes
    if insensitive:
        assert released.extras is not None
        assert population.extras is not None
        extra, owner, counts = population.extras
        codes = np.vstack([codes[:, owner], extra])
        cells = np.vstack([cells[:, released.extras.owner], released.extras.codes])
        sizes = released.extras.sizes
        covers += [Cover.same(int(max(a.max(initial=0), b.max(initial=0))) + 1)
                   for a, b in zip(extra, released.extras.codes, strict=True)]  # fmt: skip
    chosen, people = np.arange(len(counts)), counts
    many = any(bool((cover.lengths > 1).any()) for cover in covers)
    if many and len(counts) > VICTIMS:
        chosen, people = sampled_people(counts, VICTIMS, seed)
    sampled = len(chosen) < len(counts)
    item, box = fitting_pairs(codes[:, chosen], cells, covers)
    matching = "not needed"
    if many and bool((sizes < released.k).any()):
        matching = "too many pairs"
        if len(item) * len(counts) <= MOST_PAIRS * len(chosen):
            pairs = fitting_pairs(codes, cells, covers) if sampled else (item, box)
            item, box, matching = _narrowed((item, box), pairs, chosen, counts, sizes)
    crowd = np.bincount(item, weights=sizes[box], minlength=len(chosen)).astype(np.int64)
    found = crowd > 0
    of = int(people[found].sum())
    if sampled:
        of = round(of * int(counts.sum()) / max(int(people.sum()), 1))
    return Crowds(crowd[found], people[found], of, sampled, matching)


def _narrowed(
    some: tuple[Ints, Ints], pairs: tuple[Ints, Ints], chosen: Ints, counts: Ints, sizes: Ints
) -> tuple[Ints, Ints, str]:
    """The pairs of the chosen tuples that are possible when all people are matched at once, and whether that was done.

    ``pairs`` are those of all tuples.
    """
    possible = possible_pairs(pairs, counts, sizes)
    if possible is None:
        return *some, "impossible"
    place = np.full(len(counts), -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    kept = possible & (place[pairs[0]] >= 0)
    return place[pairs[0][kept]], pairs[1][kept], "done"


def sampled_people(counts: Ints, size: int, seed: int) -> tuple[Ints, Ints]:
    """A sample of people without replacement, from tuples with counts: the tuples met, and how often each."""
    places = np.random.default_rng(seed).choice(int(counts.sum()), size=min(size, int(counts.sum())), replace=False)
    tuples, people = np.unique(np.searchsorted(np.cumsum(counts), places, side="right"), return_counts=True)
    return tuples.astype(np.int64), people.astype(np.int64)


def linkage(released: Released, population: Population, seed: int) -> list[Estimate]:
    """Link by the quasi-identifiers and, where there are insensitive columns, by these as well."""
    by_quasi = crowds(released, population, seed)
    within_class = len(released.sizes) / released.records
    first = _estimate(
        NAME, ATTACKER, released, by_quasi, within_class, "guessing within a person's class: classes over records"
    )
    if released.extras is None or population.extras is None:
        reason = "the policy releases no insensitive column."
        return [first, not_applicable(WITH_INSENSITIVE, ATTACKER_INSENSITIVE, reason)]
    by_all = crowds(released, population, seed, insensitive=True)
    alone = "the same links by the quasi-identifiers alone"
    second = _estimate(WITH_INSENSITIVE, ATTACKER_INSENSITIVE, released, by_all, by_quasi.rate(), alone)
    return [first, second]


_HOW = {
    "done": ", without those that must be of others when all people are matched at once",
    "not needed": "",
    "impossible": " (not matching all people at once: the release has records that no person of their own fits)",
    "too many pairs": f" (not matching all people at once, for which more than {MOST_PAIRS:,} pairs fit)",
}


def _estimate(
    name: str, attacker: str, released: Released, found: Crowds, baseline: float, baseline_is: str
) -> Estimate:
    records = found.below(released.k)
    by = ["the quasi-identifiers"]
    if name == WITH_INSENSITIVE and released.extras is not None:
        by.append(", ".join(released.extras.columns))
    whom = f"a random sample of {int(found.people.sum()):,} people" if found.sampled else "everybody"
    return Estimate(
        name=name,
        status="tried",
        attacker=attacker,
        tried=f"Looked for {whom} by {' and '.join(by)} and guessed one of the records that fit{_HOW[found.matching]}; "
        f"a success is a right guess, and exposed is who is left with fewer than {released.k} records.",
        records=records,
        of=found.of,
        rate=found.rate(),
        baseline=baseline,
        baseline_is=baseline_is,
        interval=found.interval(),
        leak=bool((found.sizes < released.k).any()),
        verdict=_verdict(name, released, found, records),
        details=_details(found, released.k),
    )


def _details(found: Crowds, k: int) -> dict[str, Any]:
    least = found.smallest
    return {
        "k": k,
        "matching_all_at_once": found.matching,
        "expected_right_links": round(found.rate() * found.of, 3),
        "smallest_crowd": least,
        "highest_probability": round(1 / least, 6) if least else 0.0,
        "linked_with_certainty": found.below(2),
    }


def _verdict(name: str, released: Released, found: Crowds, records: int) -> str:
    least = found.smallest
    if not least:
        return "Nobody of the original fits a released record."
    links = f"{percent(found.rate())} of the links would be right"
    if least >= released.k:
        whom = "Everybody of the sample" if found.sampled else "Everybody"
        return f"{whom} hides among {least:,} records or more; {links}."
    known = ""
    if name == WITH_INSENSITIVE and released.extras is not None:
        known = f"For whoever knows {', '.join(released.extras.columns)}, "
    certain = found.below(2)
    told = f"{known}{counted(records, 'person hides', 'people hide')} among fewer than {released.k} records"
    told += f", {certain:,} of them alone" if certain else ""
    return f"{told[0].upper()}{told[1:]}; {links}."
