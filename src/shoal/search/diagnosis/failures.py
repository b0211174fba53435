"""What fails in a candidate release: the facts of every answer to "why not?".

Everything is judged as `shoal.search.evaluation` judges: classes that fail are left out, models on the whole
release are tested again on the rest, and no more records may be left out than the budget allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.hierarchies.hierarchy import Label
from shoal.models.base import Model, Shortfall
from shoal.search.evaluation import class_holds, evaluate_stats
from shoal.table.classes import ClassStats


@dataclass(frozen=True)
class Lack:
    """What a class, or the release as a whole, lacks for one model."""

    model: str
    sensitive: str | None
    lacks: tuple[Shortfall, ...]


@dataclass(frozen=True)
class Failure:
    """How many classes fail one model, as they are."""

    model: str
    sensitive: str | None
    classes: int
    records: int


@dataclass(frozen=True)
class Judgement:
    """What comes of a candidate release."""

    holds: bool  # whether every model holds with no more records left out than may be
    fails: tuple[Failure, ...]  # the models that classes fail with nothing left out
    left_out: int  # records that have to be left out before every class that remains holds
    may_be_left_out: int
    fails_as_a_whole: tuple[Lack, ...] = ()
    """The models whose condition on the release as a whole fails on what remains."""

    @property
    def clean(self) -> bool:
        """Whether every model holds with nothing left out."""
        return self.holds and not self.left_out


@dataclass(frozen=True)
class FinerPart:
    """Records of a class that would have one finer value."""

    value: Label
    records: int
    class_size: int  # records of the class that they would be in
    lacks: tuple[Lack, ...]  # what that class would lack; nothing where it holds
    own: bool = False  # whether the record that is asked about is one of them


@dataclass(frozen=True)
class Split:
    """Some or all parts of a class released finer."""

    parts: tuple[FinerPart, ...]
    rest: FinerPart | None  # the records that stay as they were, if any do
    judgement: Judgement  # what comes of the release as a whole
    measure: float | None = None
    """The measure that the search minimizes, where the candidate holds and is a lattice node."""

    @property
    def at_a_price(self) -> bool:
        """Whether it holds if more is left out, but not the part of the record asked about, nor every part."""
        asked = [part for part in self.parts if part.own] or self.parts
        return self.judgement.holds and any(not part.lacks for part in asked)


def judge(models: Sequence[Model], stats: ClassStats, allowed: int) -> Judgement:
    """Judge the classes of a candidate release, all of them."""
    failures = []
    for model in models:
        failing = ~model.holds(stats.view(model.column))
        if failing.any():
            records = int(stats.sizes[failing].sum())
            failures.append(Failure(model.name, model.column, int(failing.sum()), records))
    holds, kept = evaluate_stats(models, stats, allowed)
    left_out = int(stats.sizes[~kept].sum())
    whole = []
    if kept.any():
        rest = stats.keep(kept)
        for model in models:
            view = rest.view(model.column)
            if model.whole_table and not model.table_holds(view):
                whole.append(Lack(model.name, model.column, model.shortfalls(view, 0)))  # classes kept hold
    return Judgement(holds, tuple(failures), left_out, allowed, tuple(whole))


def lacks(models: Sequence[Model], stats: ClassStats, classes: Sequence[int]) -> list[tuple[Lack, ...]]:
    """What each of some classes lacks with nothing left out."""
    found: list[list[Lack]] = [[] for _ in classes]
    for model in models:
        view = stats.view(model.column)
        held = model.holds(view)
        for each, index in zip(found, classes, strict=True):
            if not held[index]:
                each.append(Lack(model.name, model.column, model.shortfalls(view, index)))
    return [tuple(each) for each in found]


def left_out_for(models: Sequence[Model], stats: ClassStats, index: int) -> tuple[Lack, ...]:
    """What one class lacks when it is left out; nothing where it is kept.

    Models on the whole release see only what is left by then, so a class may fail them that did not at first.
    """
    whole = [model for model in models if model.whole_table]
    kept = np.ones(stats.n_classes, dtype=np.bool_)
    asked = [model for model in models if not model.whole_table]
    while True:
        rest, place = stats.keep(kept), int(np.count_nonzero(kept[:index]))
        (found,) = lacks(asked, rest, [place])
        if found:
            return found
        held = class_holds(asked, rest)
        kept[np.flatnonzero(kept)[~held]] = False
        if held.all() and asked is whole:
            return ()
        asked = whole
