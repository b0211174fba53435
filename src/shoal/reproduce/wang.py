"""The experiments of Wang, Xu & Qu 2011, section IV: homogeneity, time and precision against k, with (alp, dif)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encode.released_table import release_stats
from shoal.metrics import METRICS, ReleaseSummary
from shoal.models import AlpDif
from shoal.pipeline.run import make_release
from shoal.policy import Policy
from shoal.reproduce.hierarchies import WANG
from shoal.reproduce.lines import Line, Panel, line_plot
from shoal.reproduce.section import Cell, Drawing, Section, Setting, Sheet, Statement, Task, drawn
from shoal.reproduce.wang_tables import PAPER, worked
from shoal.reproduce.wang_words import Run, alp_words, compared_words, growth_words
from shoal.search import ALGORITHMS
from shoal.search.engine import LocalEngine
from shoal.search.kernels.load import load_kernels
from shoal.search.problem import Problem
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
MEASURED = {
    "homogeneous": "homogeneous records", "protected": "of them protected values", "alp": "ALP of Divorced",
    "suppressed": "suppressed", "precision": "precision", "seconds": "seconds",
}  # fmt: skip
"""What is averaged over the draws, and what the sheets call it."""


def policy(k: int, limits: Mapping[str, Mapping[str, float]] | None) -> Policy:
    """The greedy lattice algorithm of section III-C, with (alp, dif) or without."""
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": tree} for name, tree in WANG.items()}
    columns["marital-status"] = {"role": "sensitive"}
    privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k}]
    if limits is not None:
        privacy.append({"model": "alp-dif", "limits": limits, "sensitive": "marital-status"})
    return Policy(columns=columns, privacy=privacy, algorithm="greedy-lattice", suppression=SUPPRESSED)


def population(setting: Setting) -> pa.Table:
    """The records with one of the four values of marital status."""
    assert setting.adult is not None, "experiments need the Adult table"
    chosen = pc.is_in(setting.adult.column("marital-status"), value_set=pa.array(VALUES))
    return setting.adult.filter(chosen)


@dataclass(frozen=True)
class _Asked:
    """One point of a figure."""

    model: str
    """What the plot calls it."""
    k: int
    records: int
    limits: Mapping[str, Mapping[str, float]] | None = None
    """None for k-anonymity alone."""
    protected: tuple[str, ...] = tuple(LIMITS)
    """The values whose homogeneous classes are counted apart."""


def _average(table: pa.Table, asked: _Asked, draws: int) -> Run:
    """The average over random samples, as the paper averages three."""
    runs = [_once(drawn(table, asked.records, seed=seed), asked) for seed in range(draws)]
    means: dict[str, Any] = {name: statistics.fmean(getattr(run, name) for run in runs) for name in MEASURED}
    return replace(runs[0], **means)


def _once(table: pa.Table, asked: _Asked) -> Run:
    """One release."""
    made = make_release(table, policy(asked.k, asked.limits))
    recoding = made.recoding
    summary = ReleaseSummary.of(recoding)
    view = release_stats(made.resolved, recoding).view("marital-status")
    every, protected = _homogeneous(view, asked.protected)
    reached = AlpDif({"Divorced": {"alp": 1, "dif": 1}}, sensitive="marital-status").reached(view)
    return Run(
        asked.records, asked.k, asked.model, homogeneous=every, protected=protected,
        alp=float(reached["alp[Divorced]"] or 0), suppressed=recoding.suppressed,
        precision=METRICS["precision"].of(summary), seconds=_seconds(made.resolved.problem),
    )  # fmt: skip


def _seconds(problem: Problem) -> float:
    """Median of the search alone, which is a matter of milliseconds."""
    taken = []
    for _ in range(_REPEAT):
        engine = LocalEngine(problem.table, problem.ladders, problem.domains, kernels=load_kernels())
        start = time.perf_counter()
        ALGORITHMS["greedy-lattice"].run(problem, engine)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def _homogeneous(view: ClassView, protected: Sequence[str]) -> tuple[int, int]:
    """Records in classes of one value only: all of them, and those whose value is protected."""
    starts, values = view.histogram.starts, view.histogram.values
    alone = (starts[1:] - starts[:-1]) == 1
    sizes, only = view.sizes[alone], values[starts[:-1][alone]]
    counted = [place for place, value in enumerate(view.domain.values) if value in protected]
    return int(sizes.sum()), int(sizes[np.isin(only, counted)].sum())


def _sheet(name: str, runs: Sequence[Run]) -> Sheet:
    rows: list[tuple[Cell, ...]] = [
        (run.records, run.k, run.model, *(round(getattr(run, measure), 6) for measure in MEASURED)) for run in runs
    ]
    return Sheet(name, ("records", "k", "model", *MEASURED.values()), tuple(rows))


_UP = {
    "homogeneous": "records open to the homogeneity attack",
    "seconds": "seconds",
    "precision": "precision",
}


def _plot(runs: Sequence[Run], what: str, across: str, *, by: str = "k") -> str:
    lines = []
    for kind, model in enumerate(dict.fromkeys(run.model for run in runs)):
        points = tuple((float(getattr(run, by)), getattr(run, what)) for run in runs if run.model == model)
        lines.append(Line(model, points, kind))
        if what == "homogeneous":
            only = tuple((float(getattr(run, by)), run.protected) for run in runs if run.model == model)
            lines.append(Line(f"{model}, protected values", only, kind, dashed=True))
    return line_plot(
        [Panel("", tuple(lines))], title=f"{_UP[what].capitalize()} against {across}", across=across, up=_UP[what]
    )


def _drawings(prefix: str, figures: Mapping[str, int], runs: Sequence[Run]) -> tuple[Drawing, ...]:
    return tuple(
        Drawing(f"{prefix}-{name}", f"as Figure {number}: {_UP[what]} against k", _plot(runs, what, "k"))
        for (what, number), name in zip(figures.items(), ("homogeneity", "time", "precision"), strict=True)
    )


def _points(ks: Sequence[int], records: int) -> dict[str, list[_Asked]]:
    """The points of Figures 4-6, 7-9 and 10."""
    compared = [_Asked("k-anonymity", k, records) for k in ks] + [_Asked("(alp, dif)", k, records, LIMITS) for k in ks]
    varied = [
        _Asked(f"alp = {alp:g}", k, records, {"Divorced": {"alp": alp, "dif": 0.3}}, ("Divorced",))
        for alp in (0.43, 0.41)
        for k in ks
    ]
    strict = {"Divorced": {"alp": 0.4, "dif": 0.3}}
    grown = [_Asked(f"k = {k}", k, step * records // 6, strict, ("Divorced",)) for k in (2, 3) for step in range(1, 7)]
    return {"compared": compared, "varied": varied, "grown": grown}


def experiments(setting: Setting) -> list[Section]:
    """Figures 4 to 10."""
    table = population(setting)
    draws = 1 if setting.quick else DRAWS
    asked = _points(KS[::4], 1_500) if setting.quick else _points(KS, RECORDS)
    load_kernels()
    total, done = sum(map(len, asked.values())), 0
    found: dict[str, list[Run]] = {}
    for name, points in asked.items():
        found[name] = []
        for point in points:
            setting.progress("(alp, dif)-anonymity", done / total)
            found[name].append(_average(table, point, draws))
            done += 1
    return _sections(found, table.num_rows, draws)


def _sections(found: Mapping[str, Sequence[Run]], population_size: int, draws: int) -> list[Section]:
    compared, varied, grown = found["compared"], found["varied"], found["grown"]
    impossible = Statement(
        "records in classes of Divorced alone, alp 0.43 or 0.41 with dif 0.3", "",
        f"{sum(run.protected for run in varied):g}", "0",
        "A leakage of 1 exceeds an average of at most 0.43 by more than 0.3: the definition allows no such class.",
    )  # fmt: skip
    first, later = {"homogeneous": 4, "seconds": 5, "precision": 6}, {"homogeneous": 9, "seconds": 7, "precision": 8}
    growth = Drawing(
        "wang-records-time", "as Figure 10: seconds against the number of records",
        _plot(grown, "seconds", "records", by="records"),
    )  # fmt: skip
    return [
        Section(PAPER, "(alp, dif)-anonymity against k-anonymity", "Wang et al. 2011, section IV-C, Figures 4-6",
                *compared_words(compared, population_size, draws), sheets=(_sheet("wang-compared", compared),),
                drawings=_drawings("wang-compared", first, compared)),
        Section(PAPER, "Two values of alp", "Wang et al. 2011, section IV-D, Figures 7-9", *alp_words(varied),
                sheets=(_sheet("wang-alp", varied),), drawings=_drawings("wang-alp", later, varied),
                statements=(impossible,)),
        Section(PAPER, "Time against the number of records", "Wang et al. 2011, section IV-D, Figure 10",
                *growth_words(grown), sheets=(_sheet("wang-records", grown),), drawings=(growth,)),
    ]  # fmt: skip


TASKS = (
    Task(PAPER, "worked tables of Wang et al.", lambda setting: [worked(setting)]),
    Task(PAPER, "experiments of Wang et al.", experiments, seconds=25, needs_adult=True),
)
