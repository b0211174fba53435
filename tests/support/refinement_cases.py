"""Releases for tests of the refinement attack: tables recoded without any checks, and what the attack makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from oracles.refinement_oracle import Labels, Pairs, Release
from shoal.attacks.attackers.refinement import FinerCounts, finer_counts
from shoal.attacks.released_classes import Released, released_scene, rows_of_release
from shoal.encode.resolve import resolve
from shoal.encode.result import Result, works_on_records
from shoal.errors import InfeasibleError
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.engine import LocalEngine
from shoal.table.distinct_rows import DistinctRows


def recoded(policy: Policy, table: pa.Table) -> Result | None:
    """What the policy's algorithm makes of a table; None where nothing can be released."""
    rows = DistinctRows.of(table)
    resolved = resolve(policy, rows)
    problem = resolved.problem
    if works_on_records(policy):
        problem = replace(problem, table=problem.table.unfolded())
    try:
        engine = LocalEngine(problem.table, problem.ladders, problem.domains)
        outcome = ALGORITHMS[policy.algorithm.name].run(problem, engine)
    except InfeasibleError:
        return None
    return Result.of(policy, rows, resolved, outcome.recoding)


def pairs_of(result: Result) -> Pairs:
    """Of each released record its quasi-identifiers in the original and in the release."""
    recoding, columns, found = result.recoding, result.rows.columns, []
    shown = [
        tuple(tree.labels[node] for tree, node in zip(recoding.hierarchies, nodes, strict=True))
        for nodes in recoding.nodes
    ]
    for row, owner in enumerate(recoding.row_class.tolist()):
        if owner >= 0:
            values = tuple(columns[name].labels[columns[name].codes[row]] for name in recoding.quasi)
            found += [(values, shown[owner])] * int(result.rows.counts[row])
    return found


def recoded_pairs(policy: Policy, rows: Sequence[Labels]) -> Pairs | None:
    """The same for a table given by its rows."""
    columns = zip(policy.columns, zip(*rows, strict=True), strict=True)
    result = recoded(policy, pa.table({name: pa.array(cells, pa.string()) for name, cells in columns}))
    return None if result is None else pairs_of(result)


def attacked(policy: Policy, release: Release) -> tuple[Released, list[FinerCounts], dict[Labels, int]]:
    """A release as the attacker reads it, what is concluded, and the number of each class; secrets do not matter."""
    rows = [labels for labels, count in release for _ in range(count)]
    columns = zip(policy.names("quasi"), zip(*rows, strict=True), strict=True)
    secrets = {name: pa.array(["flu"] * len(rows)) for name in policy.names("sensitive")}
    table = pa.table({name: pa.array(cells, pa.string()) for name, cells in columns} | secrets)
    released = released_scene(rows_of_release(table, policy), policy)
    numbers = {tuple(released.labels_of(index).values()): index for index in range(len(released.sizes))}
    return released, finer_counts(released, policy), numbers
