"""Attribute inference: learning from the whole release how labels go with values, and guessing people by it.

G. Cormode, "Personal privacy vs population privacy: learning to attack anonymization", 2011, trains naive Bayes on
released classes; D. Kifer, "Attacks on privacy and deFinetti's theorem", 2009. The attacker counts how often each label
of each quasi-identifier goes with each value, over all classes, and guesses a person's value from the person's
labels, whatever class that is. Unlike the attacks on single classes this is about people who need not be in the
release: each half of the records, drawn at random, is guessed by what the other half teaches, so nobody is guessed
from their own record.

Without the release an attacker knows the overall frequencies at best, and guesses the most frequent value. A rule is
learnt where more people are guessed right than so, and than where the same values are dealt at random over the records:
with many labels a rule fits such dealings as well. A leak is what 5% of the dealings reach at most (over all sensitive
columns together), if it adds 1% of right guesses at least.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, tried
from shoal.attacks.between_columns.guessed import MATERIAL
from shoal.attacks.chance.permutation_tests import dealings_for, p_values
from shoal.attacks.chance.random_dealings import dealt_records, generator_for
from shoal.attacks.chance.statistics import CHANCE, wilson
from shoal.attacks.released_classes import Codes, Ints, Released
from shoal.table.classes import Floats

_SMOOTHING = 1.0  # laplace: one record more of each label with each value, so that nothing is held to be impossible
_LEAST = 2
_START = 0.2  # how far classes may differ from the whole, as advice to begin with


class Inference(Attack):
    """Learns from each half of the records and guesses the other."""

    name = "inference"
    title = "Learning from all records"
    attacker = "Somebody who knows a person's quasi-identifiers and learns from all released records."
    attempt = (
        "Trains a simple classifier (naive Bayes) on each half of the release and guesses the sensitive values of the "
        "other half. A success is a right guess; exposed is how many more are guessed right than without the release."
    )
    baseline = "right guesses by the overall frequencies, or by rules learned from values shuffled at random"
    position = 100
    on_sensitive = True
    tells_people_apart = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Guess every value of the column by naive Bayes, each half of the records from the other."""
        view, of = scene.released.stats.view(column), scene.released.known(column)
        if np.count_nonzero(view.totals) < _LEAST or not scene.released.quasi or of < 2 * _LEAST:
            return not_applicable("one-value")
        owner, values = _people(scene, column)
        tests = sum(scene.released.known(name) > 0 for name in scene.rows.sensitive)
        times, generator = dealings_for(tests), generator_for(scene.seed, owner, values)
        guessed = _halves(scene.released, owner, generator.permutation(len(owner)) % 2, len(view.domain.values))
        right, dealt = guessed(values), list[int]()

        def dealings() -> Iterator[Ints]:
            for _ in range(times):
                dealt.append(guessed(values[generator.permutation(len(values))]))
                yield np.array([dealt[-1:]])

        p_value = min(float(p_values([right], dealings())[0]) * tests, 1.0)
        base_rate, by_chance = float(view.totals.max()) / of, sum(dealt) / len(dealt) / len(owner)
        rate, baseline = right / len(owner), max(base_rate, by_chance)
        leak = p_value <= CHANCE and rate - baseline >= MATERIAL
        return tried(
            records=round((rate - baseline) * of) if leak else 0,
            of=of,
            rate=rate,
            baseline=baseline,
            interval=wilson(right, len(owner)),
            leak=leak,
            certain=None,
            p_value=p_value,
            base_rate=base_rate,
            by_chance=by_chance,
            advantage=rate - baseline,
            guesses=len(owner),
            dealings=len(dealt),
        )

    @staticmethod
    def needed(result: AttackResult) -> Mapping[str, float]:  # noqa: ARG004 - always the same
        """A distance to begin with: how far is enough, only a run tells."""
        return {"distance": _START}


def _people(scene: Scene, column: str) -> tuple[Ints, Ints]:
    """Class and value of each record whose value is known (of each person where people are known), or of a sample."""
    rows, domain = scene.rows, scene.released.stats.domains[column]
    values = rows.sensitive[column][1].astype(np.int64)
    known = np.flatnonzero(domain.known[values])
    order = known[np.argsort(rows.owner[known] * len(domain.values) + values[known], kind="stable")]
    if rows.person is None:
        order = np.repeat(order, rows.weights[order])
    else:
        order = order[np.sort(np.unique(rows.person[order], return_index=True)[1])]
    order = order[dealt_records(rows.owner[order], scene.seed)]
    return rows.owner[order], values[order]


def _halves(released: Released, owner: Ints, half: Ints, n_values: int) -> Callable[[Ints], int]:
    """How many values are guessed right when each half of the records is guessed by what the other teaches."""
    classes, own = np.unique(owner, return_inverse=True)
    labels = [
        _Labels.of(len(each), cells[classes]) for each, cells in zip(released.labels, released.cells, strict=True)
    ]
    labels = [each for each in labels if each.possible > 1]  # one label alone teaches nothing
    halves = [np.flatnonzero(half == index) for index in (0, 1)]
    of_records = [[each.of_class[own[records]] for each in labels] for records in halves]

    def right(values: Ints) -> int:
        found = 0
        for index, records in enumerate(halves):
            guess = _learn(labels, of_records[index], values[records], n_values, len(classes))
            others = halves[1 - index]
            found += int(np.count_nonzero(guess[own[others]] == values[others]))
        return found

    return right


@dataclass(frozen=True, eq=False)
class _Labels:
    """The labels of one quasi-identifier that occur in some classes."""

    possible: int  # labels of the whole release
    occurring: int
    of_class: Ints

    @staticmethod
    def of(possible: int, cells: Codes) -> "_Labels":
        occurring, of_class = np.unique(cells, return_inverse=True)
        return _Labels(possible, len(occurring), of_class.astype(np.int64))


def _learn(labels: Sequence[_Labels], of_records: Sequence[Ints], values: Ints, n_values: int, n_classes: int) -> Ints:
    """The most likely value of each class by its labels: prior times the likelihood of each label.

    ``of_records`` are the labels, and ``values`` the values, of the records that are learned from.
    """
    prior = np.bincount(values, minlength=n_values)
    score: Floats = np.tile(np.log(np.maximum(prior, 1e-300)), (n_classes, 1))
    for each, mine in zip(labels, of_records, strict=True):
        together = np.bincount(mine * n_values + values, minlength=each.occurring * n_values)
        likelihood = (together.reshape(-1, n_values) + _SMOOTHING) / (prior + _SMOOTHING * each.possible)
        score += np.log(likelihood)[each.of_class]
    return np.asarray(score.argmax(axis=1), dtype=np.int64)
