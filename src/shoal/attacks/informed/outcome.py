"""What the informed adversary believes, and how much of that the release alone would not have told."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.attacks.attack import AttackResult, share, tried
from shoal.attacks.chance.statistics import Interval
from shoal.attacks.informed.knowledge import PriorKnowledge
from shoal.table.classes import Floats
from shoal.table.recoding import SUPPRESSED

RAISED = 0.1
"""By how much the belief in somebody's true secret must rise for the person to be exposed without being certain."""
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Beliefs:
    """How many records of each cell have each secret, to somebody who knows how the release was made."""

    expected: Floats  # on average, by cell and secret
    least: Floats  # in every world that explains the release, by cell and value of the column
    margin: Floats | None = None  # how far off ``expected`` may be where it was sampled; None where it is exact
    interval: Interval | None = None  # of the mean belief in the true secret


def outcome(known: PriorKnowledge, column: str, beliefs: Beliefs, **details: Any) -> AttackResult:
    """The beliefs in everybody's true value of a column against what the release alone says."""
    domain = known.problem.domains[column]
    records = known.by_value(known.true, column) * domain.known  # unknown values are nobody's secret
    people = np.maximum(known.by_tuple(known.sizes[:, None]), 1)
    before, after = (known.by_value(each, column) / people for each in (known.baseline, beliefs.expected))
    sure = (known.by_tuple(beliefs.least) >= people - _ROUNDING) & (before < 1 - _ROUNDING)
    rise = after - before
    secure = rise if beliefs.margin is None else rise - known.by_value(beliefs.margin, column) / people
    exposed = sure | (secure >= RAISED - _ROUNDING)
    left_out = _share_left_out(known)
    of, found = records.sum(), records * exposed
    worst = float((rise * (records > 0)).max(initial=0.0))
    return tried(
        records=round(float(found.sum())),
        of=round(float(of)),
        rate=share(float((after * records).sum()), float(of)),
        baseline=share(float((before * records).sum()), float(of)),
        leak=bool(found.sum() > 0),
        interval=beliefs.interval,
        certain=round(float((records * sure).sum())),
        suppressed_exposed=round(float((found.sum(axis=1) * left_out).sum())),
        largest_rise=worst,
        raised_by=RAISED,
        **details,
    )


def _share_left_out(known: PriorKnowledge) -> Floats:
    """Which share of the records of each tuple was left out; all or none, unless the algorithm splits tuples."""
    n_tuples = known.problem.table.n_tuples
    out = np.bincount(known.tuples, weights=known.sizes * (known.owner == SUPPRESSED), minlength=n_tuples)
    return np.asarray(out / np.maximum(np.bincount(known.tuples, weights=known.sizes, minlength=n_tuples), 1))
