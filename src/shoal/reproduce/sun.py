"""Sun, Wang, Li & Truta 2008: worked tables, similarity attack (section 6), and figures on time and distortion."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks.exposure import similarity
from shoal.encode.resolve import resolve
from shoal.formatting import listing, percent
from shoal.metrics import METRICS, ReleaseSummary
from shoal.models import KAnonymity, PAlphaSensitive, PPlusAlphaSensitive, PSensitive
from shoal.models.sensitivity import category_distance, category_weight, class_weight
from shoal.pipeline import anonymize
from shoal.policy import Policy
from shoal.present.plots.point_plots import Line, Panel, line_plot
from shoal.reproduce.masked import Masked, rows_of, same_rows, view_of
from shoal.reproduce.paper import Drawing, Section, Setting, Sheet, Task, figure, timed_search
from shoal.reproduce.tables import (
    SUN,
    SUN_1,
    SUN_2,
    SUN_4,
    SUN_5,
    SUN_6,
    SUN_7,
    SUN_7_CATEGORIES,
    SUN_8_MIDDLE,
    SUN_8_RIGHT,
    SUN_QUASI,
    quasi_columns,
)
from shoal.reproduce.tables import SUN_HIERARCHIES as HIERARCHIES
from shoal.search import ALGORITHMS
from shoal.search.evaluation import Evaluator
from shoal.search.lattice.incognito import all_minimal_nodes
from shoal.search.lattice.nodes import summarize
from shoal.search.problem import Problem
from shoal.table.classes import ClassView
from shoal.table.distinct_rows import DistinctRows

HEALTH = "Health Condition"
MASKED = {
    number: Masked(
        f"sun-table-{number}", SUN_1, table, SUN.content["trees"], (HEALTH, secret), key="ID" if number > 5 else None
    )
    for number, table, secret in ((2, SUN_2, HEALTH), (5, SUN_5, HEALTH), (6, SUN_6, HEALTH), (7, SUN_7, "Disease"))
}
PLAIN, ALPHA_SENSITIVE, PLUS = MODELS = ("p-sensitive", "p-alpha-sensitive", "p-plus-alpha-sensitive")
NAMES = dict(zip(MODELS, ("p-sensitive", "(p, α)-sensitive", "(p⁺, α)-sensitive"), strict=True))
K, P, ALPHA = 4, 2, 2
VALUES = ("HIV", "Cancer", "Phthisis", "Hepatitis", "Obesity", "Asthma", "Flu", "Indigestion")
CATEGORIES = {name: list(VALUES[2 * index : 2 * index + 2]) for index, name in enumerate(SUN_4)}
SEED = 2008
QUICK_RECORDS, QUICK_SIZE = 1_500, 4
"""Records and quasi-identifiers of a quick run."""
SUPPRESSED = (0.0, 0.01, 0.05)
"""The paper does not say whether records were suppressed: so without, and with at most these shares."""
PAPER_RECORDS, PAPER_EXPOSED = 45_222, 916
SIZES, PS, ALPHAS = (2, 3, 4, 5, 6, 7), (2, 3, 4), (1, 2, 3, 4, 6, 8)
FIGURE_P = 4
"""p of Figures 2(a) and 3(a), which vary the number of quasi-identifiers."""


def _weights() -> dict[str, str]:
    """The distances and weights of section 3."""
    rank = {value: number for number, values in enumerate(SUN_4.values(), start=1) for value in values}
    weight = {value: category_weight(rank[value], 4) for value in ("HIV", "Cancer", "Phthisis", "Asthma", "Flu")}
    return {
        "d-cancer-flu": str(category_distance(rank["Cancer"], rank["Flu"], 4)),
        "d-phthisis-asthma": str(category_distance(rank["Phthisis"], rank["Asthma"], 4)),
        **{f"weight-{value.lower()}": str(weight[value]) for value in ("HIV", "Phthisis", "Asthma", "Flu")},
        "weight-class": str(sum(weight[value] for value in ("Cancer", "Phthisis", "Asthma", "Flu"))),
    }


def _models() -> dict[str, str]:
    """What the captions claim."""

    def k(view: ClassView) -> str:
        return figure(KAnonymity(2).reached(view)["k"])

    second, fifth, sixth = (view_of(table, SUN_QUASI, HEALTH, SUN_4) for table in (SUN_2, SUN_5, SUN_6))
    seventh = view_of(SUN_7, SUN_QUASI, "Disease", SUN_7_CATEGORIES)
    exposed = similarity(fifth)
    assert exposed is not None, "Table 4 has the categories"
    plus = PPlusAlphaSensitive(2, alpha=2, sensitive=HEALTH).reached(sixth)
    alpha = PAlphaSensitive(3, alpha=1, sensitive="Disease").reached(seventh)
    return {
        "1-k": k(view_of(SUN_1, SUN_QUASI, HEALTH)),
        "2-k": k(second),
        "2-classes": str(len(second.sizes)),
        "5-k": k(fifth),
        "5-p": figure(PSensitive(2, sensitive=HEALTH).reached(fifth)["p"]),
        "5-open": str(exposed.classes),
        "6-reached": f"{k(sixth)}, {figure(plus['p'])}, {figure(plus['alpha'])}",
        "7-reached": f"{k(seventh)}, {figure(alpha['p'])}, {figure(alpha['alpha'])}",
        "7-weights": ", ".join(sorted(str(class_weight(seventh, index)) for index in range(len(seventh.sizes)))),
    }


def _top_down() -> tuple[Sheet, dict[str, str]]:
    """Table 8: the middle table recoded by the top-down algorithm."""
    names, categories = ("Zipcode", "Disease"), {"Top Secret": ["HIV"], "Non Secret": ["Flu"]}
    tree = {"****": {"4***": {"43**": {"435*": ["4351", "4352"]}}}}
    policy = Policy(
        columns={
            "Zipcode": {"role": "quasi", "hierarchy": {"tree": tree}},
            "Disease": {"role": "sensitive", "categories": categories},
        },
        privacy=[
            {"model": "k-anonymity", "k": 2},
            {"model": "p-alpha-sensitive", "p": 2, "alpha": 1, "sensitive": "Disease"},
        ],
        algorithm="top-down",
    )
    released = anonymize(SUN_8_MIDDLE.arrow(names), policy).table
    view = view_of(SUN_8_RIGHT, ["Zipcode"], "Disease", categories)
    reached = PAlphaSensitive(2, alpha=1, sensitive="Disease").reached(view)
    found = {"8-rows": same_rows(released, SUN_8_RIGHT, names), "8-alpha": figure(reached["alpha"])}
    return Sheet("sun-table-8", names, tuple(rows_of(released, names))), found


def worked(_: Setting) -> Section:
    """Every table of sections 1 to 5."""
    found = _weights() | _models()
    for number, masked in MASKED.items():
        found |= {f"{number}-cells": masked.equal_cells(), f"{number}-strangers": str(masked.without_original())}
    sheet, eighth = _top_down()
    sheets = [*(masked.sheet() for masked in MASKED.values()), sheet]
    return SUN.section("worked", {}, sheets=sheets, found=found | eighth)


@dataclass(frozen=True)
class SearchPoint:
    """One point of a figure."""

    model: str
    size: int = 7
    """How many of the quasi-identifiers, in the order of Table 9."""
    p: int = P
    alpha: float = ALPHA
    suppression: float = 0.0

    def problem(self, algorithm: str, table: pa.Table) -> Problem:
        """The point as a problem; the measure that is minimized is the distortion ratio."""
        columns = quasi_columns(dict(list(HIERARCHIES.items())[: self.size]))
        columns["health"] = {"role": "sensitive", "categories": CATEGORIES, "publish": "values"}
        model: dict[str, Any] = {"model": self.model, "p": self.p, "sensitive": "health"}
        if self.model != PLAIN:
            model["alpha"] = self.alpha
        policy = Policy(
            columns=columns,
            privacy=[{"model": "k-anonymity", "k": K}, model],
            algorithm={"name": algorithm, "metric": "distortion_ratio"},
            suppression=self.suppression,
        )
        return resolve(policy, DistinctRows.of(table)).problem


@dataclass(frozen=True)
class MinimalNodes:
    """All minimal nodes of one point."""

    nodes: int
    vulnerable: int
    """Nodes with a class of which all records lie in one category."""
    exposed: int
    """Records in such classes, at the worst node."""
    ratio: float
    """The least distortion ratio of a minimal node."""
    checks: int
    seconds: float
    """Median of the search alone."""


def with_health(table: pa.Table, seed: int) -> pa.Table:
    """The table with a health condition drawn uniformly for each record."""
    drawn = np.random.default_rng(seed).integers(0, len(VALUES), table.num_rows)
    return table.append_column("health", pa.array(VALUES).take(pa.array(drawn)))


def minimal_nodes(table: pa.Table, point: SearchPoint, *, repeat: int = 1) -> MinimalNodes:
    """Every minimal node by Incognito, how long that takes, and what each leaves open."""
    problem = point.problem("incognito", table)
    nodes, engine, seconds = timed_search(problem, all_minimal_nodes, repeat)
    checks, evaluator = engine.checks, Evaluator(problem, engine)
    exposed, ratios = [], []
    for node in nodes:
        grouping = evaluator.grouping(node)
        kept = evaluator.evaluate(grouping).kept
        found = similarity(engine.stats(grouping, ["health"]).keep(kept).view("health"))
        exposed.append(found.records if found is not None else 0)
        ratios.append(METRICS["distortion_ratio"].of(summarize(problem, node, grouping, kept)))
    vulnerable = sum(records > 0 for records in exposed)
    return MinimalNodes(len(nodes), vulnerable, max(exposed), min(ratios), checks, seconds)


def top_down(table: pa.Table, point: SearchPoint) -> tuple[float, float]:
    """Seconds and distortion ratio of the top-down local recoding."""
    ordered = table.select([*HIERARCHIES, "health"])
    result, _, seconds = timed_search(point.problem("top-down", ordered), ALGORITHMS["top-down"].run)
    return seconds, METRICS["distortion_ratio"].of(ReleaseSummary.of(result.recoding))


Attacks = Mapping[tuple[float, int, str], MinimalNodes]
"""The minimal nodes by share of suppression, draw and model."""


def attacked(setting: Setting) -> list[Section]:
    """Minimal nodes, and how many of them are open to the similarity attack."""
    table = setting.records(2 * QUICK_RECORDS)
    draws, size = (1, QUICK_SIZE + 1) if setting.quick else (2, len(HIERARCHIES))
    attacks: dict[tuple[float, int, str], MinimalNodes] = {}
    steps = [(share, draw, model) for share in SUPPRESSED for draw in range(draws) for model in MODELS]
    for index, (share, draw, model) in enumerate(steps):
        setting.progress("similarity attack", index / len(steps))
        point = SearchPoint(model, size, suppression=share)
        attacks[share, draw, model] = minimal_nodes(with_health(table, SEED + draw), point)
    header = (
        "model", "suppression", "draw", "minimal nodes", "open", "records open at worst", "least distortion ratio",
    )  # fmt: skip
    rows = tuple(
        (model, share, draw, e.nodes, e.vulnerable, e.exposed, round(e.ratio, 6))
        for (share, draw, model), e in attacks.items()
    )
    lines = tuple(
        Line(NAMES[model], tuple((100 * share, 100 * _open_share(attacks, share, model)) for share in SUPPRESSED), kind)
        for kind, model in enumerate(MODELS)
    )
    svg = line_plot(
        [Panel("", lines)], title="Minimal nodes open to the similarity attack", across="suppressed at most, %",
        up="open, % of minimal nodes",
    )  # fmt: skip
    caption = "the numbers that the paper gives in words, against the share of records that may be suppressed"
    return [
        SUN.section(
            "similarity",
            _attack_figures(attacks, draws) | {"records": table.num_rows},
            sheets=[Sheet("sun-similarity", header, rows)],
            drawings=[Drawing("sun-similarity", caption, svg)],
            found={"open": str(sum(e.vulnerable for (_, _, model), e in attacks.items() if model == PLUS))},
        )
    ]


def _of(attacks: Attacks, share: float, model: str) -> list[MinimalNodes]:
    return [each for (own, _, name), each in attacks.items() if (own, name) == (share, model)]


def _open_share(attacks: Attacks, share: float, model: str) -> float:
    return statistics.fmean(each.vulnerable / each.nodes for each in _of(attacks, share, model))


def _attack_figures(attacks: Attacks, draws: int) -> dict[str, Any]:
    shares = []
    for share in SUPPRESSED:
        runs = [_of(attacks, share, model) for model in MODELS]
        counts = [f"{sum(e.vulnerable for e in of):,} of {sum(e.nodes for e in of):,}" for of in runs]
        worst = max(e.exposed for of in runs for e in of)
        limit = f"with at most {percent(share)} suppressed" if share else "without suppression"
        shares.append(f"{limit} {', '.join(counts)} are open, at worst {worst:,} records of one table")
    plain, alpha = (_open_share(attacks, SUPPRESSED[-1], model) for model in (PLAIN, ALPHA_SENSITIVE))
    order = f"The order of the other two is {'the' if alpha < plain else 'not the'} paper's."
    expected, spread = _most_exposed(PAPER_RECORDS)
    return {
        "draws": f"over {draws} draws of the health condition" if draws > 1 else "for one draw of the health condition",
        "shares": "; ".join(shares),
        "order": "The other two do not differ here." if plain == alpha else order,
        "expected": expected,
        "spread": spread,
        "paper_records": PAPER_RECORDS,
        "paper_exposed": PAPER_EXPOSED,
        "k": K,
        "deviations": (PAPER_EXPOSED - expected) / spread,
    }


def _most_exposed(records: int) -> tuple[float, float]:
    """Records in p-sensitive classes of one category where all classes have k = 4: mean and standard deviation.

    Of four values drawn from eight in four pairs, all lie in one pair and not all are equal with probability
    4 · ((1/4)⁴ - 2 · (1/8)⁴); the class is p-sensitive (p = 2) with 1 - 8 · (1/8)⁴. Larger classes are open less often.
    """
    chance = 4 * ((1 / 4) ** K - 2 * (1 / 8) ** K) / (1 - 8 * (1 / 8) ** K)
    classes = records / K
    return records * chance, K * math.sqrt(classes * chance * (1 - chance))


@dataclass(frozen=True)
class Distortion:
    """A point of Figures 2 and 3: Incognito, and the top-down local recoding."""

    seconds: float
    ratio: float
    checks: int
    local_seconds: float
    local_ratio: float


Axes = Mapping[str, Sequence[tuple[float, dict[str, Any]]]]
"""The points of each figure: the value across, and what is asked there."""
Figures = Mapping[tuple[str, float, str], Distortion]
"""What was measured by axis, value across and model."""


def figures(setting: Setting) -> list[Section]:
    """Figures 2 and 3: time and distortion ratio against the number of quasi-identifiers, p and α."""
    size = QUICK_SIZE if setting.quick else len(HIERARCHIES)
    axes: Axes = {
        "quasi-identifiers": [(x, {"size": x, "p": FIGURE_P}) for x in SIZES if x <= size],
        "p": [(x, {"p": x, "size": size}) for x in PS],
        "alpha": [(x, {"alpha": x, "size": size}) for x in (ALPHAS[1::2] if setting.quick else ALPHAS)],
    }
    table = with_health(setting.records(QUICK_RECORDS), SEED)
    minimal_nodes(table, SearchPoint(PLAIN, 2))  # load the kernels
    steps = [(axis, x, given, model) for axis, points in axes.items() for x, given in points for model in MODELS]
    known: dict[SearchPoint, Distortion] = {}
    found: dict[tuple[str, float, str], Distortion] = {}
    for index, (axis, x, given, model) in enumerate(steps):
        setting.progress("time and distortion ratio", index / len(steps))
        point = SearchPoint(model, **given)
        key = replace(point, alpha=0) if model == PLAIN else point  # α says nothing to p-sensitivity
        if key not in known:
            whole = minimal_nodes(table, point, repeat=1 if setting.quick else 3)
            known[key] = Distortion(whole.seconds, whole.ratio, whole.checks, *top_down(table, point))
        found[axis, x, model] = known[key]
    header = (
        "axis", "value", "model", "Incognito seconds", "Incognito distortion ratio", "nodes checked",
        "top-down seconds", "top-down distortion ratio",
    )  # fmt: skip
    rows = tuple(
        (axis, x, model, round(e.seconds, 4), round(e.ratio, 6), e.checks, round(e.local_seconds, 4),
         round(e.local_ratio, 6))
        for (axis, x, model), e in found.items()
    )  # fmt: skip
    sheets = [Sheet("sun-time-and-distortion", header, rows)]
    times = _drawings("time", "seconds", "seconds", found, axes)
    ratios = _drawings("distortion", "distortion ratio", "ratio", found, axes)
    return [
        SUN.section("time", _time_figures(found), sheets=sheets, drawings=times),
        SUN.section("distortion", _ratio_figures(found), sheets=sheets, drawings=ratios, found=_orders(found)),
    ]


_ACROSS = {"quasi-identifiers": "number of quasi-identifiers", "p": "p", "alpha": "α"}


def _drawings(name: str, up: str, what: str, found: Figures, axes: Axes) -> list[Drawing]:
    """One plot per axis: Incognito with full marks, the top-down local recoding dashed."""
    drawings = []
    for axis, points in axes.items():
        lines = []
        for kind, model in enumerate(MODELS):
            for field, suffix in ((what, ""), (f"local_{what}", ", top-down")):
                line = tuple((x, getattr(found[axis, x, model], field)) for x, _ in points)
                lines.append(Line(f"{NAMES[model]}{suffix}", line, kind, dashed=bool(suffix)))
        if axis == "quasi-identifiers":
            fixed, part = f"p = {FIGURE_P}, k = {K}, α = {ALPHA}", "a"
        else:
            held = f"k = {K}, α = {ALPHA}" if axis == "p" else f"p = {P}, k = {K}"
            fixed, part = f"{held}, {points[0][1]['size']} quasi-identifiers", "b"
        title = f"{up.capitalize()} against {_ACROSS[axis]}"
        svg = line_plot([Panel(fixed, tuple(lines))], title=title, across=_ACROSS[axis], up=up)
        caption = f"as Figure {2 if name == 'time' else 3}({part}): {up} against {_ACROSS[axis]}; {fixed}"
        drawings.append(Drawing(f"sun-{name}-{axis}", caption, svg))
    return drawings


def _column(found: Figures, axis: str, model: str, what: str) -> list[Any]:
    """A measure of one model along an axis."""
    return [getattr(each, what) for (own, _, name), each in found.items() if (own, name) == (axis, model)]


def _ends(found: Figures, what: str, digits: int) -> list[str]:
    """A measure of the two stronger models, at the smallest α and at the largest."""
    columns = [_column(found, "alpha", model, what) for model in MODELS[1:]]
    return [_listed([column[end] for column in columns], digits) for end in (0, -1)]


def _axis_ends(found: Figures) -> dict[str, float]:
    sizes, alphas = ([x for own, x, _ in found if own == axis] for axis in ("quasi-identifiers", "alpha"))
    return {"fewest": min(sizes), "most": max(sizes), "low": min(alphas), "high": max(alphas)}


def _time_figures(found: Figures) -> dict[str, Any]:
    seconds = [_column(found, "quasi-identifiers", model, "seconds") for model in MODELS]
    checks = [_column(found, "alpha", model, "checks") for model in MODELS[1:]]
    return _axis_ends(found) | {
        "first": _listed([column[0] for column in seconds], 4),
        "last": _listed([column[-1] for column in seconds], 2),
        "slower": [sum(column) / sum(seconds[0]) for column in seconds[1:]],
        "checks": [", ".join(f"{column[end]:,}" for column in checks) for end in (0, -1)],
        "seconds": _ends(found, "seconds", 2),
        "local": _listed([_column(found, "quasi-identifiers", name, "local_seconds")[-1] for name in MODELS], 2),
    }


def _ratio_figures(found: Figures) -> dict[str, Any]:
    ratios = [_column(found, "quasi-identifiers", model, "ratio") for model in MODELS]
    return _axis_ends(found) | {
        "first": ratios[0][0],
        "last": ratios[0][-1],
        "relative": [
            statistics.fmean(one / other for one, other in zip(column, ratios[0], strict=True)) for column in ratios[1:]
        ],
        "ratios": _ends(found, "ratio", 3),
        "local": _listed([_column(found, "quasi-identifiers", name, "local_ratio")[-1] for name in MODELS], 3),
        "local_ratios": _ends(found, "local_ratio", 3),
    }


def _orders(found: Figures) -> dict[str, str]:
    """What the definitions force on the least distortion ratio, and the paper denies."""
    weaker = dict(pairwise(reversed(MODELS)))
    below = sum(
        each.ratio < found[axis, x, weaker[model]].ratio - 1e-9
        for (axis, x, model), each in found.items()
        if model in weaker
    )
    falls = sum(
        high < low - 1e-9 for model in MODELS[1:] for low, high in pairwise(_column(found, "alpha", model, "ratio"))
    )
    return {"stronger": str(below), "falls": str(falls)}


def _listed(values: Sequence[float], digits: int) -> str:
    return listing([f"{value:.{digits}f}" for value in values])


TASKS = (
    Task(SUN.name, "worked tables of Sun et al.", lambda setting: [worked(setting)]),
    Task(SUN.name, "similarity attack of Sun et al.", attacked, seconds=100, needs_adult=True),
    Task(SUN.name, "figures of Sun et al.", figures, seconds=150, needs_adult=True),
)
