"""Which of the likely quasi-identifiers one search can take: the product of their levels has a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from shoal.draft.roles import Decision

MOST_NODES = 1_000_000
"""Far below what a search takes at most, so that the first run of a draft is a matter of a minute, not of a day."""


@dataclass(frozen=True)
class Fitted:
    """The decisions, some columns kept out of the release so that the search can be made, and how large it is."""

    decisions: list[Decision]
    nodes: int
    left_out: int


def fit(decisions: Sequence[Decision]) -> Fitted:
    """Keep quasi-identifiers as far as the lattice can be searched.

    Where not all fit, those of which nothing is known but that they have few values go first, all of them: which of
    them to keep is not a draft's to say. If columns whose names speak are still too many, the last ones go.
    """
    chosen = {each.name for each in decisions if each.role == "quasi"}
    if _nodes(decisions, chosen) > MOST_NODES:
        likely = {each.name for each in decisions if each.role == "quasi" and each.likely}
        chosen = _as_far_as_fits(decisions, likely or chosen)
    result = [_left_out(each) if each.role == "quasi" and each.name not in chosen else each for each in decisions]
    left_out = sum(old.role != new.role for old, new in zip(decisions, result, strict=True))
    return Fitted(result, _nodes(decisions, chosen), left_out)


def _as_far_as_fits(decisions: Sequence[Decision], wanted: set[str]) -> set[str]:
    chosen: set[str] = set()
    for each in decisions:
        if each.name in wanted and _nodes(decisions, chosen | {each.name}) <= MOST_NODES:
            chosen.add(each.name)
    return chosen


def _nodes(decisions: Sequence[Decision], chosen: set[str]) -> int:
    return prod(each.proposal.levels for each in decisions if each.proposal is not None and each.name in chosen)


def _left_out(decision: Decision) -> Decision:
    return decision.not_released(
        f"Its {decision.distinct:,} different values may help to single a person out, but there are more such columns "
        "than one search can take (see above). Not released; to release it, make it quasi and another one identifier."
    )
