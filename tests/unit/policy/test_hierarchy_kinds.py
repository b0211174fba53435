"""Kinds of hierarchies declare themselves: the policy knows no other keys, and reads each by its declaration."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import shoal.hierarchies
from shoal.hierarchies import HIERARCHY_KINDS
from shoal.hierarchies.kind import FieldKind
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.spec import HierarchySpec
from shoal.policy.yaml_text import parse_yaml

WRITTEN: dict[str, Any] = {"tree": {"A": ["x", "y"]}, "flat": True, "levels": "levels.csv"}


def test_every_file_that_declares_a_kind_is_registered_and_the_policy_has_its_key() -> None:
    (folder,) = shoal.hierarchies.__path__
    modules = [import_module(f"shoal.hierarchies.{path.stem}") for path in Path(folder).glob("[a-z]*.py")]
    declared = {module.KIND.key for module in modules if hasattr(module, "KIND")}
    assert declared == set(HIERARCHY_KINDS) == set(HierarchySpec.model_fields)


@pytest.mark.parametrize("key", HIERARCHY_KINDS)
def test_a_kind_is_built_from_its_example(key: str, tmp_path: Path) -> None:
    (tmp_path / "levels.csv").write_text("x;A\ny;A\n", encoding="utf-8")
    kind = HIERARCHY_KINDS[key]
    written = WRITTEN.get(key) or parse_yaml(kind.example, "an example")
    spec = HierarchySpec.model_validate({key: written})
    assert spec.kind is kind
    assert (spec.file is not None) == any(field.kind is FieldKind.PATH for field in kind.fields)
    assert hierarchy_source(spec, tmp_path, "columns.q.hierarchy") is not None


def test_a_kind_that_needs_no_more_is_given_by_its_name() -> None:
    names = {key for key, kind in HIERARCHY_KINDS.items() if kind.by_name}
    assert names == {"flat", "mask", "dates"}
    for name in names:
        assert HierarchySpec.model_validate(name).kinds == [name]
