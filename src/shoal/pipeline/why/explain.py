"""`why`: why a record or a class was generalized so far, and what blocks less.

The answer looks at the release as it was made: the class that the record went to, what the models reach there, and for
each quasi-identifier the next finer choice, judged anew (`finer_step`). It is for the owner of the data: it
names values of records, and nothing of it is written anywhere.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from shoal.encode.conceal_key import refuse_repeating
from shoal.evidence.describe import describe_models, figure
from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.ranges import RangedHierarchy
from shoal.metrics import ReleaseSummary
from shoal.pipeline.run import as_policy, make_release
from shoal.pipeline.why.find import Matches, find, renamed
from shoal.policy import Policy
from shoal.present.why import explanation_text
from shoal.search import ALGORITHMS
from shoal.search.bounds.cheapest_box import Box, box_cost, cheapest_box
from shoal.search.diagnosis.failures import Lack, Split, left_out_for
from shoal.search.diagnosis.finer_step import Solution, finer
from shoal.search.lattice.nodes import Node, released_nodes
from shoal.search.problem import Problem, Progress, no_progress
from shoal.table.recoding import SUPPRESSED, Recoding


@dataclass(frozen=True)
class ColumnWhy:
    """One quasi-identifier: what was released, and what one step less would do."""

    column: str
    value: Label  # the record's own value; for a class nothing
    released: Label
    level: int | None  # the level that the column is released at, where it is the same for all records
    height: int
    splits: tuple[Split, ...]  # what was tried; empty where the column is released as it is

    @property
    def verdict(self) -> Literal["as it is", "open", "open at a price", "blocked"]:
        """``as it is``, ``open`` (nothing blocks less), ``open at a price`` (if more is left out) or ``blocked``."""
        if not self.splits:
            return "as it is"
        judged = [split.judgement for split in self.splits]
        if any(each.clean or (each.holds and self.level is not None) for each in judged):
            return "open"
        return "open at a price" if any(split.at_a_price for split in self.splits) else "blocked"


@dataclass(frozen=True)
class LeftOut:
    """Why a record is not in the release: its class at a level of detail, and what that class lacks."""

    where: str
    """``release``: as the released records are generalized; ``boundary``: as far as the boundaries allow."""
    labels: Mapping[str, Label]
    size: int
    lacks: tuple[Lack, ...]


@dataclass(frozen=True)
class Why:
    """Why a record or a class was generalized so far, and what blocks less; ``str`` says it in words."""

    algorithm: str
    search: str
    """How the algorithm searches (`shoal.search.AlgorithmEntry.search`)."""
    record: int | None  # the record's number, counted from 1; None where a class was asked about
    alike: int  # records with the same quasi-identifiers, this one included; of a class 0
    values: Mapping[str, Label]  # the record's quasi-identifiers; of a class none
    number: int | None
    """The class that it went to, counted from 1 in the order of the release; None where it was left out."""
    classes: int
    size: int
    models: tuple[Mapping[str, Any], ...]  # each model as asked and as reached in the class
    columns: tuple[ColumnWhy, ...]
    metric: str
    measure: float  # the measure of the release that the search minimized
    cheapest: Box | None  # the cheapest box that could hold the record at all; None where there are too many to look at
    cost: float | None
    """What the record's own class costs, to compare with the cheapest box; only for local recodings without ranges."""
    left_out: tuple[LeftOut, ...] = ()
    box_here: int = 0  # records of the cheapest box that are in the record's own class, itself included
    box_left_out: int = 0  # records of the cheapest box that were left out

    @property
    def suppressed(self) -> bool:
        """Whether the record was left out."""
        return self.number is None

    def __repr__(self) -> str:
        """The verdicts in one line."""
        what = f"record {self.record}" if self.record is not None else f"class {self.number}"
        if self.suppressed:
            return f"<Why: {what} was left out>"
        verdicts = ", ".join(f"{each.column} {each.verdict}" for each in self.columns)
        return f"<Why: {what} in a class of {self.size}: {verdicts}>"

    def __str__(self) -> str:
        return explanation_text(self)

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data, ready for JSON."""
        columns = []
        for column in self.columns:
            facts = asdict(column)
            finer = [{**split, **split.pop("judgement")} for split in facts.pop("splits")]
            columns.append({**facts, "verdict": column.verdict, "finer": finer})
        box = self.cheapest and {
            "values": list(self.cheapest.labels),
            "cost": self.cheapest.cost,
            "records": self.cheapest.records,
            "records_in_own_class": self.box_here,
            "records_left_out": self.box_left_out,
            "together_fails": [{"model": model, "sensitive": column} for model, column in self.cheapest.fails],
        }
        return {
            "algorithm": self.algorithm,
            "record": self.record,
            "records_alike": self.alike,
            "values": dict(self.values),
            "suppressed": self.suppressed,
            "class": self.number,
            "classes": self.classes,
            "released": {each.column: each.released for each in self.columns},
            "size": self.size,
            "models": [dict(model) for model in self.models],
            "columns": columns,
            "metric": self.metric,
            "measure": self.measure,
            "cheapest_box": box,
            "cost": self.cost,
            "left_out": [renamed(each, labels="class") for each in self.left_out],
        }


def why(
    policy: Policy | str | Path | Mapping[str, Any] | None,
    data: Any = None,
    *,
    record: int | None = None,
    where: Mapping[str, Any] | None = None,
    in_class: int | None = None,
    progress: Progress = no_progress,
) -> Why | Matches:
    """Anonymize, write nothing, and say why a record or a class came out as it did; the options are `explain`'s."""
    asked = as_policy(policy, "why()")
    refuse_repeating(asked)
    result = make_release(data, asked, progress=progress)
    problem = result.record_problem
    assert problem is not None, "the records are held"
    name = result.made_by.algorithm.name
    return explain(problem, result.record_recoding, name, record=record, where=where, in_class=in_class)


