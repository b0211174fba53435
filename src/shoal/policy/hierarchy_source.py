"""From a hierarchy's declaration in the policy to something that can be built against a column."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import PolicyError, PolicyProblem
from shoal.hierarchies import (
    Dates,
    Flat,
    HierarchyError,
    HierarchySource,
    Intervals,
    Mask,
    OrderedValues,
    Tree,
    read_levels,
)
from shoal.policy.spec import HierarchySpec
from shoal.policy.yaml_text import read_yaml


def hierarchy_source(spec: HierarchySpec | None, folder: Path, where: str) -> HierarchySource:
    """The declared hierarchy; files are relative to the policy's folder. Raises `HierarchyError`."""
    if spec is None or spec.flat:
        return Flat()
    if spec.intervals is not None:
        given = spec.intervals
        return Intervals(widths=given.widths, cuts=given.cuts, origin=given.origin, bounds=given.bounds)
    if spec.levels is not None:
        return read_levels(folder / spec.levels.path, spec.levels.separator, where=where)
    if spec.mask is not None:
        return Mask(side=spec.mask.side, alphabet=spec.mask.alphabet, steps=spec.mask.steps)
    if spec.dates is not None:
        return Dates(units=spec.dates.units, format=spec.dates.format)
    if spec.order is not None:
        return OrderedValues(values=spec.order.values, groups=spec.order.groups)
    return Tree(_tree(spec.tree, folder, where))


def _tree(tree: object, folder: Path, where: str) -> object:
    if not isinstance(tree, str):
        return tree
    try:
        content, _ = read_yaml(folder / tree)
    except PolicyError as error:
        raise HierarchyError(
            [PolicyProblem(where, f"{error.source}: {problem}") for problem in error.problems]
        ) from None
    return content
