"""The range method (Mahesh & Meyyappan, section 3), as published and in a safe form.

Some quasi-identifiers are masked, and the records that then agree in them are a group. *As published*, each number q
of a column is rewritten within its group as the range ``L<=M``: L the next smaller and M the next larger value of the
group, q itself where there is none. The other quasi-identifiers stay as they are. Nothing makes two records alike, so
this **guarantees no model**, and suppresses nothing: an end of a range is a value of another record. A release is made
only where the policy's models hold on it all the same, with a `DisclosureWarning`, and it states the ambiguity that it
does give (`shoal.search.linkage_ambiguity`).

With the option ``safe`` all records of a group share one range from the smallest to the largest value, and one value,
the lowest common ancestor, in each other quasi-identifier: a group is a class. Groups that fail the models are
suppressed within the budget. The ends are values of records in both forms; that is the method.

A range of one value is the value. A missing value stays missing and lies in no range. Boundaries split groups: values
of different boundaries are no neighbours, and share no range and no common ancestor.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.edits import PolicyEdit
from shoal.errors import DisclosureWarning, InfeasibleError, PolicyError, PolicyProblem
from shoal.hierarchies.hierarchy import Hierarchy, Label
from shoal.hierarchies.ranges import ancestors
from shoal.search.diagnosis.diagnosis import Diagnosis
from shoal.search.diagnosis.failures import blockers
from shoal.search.diagnosis.relaxations import Relaxation, more_suppression, parameter_name
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.evaluation import evaluate_stats, keep_concealed
from shoal.search.linkage_ambiguity import ambiguity
from shoal.search.local.ranged_columns import RangedColumn, not_quasi, range_option, range_problems
from shoal.search.problem import Problem
from shoal.search.search_result import SearchResult
from shoal.table.classes import ClassStats, Mask
from shoal.table.encoded import combine_codes

Nodes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class RangeOptions:
    """Which columns make the groups and which become ranges, by index among the quasi-identifiers."""

    group: Mapping[int, int]  # the level at which each group column is masked
    ranges: tuple[int, ...]
    safe: bool

    @staticmethod
    def read(problem: Problem) -> RangeOptions:
        """The options ``group``, ``ranges`` and ``safe``; `PolicyError` with every problem."""
        group: Mapping[str, int] = problem.options.get("group") or {}
        ranges: Sequence[str] = problem.options.get("ranges") or ()
        problems = [*_group_problems(problem, group)]
        if not ranges:
            fix = "Name the numeric columns that become ranges: ranges: [age]."
            problems.append(PolicyProblem("algorithm.ranges", "names no column.", fix, code="no-range-column"))
        problems += range_problems(problem, ranges, group)
        if not problem.options.get("safe"):
            problems += [_not_shared(name) for name in ranges if isinstance(range_option(problem, name), Mapping)]
        if problems:
            raise PolicyError(problems)
        index = {name: j for j, name in enumerate(problem.table.quasi)}
        levels = {index[name]: level for name, level in group.items()}
        return RangeOptions(levels, tuple(index[name] for name in ranges), bool(problem.options.get("safe")))

    def masks(self, problem: Problem) -> dict[int, Nodes]:
        """For each group column the node that each leaf becomes: that of its level, or its boundary below it."""
        masks = {}
        for j, level in self.group.items():
            ladder = problem.ladders[j]
            step = max(step for step, nominal in enumerate(ladder.nominal) if nominal <= level)
            masks[j] = np.asarray(ladder.nodes[step])
        return masks


def _not_shared(name: str) -> PolicyProblem:
    message = "a range as published runs from one value to another, so it cannot be a run of base intervals."
    fix = f"Write ranges: [{name}], or safe: true for one run per group."
    return PolicyProblem(f"algorithm.ranges.{name}", message, fix, code="runs-not-shared")


def _group_problems(problem: Problem, group: Mapping[str, int]) -> Iterator[PolicyProblem]:
    if not group:
        fix = "Name the columns that are masked, and their levels: group: {zipcode: 1}."
        message = "names no column to group the records by."
        yield PolicyProblem("algorithm.group", message, fix, code="no-group-column")
    for name, level in group.items():
        where = f"algorithm.group.{name}"
        if name not in problem.table.quasi:
            yield not_quasi(problem, name, where)
            continue
        height = problem.hierarchies[problem.table.quasi.index(name)].height
        if not 0 <= level <= height:
            message = f"the hierarchy has no level {level}."
            fix = f"Its levels run from 0 (the values) to {height} (the root)."
            yield PolicyProblem(where, message, fix, {"level": level, "height": height}, code="unknown-level")


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Classes before any is suppressed, in the order of what they release."""

    hierarchies: tuple[Hierarchy, ...]  # with the ranges as nodes
    nodes: Nodes  # ``nodes[g, j]``: what class ``g`` releases in quasi-identifier ``j``
    grouping: Grouping
    stats: ClassStats


