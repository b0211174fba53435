"""Policies to try: the example of the documentation, one of every key, and how to look at what is wrong with one."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shoal.encode.resolve import Resolved
from shoal.errors import PolicyError, PolicyProblem
from shoal.policy import Policy
from shoal.policy.yaml_text import parse_yaml
from support.resolved import resolve

HOSPITAL = """
data: patients.csv
columns:
  name:      {role: identifier}
  age:       {role: quasi, hierarchy: {intervals: [5, 10, 20]}}
  zipcode:   {role: quasi, hierarchy: {mask: right}}
  country:   {role: quasi, hierarchy: {tree: {America: [USA, Canada], Asia: [China, Japan, India]}},
              boundary: [America, Asia]}
  condition: {role: sensitive, categories: {Top Secret: [HIV, Cancer], Secret: [Phthisis, Hepatitis],
              Less Secret: [Heart Disease, Asthma], Non Secret: [Flu, Indigestion]}, publish: both}
privacy:
  - {model: k-anonymity, k: 4}
  - {model: p-plus-alpha-sensitive, p: 2, alpha: 2, sensitive: condition}
algorithm: {name: incognito, seed: 7}
suppression: 0.05          # at most this share of records
output: release.csv
"""

ANY = object()
"""Where a test changes nothing."""


def hospital(*path: str | int, to: Any = ANY, drop: bool = False) -> dict[str, Any]:
    """The hospital's policy as parsed, with one place of it changed or left out."""
    content: dict[str, Any] = copy.deepcopy(parse_yaml(HOSPITAL, "hospital.yaml"))
    if not path:
        return content
    at: Any = content
    for part in path[:-1]:
        at = at[part]
    if drop:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return content


def small(**changes: Any) -> dict[str, Any]:
    """A right policy of one quasi-identifier and one sensitive column."""
    content: dict[str, Any] = {
        "columns": {"q": {"role": "quasi"}, "s": {"role": "sensitive", "categories": {"hi": ["a"], "lo": ["b", "c"]}}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
    }
    return content | changes


def problems_of(content: Any) -> list[PolicyProblem]:
    """What is wrong with a policy; at least something must be."""
    with pytest.raises(PolicyError) as caught:
        Policy.model_validate(content)
    assert caught.value.problems
    return list(caught.value.problems)


def refusal(content: Any) -> PolicyError | None:
    """The error of a policy, or None when it is right."""
    try:
        Policy.model_validate(content)
    except PolicyError as error:
        return error
    return None


def problem_paths(content: Any) -> list[str]:
    """Where something is wrong with a policy."""
    return [problem.where for problem in problems_of(content)]


def one_problem(content: Any) -> PolicyProblem:
    """The only thing that is wrong with a policy."""
    found = problems_of(content)
    assert len(found) == 1, [str(each) for each in found]
    return found[0]


def load_text(folder: Path, text: str | bytes) -> Policy:
    """A policy from a file with this content."""
    path = folder / "policy.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Policy.load(path)


def load_problems(folder: Path, text: str | bytes) -> list[PolicyProblem]:
    """What is wrong with a file of this content."""
    with pytest.raises(PolicyError) as caught:
        load_text(folder, text)
    assert caught.value.problems
    assert str(folder / "policy.yaml") in str(caught.value)
    return list(caught.value.problems)


def table(**columns: list[Any]) -> pa.Table:
    """A table of text (or of what Arrow makes of other values)."""
    return pa.table(columns)


def resolved(content: Mapping[str, Any], **columns: list[Any]) -> Resolved:
    """A policy against a table."""
    return resolve(Policy.model_validate(content), table(**columns))


def data_problems_of(content: Mapping[str, Any], **columns: list[Any]) -> list[PolicyProblem]:
    """What is wrong with a right policy for a table."""
    with pytest.raises(PolicyError) as caught:
        resolved(content, **columns)
    assert caught.value.problems
    return list(caught.value.problems)
