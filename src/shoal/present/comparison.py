"""A comparison of algorithms and parameters: on the terminal, and as a page with a plot, the frontier and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shoal.formatting import data_size, duration, listing, number, percent, pluralize
from shoal.metrics import metric_title
from shoal.present.html.markup import Markup, join, name_of, paragraph, row, table, tag, whole_page
from shoal.present.html.style import SCATTER_STYLE
from shoal.present.plots.point_plots import Dot, legend, scatter_plot
from shoal.present.terminal import NOTHING, aligned, folded

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


def comparison_lines(comparison: Mapping[str, Any]) -> Iterator[str]:
    """The table of points, why some have no release, and the frontier; ``comparison`` is ``comparison.json``."""
    metric, points, frontier = comparison["metric"], comparison["points"], comparison["frontier"]
    verified = [point for point in points if point["status"] == "verified"]
    exposures = [name for name in _EXPOSED if any(name in point["risk"] for point in verified)]
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


RISKS = {
    "average": ("Average risk", "the chance, 1 / (size of the class), of picking the right record, on average"),
    "highest": ("Highest risk", "the chance, 1 / (size of the class), of picking the right record, at worst"),
    "homogeneity": ("Homogeneity", "the share of records whose class has a single sensitive value"),
    "similarity": ("Similarity", "the share of records whose class has a single category"),
}
"""Each risk: a heading, and in words."""
_STATUS = {"infeasible": "No release: ", "contradictory": "Contradictory: ", "unverified": "Not verified: "}
_EXPOSED = {"homogeneity": "One value", "similarity": "One category"}


def write_comparison(content: Mapping[str, Any]) -> str:
    """The page as the text of one self-contained HTML file; ``content`` is that of ``comparison.json``."""
    points = content["points"]
    sections = [
        ("plot", "Risk against loss", _plot(content, points)),
        ("frontier", "The frontier", _frontier(content, points)),
        ("points", "All points", _table(content, points)),
        ("repeat", "How to repeat it", _repeat(content)),
    ]
    return whole_page("Comparison", [_summary(content, points)], sections, "Written by Shoal.", SCATTER_STYLE)


def _summary(content: Mapping[str, Any], points: list[Mapping[str, Any]]) -> Markup:
    axes = [f"{name} {_values(values)}" for name, values in content["axes"].items()]
    over = f" with {'; '.join(axes)}" if axes else ""
    verified = sum(point["status"] == "verified" for point in points)
    rest = "all verified" if verified == len(points) else f"{number(verified)} of them with a verified release"
    said = f"{listing(content['algorithms'])}{over}: {pluralize(len(points), 'point')}, {rest}."
    return paragraph(said, class_="soft")


def _values(values: Sequence[Any]) -> str:
    texts = [number(each) if isinstance(each, (int, float)) else str(each) for each in values]
    return ", ".join(texts) if len(texts) <= _MOST else f"{texts[0]} to {texts[-1]} ({len(texts)} values)"


def _figures(content: Mapping[str, Any], point: Mapping[str, Any]) -> tuple[float, float] | None:
    """Loss and risk of a point, where it has a verified release."""
    if point["status"] != "verified" or content["risk"] not in point["risk"]:
        return None
    return float(point["measures"][content["metric"]]), float(point["risk"][content["risk"]])


def _plot(content: Mapping[str, Any], points: list[Mapping[str, Any]]) -> list[Markup]:
    rank = {name: index for index, name in enumerate(content["frontier"], start=1)}
    dots = []
    for point in points:
        found = _figures(content, point)
        if found is not None:
            kind = content["algorithms"].index(point["algorithm"])
            dots.append(Dot(point["name"], *found, kind, rank.get(point["name"])))
    if not dots:
        return [paragraph("No point has a release, so there is nothing to draw; the table says why.")]
    head, words = RISKS[content["risk"]]
    title = metric_title(content["metric"])
    side = "more is better" if content["higher_is_better"] else "less is better"
    better = "right" if content["higher_is_better"] else "left"
    across = f"{title.partition(' (')[0]}, {side}"
    described = f"{pluralize(len(dots), 'release')} by {title} and {head.lower()}. On the frontier: " + "; ".join(
        f"{dot.name} {dot.x:.4g}, {dot.y:.4g}" for dot in dots if dot.rank is not None
    )
    caption = (
        f"Each shape is a release. Down is less risk ({words}), {better} is less loss. The dashed steps mark the "
        "frontier: no other point is better in one and no worse in the other. Its points are numbered as in the list "
        "below, where there is room."
    )
    plot = scatter_plot(dots, across=across, up=f"{head}, less is better", description=f"{described}.")
    return [tag("figure", tag("figcaption", caption), legend(content["algorithms"]), plot)]


def _frontier(content: Mapping[str, Any], points: list[Mapping[str, Any]]) -> list[Markup]:
    """The frontier as sentences: from the least loss to the least risk."""
    by_name = {point["name"]: point for point in points}
    found = [(by_name[name], figures) for name in content["frontier"] if (figures := _figures(content, by_name[name]))]
    if not found:
        return [paragraph("There is no frontier, since no point has a release.")]
    head = RISKS[content["risk"]][0].lower()
    items = []
    for point, (loss, risk) in found:
        words = (
            f": {content['metric']} {loss:.4g}, {head} {percent(risk)}; smallest class "
            f"{number(point['class_sizes']['smallest'])}, {pluralize(point['suppressed'], 'record')} suppressed"
        )
        items.append(join(name_of(point["name"]), words))
    verb = "is" if len(items) == 1 else "are"
    lead = (
        f"{number(len(items))} of {pluralize(len(points), 'point')} {verb} on the frontier, from the least loss to the "
        "least risk. Every other point is beaten by one of these: it is worse in one figure and no better in the other."
    )
    return [paragraph(lead), tag("ol", *(tag("li", item) for item in items))]


def _table(content: Mapping[str, Any], points: list[Mapping[str, Any]]) -> list[Markup]:
    ranks = {name: index for index, name in enumerate(content["frontier"], start=1)}
    metric = content["metric"]
    exposed = [name for name in _EXPOSED if any(name in point.get("risk", {}) for point in points)]
    heads = [
        "Point", "Frontier", metric, "Average risk", "Highest risk", *(_EXPOSED[name] for name in exposed),
        "Suppressed", "Classes", "Smallest", "Time", "Memory",
    ]  # fmt: skip
    rows = [_row(point, metric, exposed, ranks.get(point["name"]), len(heads)) for point in points]
    said = (
        "One value and one category count the records whose class has a single value, or a single category, of a "
        "sensitive column: they are open to the homogeneity and the similarity attack. Time is that of searching, "
        "recoding and verifying; the table is read once for all points."
    )
    return [paragraph(said), tag("div", table("The points of the grid.", heads, rows), class_="points")]


def _row(point: Mapping[str, Any], metric: str, exposed: list[str], rank: int | None, width: int) -> Markup:
    name = point["name"]
    head = tag("a", name_of(name), href=f"points/{name}.yaml")
    if point["status"] != "verified":
        nearest = point.get("nearest_relaxation")
        reason = f"{_STATUS[point['status']]}{point['reason']}{f' {nearest}.' if nearest else ''}"
        return tag("tr", tag("th", head, scope="row"), tag("td", reason, colspan=str(width - 1)))
    memory = point["peak_memory_bytes"]
    cells = [
        str(rank) if rank is not None else "",
        f"{point['measures'][metric]:,.4f}",
        *(percent(point["risk"][key]) for key in ("average", "highest")),
        *(_exposed(point, name) for name in exposed),
        *(number(point[key]) for key in ("suppressed", "classes")),
        number(point["class_sizes"]["smallest"]),
        duration(point["seconds"]),
        "not known" if memory is None else data_size(memory),
    ]
    return tag("tr", tag("th", head, scope="row"), *(tag("td", cell, class_="figure") for cell in cells))


def _exposed(point: Mapping[str, Any], attack: str) -> str:
    """The records open to an attack; of several sensitive columns the worst counts."""
    counts = [each[attack]["records"] for each in point["exposure"].values() if attack in each]
    return number(max(counts)) if counts else "–"


def _repeat(content: Mapping[str, Any]) -> list[Markup]:
    said = (
        "The policy of each point is in the folder points/ next to this page, its result in a file of the same name. ",
        tag("code", "shoal anonymize points/NAME.yaml"),
        " makes the release of a point with the same measures. The releases themselves were verified in memory; they "
        "are written only with --releases.",
    )
    rows = [
        row("Policy (SHA-256)", tag("code", content["policy_sha256"])),
        *(
            row(join("Input: ", name_of(name), " (SHA-256)"), tag("code", digest))
            for name, digest in content["inputs_sha256"].items()
        ),
        *(row(f"Version of {name}", tag("code", value)) for name, value in content["versions"].items()),
    ]
    return [paragraph(*said), table("What the comparison was made from.", ["Item", "Value"], rows)]
