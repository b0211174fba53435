"""From a hierarchy's declaration in the policy to something that can be built against a column."""

from pathlib import Path
from typing import Any

from shoal.errors import PolicyError, PolicyProblem
from shoal.hierarchies import HierarchyError, HierarchySource
from shoal.hierarchies.kind import FieldKind
from shoal.policy.spec import HierarchySpec
from shoal.policy.yaml_text import read_yaml

_FLAT = HierarchySpec.model_validate("flat")


def hierarchy_source(spec: HierarchySpec | None, folder: Path, where: str) -> HierarchySource:
    """The declared hierarchy; files are relative to the policy's folder. Raises `HierarchyError`."""
    spec = spec or _FLAT
    fields = spec.fields
    for field in spec.kind.fields:
        if field.kind is FieldKind.TREE and isinstance(fields[field.name], str):
            fields[field.name] = _read_tree(folder / fields[field.name], where)
    return spec.kind.build(fields, folder, where)


def _read_tree(path: Path, where: str) -> Any:
    try:
        content, _ = read_yaml(path)
    except PolicyError as error:
        raise HierarchyError(
            [PolicyProblem(where, f"{error.source}: {problem}", code=problem.code) for problem in error.problems]
        ) from None
    return content
