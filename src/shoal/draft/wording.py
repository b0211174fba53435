"""The sentences of a draft by their codes: why a column has its role, what a hierarchy does, how the file is read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml

from shoal.formatting import pluralize


def sentence(code: str, facts: Mapping[str, Any]) -> str:
    """The sentence of a code (``wording.yaml``) with its facts; ``values`` tells how many values and records."""
    words = dict(facts)
    if "distinct" in facts and "present" in facts:
        different = "1 value" if facts["distinct"] == 1 else f"{facts['distinct']:,} different values"
        words["values"] = f"{different} in {pluralize(facts['present'], 'record')}"
    return str(read_texts("wording")[code]).format_map(words)


@cache
def read_texts(name: str) -> dict[str, Any]:
    """A YAML file of this package: texts by their keys."""
    path = resources.files("shoal.draft") / f"{name}.yaml"
    texts: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return texts
