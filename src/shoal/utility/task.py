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
from shoal.utility.columns import Column, original_columns
from shoal.utility.conditions import read_queries
from shoal.utility.learners import check_installed
from shoal.utility.model_task import measure_models
from shoal.utility.part import Anonymize, Part
from shoal.utility.query_task import measure_queries
from shoal.utility.split import held_out

MOST_CLASSES = 50
"""A target of more values is no matter of classes."""


def check_task(policy: Policy, table: pa.Table, resolved: Resolved) -> None:
    """Raise what stands in the way of measuring the task, before a long search: `PolicyError`, `MissingExtraError`."""
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


def _target_problems(spec: UtilitySpec, originals: Mapping[str, Column]) -> list[PolicyProblem]:
    column = originals[str(spec.target)]
    classes = len(np.unique(column.first))
    where = "utility.target"
    if len(originals) < 2:
        message = "there is no other released column to predict it from."
        return [PolicyProblem(where, message, "Release another column, or ask for queries only.")]
    if not 2 <= classes <= MOST_CLASSES:
        message = f"{spec.target!r} has {classes} different values in the data; a target has 2 to {MOST_CLASSES}."
        return [PolicyProblem(where, message, "Name another column, or ask for queries only.")]
    if not len(held_out(column.first, spec.test, np.random.default_rng(spec.seed))[1]):
        message = f"no record is held out: {spec.test:g} of the records of any class is less than one."
        return [PolicyProblem("utility.test", message, "Hold out a larger share.")]
    return []


def measure_task(
    policy: Policy, release: Part, anonymize: Anonymize, progress: Progress = no_progress
) -> dict[str, Any]:
    """What the release is worth for the task, as plain data. The policy names one, and `check_task` has passed it."""
    spec = policy.utility
    assert spec is not None, "a policy without a task has nothing to measure"
    found: dict[str, Any] = {}
    if spec.target is not None:
        found["model"] = measure_models(policy, spec, release.table, anonymize, progress)
    if spec.queries is not None:
        progress("answering count queries", 0.0)
        found["queries"] = measure_queries(policy, spec, release)
    return found