def explain(
    problem: Problem,
    recoding: Recoding,
    algorithm: str,
    *,
    record: int | None = None,
    where: Mapping[str, Any] | None = None,
    in_class: int | None = None,
) -> Why | Matches:
    """Why a record or class of a release came out as it did.

    Name one of: ``record``, its number in the data from 1; ``where``, values of quasi-identifiers (of the data or as
    released); ``in_class``, the number of a class from 1 in the order of the release. Where the values fit several
    records that did not all fare alike, the answer lists their classes. Raises `InputError` where nothing fits.
    """
    found = find(problem, recoding, record=record, where=where, in_class=in_class)
    if isinstance(found, Matches):
        return found
    (row, record), solution, table = found, Solution(problem, recoding), problem.table
    at: int | None = None if recoding.row_class[row] == SUPPRESSED else int(recoding.row_class[row])
    own = row if record is not None else None
    values: dict[str, Label] = {}
    if own is not None:
        leaves = zip(table.quasi, problem.hierarchies, table.codes[:, table.row_tuple[own]], strict=True)
        values = {name: hierarchy.labels[leaf] for name, hierarchy, leaf in leaves}
    cheapest = cost = None
    ranged = any(isinstance(each, RangedHierarchy) for each in recoding.hierarchies)
    if own is not None and at is not None and solution.node is None and not ranged:
        cheapest = cheapest_box(problem, int(table.row_tuple[own]))
        cost = box_cost(problem, recoding.nodes[at].tolist())
    fates: Any = [] if cheapest is None else recoding.row_class[cheapest.inside[table.row_tuple]]
    return Why(
        algorithm=algorithm,
        search=ALGORITHMS[algorithm].search,
        record=record,
        alike=0 if own is None else int(table.counts[table.row_tuple[own]]),
        values=values,
        number=None if at is None else at + 1,
        classes=recoding.n_classes,
        size=0 if at is None else int(recoding.sizes[at]),
        models=() if at is None else tuple(_reached(solution, at)),
        columns=() if at is None else tuple(_columns(solution, at, own, values)),
        metric=problem.metric.name,
        measure=problem.metric.of(ReleaseSummary.of(recoding)),
        cheapest=cheapest,
        cost=cost,
        left_out=() if at is not None or own is None else tuple(_left_out(solution, algorithm, own)),
        box_here=0 if at is None else int(np.count_nonzero(np.equal(fates, at))),
        box_left_out=int(np.count_nonzero(np.equal(fates, SUPPRESSED))),
    )


def _reached(solution: Solution, at: int) -> Iterator[dict[str, Any]]:
    """The models as asked, and what one class reaches."""
    for each, model in zip(
        describe_models(solution.problem.models, solution.stats), solution.problem.models, strict=True
    ):
        view = solution.stats.view(model.column)
        reached = {name: figure(float(strength.per_class[at])) for name, strength in model.strengths(view).items()}
        yield {**each.to_dict(), "reached": reached, "holds": bool(model.holds(view)[at])}


def _columns(solution: Solution, at: int, own: int | None, values: Mapping[str, Label]) -> Iterator[ColumnWhy]:
    recoding = solution.recoding
    rows = np.flatnonzero(recoding.row_class == at)
    for j, (name, hierarchy) in enumerate(zip(recoding.quasi, recoding.hierarchies, strict=True)):
        level = None if recoding.levels is None else recoding.levels[name]
        released = hierarchy.labels[recoding.nodes[at, j]]
        yield ColumnWhy(name, values.get(name), released, level, hierarchy.height, finer(solution, rows, j, own))


def _left_out(solution: Solution, algorithm: str, own: int) -> Iterator[LeftOut]:
    """The class of a record that was left out: as the release is generalized, and as far as the boundaries allow."""
    problem, mine = solution.problem, solution.problem.table.row_tuple[own]
    if solution.node is None and (groups_of := ALGORITHMS[algorithm].groups) is not None:  # made without a search
        groups = groups_of(problem)[problem.table.row_tuple]
        stats, at = solution.stats_of(np.arange(len(groups)), groups, int(groups.max()) + 1), int(groups[own])
        yield LeftOut("release", {}, int(stats.records[at]), left_out_for(problem.models, stats, at))
    top: Node = tuple(levels - 1 for levels in problem.shape)
    for where, node in (("release", solution.node), ("boundary", top)):
        if node is not None:
            grouping = solution.engine.classes(node)
            stats = solution.engine.stats(grouping, problem.sensitive_columns)
            nodes = released_nodes(problem, node, np.array([mine]))[0]
            named = zip(problem.table.quasi, problem.hierarchies, nodes, strict=True)
            labels, at = {name: tree.labels[each] for name, tree, each in named}, int(grouping.tuple_class[mine])
            yield LeftOut(where, labels, int(stats.records[at]), left_out_for(problem.models, stats, at))
