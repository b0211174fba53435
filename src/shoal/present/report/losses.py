"""What was lost: by column, before and after, against the least possible, and by every measure."""

from collections.abc import Iterator, Mapping

from shoal.evidence.evidence import BoundFacts, Evidence, QuasiFacts, ValueGroup
from shoal.formatting import listing, number, percent, pluralize
from shoal.metrics import METRICS
from shoal.present.bound import bound_phrase
from shoal.present.html.markup import Markup, more, name_of, names_of, paired_table, paragraph, row, table, tag
from shoal.present.plots.bars import loss_plot

_LEVELS = (
    "A level is a step up the column's hierarchy: 0 is the value as it was, and the last level tells nothing, except "
    "for values that a boundary holds below it."
)
_NO_LEVELS = "This release has no single level per column: records with the same value may have different levels."
_HEADS = (
    "Labels for values: how many different labels are released, and how many values the hierarchy has. Detail lost: 0% "
    "when every value is released as it was; a suppressed record counts as fully lost."
)
_BEFORE_AFTER = (
    "Before is how many of the released records had such a value. After is how many a reader of the release must "
    "assume to have it: a full bar where the label says so, an empty bar where a label covers several groups and its "
    "records are spread evenly over them. The flatter the empty bars are, the more was lost."
)
_RULE = (
    "Suppressed records are in neither. A group in which labels hide fewer than {least} records is not shown on its "
    "own but counted among the others, so that this page reveals no rare value that the release hides."
)
_TOO_FEW = "Not shown, because the figures would rest on too few records: "
_ENDED = {
    "nothing improves": "until nothing improved any further",
    "rounds": "for a fixed number of rounds",
    "time": "until the time limit, so another run may end differently",
}


def losses_section(evidence: Evidence) -> list[Markup]:
    """The columns, their plot, and the measures."""
    quasi = {name: column for name, column in evidence.columns.items() if isinstance(column, QuasiFacts)}
    local, rows = evidence.levels is None, []
    for name, column in quasi.items():
        labels = f"{number(column.labels_released)} for {number(column.hierarchy_values)}"
        rows.append((name_of(name), _level(name, column, evidence), labels, percent(column.ncp)))
    heads = ["Column", "Levels available" if local else "Level released", "Labels for values", "Detail lost (NCP)"]
    caption = "Share of its detail that each quasi-identifier lost (NCP); suppressed records count as lost."
    plot = loss_plot([(name, column.ncp) for name, column in quasi.items()])
    distance = list(_distance(evidence))
    return [
        paragraph(f"{_NO_LEVELS if local else _LEVELS} {_HEADS}"),
        table("What generalization did to each quasi-identifier.", heads, rows),
        tag("figure", tag("figcaption", caption), plot),
        *_before_after(quasi),
        *([tag("h3", "How far from the least possible loss"), *distance] if distance else []),
        more("Every measure of the release", _measures(evidence.measures)),
    ]


def _level(name: str, column: QuasiFacts, evidence: Evidence) -> str:
    """A level out of all; at the last one nothing is left, unless a boundary keeps values from getting there."""
    if evidence.levels is None:
        return number(column.height)
    level, note = evidence.levels[name], ""
    if level == 0:
        note = " (as it was)"
    elif level == column.height and column.ncp == 1:
        note = " (nothing left)"
    elif level == column.height and has_boundary(evidence, name):
        note = " (at its boundary)"
    return f"{number(level)} of {number(column.height)}{note}"


def has_boundary(evidence: Evidence, name: str) -> bool:
    """Whether the policy sets a boundary for a column."""
    declared: Mapping[str, object] = evidence.policy.get("columns", {}).get(name, {})
    return declared.get("boundary") is not None


def _before_after(quasi: Mapping[str, QuasiFacts]) -> list[Markup]:
    """A small table for each column that has a distribution, those that lost most first.

    The cells of the tables have bars: the figures can be read aloud and printed, the bars only help the eye.
    """
    drawn = {name: column.distribution for name, column in quasi.items() if column.distribution is not None}
    if not drawn:
        return []
    heads = tag("thead", tag("tr", *(tag("th", head, scope="col") for head in ("Value", "Before", "After"))))
    tables = []
    for name in sorted(drawn, key=lambda name: -quasi[name].ncp):
        column, groups = quasi[name], drawn[name].groups
        most = max(1.0, *(max(each.before, each.after) for each in groups))
        values, labels = pluralize(column.hierarchy_values, "value"), pluralize(column.labels_released, "label")
        caption = tag("caption", tag("strong", name_of(name)), f": {values}, released as {labels}")
        body = tag("tbody", *(_group_row(each, most) for each in groups))
        tables.append(tag("table", caption, heads, body, class_="pair"))
    least, others = next(iter(drawn.values())).least_hidden, [name for name in quasi if name not in drawn]
    return [
        tag("h3", "Each column before and after"),
        paragraph(_BEFORE_AFTER),
        paragraph(_RULE.format(least=number(least)), class_="soft"),
        tag("div", *tables, class_="columns"),
        *([paragraph(_TOO_FEW, names_of(others), ".")] if others else []),
    ]


