"""What a comparison gives back: its points in a table, the frontier among them, and both as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.evidence.evidence import to_json
from shoal.evidence.machine import versions
from shoal.metrics import METRICS
from shoal.pipeline.compare.axes import Number
from shoal.pipeline.compare.folder import KIND
from shoal.pipeline.compare.point import VERIFIED
from shoal.present.comparison import write_comparison

RISKS = ("average", "highest", "homogeneity", "similarity")


@dataclass(frozen=True, eq=False)
class Comparison:
    """The points of a grid with what each loses and what risk it leaves."""

    folder: Path
    algorithms: tuple[str, ...]
    axes: Mapping[str, tuple[Number, ...]]
    metric: str
    risk: str
    points: tuple[Mapping[str, Any], ...]
    """The result of each point, as in its ``*.result.json``."""
    policy_sha256: str
    inputs_sha256: Mapping[str, str]

    def __repr__(self) -> str:
        """The counts in one line."""
        count = f"{len(self.points)} point{'' if len(self.points) == 1 else 's'}"
        return f"<Comparison: {count}, {len(self.verified)} verified, {len(self.frontier)} on the frontier>"

    @cached_property
    def verified(self) -> tuple[Mapping[str, Any], ...]:
        """The points that have a verified release."""
        return tuple(point for point in self.points if point["status"] == VERIFIED)

    @cached_property
    def frontier(self) -> tuple[str, ...]:
        """The names of the points that no other beats in both loss and risk, least loss first."""
        metric = METRICS[self.metric]
        figures = [
            (metric.cost(point["measures"][self.metric]), float(point["risk"][self.risk])) for point in self.verified
        ]
        return tuple(str(self.verified[index]["name"]) for index in frontier(figures))

    def to_dict(self) -> dict[str, Any]:
        """The content of ``comparison.json``."""
        return {
            "kind": KIND,
            "algorithms": list(self.algorithms),
            "axes": {name: list(values) for name, values in self.axes.items()},
            "metric": self.metric,
            "higher_is_better": METRICS[self.metric].higher_is_better,
            "risk": self.risk,
            "frontier": list(self.frontier),
            "points": [dict(point) for point in self.points],
            "policy_sha256": self.policy_sha256,
            "inputs_sha256": dict(self.inputs_sha256),
            "versions": versions(),
        }

    def to_csv(self) -> str:
        """The content of ``comparison.csv``: a row per point."""
        out = io.StringIO()
        rows = [self._row(point) for point in self.points]
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def texts(self) -> dict[str, str]:
        """The files of the comparison by their kind."""
        content = self.to_dict()
        return {"json": to_json(content), "csv": self.to_csv(), "html": write_comparison(content)}

    def _row(self, point: Mapping[str, Any]) -> dict[str, Any]:
        sizes, measures, risk = (point.get(key) or {} for key in ("class_sizes", "measures", "risk"))
        return {
            "name": point["name"],
            "algorithm": point["algorithm"],
            **{name: point["parameters"][name] for name in self.axes},
            "status": point["status"],
            "frontier": point["name"] in self.frontier,
            **{name: measures.get(name) for name in METRICS},
            **{f"risk_{name}": risk.get(name) for name in RISKS},
            **{key: point.get(key) for key in ("records", "released", "classes")},
            **{f"class_size_{key}": sizes.get(key) for key in ("smallest", "mean", "largest")},
            **{key: point.get(key) for key in ("seconds", "peak_memory_bytes", "reason", "nearest_relaxation")},
        }


def frontier(points: Sequence[tuple[float, float]]) -> list[int]:
    """The indexes of the points that no other beats in both figures (Pareto), by the first, then the second.

    Less is better in both. A point is beaten by one that is no worse in both and better in one.
    """
    order = sorted(range(len(points)), key=lambda index: (points[index], index))
    found: list[int] = []
    best = float("inf")
    for index in order:
        x, y = points[index]
        equal_to_last = bool(found) and points[found[-1]] == (x, y)
        if y < best or equal_to_last:
            found.append(index)
            best = y
    return found
