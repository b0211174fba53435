"""How far the release is from the least that any release could lose, and what refining did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.present.html.markup import Markup, join, paragraph, tag
from shoal.present.report.figures import counted, is_number, number, part_of, percent

_ENDED = {
    "nothing improves": "until nothing improved it any more",
    "rounds": "for a fixed number of rounds",
    "time": "until the time given was over, so that another run may end elsewhere",
}


def distance(evidence: Mapping[str, Any]) -> list[Markup]:
    """The bound in words, and the loss before and after refining."""
    parts = [*_bound(part_of(evidence, "bound")), *_refined(part_of(part_of(evidence, "search"), "refined"))]
    return [tag("h3", "How far from the least possible loss"), *parts] if parts else []


def ratio_words(bound: Mapping[str, Any]) -> str | None:
    """How many times the bound was lost; None where that cannot be said."""
    ratio = bound.get("ratio")
    if not is_number(ratio):
        return None
    about = "about " if bound.get("estimated") is True else ""
    if ratio < 1.005:
        return f"{about}as little as any release could lose"
    times = f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.1f}" if ratio >= 1.05 else f"{ratio:.2f}"
    return f"{about}{times} times the least any release could lose"


def _bound(bound: Mapping[str, Any]) -> list[Markup]:
    if not is_number(bound.get("ncp")) or not is_number(bound.get("reached")):
        return []
    least, reached, words = percent(bound["ncp"]), percent(bound["reached"]), ratio_words(bound)
    if words is None:
        said = f"This release loses {reached} of the detail. The lower bound is 0%, which says nothing about the best."
        return [paragraph(said)]
    interval = bound.get("ncp_interval")
    drawn = ""
    if bound.get("estimated") is True and isinstance(interval, (list, tuple)) and len(interval) == 2:
        drawn = (
            f" The bound is an estimate from {counted(bound.get('records'), 'record')}, with 95% certainty between "
            f"{percent(interval[0])} and {percent(interval[1])}."
        )
    return [
        paragraph(
            f"This release loses {reached} of the detail (NCP), and none under these models can lose less than "
            f"{least}: it loses ",
            tag("strong", words),
            f".{drawn} The best possible release lies somewhere between the two; whether one can reach the bound is "
            "not known.",
        )
    ]


def _refined(refined: Mapping[str, Any]) -> list[Markup]:
    before, after = refined.get("before"), refined.get("after")
    if not is_number(before) or not is_number(after):
        return []
    steps = sum(int(count) for count in part_of(refined, "steps").values() if is_number(count))
    ended = _ENDED.get(str(refined.get("ended")), number(refined.get("ended")))
    return [
        paragraph(
            join(
                "Refining took the release from ",
                tag("strong", f"{before:.4f} to {after:.4f}"),
                f" by the measure {number(refined.get('measure'))}, in {counted(steps, 'step')} and "
                f"{counted(refined.get('rounds'), 'round')}, {ended}.",
            )
        )
    ]