def _group_row(group: ValueGroup, most: float) -> Markup:
    sure = min(group.within, group.after)
    label = tag("em", "(missing)") if group.label is None else name_of(group.label)
    if group.kind == "others":
        label = tag("em", f"others ({pluralize(group.distinct_values, 'value')})")
    before = _cell(group.before, [("bar", group.before)], most)
    return row(label, before, _cell(group.after, [("bar", sure), ("hollow", group.after - sure)], most))


def _cell(value: float, parts: list[tuple[str, float]], most: float) -> Markup:
    """A figure and its bar, at least a pixel wide where there is anything; ``parts`` follow each other."""
    vertical = {"y": "0.1em", "height": "0.7em"}
    drawn, start = [tag("rect", x="0", width="1", **vertical, class_="bar")] if value else [], 0.0
    for class_, length in parts:
        width = 100 * length / most
        if width > 0.005:
            drawn.append(tag("rect", x=f"{start:.2f}%", width=f"{width:.2f}%", **vertical, class_=class_))
        start += width
    bars = tag("svg", *drawn, width="100%", height="0.9em", aria_hidden="true")
    figure = f"{value:.1f}" if value >= 0.1 else "< 0.1"  # a share of records that is not whole
    if value == round(value) or value >= 10:
        figure = f"{round(value):,}"
    return tag("div", tag("span", figure), bars, class_="cell")


_NOT_CHECKED = {
    "neighbours": "",
    "too-large": " The bound was not checked by the verifier: that would have taken longer than finding it.",
    "no-original": " The bound was not checked by the verifier, who has no original as one table to check it with.",
}


def _checked(bound: BoundFacts) -> str:
    """Which columns the bound counts, and whether the verifier has confirmed it."""
    some = f" The bound counts only what is lost in {listing(bound.columns)}." if bound.columns else ""
    if bound.checked:
        return f"{some} The verifier has confirmed the bound from the original and the policy."
    return f"{some}{_NOT_CHECKED[bound.unchecked or 'neighbours']}"


def _distance(evidence: Evidence) -> Iterator[Markup]:
    """The bound in words, and the loss before and after refining."""
    bound, refined = evidence.bound, evidence.search.get("refined")
    if bound is not None:
        least, reached = percent(bound.ncp), percent(bound.reached)
        words = bound_phrase(bound.gap, estimated=bound.estimated)
        low, high = map(percent, bound.ncp_interval)
        estimate = (
            f" The bound is estimated from {pluralize(bound.records, 'record')} and lies with 95% certainty between "
            f"{low} and {high}."
        )
        if words is None:
            nothing = "The lower bound is 0%, which says nothing about the best."
            yield paragraph(f"This release loses {reached} of the detail. {nothing}")
        else:
            yield paragraph(
                f"This release loses {reached} of the detail (NCP). No release under these models can lose less than "
                f"{least}, so it is ", tag("strong", words), f".{estimate if bound.estimated else ''} The best "
                "possible release lies somewhere between the two; whether any release reaches the bound is not known."
                f"{_checked(bound)}",
            )  # fmt: skip
    if refined:
        improved = tag("strong", f"{refined['before']:.4f} to {refined['after']:.4f}")
        steps, rounds = pluralize(sum(refined["steps"].values()), "step"), pluralize(refined["rounds"], "round")
        how = f" by the measure {refined['measure']}, in {steps} and {rounds}, {_ENDED[refined['ended']]}."
        yield paragraph("Refinement improved the release from ", improved, how)


def _measures(measures: Mapping[str, float]) -> Markup:
    pairs: list[tuple[tuple[str, ...], str]] = []
    for name, value in measures.items():
        if (words := METRICS.get(name)) is None:
            pairs.append(((name_of(name), number(value), ""), ""))
            continue
        better = "more is better" if words.higher_is_better else "less is better"
        pairs.append(((words.title, number(value), f"{words.scale}, {better}"), words.summary))
    return paired_table("Every measure of the release.", ["Measure", "Value", "Range and direction"], pairs)
