"""What was lost: by column, before and after, against the least possible, and by every measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.metrics import METRICS
from shoal.present.html.markup import Markup, join, more, name_of, paired_table, paragraph, row, table, tag
from shoal.present.plots.plots import loss_plot
from shoal.present.report.before_after import before_after
from shoal.present.report.distance import distance
from shoal.present.report.figures import UNSTATED, is_number, number, part_of, percent


def lost_section(evidence: Mapping[str, Any]) -> list[Markup]:
    """The columns, their plot, and the measures."""
    quasi = {
        name: column
        for name, column in part_of(evidence, "columns").items()
        if isinstance(column, Mapping) and column.get("role") == "quasi"
    }
    measures = _measures(part_of(evidence, "measures"))
    return [
        *_columns(quasi, evidence),
        *_plot(quasi),
        *before_after(evidence),
        *distance(evidence),
        more("Every measure of the release", *measures),
    ]


def _columns(quasi: Mapping[str, Any], evidence: Mapping[str, Any]) -> list[Markup]:
    if not quasi:
        return [paragraph("The evidence names no quasi-identifier, so no column was generalized.")]
    local = evidence.get("levels") is None
    declared = part_of(part_of(evidence, "policy"), "columns")
    rows = []
    for name, column in quasi.items():
        labels = f"{number(column.get('labels_released'))} for {number(column.get('values'))}"
        loss = percent(column["ncp"]) if is_number(column.get("ncp")) else UNSTATED
        bounded = part_of(declared, name).get("boundary") is not None
        level = _level(part_of(evidence, "levels").get(name), column, bounded=bounded)
        level = number(column.get("height")) if local else level
        rows.append(row(name_of(name), level, labels, loss))
    heads = ["Column", "Levels there are" if local else "Level released", "Labels for values", "Detail lost (NCP)"]
    said = (
        "The release has no one level for a column: records of the same value may be released at different levels."
        if local
        else "A level is a step up the column's hierarchy: 0 is the value as it was, the last one tells nothing, "
        "except of values that a boundary holds below it."
    )
    after = (
        "Labels for values: how many different labels are released, and how many values the hierarchy has. "
        "Detail lost: 0% when every value is released as it was; a record that is left out counts as fully lost."
    )
    return [paragraph(said, " ", after), table("What generalizing did to each quasi-identifier.", heads, rows)]


def _level(level: object, column: Mapping[str, Any], *, bounded: bool) -> str:
    """A level out of all; at the last one nothing is left, unless a boundary keeps values from getting there."""
    height = column.get("height")
    text = f"{number(level)} of {number(height)}"
    if not is_number(level) or not is_number(height):
        return text
    if level == 0:
        return f"{text} (as it was)"
    if level != height:
        return text
    if column.get("ncp") == 1:
        return f"{text} (nothing left)"
    return f"{text} (at its boundary)" if bounded else text


def _plot(quasi: Mapping[str, Any]) -> list[Markup]:
    losses = [(name, float(column["ncp"])) for name, column in quasi.items() if is_number(column.get("ncp"))]
    if not losses:
        return []
    caption = "Share of its detail that each quasi-identifier lost (NCP), records left out counted as lost."
    return [tag("figure", tag("figcaption", caption), loss_plot(losses))]


def _measures(measures: Mapping[str, Any]) -> list[Markup]:
    if not measures:
        return [paragraph("The evidence holds no measures.")]
    pairs = []
    for name, value in measures.items():
        words = METRICS.get(name)
        if words is None:
            pairs.append((row(name_of(str(name)), number(value), UNSTATED), ""))
            continue
        better = "more is better" if words.higher_is_better else "less is better"
        pairs.append((row(words.title, number(value), join(f"{words.scale}, {better}")), words.summary))
    return [paired_table("Every measure of the release.", ["Measure", "Value", "Range and direction"], pairs)]
