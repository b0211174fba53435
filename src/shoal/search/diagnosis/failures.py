"""What fails in a candidate release: the facts of every answer to "why not?".

Everything is judged as `shoal.search.evaluation` judges: classes that fail are left out, models on the whole
release are tested again on the rest, and no more records may be left out than the budget allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.hierarchies.hierarchy import Label
from shoal.models.base import Model, Shortfall
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.evaluation import class_holds, evaluate_stats, failing_view
from shoal.search.lattice.nodes import Node, released_nodes
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Mask

_EXAMPLES = 3


@dataclass(frozen=True)
class BlockedClass:
    """A class that fails a model."""

    labels: Mapping[str, Label]  # what it releases; columns that are fully generalized are left out
    records: int
    lacks: tuple[Shortfall, ...]


@dataclass(frozen=True)
class Failure:
    """How many classes fail one model, as they are."""

    model: str
    sensitive: str | None
    classes: int
    records: int


@dataclass(frozen=True)
class Blocker(Failure):
    """A model that some classes fail, or the table as a whole does."""

    examples: tuple[BlockedClass, ...] = ()  # the largest classes that fail
    table_lacks: tuple[Shortfall, ...] = ()  # what the table as a whole lacks, where every class of it holds


@dataclass(frozen=True, eq=False)
class TopClasses:
    """The classes at the most general node that the boundaries allow: Campan's maximum allowed microdata."""

    problem: Problem
    engine: LocalEngine
    node: Node
    grouping: Grouping
    stats: ClassStats

    @staticmethod
    def of(problem: Problem, engine: LocalEngine) -> TopClasses:
        """Group at the top of the lattice."""
        top = tuple(levels - 1 for levels in problem.shape)
        grouping = engine.classes(top)
        return TopClasses(problem, engine, top, grouping, engine.stats(grouping, problem.sensitive_columns))

    def labels(self, index: int) -> dict[str, Label]:
        """What sets a class apart: its labels in the columns that a boundary keeps from being fully generalized."""
        nodes = released_nodes(self.problem, self.node, self.grouping.representatives[index : index + 1])[0]
        columns = zip(self.problem.table.quasi, self.problem.hierarchies, nodes.tolist(), strict=True)
        return {name: hierarchy.labels[node] for name, hierarchy, node in columns if node != hierarchy.root}


def blockers(
    models: Sequence[Model], stats: ClassStats, labels: Callable[[int], Mapping[str, Label]]
) -> Iterator[Blocker]:
    """Each model that fails, with the largest classes that fail it."""
    for model in models:
        failing: Mask = ~class_holds([model], stats)
        if failing.any():
            examples = tuple(largest_failing(model, stats, failing, labels))
            records = int(stats.records[failing].sum())
            yield Blocker(model.name, model.column, int(failing.sum()), records, examples)
        elif views := [view for each in stats.judged if not model.table_holds(view := each.view(model.column))]:
            lacks = model.shortfalls(views[0], 0)
            yield Blocker(model.name, model.column, stats.n_classes, int(stats.records.sum()), table_lacks=lacks)


def largest_failing(
    model: Model, stats: ClassStats, failing: Mask, labels: Callable[[int], Mapping[str, Label]]
) -> Iterator[BlockedClass]:
    """The largest classes that fail a model."""
    classes = np.flatnonzero(failing)
    for index in classes[np.argsort(-stats.records[classes], kind="stable")[:_EXAMPLES]].tolist():
        yield BlockedClass(
            labels(index), int(stats.records[index]), model.shortfalls(*failing_view(model, stats, index))
        )


@dataclass(frozen=True)
class Lack:
    """What a class, or the release as a whole, lacks for one model."""

    model: str
    sensitive: str | None
    lacks: tuple[Shortfall, ...]


@dataclass(frozen=True)
class Judgement:
    """What comes of a candidate release."""

    holds: bool  # whether every model holds with no more records left out than may be
    fails: tuple[Failure, ...]  # the models that classes fail with nothing left out
    left_out: int  # records that have to be left out before every class that remains holds
    may_be_left_out: int
    fails_as_a_whole: tuple[Lack, ...] = ()  # models whose condition on the whole release fails on the rest

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
    measure: float | None = None  # what the search minimizes, where the candidate holds and is a lattice node

    @property
    def at_a_price(self) -> bool:
        """Whether it holds if more is left out, but not the part of the record asked about, nor every part."""
        asked = [part for part in self.parts if part.own] or self.parts
        return self.judgement.holds and any(not part.lacks for part in asked)


def judge(models: Sequence[Model], stats: ClassStats, allowed: int) -> Judgement:
    """Judge the classes of a candidate release, all of them."""
    failures, whole = [], []
    holds, kept = evaluate_stats(models, stats, allowed)
    rest = stats.restricted_to(kept)
    for model in models:
        failing = ~class_holds([model], stats)
        if failing.any():
            records = int(stats.records[failing].sum())
            failures.append(Failure(model.name, model.column, int(failing.sum()), records))
        for view in [each.view(model.column) for each in rest.judged] if model.whole_table and kept.any() else ():
            if not model.table_holds(view):
                whole.append(Lack(model.name, model.column, model.shortfalls(view, 0)))  # classes kept hold
                break
    return Judgement(holds, tuple(failures), int(stats.records[~kept].sum()), allowed, tuple(whole))


def lacks(models: Sequence[Model], stats: ClassStats, classes: Sequence[int]) -> list[tuple[Lack, ...]]:
    """What each of some classes lacks with nothing left out."""
    found: list[list[Lack]] = [[] for _ in classes]
    for model in models:
        held = class_holds([model], stats)
        for each, index in zip(found, classes, strict=True):
            if not held[index]:
                each.append(Lack(model.name, model.column, model.shortfalls(*failing_view(model, stats, index))))
    return [tuple(each) for each in found]


def left_out_for(models: Sequence[Model], stats: ClassStats, index: int) -> tuple[Lack, ...]:
    """What one class lacks when it is left out, perhaps only after others are; nothing where it is kept."""
    whole = [model for model in models if model.whole_table]
    kept = np.ones(stats.n_classes, dtype=np.bool_)
    asked = [model for model in models if not model.whole_table]
    while True:
        rest, position = stats.restricted_to(kept), int(np.count_nonzero(kept[:index]))
        (found,) = lacks(asked, rest, [position])
        if found:
            return found
        held = class_holds(asked, rest)
        kept[np.flatnonzero(kept)[~held]] = False
        if held.all() and asked is whole:
            return ()
        asked = whole
