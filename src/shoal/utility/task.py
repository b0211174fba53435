"""The task of a policy measured on a release: see the policy's key ``utility``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.encode.resolve import Resolved
from shoal.errors import PolicyError, PolicyProblem
from shoal.policy import Policy
from shoal.policy.utility_spec import UtilitySpec
from shoal.search.problem import Progress, no_progress
from shoal.utility.columns import Anonymize, EncodedRecords, ValueColumn, original_columns, released_columns
from shoal.utility.conditions import read_queries
from shoal.utility.learners import check_installed
from shoal.utility.model_task import held_out, measure_models
from shoal.utility.queries import (
    SANITY,
    SELECTIVITY,
    all_generalized,
    compare_answers,
    draw_queries,
    error_bins,
    error_spread,
    listed_answers,
)

MOST_CLASSES = 50
"""A column with more values is not a target for classification."""


def check_task(policy: Policy, table: pa.Table, resolved: Resolved) -> None:
    """Raise what prevents measuring the task, before a long search: `PolicyError` or `MissingExtraError`."""
    spec = policy.utility
    if spec is None:
        return
    originals = original_columns(policy, table, resolved)
    problems: list[PolicyProblem] = []
    if spec.target is not None:
        check_installed()
        problems += _target_problems(spec, originals)
    if isinstance(spec.queries, list):
        problems += read_queries(spec.queries, {name: column.domain for name, column in originals.items()})[1]
    if problems:
        raise PolicyError(problems, policy.source)


def _target_problems(spec: UtilitySpec, originals: Mapping[str, ValueColumn]) -> list[PolicyProblem]:
    column = originals[str(spec.target)]
    classes = len(np.unique(column.first))
    where = "utility.target"
    if len(originals) < 2:
        message = "There is no other released column to predict it from."
        return [PolicyProblem(where, message, "Release another column, or use queries only.", code="nothing-to-learn")]
    if not 2 <= classes <= MOST_CLASSES:
        message = f"{spec.target!r} has {classes} different values in the data; a target must have 2 to {MOST_CLASSES}."
        return [PolicyProblem(where, message, "Name another column, or use queries only.", code="target-values")]
    if not len(held_out(column.first, spec.test, np.random.default_rng(spec.seed))[1]):
        message = f"No record is held out: {spec.test:g} of the records of any class is less than one."
        return [PolicyProblem("utility.test", message, "Hold out a larger share.", code="test-empty")]
    return []


def measure_task(
    policy: Policy, release: EncodedRecords, anonymize: Anonymize, progress: Progress = no_progress
) -> dict[str, Any]:
    """What the release is worth for the task, as plain data. The policy names one, and `check_task` has passed it."""
    spec = policy.utility
    assert spec is not None, "a policy without a task has nothing to measure"
    found: dict[str, Any] = {}
    if spec.target is not None:
        found["model"] = measure_models(policy, spec, release.table, anonymize, progress)
    if spec.queries is not None:
        progress("answering count queries", 0.0)
        found["queries"] = _measure_queries(policy, spec, release)
    return found


def _measure_queries(policy: Policy, spec: UtilitySpec, release: EncodedRecords) -> dict[str, Any]:
    """Answer the queries from the release, and compare with the original."""
    originals = original_columns(policy, release.table, release.resolved)
    released = released_columns(originals, release.table, release.resolved, release.recoding)
    domains = {name: column.domain for name, column in originals.items()}
    quasi, secrets = policy.names("quasi"), policy.names("sensitive")
    if isinstance(spec.queries, list):
        queries, _ = read_queries(spec.queries, domains)
        drawn: dict[str, Any] = {}
    else:
        queries = draw_queries(domains, quasi, secrets, int(spec.queries or 0), np.random.default_rng([spec.seed, 2]))
        drawn = {"seed": spec.seed, "selectivity": SELECTIVITY}
    records = release.recoding.n_rows
    answers = compare_answers(queries, originals, released, records)
    generalized = compare_answers(queries, originals, all_generalized(originals, quasi), records)
    return {
        "count": len(queries),
        **drawn,
        "sanity_bound": SANITY * records,
        "relative_error": error_spread(answers),
        "all_generalized": error_spread(generalized),
        "bins": error_bins(answers),
        **({"listed": listed_answers(spec.queries, answers)} if isinstance(spec.queries, list) else {}),
    }