def range_method(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Recode by ranges within groups; `InfeasibleError` where the policy's models do not hold on the result."""
    problem.progress("setting ranges", 0.0)
    options, candidate, satisfied, kept = _try(problem, engine)
    if not satisfied:
        raise InfeasibleError(_diagnosis(problem, engine, options, candidate))
    classes, nodes, hierarchies = candidate.grouping.tuple_class, candidate.nodes, candidate.hierarchies
    recoding = problem.recoding(classes, nodes, np.flatnonzero(kept), hierarchies=hierarchies)
    figures = ambiguity(recoding, problem.table).figures()
    if not options.safe:
        warnings.warn(
            f"the range method as published guarantees no privacy model. The models of the policy hold on this "
            f"release, but a released record fits as few as {figures['(k,1)']} original records, an original record as "
            f"few as {figures['(1,k)']} released ones, and the ends of ranges are values of other records. "
            f"With safe: true all records of a group share one range.",
            DisclosureWarning,
            stacklevel=2,
        )
    ranges = "one shared by each group" if options.safe else "from the next smaller to the next larger value"
    return SearchResult(recoding, {"ranges": ranges, "guarantees": options.safe, "ambiguity": figures})


def diagnose(problem: Problem, engine: LocalEngine) -> Diagnosis | None:
    """Why the method makes no release of this problem, or None where it makes one; nothing is recoded."""
    options, candidate, satisfied, _ = _try(problem, engine)
    return None if satisfied else _diagnosis(problem, engine, options, candidate)


def _try(problem: Problem, engine: LocalEngine) -> tuple[RangeOptions, _Candidate, bool, Mask]:
    """The one result, whether the models hold on it, and which classes are kept."""
    options = RangeOptions.read(problem)
    candidate = _candidate(problem, engine, options)
    budget = problem.budget if options.safe else 0
    return options, candidate, *keep_concealed(problem, problem.models, candidate.stats, candidate.grouping, budget)


def _candidate(problem: Problem, engine: LocalEngine, options: RangeOptions) -> _Candidate:
    """The classes of the method; tuples that release the same nodes are one class.

    As published a range runs from the next smaller to the next larger value of the group. In the safe form all records
    of a group have one range, or one common ancestor.
    """
    masks, codes = options.masks(problem), problem.table.codes
    group = shared_groups(problem, options) if options.safe else _numbered([row[codes[j]] for j, row in masks.items()])
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    hierarchies, columns = list(problem.hierarchies), []
    for j, own in enumerate(codes):
        if j in masks:
            nodes = masks[j][own]
        elif options.safe:
            low, high = np.minimum.reduceat(own[order], starts), np.maximum.reduceat(own[order], starts)
            if j in options.ranges:
                hierarchies[j], nodes = RangedColumn.of(problem, j).released(low, high)
            else:
                nodes = ancestors(problem.hierarchies[j], low, high)
            nodes = nodes[group]
        elif j in options.ranges:
            column = RangedColumn.of(problem, j)
            block = _numbered([group, problem.caps[j][own], own == column.missing])
            hierarchies[j], nodes = column.with_ranges(_neighbours(block, own))
        else:
            nodes = own
        columns.append(nodes)
    keys, _ = combine_codes(columns, [len(hierarchy.labels) for hierarchy in hierarchies])
    _, first, owner = np.unique(keys, return_index=True, return_inverse=True)
    tuple_class = owner.astype(np.int32)
    sizes = np.bincount(tuple_class, weights=problem.table.counts, minlength=len(first)).astype(np.int64)
    grouping = Grouping(first.astype(np.int32), sizes, lambda: tuple_class)
    released = np.stack([column[first] for column in columns], axis=1).astype(np.int32)
    return _Candidate(tuple(hierarchies), released, grouping, engine.stats(grouping, problem.sensitive_columns))


def shared_groups(problem: Problem, options: RangeOptions | None = None) -> NDArray[np.int64]:
    """The group of each tuple in the safe form; each becomes a class, or is suppressed."""
    options = RangeOptions.read(problem) if options is None else options
    masks, codes = options.masks(problem), problem.table.codes
    parts = [row[codes[j]] for j, row in masks.items()]
    parts += [problem.caps[j][own] for j, own in enumerate(codes) if j not in masks]
    parts += [codes[j] == RangedColumn.of(problem, j).missing for j in options.ranges]
    return _numbered(parts)


def _neighbours(block: NDArray[np.int64], codes: NDArray[np.int32]) -> Nodes:
    """For each tuple the next smaller and the next larger value of its block, its own where there is none."""
    width = int(codes.max()) + 1
    keys, index = np.unique(block * width + codes, return_inverse=True)
    values = (keys % width).astype(np.int32)
    ends = np.stack([values, values], axis=1)
    together = np.flatnonzero(np.diff(keys // width) == 0)
    ends[together + 1, 0] = values[together]
    ends[together, 1] = values[together + 1]
    return ends[index]


def _numbered(parts: Sequence[NDArray[np.generic]]) -> NDArray[np.int64]:
    """One number for each different combination, in the order of the combinations."""
    columns = [part.astype(np.int32) for part in parts]
    keys, _ = combine_codes(columns, [int(column.max()) + 1 for column in columns])
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _diagnosis(problem: Problem, engine: LocalEngine, options: RangeOptions, candidate: _Candidate) -> Diagnosis:
    """What holds and what does not, and which changes would do; as published, the safe form first of all.

    Judged on the classes of the method itself, not at the top of the lattice: the method makes one result and
    searches for no other. Every change that is suggested has been tried.
    """
    if options.safe:
        changes = list(_changes(problem, engine, options, candidate))
    else:
        shared = replace(options, safe=True)
        safe = _candidate(problem, engine, shared)
        enough = evaluate_stats(problem.models, safe.stats, problem.budget)[0]
        changes = [_safe()] if enough else [*map(_safe, _changes(problem, engine, shared, safe))]

    def labels(index: int) -> dict[str, Label]:
        named = zip(problem.table.quasi, candidate.hierarchies, candidate.nodes[index].tolist(), strict=True)
        return {name: hierarchy.labels[node] for name, hierarchy, node in named}

    views = [(model, candidate.stats.view(model.column)) for model in problem.models]
    reached = [(index, *each) for index, (model, view) in enumerate(views) for each in model.reached(view).items()]
    return Diagnosis(
        code="shared-ranges" if options.safe else "range-method",
        records=problem.table.n_rows,
        budget=problem.budget,
        blockers=tuple(blockers(problem.models, candidate.stats, labels)),
        reachable={
            parameter_name(problem, index, name): value for index, name, value in reached if math.isfinite(value)
        },
        relaxations=tuple(changes),
        algorithm="range",
        holding=tuple(
            (model.name, model.column) for model, view in views if model.holds(view).all() and model.table_holds(view)
        ),
    )


def _changes(problem: Problem, engine: LocalEngine, options: RangeOptions, safe: _Candidate) -> Iterator[Relaxation]:
    """To the safe form: more suppression, and for each group column the lowest level that makes it satisfy."""
    more = more_suppression(problem, safe.stats)
    if more is not None:
        yield more
    for j, level in options.group.items():
        for higher in range(level + 1, problem.hierarchies[j].height + 1):
            tried = _candidate(problem, engine, replace(options, group={**options.group, j: higher}))
            if evaluate_stats(problem.models, tried.stats, problem.budget)[0]:
                column = problem.table.quasi[j]
                edits = (PolicyEdit(("algorithm", "group", column), higher),)
                yield Relaxation("group-level", edits, columns=(column,), level=higher)
                break


def _safe(also: Relaxation | None = None) -> Relaxation:
    """The safe form, alone or with another change."""
    edits = (PolicyEdit(("algorithm", "safe"), True), *(() if also is None else also.edits))
    return Relaxation("shared-ranges", edits, also=also)
