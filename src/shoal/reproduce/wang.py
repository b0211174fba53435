"""Wang, Xu & Qu 2011: worked tables, and homogeneity, time and precision against k with (alp, dif) (section IV)."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from shoal.reproduce.masked import Masked, view_of
from shoal.reproduce.paper import Drawing, Section, Setting, Sheet, Task, figure, from_to, random_sample, timed_search
from shoal.reproduce.tables import WANG, WANG_1, WANG_2, WANG_3, WANG_QUASI, quasi_columns
from shoal.reproduce.tables import WANG_HIERARCHIES as HIERARCHIES
from shoal.search import ALGORITHMS
from shoal.search.kernels.load import load_kernels
from shoal.search.problem import no_progress
from shoal.table.classes import ClassView

VALUES = ("Divorced", "Widowed", "Married-civ-spouse", "Separated")
LIMITS: dict[str, dict[str, float]] = {
    "Divorced": {"alp": 0.43, "dif": 0.27},
    "Widowed": {"alp": 0.42, "dif": 0.31},
    "Separated": {"alp": 0.5, "dif": 0.6},
}
"""Section IV-C; Married-civ-spouse is free."""
KS = (2, 3, 4, 5, 6, 7, 8, 9, 10)
RECORDS, DRAWS = 6_000, 3
SUPPRESSED = 0.05
"""The suppression threshold v, of which the paper does not say how large it was."""
_REPEAT = 5
"""Searches of which the median time counts: each is a matter of milliseconds."""
MEASURES = {
    "homogeneous": ("homogeneous records", 0),
    "protected": ("of them protected values", 1),
    "alp": ("ALP of Divorced", 3),
    "suppressed": ("suppressed", 0),
    "precision": ("precision", 3),
    "seconds": ("seconds", 4),
}
"""What is averaged over the draws: what the sheets call it, and digits in texts."""


def worked(_: Setting) -> Section:
    """What Tables I to III are said to be."""
    first, second, third = (view_of(table, WANG_QUASI, "Illness") for table in (WANG_1, WANG_2, WANG_3))
    two, three = (
        Masked(f"wang-table-{number}", WANG_1, table, WANG.content["trees"], ("Illness", "Illness"))
        for number, table in ((2, WANG_2), (3, WANG_3))
    )
    ages = sum(one["Age"] != other["Age"] for one, other in zip(three.computed(), WANG_3.records(), strict=True))
    lower = [value if value == "HIV" else value.lower() for value in WANG_3.column("Illness")]
    exposed = homogeneity(first)
    assert exposed is not None, "every class has a size"
    hiv = AlpDif({"HIV": {"alp": 0.5, "dif": 0}}, sensitive="Illness")
    sensitive = PSensitive(2, sensitive="Illness")
    found = {
        "1-k": figure(KAnonymity(2).reached(first)["k"]),
        "1-open": str(exposed.classes),
        "2-sensitive": "yes" if sensitive.holds(second).all() else "no",
        "2-classes": str(len(second.sizes)),
        "2-precision": figure(two.measure("precision")),
        "2-cells": two.equal_cells(),
        "3-k": figure(KAnonymity(2).reached(third)["k"]),
        "3-alp": figure(hiv.reached(third)["alp[HIV]"]),
        "3-p": figure(sensitive.reached(third)["p"]),
        "3-ages": str(ages),
        "3-illnesses": f"{sum(map(str.__eq__, lower, WANG_1.column('Illness')))} of 6",
    }
    figures = {
        "open": found["1-open"],
        "classes": found["2-classes"],
        "precision": found["2-precision"],
        "alp": found["3-alp"],
    }
    return WANG.section("worked", figures, sheets=[two.sheet(), three.sheet()], found=found)


@dataclass(frozen=True)
class LimitPoint:
    """One point of a figure."""

    model: str
    """What the plot calls it."""
    k: int
    records: int
    limits: Mapping[str, Mapping[str, float]] | None = None
    """None for k-anonymity alone."""
    protected: tuple[str, ...] = tuple(LIMITS)
    """The values whose homogeneous classes are counted apart."""

    def policy(self) -> Policy:
        """The greedy lattice algorithm of section III-C, with (alp, dif) or without."""
        columns = {**quasi_columns(HIERARCHIES), "marital-status": {"role": "sensitive"}}
        privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": self.k}]
        if self.limits is not None:
            privacy.append({"model": "alp-dif", "limits": self.limits, "sensitive": "marital-status"})
        return Policy(columns=columns, privacy=privacy, algorithm="greedy-lattice", suppression=SUPPRESSED)


@dataclass(frozen=True)
class LimitRun:
    """What a point measures, averaged over the draws."""

    records: int
    k: int
    model: str
    homogeneous: float
    """Records in classes of one value only."""
    protected: float
    """Those of them whose value has a limit."""
    alp: float
    """Average leakage of Divorced (ALP)."""
    suppressed: float
    precision: float
    seconds: float


def _average(table: pa.Table, point: LimitPoint, draws: int) -> LimitRun:
    """The average over random samples, as the paper averages three."""
    runs = [_once(random_sample(table, point.records, seed=seed), point) for seed in range(draws)]
    means: dict[str, Any] = {name: statistics.fmean(getattr(run, name) for run in runs) for name in MEASURES}
    return replace(runs[0], **means)


def _once(table: pa.Table, point: LimitPoint) -> LimitRun:
    """One release."""
    release = make_release(table, point.policy(), Clock(), no_progress)
    recoding = release.recoding
    view = release_stats(release.resolved, recoding).view("marital-status")
    every, protected = _homogeneous(view, point.protected)
    reached = AlpDif({"Divorced": {"alp": 1, "dif": 1}}, sensitive="marital-status").reached(view)
    _, _, seconds = timed_search(release.resolved.problem, ALGORITHMS["greedy-lattice"].run, _REPEAT)
    return LimitRun(
        point.records, point.k, point.model, homogeneous=every, protected=protected,
        alp=float(reached["alp[Divorced]"] or 0), suppressed=recoding.suppressed,
        precision=METRICS["precision"].of(ReleaseSummary.of(recoding)), seconds=seconds,
    )  # fmt: skip


def _homogeneous(view: ClassView, protected: Sequence[str]) -> tuple[int, int]:
    """Records in classes of one value only: all of them, and those whose value is protected."""
    starts, values = view.histogram.starts, view.histogram.values
    alone = (starts[1:] - starts[:-1]) == 1
    sizes, only = view.sizes[alone], values[starts[:-1][alone]]
    counted = [index for index, value in enumerate(view.domain.values) if value in protected]
    return int(sizes.sum()), int(sizes[np.isin(only, counted)].sum())


def _points(ks: Sequence[int], records: int) -> dict[str, list[LimitPoint]]:
    """The points of Figures 4-6, 7-9 and 10."""
    compared = [LimitPoint("k-anonymity", k, records) for k in ks] + [
        LimitPoint("(alp, dif)", k, records, LIMITS) for k in ks
    ]
    varied = [
        LimitPoint(f"alp = {alp:g}", k, records, {"Divorced": {"alp": alp, "dif": 0.3}}, ("Divorced",))
        for alp in (0.43, 0.41)
        for k in ks
    ]
    strict = {"Divorced": {"alp": 0.4, "dif": 0.3}}
    grown = [
        LimitPoint(f"k = {k}", k, step * records // 6, strict, ("Divorced",)) for k in (2, 3) for step in range(1, 7)
    ]
    return {"compared": compared, "varied": varied, "grown": grown}


def experiments(setting: Setting) -> list[Section]:
    """Figures 4 to 10."""
    chosen = pc.is_in(setting.table.column("marital-status"), value_set=pa.array(VALUES))
    table = setting.table.filter(chosen)
    draws = 1 if setting.quick else DRAWS
    points = _points(KS[::4], 1_500) if setting.quick else _points(KS, RECORDS)
    load_kernels()
    total, done = sum(map(len, points.values())), 0
    found: dict[str, list[LimitRun]] = {}
    for name, of in points.items():
        found[name] = []
        for point in of:
            setting.progress("(alp, dif)-anonymity", done / total)
            found[name].append(_average(table, point, draws))
            done += 1
    return [_compared(found["compared"], table.num_rows, draws), _varied(found["varied"]), _grown(found["grown"])]


def _by_model(runs: Sequence[LimitRun]) -> dict[str, list[LimitRun]]:
    groups: dict[str, list[LimitRun]] = {}
    for run in runs:
        groups.setdefault(run.model, []).append(run)
    return groups


def _ends(runs: Sequence[LimitRun]) -> dict[str, str]:
    """Each measure at the smallest and at the largest k (or number of records)."""
    return {
        name: from_to(getattr(runs[0], name), getattr(runs[-1], name), digits) for name, (_, digits) in MEASURES.items()
    }


def _compared(runs: Sequence[LimitRun], population: int, draws: int) -> Section:
    plain, limited = _by_model(runs).values()
    rises = sum(after.precision > before.precision + 1e-9 for before, after in pairwise(limited))
    figures = {
        "records": plain[0].records,
        "draws": pluralize(draws, "draw"),
        "low": plain[0].k,
        "high": plain[-1].k,
        "plain": _ends(plain),
        "limited": _ends(limited),
        "population": population,
        "rises": pluralize(rises, "step"),
        "steps": len(limited) - 1,
    }
    drawings = _drawings("wang-compared", {"homogeneous": 4, "seconds": 5, "precision": 6}, runs)
    return WANG.section("compared", figures, sheets=[_sheet("wang-compared", runs)], drawings=drawings)


def _varied(runs: Sequence[LimitRun]) -> Section:
    models = _by_model(runs)
    loose, strict = models.values()
    highest = max(run.alp for run in runs)
    same = sum(
        abs(one.precision - other.precision) < 1e-9 and one.homogeneous == other.homogeneous
        for one, other in zip(loose, strict, strict=True)
    )
    figures = {
        "low": loose[0].k,
        "high": loose[-1].k,
        "names": list(models),
        "loose": _ends(loose),
        "strict": _ends(strict),
        "same": same,
        "ks": len(loose),
        "lowest": min(run.alp for run in runs),
        "highest": highest,
        "decided": "so alp decides nothing" if highest <= 0.41 else "so alp decides where dif alone would not",
    }
    drawings = _drawings("wang-alp", {"homogeneous": 9, "seconds": 7, "precision": 8}, runs)
    found = {"alone": f"{sum(run.protected for run in runs):g}"}
    return WANG.section("varied", figures, sheets=[_sheet("wang-alp", runs)], drawings=drawings, found=found)


def _grown(runs: Sequence[LimitRun]) -> Section:
    models = _by_model(runs)
    first, second = models.values()
    figures = {
        "fewest": first[0].records,
        "most": first[-1].records,
        "names": list(models),
        "first": _ends(first)["seconds"],
        "second": _ends(second)["seconds"],
        "grown": [of[-1].seconds / of[0].seconds for of in (first, second)],
        "factor": first[-1].records / first[0].records,
    }
    svg = _plot(runs, "seconds", "records", by="records")
    drawing = Drawing("wang-records-time", "as Figure 10: seconds against the number of records", svg)
    return WANG.section("grown", figures, sheets=[_sheet("wang-records", runs)], drawings=[drawing])


def _sheet(name: str, runs: Sequence[LimitRun]) -> Sheet:
    header = ("records", "k", "model", *(title for title, _ in MEASURES.values()))
    rows = [(run.records, run.k, run.model, *(round(getattr(run, name), 6) for name in MEASURES)) for run in runs]
    return Sheet(name, header, tuple(rows))


_UP = {"homogeneous": "records open to the homogeneity attack", "seconds": "seconds", "precision": "precision"}


def _plot(runs: Sequence[LimitRun], what: str, across: str, *, by: str = "k") -> str:
    lines = []
    for kind, (model, of) in enumerate(_by_model(runs).items()):
        lines.append(Line(model, tuple((float(getattr(run, by)), getattr(run, what)) for run in of), kind))
        if what == "homogeneous":
            protected = tuple((float(getattr(run, by)), run.protected) for run in of)
            lines.append(Line(f"{model}, protected values", protected, kind, dashed=True))
    title = f"{_UP[what].capitalize()} against {across}"
    return line_plot([Panel("", tuple(lines))], title=title, across=across, up=_UP[what])


def _drawings(prefix: str, figures: Mapping[str, int], runs: Sequence[LimitRun]) -> list[Drawing]:
    names = {"homogeneous": "homogeneity", "seconds": "time", "precision": "precision"}
    return [
        Drawing(f"{prefix}-{names[what]}", f"as Figure {number}: {_UP[what]} against k", _plot(runs, what, "k"))
        for what, number in figures.items()
    ]


TASKS = (
    Task(WANG.name, "worked tables of Wang et al.", lambda setting: [worked(setting)]),
    Task(WANG.name, "experiments of Wang et al.", experiments, seconds=25, needs_adult=True),
)
