"""Sun, Wang, Li & Truta 2008: worked tables, similarity attack (section 6), and figures on time and distortion."""

import itertools
import math
import statistics
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks.exposure import similarity
from shoal.encode.resolve import resolve
from shoal.formatting import percent
from shoal.metrics import METRICS, ReleaseSummary
from shoal.models import KAnonymity, PAlphaSensitive, PPlusAlphaSensitive, PSensitive
from shoal.models.sensitivity import category_distance, category_weight, class_weight
from shoal.pipeline import anonymize
from shoal.policy import Policy
from shoal.present.plots.point_plots import Line, Panel, line_plot
from shoal.reproduce import tables
from shoal.reproduce.masked import Masked, reached, rows_of, same_rows, view_of
from shoal.reproduce.paper import Drawing, Results, Section, Setting, Sheet, Task, timed_search
from shoal.reproduce.tables import SUN, quasi_columns
from shoal.reproduce.tables import SUN_HIERARCHIES as HIERARCHIES
from shoal.search import ALGORITHMS
from shoal.search.evaluation import Evaluator
from shoal.search.lattice.incognito import all_minimal_nodes
from shoal.search.lattice.nodes import summarize
from shoal.search.problem import Problem
from shoal.table.distinct_rows import DistinctRows

HEALTH = "Health Condition"
MASKED = {
    number: Masked(
        f"sun-table-{number}", tables.SUN_1, SUN.tables[str(number)], SUN.content["trees"], (HEALTH, secret), key=key
    )
    for number, secret, key in ((2, HEALTH, None), (5, HEALTH, None), (6, HEALTH, "ID"), (7, "Disease", "ID"))
}
PLAIN, ALPHA_SENSITIVE, PLUS = MODELS = ("p-sensitive", "p-alpha-sensitive", "p-plus-alpha-sensitive")
NAMES = dict(zip(MODELS, ("p-sensitive", "(p, α)-sensitive", "(p⁺, α)-sensitive"), strict=True))
K, P, ALPHA = 4, 2, 2
VALUES = ("HIV", "Cancer", "Phthisis", "Hepatitis", "Obesity", "Asthma", "Flu", "Indigestion")
CATEGORIES = {name: list(VALUES[2 * index : 2 * index + 2]) for index, name in enumerate(tables.SUN_4)}
SEED = 2008
QUICK_RECORDS, QUICK_SIZE = 1_500, 4  # records and quasi-identifiers of a quick run
SUPPRESSED = (0.0, 0.01, 0.05)
"""The paper does not say whether records were suppressed: so without, and with at most these shares."""
PAPER_RECORDS, PAPER_EXPOSED = 45_222, 916
SIZES, PS, ALPHAS = (2, 3, 4, 5, 6, 7), (2, 3, 4), (1, 2, 3, 4, 6, 8)
FIGURE_P = 4  # p of Figures 2(a) and 3(a), which vary the number of quasi-identifiers
RATIO = "Incognito distortion ratio"
ACROSS = {"quasi-identifiers": "number of quasi-identifiers", "p": "p", "alpha": "α"}


def worked(_: Setting) -> Section:
    """Every table of sections 1 to 5."""
    found = _weights() | _models()
    for number, masked in MASKED.items():
        found |= masked.comparison_with_print(number)
    sheet, eighth = _top_down()
    return SUN.section("worked", {}, sheets=[*(each.sheet() for each in MASKED.values()), sheet], found=found | eighth)


def _weights() -> dict[str, str]:
    """The distances and weights of section 3."""
    rank = {value: number for number, values in enumerate(tables.SUN_4.values(), start=1) for value in values}
    weight = {value: category_weight(rank[value], 4) for value in ("HIV", "Cancer", "Phthisis", "Asthma", "Flu")}
    return {
        "d-cancer-flu": str(category_distance(rank["Cancer"], rank["Flu"], 4)),
        "d-phthisis-asthma": str(category_distance(rank["Phthisis"], rank["Asthma"], 4)),
        **{f"weight-{value.lower()}": str(weight[value]) for value in ("HIV", "Phthisis", "Asthma", "Flu")},
        "weight-class": str(sum(weight[value] for value in ("Cancer", "Phthisis", "Asthma", "Flu"))),
    }


