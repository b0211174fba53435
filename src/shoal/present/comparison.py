"""A comparison of algorithms and parameters: on the terminal, and as a page with a plot, the frontier and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.formatting import data_size, duration, listing, number, percent, pluralize
from shoal.metrics import metric_title
from shoal.present.html.markup import Markup, join, name_of, paragraph, table, tag, whole_page
from shoal.present.html.style import SCATTER_STYLE
from shoal.present.people import class_sizes_of
from shoal.present.plots.point_plots import Dot, legend, scatter_plot
from shoal.present.terminal import NOTHING, aligned, folded
from shoal.present.verdict import WORDS

if TYPE_CHECKING:
    from shoal.pipeline.compare.compare import Plan

_MOST = 8  # more values of a parameter are shown by the first and the last


def plan_line(plan: Plan) -> str:
    """What a comparison is going to do, before it starts."""
    axes = [f"{name} {_values(values)}" for name, values in plan.comparison.axes.items()]
    grid = " × ".join([pluralize(len(plan.comparison.algorithms), "algorithm"), *axes])
    parts = [f"{pluralize(len(plan.points), 'point')}: {grid}."]
    if plan.finished:
        parts.append(f"{len(plan.finished):,} already finished.")
    if contradictory := sum(point.contradiction is not None for point in plan.points):
        parts.append(f"{contradictory:,} impossible because their parameters contradict each other.")
    if not plan.releases:
        parts.append("Releases are verified in memory and not written; to write them, use --releases.")
    if plan.policy.utility is not None:
        parts.append("The policy's utility task is not measured.")
    return folded(" ".join(parts))


def comparison_lines(comparison: Mapping[str, Any]) -> Iterator[str]:
    """The table of points, why some have no release, and the frontier; ``comparison`` is ``comparison.json``."""
    metric, points, frontier = comparison["metric"], comparison["points"], comparison["frontier"]
    verified = [point for point in points if point["status"] == "verified"]
    exposures = [name for name in _EXPOSED if any(name in point["risk"] for point in verified)]
    heads = ["average", "highest", *exposures, "suppressed", "smallest", "leaks", "verdict"]
    rows = [["", "point", metric, *heads, "seconds"]]
    for point in points:
        row = ["*" if point["name"] in frontier else "", str(point["name"])]
        if point in verified:
            risk = point["risk"]
            row += [f"{point['measures'][metric]:.4f}", f"{risk['average']:.4f}", f"{risk['highest']:.4f}"]
            row += [f"{risk[name]:.4f}" if name in risk else NOTHING for name in exposures]
            row += [f"{point['suppressed']:,}", f"{class_sizes_of(point)['smallest']:,}", *_verdict(point)]
        else:
            row += [str(point["status"]), *[NOTHING] * len(heads)]
        rows.append([*row, f"{point['seconds']:.2f}"])
    yield from aligned(rows)
    same: dict[tuple[str, str], list[str]] = {}  # points without a release for the same reason
    for point in points:
        if point not in verified:
            reason = str(point["reason"])
            text = reason if reason.endswith((".", "!", "?")) else f"{reason}."
            if point.get("nearest_relaxation"):
                text += f" Nearest relaxation: {point['nearest_relaxation']}."
            same.setdefault((point["status"], text), []).append(str(point["name"]))
    yield from (folded(f"{', '.join(names)}: {status}. {text}") for (status, text), names in same.items())
    yield ""
    if frontier:
        yield folded(
            f"The best points (*) by {metric} and {comparison['risk']} risk, lowest loss first: "
            f"{', '.join(frontier)}. No other point is better in one without being worse in the other."
        )
    else:
        yield "No point has a verified release."


def _verdict(point: Mapping[str, Any]) -> tuple[str, str]:
    """How many attacks on the release of a point leak, and its verdict."""
    verdict = point.get("verdict")
    if verdict is None:  # a point that an earlier version has finished
        return NOTHING, NOTHING
    return f"{verdict['leaking']} of {verdict['tried']}", WORDS[verdict["decision"]].lower()


RISKS = {
    "average": ("Average risk", "the chance, 1 / (size of the class), of picking the right record, on average"),
    "highest": ("Highest risk", "the chance, 1 / (size of the class), of picking the right record, at worst"),
    "homogeneity": ("Homogeneity", "the share of records whose class has a single sensitive value"),
    "similarity": ("Similarity", "the share of records whose class has a single category"),
}  # each risk: a heading, and in words
_STATUS = {"infeasible": "No release: ", "contradictory": "Contradictory: ", "unverified": "Not verified: "}
_EXPOSED = {"homogeneity": "One value", "similarity": "One category"}


def write_comparison(content: Mapping[str, Any]) -> str:
    """The page as the text of one self-contained HTML file; ``content`` is that of ``comparison.json``."""
    points = content["points"]
    axes = [f"{name} {_values(values)}" for name, values in content["axes"].items()]
    over = f" with {'; '.join(axes)}" if axes else ""
    verified = sum(point["status"] == "verified" for point in points)
    rest = "all verified" if verified == len(points) else f"{number(verified)} of them with a verified release"
    said = f"{listing(content['algorithms'])}{over}: {pluralize(len(points), 'point')}, {rest}."
    rank = {name: index for index, name in enumerate(content["frontier"], start=1)}
    dots = []
    for point in points:
        if point["status"] == "verified" and content["risk"] in point["risk"]:
            loss, risk = point["measures"][content["metric"]], point["risk"][content["risk"]]
            kind = content["algorithms"].index(point["algorithm"])
            dots.append(Dot(point["name"], float(loss), float(risk), kind, rank.get(point["name"])))
    sections = [
        ("plot", "Risk against loss", _plot(content, dots)),
        ("frontier", "The frontier", _frontier(content, dots)),
        ("points", "All points", _table(content, points)),
        ("repeat", "How to repeat it", _repeat(content)),
    ]
    return whole_page("Comparison", [paragraph(said, class_="soft")], sections, "Written by Shoal.", SCATTER_STYLE)


def _values(values: Sequence[Any]) -> str:
    texts = [number(each) if isinstance(each, (int, float)) else str(each) for each in values]
    return ", ".join(texts) if len(texts) <= _MOST else f"{texts[0]} to {texts[-1]} ({len(texts)} values)"


def _plot(content: Mapping[str, Any], dots: Sequence[Dot]) -> list[Markup]:
    if not dots:
        return [paragraph("No point has a release, so there is nothing to draw; the table says why.")]
    (head, words), title = RISKS[content["risk"]], metric_title(content["metric"])
    side, better = ("more is better", "right") if content["higher_is_better"] else ("less is better", "left")
    best = "; ".join(f"{dot.name} {dot.x:.4g}, {dot.y:.4g}" for dot in dots if dot.rank is not None)
    described = f"{pluralize(len(dots), 'release')} by {title} and {head.lower()}. On the frontier: {best}."
    caption = (
        f"Each shape is a release. Down is less risk ({words}), {better} is less loss. The dashed steps mark the "
        "frontier: no other point is better in one and no worse in the other. Its points are numbered as in the list "
        "below, where there is room."
    )
    across, up = f"{title.partition(' (')[0]}, {side}", f"{head}, less is better"
    plot = scatter_plot(dots, across=across, up=up, description=described)
    return [tag("figure", tag("figcaption", caption), legend(content["algorithms"]), plot)]


def _frontier(content: Mapping[str, Any], dots: Sequence[Dot]) -> list[Markup]:
    """The points that no other beats, from the least loss to the least risk."""
    points, items = {point["name"]: point for point in content["points"]}, []
    head = RISKS[content["risk"]][0].lower()
    for dot in sorted((dot for dot in dots if dot.rank is not None), key=lambda dot: dot.rank or 0):
        point = points[dot.name]
        smallest, suppressed = number(class_sizes_of(point)["smallest"]), pluralize(point["suppressed"], "record")
        measured = f": {content['metric']} {dot.x:.4g}, {head} {percent(dot.y)}; "
        items.append(join(name_of(dot.name), measured, f"smallest class {smallest}, {suppressed} suppressed"))
    if not items:
        return [paragraph("There is no frontier, since no point has a release.")]
    verb = "is" if len(items) == 1 else "are"
    lead = (
        f"{number(len(items))} of {pluralize(len(points), 'point')} {verb} on the frontier, from the least loss to the "
        "least risk. Every other point is beaten by one of these: it is worse in one figure and no better in the other."
    )
    return [paragraph(lead), tag("ol", *(tag("li", item) for item in items))]


def _table(content: Mapping[str, Any], points: list[Mapping[str, Any]]) -> list[Markup]:
    ranks = {name: str(index) for index, name in enumerate(content["frontier"], start=1)}
    exposed = [name for name in _EXPOSED if any(name in point.get("risk", {}) for point in points)]
    heads = [
        "Point", "Frontier", content["metric"], "Average risk", "Highest risk", *(_EXPOSED[name] for name in exposed),
        "Suppressed", "Classes", "Smallest", "Leaks", "Verdict", "Time", "Memory",
    ]  # fmt: skip
    rows = []
    for point in points:
        name = point["name"]
        head = tag("th", tag("a", name_of(name), href=f"points/{name}.yaml"), scope="row")
        if point["status"] == "verified":
            cells = _cells(point, content["metric"], exposed)
            figures = (tag("td", cell, class_="figure") for cell in (ranks.get(name, ""), *cells))
            rows.append(tag("tr", head, *figures))
        else:
            nearest = point.get("nearest_relaxation")
            reason = f"{_STATUS[point['status']]}{point['reason']}{f' {nearest}.' if nearest else ''}"
            rows.append(tag("tr", head, tag("td", reason, colspan=str(len(heads) - 1))))
    said = (
        "One value and one category count the records whose class has a single value, or a single category, of a "
        "sensitive column: they are open to the homogeneity and the similarity attack. Leaks counts the attacks that "
        "find more than their baseline explains, and the verdict follows from them. Time is that of searching, "
        "recoding and verifying; the table is read once for all points."
    )
    return [paragraph(said), tag("div", table("The points of the grid.", heads, rows), class_="points")]


def _cells(point: Mapping[str, Any], metric: str, exposed: list[str]) -> Iterator[str]:
    """The figures of a point; of several sensitive columns the one with most exposed records counts."""
    yield f"{point['measures'][metric]:,.4f}"
    yield from (percent(point["risk"][key]) for key in ("average", "highest"))
    for attack in exposed:
        counts = [each[attack]["records"] for each in point["exposure"].values() if attack in each]
        yield number(max(counts)) if counts else "–"
    yield from (number(point[key]) for key in ("suppressed", "classes"))
    yield number(class_sizes_of(point)["smallest"])
    yield from _verdict(point)
    yield duration(point["seconds"])
    yield "not known" if (memory := point["peak_memory_bytes"]) is None else data_size(memory)


def _repeat(content: Mapping[str, Any]) -> list[Markup]:
    said = (
        "The policy of each point is in the folder points/ next to this page, its result in a file of the same name. ",
        tag("code", "shoal anonymize points/NAME.yaml"),
        " makes the release of a point with the same measures. The releases themselves were verified in memory; they "
        "are written only with --releases.",
    )
    rows = [
        ("Policy (SHA-256)", content["policy_sha256"]),
        *((join("Input: ", name_of(name), " (SHA-256)"), digest) for name, digest in content["inputs_sha256"].items()),
        *((f"Version of {name}", value) for name, value in content["versions"].items()),
    ]
    facts = [(head, tag("code", value)) for head, value in rows]
    return [paragraph(*said), table("What the comparison was made from.", ["Item", "Value"], facts)]
