"""A policy on the page reaches the session's own table and nothing else.

On the command line a policy may name files, databases, clusters and registries of whoever runs it. On a page that
others use too it would read the server's: every such name is a problem here, with what to do instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from shoal.errors import PolicyError, PolicyProblem
from shoal.policy import Policy


def load_confined(path: Path) -> Policy:
    """Read a policy file of the session. Raises `PolicyError` for its problems, and for what it may not name."""
    policy = Policy.load(path)
    problems = outside(policy)
    if problems:
        raise PolicyError(problems, path.name)
    return policy


def outside(policy: Policy) -> list[PolicyProblem]:
    """What a policy names beside the session's own table."""
    return [*_hierarchies(policy), *_places(policy)]


def _hierarchies(policy: Policy) -> Iterator[PolicyProblem]:
    for name, column in policy.columns.items():
        given = column.hierarchy
        if given is not None and given.file is not None:
            where = f"columns.{name}.hierarchy"
            fix = "Import the file in the step Hierarchies: it then stands in the policy itself."
            yield PolicyProblem(where, "a hierarchy in a file of its own cannot be used on this page.", fix)


def _places(policy: Policy) -> Iterator[PolicyProblem]:
    data = None if policy.data is None else policy.data.path
    if data is not None and (not isinstance(data, str) or "/" in data or "\\" in data):
        yield PolicyProblem("data", "only the table that was loaded can be used on this page.", "Name its file alone.")
    if policy.output is not None and (not isinstance(policy.output, str) or "://" in policy.output):
        fix = "Name a file; it is downloaded in the last step."
        yield PolicyProblem("output", "a release cannot be written to a database from this page.", fix)
    if policy.registry is not None:
        fix = "Take it out here, and run the downloaded policy with --registry on the command line."
        yield PolicyProblem("registry", "releases are not remembered on this page.", fix)
    if policy.engine.name != "local":
        fix = "Take it out here, and run the downloaded policy on the command line."
        yield PolicyProblem("engine", "this page works on its own machine only.", fix)
