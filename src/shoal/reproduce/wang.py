"""Wang, Xu & Qu 2011: worked tables, and homogeneity, time and precision against k with (alp, dif) (section IV)."""

import statistics
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.attacks.exposure import homogeneity
from shoal.encode.result import release_stats
from shoal.formatting import pluralize
from shoal.metrics import METRICS, ReleaseSummary
from shoal.models import AlpDif, KAnonymity, PSensitive
from shoal.pipeline.run import Clock, make_release
from shoal.policy import Policy
from shoal.present.plots.point_plots import Line, Panel, line_plot
from shoal.reproduce.masked import Masked, reached, view_of
from shoal.reproduce.paper import Drawing, Results, Section, Setting, Task, random_sample, timed_search
from shoal.reproduce.tables import WANG, WANG_1, WANG_2, WANG_3, WANG_QUASI, quasi_columns
from shoal.reproduce.tables import WANG_HIERARCHIES as HIERARCHIES
from shoal.search import ALGORITHMS
from shoal.search.kernels.load import load_kernels
from shoal.search.problem import no_progress

VALUES = ("Divorced", "Widowed", "Married-civ-spouse", "Separated")
LIMITS = {
    "Divorced": {"alp": 0.43, "dif": 0.27},
    "Widowed": {"alp": 0.42, "dif": 0.31},
    "Separated": {"alp": 0.5, "dif": 0.6},
}
"""Section IV-C; Married-civ-spouse is free."""
KS = (2, 3, 4, 5, 6, 7, 8, 9, 10)
RECORDS, DRAWS = 6_000, 3
SUPPRESSED = 0.05  # the suppression threshold v, of which the paper does not say how large it was
_REPEAT = 5  # searches of which the median time counts: each is a matter of milliseconds
OPEN, PROTECTED, ALP = "homogeneous records", "of them protected values", "ALP of Divorced"
FIGURES = {
    OPEN: ("homogeneity", "records open to the homogeneity attack"),
    "seconds": ("time", "seconds"),
    "precision": ("precision", "precision"),
}  # the files of figures, and what their axis is called


def worked(_: Setting) -> Section:
    """What Tables I to III are said to be."""
    first, second, third = (view_of(table, WANG_QUASI, "Illness") for table in (WANG_1, WANG_2, WANG_3))
    two, three = (
        Masked(f"wang-table-{number}", WANG_1, table, WANG.content["trees"], ("Illness", "Illness"))
        for number, table in ((2, WANG_2), (3, WANG_3))
    )
    lower = [value if value == "HIV" else value.lower() for value in WANG_3.column("Illness")]
    k, sensitive = KAnonymity(2), PSensitive(2, sensitive="Illness")
    equal = sum(one == other for one, other in zip(lower, WANG_1.column("Illness"), strict=True))
    found = {
        "1-k": reached(first, k, "k"),
        "1-open": str(homogeneity(first).classes),
        "2-sensitive": "yes" if sensitive.holds(second).all() else "no",
        "2-classes": str(len(second.sizes)),
        "2-precision": f"{two.measure('precision'):g}",
        "2-cells": two.equal_cells(),
        "3-k": reached(third, k, "k"),
        "3-alp": reached(third, AlpDif({"HIV": {"alp": 0.5, "dif": 0}}, sensitive="Illness"), "alp[HIV]"),
        "3-p": reached(third, sensitive, "p"),
        "3-ages": str(sum(row["Age"] != printed["Age"] for row, printed in three.computed())),
        "3-illnesses": f"{equal} of 6",
    }
    return WANG.section("worked", {}, sheets=[two.sheet(), three.sheet()], found=found)


Limits = Mapping[str, Mapping[str, float]]
Point = tuple[str, int, int, Limits | None]  # what a plot calls the model, k, records, and limits of (alp, dif), if any


def _measured(table: pa.Table, model: str, k: int, records: int, limits: Limits | None, draws: int) -> dict[str, Any]:
    """The greedy lattice algorithm of section III-C: averages over random samples, as the paper averages three."""
    privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k}]
    if limits is not None:
        privacy.append({"model": "alp-dif", "limits": limits, "sensitive": "marital-status"})
    columns = {**quasi_columns(HIERARCHIES), "marital-status": {"role": "sensitive"}}
    policy = Policy(columns=columns, privacy=privacy, algorithm="greedy-lattice", suppression=SUPPRESSED)
    runs = Results()
    for seed in range(draws):
        release = make_release(random_sample(table, records, seed=seed), policy, Clock(), no_progress)
        view = release_stats(release.resolved, release.recoding).view("marital-status")
        alone = view.histogram.distinct == 1
        sizes, only = view.sizes[alone], view.histogram.values[view.histogram.starts[:-1][alone]]
        limited = [index for index, value in enumerate(view.domain.values) if value in (limits or LIMITS)]
        leakage = AlpDif({"Divorced": {"alp": 1, "dif": 1}}, sensitive="marital-status").reached(view)
        _, _, seconds = timed_search(release.resolved.problem, ALGORITHMS["greedy-lattice"].run, _REPEAT)
        measured = {
            OPEN: int(sizes.sum()),
            PROTECTED: int(sizes[np.isin(only, limited)].sum()),
            ALP: float(leakage["alp[Divorced]"] or 0),
            "suppressed": release.recoding.suppressed,
            "precision": METRICS["precision"].of(ReleaseSummary.of(release.recoding)),
            "seconds": seconds,
        }
        runs.append(measured)
    means = {name: statistics.fmean(runs.column(name)) for name in measured}
    return {"records": records, "k": k, "model": model, **means}