def _models() -> dict[str, str]:
    """What the captions claim."""
    second, fifth, sixth = (view_of(SUN.tables[name], tables.SUN_QUASI, HEALTH, tables.SUN_4) for name in "256")
    seventh = view_of(tables.SUN_7, tables.SUN_QUASI, "Disease", tables.SUN_7_CATEGORIES)
    exposed = similarity(fifth)
    assert exposed is not None, "Table 4 has the categories"
    k, plus = KAnonymity(2), PPlusAlphaSensitive(2, alpha=2, sensitive=HEALTH)
    alpha = PAlphaSensitive(3, alpha=1, sensitive="Disease")
    return {
        "1-k": reached(view_of(tables.SUN_1, tables.SUN_QUASI, HEALTH), k, "k"),
        "2-k": reached(second, k, "k"),
        "2-classes": str(len(second.sizes)),
        "5-k": reached(fifth, k, "k"),
        "5-p": reached(fifth, PSensitive(2, sensitive=HEALTH), "p"),
        "5-open": str(exposed.classes),
        "6-reached": f"{reached(sixth, k, 'k')}, {reached(sixth, plus, 'p', 'alpha')}",
        "7-reached": f"{reached(seventh, k, 'k')}, {reached(seventh, alpha, 'p', 'alpha')}",
        "7-weights": ", ".join(sorted(str(class_weight(seventh, index)) for index in range(len(seventh.sizes)))),
    }


def _top_down() -> tuple[Sheet, dict[str, str]]:
    """Table 8: the middle table recoded by the top-down algorithm."""
    names, categories = ("Zipcode", "Disease"), {"Top Secret": ["HIV"], "Non Secret": ["Flu"]}
    tree = {"****": {"4***": {"43**": {"435*": ["4351", "4352"]}}}}
    columns: dict[str, Any] = quasi_columns({"Zipcode": {"tree": tree}})
    columns["Disease"] = {"role": "sensitive", "categories": categories}
    sensitive = {"model": ALPHA_SENSITIVE, "p": 2, "alpha": 1, "sensitive": "Disease"}
    policy = Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 2}, sensitive], algorithm="top-down")
    released = anonymize(tables.SUN_8_MIDDLE.arrow(names), policy).table
    view = view_of(tables.SUN_8_RIGHT, ["Zipcode"], "Disease", categories)
    alpha = reached(view, PAlphaSensitive(2, alpha=1, sensitive="Disease"), "alpha")
    found = {"8-rows": same_rows(released, tables.SUN_8_RIGHT, names), "8-alpha": alpha}
    return Sheet("sun-table-8", names, tuple(rows_of(released, names))), found


def with_health(table: pa.Table, seed: int) -> pa.Table:
    """The table with a health condition drawn uniformly for each record."""
    drawn = np.random.default_rng(seed).integers(0, len(VALUES), table.num_rows)
    return table.append_column("health", pa.array(VALUES).take(pa.array(drawn)))


def problem_at(
    table: pa.Table, model: str, algorithm: str = "incognito", *, size: int, p: int = P, alpha: float = ALPHA,
    suppression: float = 0.0,
) -> Problem:  # fmt: skip
    """A point of a figure: the first quasi-identifiers of Table 9; the distortion ratio is minimized."""
    columns = quasi_columns(dict(list(HIERARCHIES.items())[:size]))
    columns["health"] = {"role": "sensitive", "categories": CATEGORIES, "publish": "values"}
    limit = {} if model == PLAIN else {"alpha": alpha}
    privacy = [{"model": "k-anonymity", "k": K}, {"model": model, "p": p, "sensitive": "health", **limit}]
    search = {"name": algorithm, "metric": "distortion_ratio"}
    policy = Policy(columns=columns, privacy=privacy, algorithm=search, suppression=suppression)
    return resolve(policy, DistinctRows.of(table)).problem


def minimal_nodes(problem: Problem, repeat: int = 1) -> tuple[dict[str, Any], int, float]:
    """Every minimal node by Incognito and what each leaves open; checked nodes, and the median seconds of a search."""
    nodes, engine, seconds = timed_search(problem, all_minimal_nodes, repeat)
    checks, evaluator = engine.checks, Evaluator(problem, engine)
    exposed, ratios = [], []
    for node in nodes:
        grouping = evaluator.grouping(node)
        kept = evaluator.evaluate(grouping).kept
        found = similarity(engine.stats(grouping, ["health"]).restricted_to(kept).view("health"))
        exposed.append(found.records if found is not None else 0)
        ratios.append(METRICS["distortion_ratio"].of(summarize(problem, node, grouping, kept)))
    measured = {
        "minimal nodes": len(nodes),
        "open": sum(records > 0 for records in exposed),
        "records open at worst": max(exposed),
        "least distortion ratio": min(ratios),
    }
    return measured, checks, seconds


