"""The page of a comparison: one plot, the frontier in words, one table, and how to repeat each point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.metrics import metric_title
from shoal.present.html.markup import Markup, join, name_of, paragraph, row, table, tag
from shoal.present.html.shell import whole_page
from shoal.present.plots.scatter import SCATTER_STYLE, Dot, legend, scatter_plot
from shoal.present.report.figures import (
    UNSTATED,
    counted,
    entries_of,
    is_number,
    memory,
    number,
    part_of,
    percent,
    seconds,
)

RISKS = {
    "average": ("Average risk", "the chance 1 / (size of the class) to be taken for the right record, on average"),
    "highest": ("Highest risk", "the chance 1 / (size of the class) to be taken for the right record, at worst"),
    "homogeneity": ("Homogeneity", "the share of records whose class has a single sensitive value"),
    "similarity": ("Similarity", "the share of records whose class has a single category"),
}
"""Each risk as a head, and in words."""
_STATUS = {
    "infeasible": "No release: ",
    "contradictory": "Cannot be: ",
    "unverified": "Not verified: ",
}


def write_comparison(content: Mapping[str, Any]) -> str:
    """The page as the text of one self-contained HTML file; ``content`` is that of ``comparison.json``."""
    points = entries_of(content, "points")
    sections = [
        ("plot", "Risk against loss", _plot(content, points)),
        ("frontier", "The frontier", _frontier(content, points)),
        ("points", "Every point", _table(content, points)),
        ("repeat", "How to repeat it", _repeat(content)),
    ]
    return whole_page("Comparison", [_summary(content, points)], sections, "Written by Shoal.", SCATTER_STYLE)


def _summary(content: Mapping[str, Any], points: list[Mapping[str, Any]]) -> Markup:
    algorithms = [str(name) for name in content.get("algorithms", ())]
    axes = [f"{name} {_values(values)}" for name, values in part_of(content, "axes").items()]
    over = f" with {'; '.join(axes)}" if axes else ""
    verified = sum(point.get("status") == "verified" for point in points)
    rest = "all verified" if verified == len(points) else f"{number(verified)} of them with a verified release"
    return paragraph(f"{', '.join(algorithms)}{over}: {counted(len(points), 'point')}, {rest}.", class_="soft")


def _values(values: object) -> str:
    given = [number(value) for value in values] if isinstance(values, (list, tuple)) else []
    return ", ".join(given) if len(given) <= 8 else f"{given[0]} to {given[-1]} ({len(given)} values)"


def _title(content: Mapping[str, Any]) -> str:
    name = str(content.get("metric"))
    return metric_title(name)


def _figures(content: Mapping[str, Any], point: Mapping[str, Any]) -> tuple[float, float] | None:
    """Loss and risk of a point, where it has a verified release."""
    x = part_of(point, "measures").get(str(content.get("metric")))
    y = part_of(point, "risk").get(str(content.get("risk")))
    if point.get("status") != "verified" or not is_number(x) or not is_number(y):
        return None
    return float(x), float(y)


def _plot(content: Mapping[str, Any], points: list[Mapping[str, Any]]) -> list[Markup]:
    algorithms = [str(name) for name in content.get("algorithms", ())]
    rank = {name: place for place, name in enumerate(content.get("frontier", ()), start=1)}
    dots = []
    for point in points:
        found = _figures(content, point)
        if found is not None:
            kind = algorithms.index(str(point.get("algorithm")))
            dots.append(Dot(str(point.get("name")), *found, kind, rank.get(point.get("name"))))
    if not dots:
        return [paragraph("No point has a release, so there is nothing to draw; the table says why.")]
    head, words = RISKS.get(str(content.get("risk")), (str(content.get("risk")), ""))
    side = "more is better" if content.get("higher_is_better") else "less is better"
    across = f"{_title(content).partition(' (')[0]}, {side}"
    described = (
        f"{counted(len(dots), 'release')} by {_title(content)} and {head.lower()}. On the frontier: "
        + "; ".join(f"{dot.name} {dot.x:.4g}, {dot.y:.4g}" for dot in dots if dot.rank is not None)
    )
    better = "right" if content.get("higher_is_better") else "left"
    caption = (
        f"Each shape is a release. Down is less risk ({words}), {better} is less loss. The dashed steps "
        "mark the frontier: no other point is better in one and no worse in the other. Its points are numbered as in "
        "the list below, where there is room."
    )
    plot = scatter_plot(dots, across=across, up=f"{head}, less is better", description=f"{described}.")
    return [tag("figure", tag("figcaption", caption), legend(algorithms), plot)]


def _frontier(content: Mapping[str, Any], points: list[Mapping[str, Any]]) -> list[Markup]:
    """The frontier as sentences: from the least loss to the least risk."""
    by_name = {point.get("name"): point for point in points}
    found = [by_name[name] for name in content.get("frontier", ()) if name in by_name]
    if not found:
        return [paragraph("There is no frontier, since no point has a release.")]
    head = RISKS.get(str(content.get("risk")), (str(content.get("risk")), ""))[0].lower()
    items = []
    for point in found:
        figures = _figures(content, point)
        if figures is not None:
            words = f": {content.get('metric')} {figures[0]:.4g}, {head} {percent(figures[1])}"
            items.append(join(name_of(str(point.get("name"))), words, _extra(point)))
    verb = "is" if len(items) == 1 else "are"
    lead = (
        f"{number(len(items))} of {counted(len(points), 'point')} {verb} on the frontier, from the least loss to the "
        "least risk. Every other point is beaten by one of these: it is worse in one figure and no better in the other."
    )
    return [paragraph(lead), tag("ol", *(tag("li", item) for item in items))]


def _extra(point: Mapping[str, Any]) -> str:
    smallest = part_of(point, "class_sizes").get("smallest")
    return f"; smallest class {number(smallest)}, {counted(point.get('suppressed'), 'record')} suppressed"


def _table(content: Mapping[str, Any], points: list[Mapping[str, Any]]) -> list[Markup]:
    ranks = {name: place for place, name in enumerate(content.get("frontier", ()), start=1)}
    metric = str(content.get("metric"))
    exposed = [name for name in ("homogeneity", "similarity") if any(name in part_of(p, "risk") for p in points)]
    attacks = [{"homogeneity": "One value", "similarity": "One category"}[name] for name in exposed]
    heads = [
        "Point", "Frontier", metric, "Average risk", "Highest risk", *attacks,
        "Suppressed", "Classes", "Smallest", "Time", "Memory",
    ]  # fmt: skip
    rows = [_row(point, metric, exposed, ranks.get(point.get("name")), len(heads)) for point in points]
    said = (
        "One value and one category count the records whose class has a single value, or a single category, of a "
        "sensitive column: open to the homogeneity and the similarity attack. Time is that of searching, recoding and "
        "verifying; the table is read once for all points."
    )
    return [paragraph(said), tag("div", table("The points of the grid.", heads, rows), class_="points")]


def _row(point: Mapping[str, Any], metric: str, exposed: list[str], rank: int | None, width: int) -> Markup:
    name = str(point.get("name"))
    head = tag("a", name_of(name), href=f"points/{name}.yaml")
    if point.get("status") != "verified":
        reason = f"{_STATUS.get(str(point.get('status')), '')}{number(point.get('reason'))}"
        nearest = point.get("nearest_relaxation")
        help_ = f" {nearest}." if nearest else ""
        return tag("tr", tag("th", head, scope="row"), tag("td", reason + help_, colspan=str(width - 1)))
    risk = part_of(point, "risk")
    value = part_of(point, "measures").get(metric)
    cells = [
        str(rank) if rank is not None else "",
        f"{value:.4f}" if isinstance(value, float) else number(value),
        *(percent(risk[key]) if is_number(risk.get(key)) else UNSTATED for key in ("average", "highest")),
        *(_exposed(point, name) for name in exposed),
        *(number(point.get(key)) for key in ("suppressed", "classes")),
        number(part_of(point, "class_sizes").get("smallest")),
        seconds(point.get("seconds")),
        memory(point.get("peak_memory_bytes")),
    ]
    return tag("tr", tag("th", head, scope="row"), *(tag("td", cell, class_="figure") for cell in cells))


def _exposed(point: Mapping[str, Any], attack: str) -> str:
    """The records open to an attack; of several sensitive columns the worst counts."""
    counts = [
        each[attack]["records"]
        for each in part_of(point, "exposure").values()
        if isinstance(each, Mapping) and attack in each
    ]
    return number(max(counts)) if counts else "–"


def _repeat(content: Mapping[str, Any]) -> list[Markup]:
    said = (
        "The policy of each point lies beside this page in points/, its result in a file of the same name. ",
        tag("code", "shoal anonymize points/NAME.yaml"),
        " makes the release of a point with the same measures. The releases themselves were verified in memory; they "
        "are written only where that was asked for (--releases).",
    )
    rows = [
        row("Policy (SHA-256)", tag("code", str(content.get("policy_sha256")))),
        *(
            row(join("Input: ", name_of(str(name)), " (SHA-256)"), tag("code", str(digest)))
            for name, digest in part_of(content, "inputs_sha256").items()
        ),
        *(row(f"Version of {name}", tag("code", str(value))) for name, value in part_of(content, "versions").items()),
    ]
    return [paragraph(*said), table("What the comparison was made from.", ["Item", "Is"], rows)]
