"""`pick_node`: the change to a policy that releases a node which a person picked in the picture of the lattice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.errors import PolicyError, PolicyProblem, did_you_mean
from shoal.pipeline.forecast.lattice_picture import Picture
from shoal.search import ALGORITHMS


def pick_node(picture: Picture, levels: Mapping[str, int]) -> dict[str, Any]:
    """The keys of the policy to replace; `PolicyError` with the reason where the node is none to pick."""
    wanted = {name: levels[name] for name in picture["quasi"] if name in levels}
    problems = _unknown(picture, levels)
    if not problems and wanted not in picture["minimal"]:
        problems = [PolicyProblem("algorithm.node", *_reason(picture, wanted))]
    if problems:
        raise PolicyError(problems)
    name = next(each.name for each in ALGORITHMS.values() if "node" in each.option_names)
    return {"algorithm": {"name": name, "node": wanted}}


def _unknown(picture: Picture, levels: Mapping[str, int]) -> list[PolicyProblem]:
    """Columns that are missing or that the lattice does not have."""
    quasi = picture["quasi"]
    found = [
        PolicyProblem(f"algorithm.node.{name}", "is no quasi-identifier.", did_you_mean(name, quasi))
        for name in levels
        if name not in quasi
    ]
    found += [
        PolicyProblem(f"algorithm.node.{name}", "has no level.", "A node has a level for each quasi-identifier.")
        for name in quasi
        if name not in levels
    ]
    return found


def _reason(picture: Picture, wanted: Mapping[str, int]) -> tuple[str, str]:
    """Why a node cannot be picked, and what can."""
    fix = "Pick one of the minimal nodes." if picture["minimal"] else "No node satisfies: relax the policy first."
    node = next((each for each in picture["drawn"] if each["levels"] == wanted), None)
    if node is not None and not node["satisfied"]:
        failing = node["failing_records"]
        message = (
            f"the node {dict(wanted)} does not satisfy the policy: {failing:,} records would have to be left out, "
            f"{picture['may_suppress']:,} may be."
            if failing > picture["may_suppress"]
            else f"the node {dict(wanted)} does not satisfy the policy."
        )
        return message, fix
    lower = next((each for each in picture["minimal"] if all(each[name] <= wanted[name] for name in each)), None)
    if lower is not None:
        return f"the node {dict(wanted)} is not minimal: the less general node {lower} satisfies already.", fix
    return f"the node {dict(wanted)} does not satisfy the policy, or is no node of the lattice.", fix
