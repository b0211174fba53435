"""A comparison of algorithms and parameters on the terminal: what is going to run, and what came out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shoal.formatting import number, pluralize
from shoal.present.terminal import NOTHING, aligned, folded

_EXPOSURES = ("homogeneity", "similarity")
_MOST = 8
"""More values of a parameter are shown by the first and the last."""


def plan_line(
    algorithms: Sequence[str],
    axes: Mapping[str, Sequence[float]],
    *,
    points: int,
    finished: int,
    contradictory: int,
    releases: bool,
    task: bool,
) -> str:
    """What a comparison is going to do, before it starts."""
    parts = [pluralize(len(algorithms), "algorithm"), *(f"{name} {_values(values)}" for name, values in axes.items())]
    sentences = [f"{pluralize(points, 'point')}: {' × '.join(parts)}."]
    if finished:
        sentences.append(f"{finished:,} already finished.")
    if contradictory:
        sentences.append(f"{contradictory:,} impossible because their parameters contradict each other.")
    if not releases:
        sentences.append("Releases are verified in memory and not written; to write them, use --releases.")
    if task:
        sentences.append("The policy's utility task is not measured.")
    return folded(" ".join(sentences))


def _values(values: Sequence[float]) -> str:
    texts = [number(value) for value in values]
    return ", ".join(texts) if len(texts) <= _MOST else f"{texts[0]} to {texts[-1]} ({len(texts)} values)"


def comparison_lines(comparison: Mapping[str, Any]) -> Iterator[str]:
    """The table of points, why some have no release, and the frontier; ``comparison`` is ``comparison.json``."""
    metric, points, frontier = comparison["metric"], comparison["points"], comparison["frontier"]
    verified = [point for point in points if point["status"] == "verified"]
    exposures = [name for name in _EXPOSURES if any(name in point["risk"] for point in verified)]
    header = ["", "point", metric, "average", "highest", *exposures, "suppressed", "smallest", "seconds"]
    rows = []
    for point in points:
        row = ["*" if point["name"] in frontier else "", str(point["name"])]
        if point in verified:
            risk = point["risk"]
            row += [f"{point['measures'][metric]:.4f}", f"{risk['average']:.4f}", f"{risk['highest']:.4f}"]
            row += [f"{risk[name]:.4f}" if name in risk else NOTHING for name in exposures]
            row += [f"{point['suppressed']:,}", f"{point['class_sizes']['smallest']:,}"]
        else:
            row += [str(point["status"]), *[NOTHING] * (4 + len(exposures))]
        rows.append([*row, f"{point['seconds']:.2f}"])
    yield from aligned([header, *rows])
    yield from _reasons([point for point in points if point not in verified])
    yield ""
    if frontier:
        yield folded(
            f"The best points (*) by {metric} and {comparison['risk']} risk, lowest loss first: "
            f"{', '.join(frontier)}. No other point is better in one without being worse in the other."
        )
    else:
        yield "No point has a verified release."


def _reasons(points: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Why points have no release; those with the same reason together."""
    groups: dict[tuple[str, str], list[str]] = {}
    for point in points:
        reason = str(point["reason"])
        text = reason if reason.endswith((".", "!", "?")) else f"{reason}."
        if point.get("nearest_relaxation"):
            text += f" Nearest relaxation: {point['nearest_relaxation']}."
        groups.setdefault((point["status"], text), []).append(str(point["name"]))
    for (status, text), names in groups.items():
        yield folded(f"{', '.join(names)}: {status}. {text}")