def experiments(setting: Setting) -> list[Section]:
    """Figures 4 to 10."""
    chosen = pc.is_in(setting.table.column("marital-status"), value_set=pa.array(VALUES))
    table = setting.table.filter(chosen)
    draws, ks, records = (1, KS[::4], 1_500) if setting.quick else (DRAWS, KS, RECORDS)
    alps = {alp: {"Divorced": {"alp": alp, "dif": 0.3}} for alp in (0.43, 0.41, 0.4)}
    points: list[list[Point]] = [
        [(model, k, records, limits) for model, limits in (("k-anonymity", None), ("(alp, dif)", LIMITS)) for k in ks],
        [(f"alp = {alp:g}", k, records, alps[alp]) for alp in (0.43, 0.41) for k in ks],
        [(f"k = {k}", k, step * records // 6, alps[0.4]) for k in (2, 3) for step in range(1, 7)],
    ]
    load_kernels()
    total, done = sum(map(len, points)), 0
    found = []
    for figure in points:
        runs = Results()
        for point in figure:
            setting.progress("(alp, dif)-anonymity", done / total)
            runs.append(_measured(table, *point, draws))
            done += 1
        found.append(runs)
    compared, varied, grown = found
    return [_comparison(compared, table.num_rows, draws), _varied(varied), _grown(grown)]


def _comparison(runs: Results, population: int, draws: int) -> Section:
    limited = runs.where(model="(alp, dif)").column("precision")
    figures = runs.ends("model") | {
        "draws": pluralize(draws, "draw"),
        "population": population,
        "rises": pluralize(sum(after > before + 1e-9 for before, after in pairwise(limited)), "step"),
        "steps": len(limited) - 1,
    }
    drawings = _drawings("wang-compared", {OPEN: 4, "seconds": 5, "precision": 6}, runs)
    return WANG.section("compared", figures, sheets=[runs.sheet("wang-compared")], drawings=drawings)


def _varied(runs: Results) -> Section:
    pairs = zip(*(runs.where(model=model) for model in dict.fromkeys(runs.column("model"))), strict=True)
    alike = [abs(one["precision"] - other["precision"]) < 1e-9 and one[OPEN] == other[OPEN] for one, other in pairs]
    leakage = runs.column(ALP)
    figures = runs.ends("model") | {
        "same": sum(alike),
        "ks": len(alike),
        "lowest": min(leakage),
        "highest": max(leakage),
        "decided": "so alp decides nothing" if max(leakage) <= 0.41 else "so alp decides where dif alone would not",
    }
    drawings = _drawings("wang-alp", {OPEN: 9, "seconds": 7, "precision": 8}, runs)
    found = {"alone": f"{sum(runs.column(PROTECTED)):g}"}
    return WANG.section("varied", figures, sheets=[runs.sheet("wang-alp")], drawings=drawings, found=found)


def _grown(runs: Results) -> Section:
    ends = runs.ends("model")
    first, last = ends.values()
    figures = ends | {
        "grown": [after["seconds"] / before["seconds"] for before, after in zip(first, last, strict=True)],
        "factor": last[0]["records"] / first[0]["records"],
    }
    drawing = _drawings("wang-records", {"seconds": 10}, runs, "records", "the number of records")
    return WANG.section("grown", figures, sheets=[runs.sheet("wang-records")], drawings=drawing)


def _drawings(
    prefix: str, figures: Mapping[str, int], runs: Results, across: str = "k", spoken: str = "k"
) -> list[Drawing]:
    """A plot for each of the paper's figures; records with protected values are dashed."""
    drawings = []
    for what, number in figures.items():
        name, up = {
            OPEN: ("homogeneity", "records open to the homogeneity attack"),
            "seconds": ("time", "seconds"),
        }.get(what, (what, what))
        lines = []
        for kind, model in enumerate(dict.fromkeys(runs.column("model"))):
            of = runs.where(model=model)
            lines.append(Line(model, of.points(across, what), kind))
            if what == OPEN:
                lines.append(Line(f"{model}, protected values", of.points(across, PROTECTED), kind, dashed=True))
        title = f"{up.capitalize()} against {across}"
        svg = line_plot([Panel("", tuple(lines))], title=title, across=across, up=up)
        drawings.append(Drawing(f"{prefix}-{name}", f"as Figure {number}: {up} against {spoken}", svg))
    return drawings


TASKS = (
    Task(WANG.name, "worked tables of Wang et al.", lambda setting: [worked(setting)]),
    Task(WANG.name, "experiments of Wang et al.", experiments, seconds=25, needs_adult=True),
)