def attacked(setting: Setting) -> list[Section]:
    """Minimal nodes, and how many of them are open to the similarity attack."""
    table = setting.records(2 * QUICK_RECORDS)
    draws, size = (1, QUICK_SIZE + 1) if setting.quick else (2, len(HIERARCHIES))
    found = Results()
    steps = list(itertools.product(SUPPRESSED, range(draws), MODELS))
    for index, (share, draw, model) in enumerate(steps):
        setting.progress("similarity attack", index / len(steps))
        problem = problem_at(with_health(table, SEED + draw), model, size=size, suppression=share)
        found.append({"model": model, "suppression": share, "draw": draw} | minimal_nodes(problem)[0])
    opened = {
        model: [
            statistics.fmean(row["open"] / row["minimal nodes"] for row in found.where(model=model, suppression=share))
            for share in SUPPRESSED
        ]
        for model in MODELS
    }
    lines = [
        Line(NAMES[model], tuple((100 * share, 100 * own) for share, own in zip(SUPPRESSED, shares, strict=True)), kind)
        for kind, (model, shares) in enumerate(opened.items())
    ]
    title, across = "Minimal nodes open to the similarity attack", "suppressed at most, %"
    svg = line_plot([Panel("", tuple(lines))], title=title, across=across, up="open, % of minimal nodes")
    caption = "the numbers that the paper gives in words, against the share of records that may be suppressed"
    shares = []
    for share in SUPPRESSED:
        runs = [found.where(model=model, suppression=share) for model in MODELS]
        counts = [f"{sum(of.column('open')):,} of {sum(of.column('minimal nodes')):,}" for of in runs]
        worst = max(found.where(suppression=share).column("records open at worst"))
        limit = f"with at most {percent(share)} suppressed" if share else "without suppression"
        shares.append(f"{limit} {', '.join(counts)} are open, at worst {worst:,} records of one table")
    plain, alpha = opened[PLAIN][-1], opened[ALPHA_SENSITIVE][-1]
    order = f"The order of the other two is {'the' if alpha < plain else 'not the'} paper's."
    expected, spread = _most_exposed(PAPER_RECORDS)
    figures = {
        "records": table.num_rows,
        "draws": f"over {draws} draws of the health condition" if draws > 1 else "for one draw of the health condition",
        "shares": "; ".join(shares),
        "order": "The other two do not differ here." if plain == alpha else order,
        "expected": expected,
        "spread": spread,
        "deviations": (PAPER_EXPOSED - expected) / spread,
    }
    opened_plus = {"open": str(sum(found.where(model=PLUS).column("open")))}
    sheets, drawings = [found.sheet("sun-similarity")], [Drawing("sun-similarity", caption, svg)]
    return [SUN.section("similarity", figures, sheets=sheets, drawings=drawings, found=opened_plus)]


def _most_exposed(records: int) -> tuple[float, float]:
    """Records in p-sensitive classes of one category where all classes have k = 4: mean and standard deviation.

    Of four values drawn from eight in four pairs, all lie in one pair and not all are equal with probability
    4 · ((1/4)⁴ - 2 · (1/8)⁴); the class is p-sensitive (p = 2) with 1 - 8 · (1/8)⁴. Larger classes are open less often.
    """
    chance = 4 * ((1 / 4) ** K - 2 * (1 / 8) ** K) / (1 - 8 * (1 / 8) ** K)
    classes = records / K
    return records * chance, K * math.sqrt(classes * chance * (1 - chance))


