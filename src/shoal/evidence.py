"""The evidence: what was asked, what holds, what was lost - facts first, as JSON that other programs read.

Reproducible byte for byte apart from ``seconds``, ``seconds_by_stage`` and ``peak_memory_bytes``. It holds counts and
labels of what is released; never a value of a suppressed record, of an identifier, or of a row.
"""

from __future__ import annotations

import json
import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from shoal.attacks.exposure import homogeneity, similarity
from shoal.attacks.missing import smallest_if_missing_matches
from shoal.metrics import METRICS, CellMetric, ReleaseSummary
from shoal.models.base import Model
from shoal.policy import Policy
from shoal.table.classes import ClassStats
from shoal.table.recoding import Recoding


def measure(summary: ReleaseSummary) -> dict[str, float]:
    """Every measure of a release."""
    return {name: round(metric.of(summary), 12) for name, metric in METRICS.items()}


def describe_models(models: Sequence[Model], stats: ClassStats) -> list[dict[str, Any]]:
    """Each model as asked, and what the release reaches."""
    described = []
    for model in models:
        view = stats.view(model.column)
        asked = {each.name: _plain(getattr(model, each.name)) for each in fields(model) if each.name != "sensitive"}
        described.append(
            {
                "model": model.name,
                "sensitive": model.column,
                "asked": asked,
                "reached": {name: _rounded(value) for name, value in model.reached(view).items()},
                "holds": bool(model.holds(view).all() and model.table_holds(view)),
            }
        )
    return described


def describe_columns(policy: Policy, summary: ReleaseSummary, recoding: Recoding) -> dict[str, Any]:
    """For each column of the policy, its role and - for quasi-identifiers - what generalizing cost it."""
    ncp = METRICS["ncp"]
    assert isinstance(ncp, CellMetric)
    columns: dict[str, Any] = {}
    for name, column in policy.columns.items():
        columns[name] = {"role": column.role}
        if column.role == "sensitive":
            columns[name]["published"] = policy.published(name)
        if column.role == "quasi":
            place = recoding.quasi.index(name)
            hierarchy = recoding.hierarchies[place]
            columns[name] |= {
                "height": hierarchy.height,
                "values": hierarchy.n_leaves,
                "labels_released": len(np.unique(recoding.nodes[:, place])),
                "ncp": round(ncp.column_mean(summary, place), 12),
            }
    return columns


def describe_exposure(stats: ClassStats) -> dict[str, Any]:
    """Records open to the homogeneity and the similarity attack, by sensitive column."""
    exposure: dict[str, Any] = {}
    for name in stats.histograms:
        view = stats.view(name)
        found = {"homogeneity": homogeneity(view), "similarity": similarity(view)}
        exposure[name] = {
            attack: {"classes": each.classes, "records": each.records} for attack, each in found.items() if each
        }
    return exposure


def describe_policy(policy: Policy) -> dict[str, Any]:
    """The policy without what names the input, the output or a folder: the evidence may travel with the release."""
    content = policy.to_dict()
    content.pop("output", None)
    if isinstance(content.get("data"), dict):
        content["data"] = {key: value for key, value in content["data"].items() if key != "path"}
    for column in content.get("columns", {}).values():
        declared = column.get("hierarchy")
        if isinstance(declared, dict):
            if isinstance(declared.get("tree"), str):
                declared["tree"] = Path(declared["tree"]).name
            if isinstance(declared.get("levels"), dict):
                declared["levels"]["path"] = Path(declared["levels"]["path"]).name
    return content


def describe_sizes(recoding: Recoding) -> dict[str, Any]:
    """The distribution of class sizes: extremes, quartiles, and how many classes have each size."""
    sizes = recoding.sizes
    if not len(sizes):
        return {}
    distinct, classes = np.unique(sizes, return_counts=True)
    quartiles = np.percentile(sizes, [25, 50, 75])
    return {
        "smallest": int(sizes.min()),
        "smallest_if_missing_matches_anything": smallest_if_missing_matches(recoding),
        "largest": int(sizes.max()),
        "mean": round(float(sizes.mean()), 6),
        "quartiles": [float(each) for each in quartiles],
        "classes_by_size": {str(size): int(count) for size, count in zip(distinct, classes, strict=True)},
    }


def versions() -> dict[str, str]:
    """The versions that a result may depend on."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in ("shoal", "numpy", "pyarrow", "numba")},
    }


def peak_memory_bytes() -> int | None:
    """The most memory that this process has held, or None where the system does not tell.

    Linux keeps it in /proc; its getrusage would count what the parent process held before this one was started.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        pass
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def to_json(evidence: Mapping[str, Any]) -> str:
    """The evidence as it is written to disk."""
    return json.dumps(evidence, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _rounded(value: float) -> float | int | None:
    """A figure that JSON can hold; None where no finite value is reached."""
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else round(value, 12)


def _plain(value: Any) -> Any:
    """A model's parameter as JSON can hold it."""
    if isinstance(value, Mapping):
        return {("" if key is None else str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value