def figures(setting: Setting) -> list[Section]:
    """Figures 2 and 3: time and distortion ratio against the number of quasi-identifiers, p and α."""
    size = QUICK_SIZE if setting.quick else len(HIERARCHIES)
    points = [
        *(("quasi-identifiers", x, {"size": x, "p": FIGURE_P}) for x in SIZES if x <= size),
        *(("p", x, {"p": x, "size": size}) for x in PS),
        *(("alpha", x, {"alpha": x, "size": size}) for x in (ALPHAS[1::2] if setting.quick else ALPHAS)),
    ]
    table = with_health(setting.records(QUICK_RECORDS), SEED)
    minimal_nodes(problem_at(table, PLAIN, size=2))  # load the kernels
    steps = [(*point, model) for point in points for model in MODELS]
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    found = Results()
    for index, (axis, x, asked, model) in enumerate(steps):
        setting.progress("time and distortion ratio", index / len(steps))
        alpha = 0 if model == PLAIN else asked.get("alpha", ALPHA)  # α says nothing to p-sensitivity
        key = (model, asked["size"], asked.get("p", P), alpha)
        if key not in known:
            known[key] = _searched(table, model, asked, repeat=1 if setting.quick else 3)
        found.append({"axis": axis, "value": x, "model": model} | known[key])
    sizes, alphas = (found.where(axis=axis) for axis in ("quasi-identifiers", "alpha"))
    low, high = alphas.ends("model").values()
    ends = sizes.ends("model") | {"low": low, "high": high}
    seconds = [sum(sizes.where(model=model).column("Incognito seconds")) for model in MODELS]
    plain, *stronger = (sizes.where(model=model).column(RATIO) for model in MODELS)
    slower = {"slower": [each / seconds[0] for each in seconds[1:]]}
    relative = {"relative": [_mean_ratio(column, plain) for column in stronger]}
    sheets = [found.sheet("sun-time-and-distortion", seconds=4)]
    times = _drawings(found, 2, "time", "seconds")
    ratios = _drawings(found, 3, "distortion", "distortion ratio")
    return [
        SUN.section("time", ends | slower, sheets=sheets, drawings=times),
        SUN.section("distortion", ends | relative, sheets=sheets, drawings=ratios, found=_orders(found)),
    ]


def _searched(table: pa.Table, model: str, parameters: dict[str, Any], *, repeat: int) -> dict[str, Any]:
    """One point by Incognito and by the top-down local recoding."""
    whole, checks, seconds = minimal_nodes(problem_at(table, model, **parameters), repeat)
    ordered = problem_at(table.select([*HIERARCHIES, "health"]), model, "top-down", **parameters)
    local, _, local_seconds = timed_search(ordered, ALGORITHMS["top-down"].run)
    return {
        "Incognito seconds": seconds,
        RATIO: whole["least distortion ratio"],
        "nodes checked": checks,
        "top-down seconds": local_seconds,
        "top-down distortion ratio": METRICS["distortion_ratio"].of(ReleaseSummary.of(local.recoding)),
    }


def _mean_ratio(values: list[float], bases: list[float]) -> float:
    return statistics.fmean(value / base for value, base in zip(values, bases, strict=True))


def _drawings(results: Results, number: int, name: str, up: str) -> list[Drawing]:
    """One plot per axis: Incognito with full marks, the top-down local recoding dashed."""
    drawings = []
    size = max(results.where(axis="quasi-identifiers").column("value"))
    for axis, across in ACROSS.items():
        lines = [
            Line(f"{NAMES[model]}{suffix}", of.points("value", f"{search} {up}"), kind, dashed=bool(suffix))
            for kind, model in enumerate(MODELS)
            for of in [results.where(axis=axis, model=model)]
            for search, suffix in (("Incognito", ""), ("top-down", ", top-down"))
        ]
        if axis == "quasi-identifiers":
            fixed, part = f"p = {FIGURE_P}, k = {K}, α = {ALPHA}", "a"
        else:
            held = f"k = {K}, α = {ALPHA}" if axis == "p" else f"p = {P}, k = {K}"
            fixed, part = f"{held}, {size} quasi-identifiers", "b"
        title = f"{up.capitalize()} against {across}"
        svg = line_plot([Panel(fixed, tuple(lines))], title=title, across=across, up=up)
        caption = f"as Figure {number}({part}): {up} against {across}; {fixed}"
        drawings.append(Drawing(f"sun-{name}-{axis}", caption, svg))
    return drawings


def _orders(results: Results) -> dict[str, str]:
    """What the definitions force on the least distortion ratio, and the paper denies."""
    by_strength = [results.where(model=model).column(RATIO) for model in MODELS]
    pairs = itertools.chain.from_iterable(map(zip, by_strength, by_strength[1:]))
    along = (results.where(axis="alpha", model=model).column(RATIO) for model in MODELS[1:])
    steps = itertools.chain.from_iterable(map(itertools.pairwise, along))
    below, falls = (sum(high < low - 1e-9 for low, high in each) for each in (pairs, steps))
    return {"stronger": str(below), "falls": str(falls)}


TASKS = (
    Task(SUN.name, "worked tables of Sun et al.", lambda setting: [worked(setting)]),
    Task(SUN.name, "similarity attack of Sun et al.", attacked, seconds=100, needs_adult=True),
    Task(SUN.name, "figures of Sun et al.", figures, seconds=150, needs_adult=True),
)
