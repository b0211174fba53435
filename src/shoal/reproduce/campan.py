"""Campan, Truta & Cooper 2010: worked tables, and three greedy algorithms on Adult (section 4)."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.result import Result
from shoal.metrics import METRICS, ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.models import KAnonymity, PSensitive
from shoal.pipeline import Release, anonymize
from shoal.pipeline.prepare import prepare, prepare_again
from shoal.pipeline.run import Clock, make_release
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.present.plots.point_plots import Line, Panel, line_plot
from shoal.reproduce.masked import Masked, rows_of, same_rows, view_of
from shoal.reproduce.paper import Drawing, Section, Setting, Sheet, Task, figure, from_to
from shoal.reproduce.tables import (
    CAMPAN,
    CAMPAN_1,
    CAMPAN_2,
    CAMPAN_3,
    CAMPAN_4,
    CAMPAN_BOUNDARIES,
    CAMPAN_QUASI,
    quasi_columns,
)
from shoal.reproduce.tables import CAMPAN_HIERARCHIES as HIERARCHIES

DECADES = ("30-39", "40-49")
"""The boundary of the age in the worked tables."""
SEEDS = range(8)
NAMES = (*CAMPAN_QUASI, "Diagnosis")

SENSITIVE = ("education-num", "education", "occupation")
WEIGHTS = {"education-num": 0.3, "education": 0.3, "occupation": 0.4}
SEED = 2010
QUICK_RECORDS = 1_000
CPKA, PK, CKA, OURS = KINDS = ("GreedyCPKA", "GreedyPKClustering", "GreedyCKA", "Shoal's own clustering")
GRID = {
    (4, 2): (3958, 11), (4, 3): (6286, 17), (4, 4): (12743, 38),
    (8, 2): (7260, 42), (8, 3): (7766, 42), (8, 4): (10836, 52), (8, 6): (21213, 127), (8, 8): (27017, 358),
    (10, 2): (8686, 51), (10, 3): (9164, 51), (10, 4): (11345, 61), (10, 6): (22853, 136), (10, 8): (27882, 358),
    (10, 10): (36073, 463),
    (20, 2): (13990, 162), (20, 3): (14171, 162), (20, 4): (14896, 162), (20, 6): (26893, 192), (20, 8): (36437, 370),
    (20, 10): (43058, 463), (20, 13): (61391, 1593),
}  # fmt: skip
"""(k, p) of the paper, with the constraint violations of its Table 5 and the suppressed records of its Table 6."""
RECORDS = 45_222
"""Records that the paper's figures are of."""


def _greedy_cpka(seed: int) -> Release:
    """Table 1 by GreedyCPKA, with decades as the boundary of the age."""
    columns: dict[str, Any] = {"Record": {"role": "identifier"}, "Name": {"role": "identifier"}}
    columns |= quasi_columns({name: {"tree": tree} for name, tree in CAMPAN.content["trees"].items()})
    columns["Age"]["boundary"] = list(DECADES)
    columns["Diagnosis"] = {"role": "sensitive"}
    privacy = [{"model": "k-anonymity", "k": 3}, {"model": "p-sensitive", "p": 2, "sensitive": "Diagnosis"}]
    algorithm = {"name": "greedy-clustering", "faithful": True, "seed": seed}
    return anonymize(CAMPAN_1.arrow(), Policy(columns=columns, privacy=privacy, algorithm=algorithm))


def worked(_: Setting) -> Section:
    """MM1 is not 2-sensitive, MM2 breaks the boundaries, MM3 satisfies all; GreedyCPKA makes MM3."""
    trees, sheets, losses = CAMPAN.content["trees"], [], []
    found: dict[str, str] = {}
    for number, table in enumerate((CAMPAN_2, CAMPAN_3, CAMPAN_4), start=2):
        masked = Masked(f"campan-table-{number}", CAMPAN_1, table, trees, ("Diagnosis", "Diagnosis"), key="Record")
        view = view_of(table, CAMPAN_QUASI, "Diagnosis")
        found |= {
            f"{number}-cells": masked.equal_cells(),
            f"{number}-strangers": str(masked.without_original()),
            f"{number}-k": figure(KAnonymity(3).reached(view)["k"]),
            f"{number}-p": figure(PSensitive(2, sensitive="Diagnosis").reached(view)["p"]),
            f"{number}-beyond": str(masked.violations({"Age": DECADES})),
        }
        sheets.append(masked.sheet())
        losses.append(f"{masked.measure('ntil'):.3f} (MM{number - 1})")
    tables = [_greedy_cpka(seed).table for seed in SEEDS]
    equal = [table for table in tables if same_rows(table, CAMPAN_4, NAMES) == "9 of 9"]
    shown = (equal or tables)[0]
    found["4-rows"] = same_rows(shown, CAMPAN_4, NAMES)
    sheets.append(Sheet("campan-greedy-cpka", NAMES, tuple(rows_of(shown, NAMES))))
    figures = {"equal": len(equal), "first": SEEDS[0], "last": SEEDS[-1], "losses": ", ".join(losses)}
    return CAMPAN.section("worked", figures, sheets=sheets, found=found)


@dataclass(frozen=True)
class ClusteringRun:
    """One release of an experiment."""

    kind: str
    k: int
    p: int
    ntil: float
    seconds: float
    violations: int
    suppressed: int
    classes: int
    verified: bool


def policy(kind: str, k: int, p: int) -> Policy:
    """One run: with boundaries but for GreedyPKClustering, with p but for GreedyCKA."""
    columns = quasi_columns(HIERARCHIES)
    if kind != PK:
        for name, level in CAMPAN_BOUNDARIES.items():
            columns[name] = {**columns[name], "boundary": level}
    columns |= {name: {"role": "sensitive"} for name in SENSITIVE}
    privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k}]
    if kind != CKA:
        privacy.append({"model": "p-sensitive", "p": p, "sensitive": list(SENSITIVE)})
    algorithm: dict[str, Any] = {"name": "greedy-clustering", "metric": "ntil", "seed": SEED}
    if kind != OURS:
        algorithm |= {"faithful": True, "weights": WEIGHTS}
    return Policy(columns=columns, privacy=privacy, algorithm=algorithm, suppression=0.99)


class _Encoded:
    """The table, encoded once with boundaries and once without."""

    def __init__(self, table: pa.Table) -> None:
        self._bounded = prepare(table.select([*HIERARCHIES, *SENSITIVE]), policy(CPKA, 4, 2))
        self._free = prepare_again(self._bounded, policy(PK, 4, 2))

    def run(self, kind: str, k: int, p: int) -> ClusteringRun:
        """Cluster, check the models with the verifier, and measure."""
        chosen, clock = policy(kind, k, p), Clock()
        release = make_release(self._free if kind == PK else self._bounded, chosen, clock)
        recoding = release.recoding
        return ClusteringRun(
            kind, k, p, METRICS["ntil"].of(ReleaseSummary.of(recoding)), clock.stages["search"],
            self._violations(release), recoding.suppressed, recoding.n_classes, verify(release.table, chosen).passed,
        )  # fmt: skip

    def _violations(self, release: Result) -> int:
        """Cells beyond the boundaries, whether the run knew of them or not."""
        codes: list[NDArray[np.int32]] = [column.codes for column in release.resolved.quasi.values()]
        return count_violations(release.recoding, codes, self._bounded.resolved.problem.caps)


def experiments(setting: Setting) -> list[Section]:
    """Figures 5 and 6, Tables 5 and 6."""
    table = setting.records(QUICK_RECORDS)
    grid = [(k, p) for k, p in GRID if not setting.quick or (k in (4, 10) and p in (2, 4))]
    encoded, runs = _Encoded(table), []
    encoded.run(OURS, 4, 2)  # load the kernels
    without_p: dict[int, ClusteringRun] = {}
    for index, (k, p) in enumerate(grid):
        for part, kind in enumerate(KINDS):
            setting.progress(f"{kind}, k = {k}, p = {p}", (index + part / len(KINDS)) / len(grid))
            if kind == CKA:  # which knows no p
                without_p[k] = without_p[k] if k in without_p else encoded.run(kind, k, 1)
                runs.append(replace(without_p[k], p=p))
            else:
                runs.append(encoded.run(kind, k, p))
    return _sections({kind: [run for run in runs if run.kind == kind] for kind in KINDS}, runs, table.num_rows)


def _sections(of: Mapping[str, Sequence[ClusteringRun]], runs: Sequence[ClusteringRun], records: int) -> list[Section]:
    header = ("algorithm", "k", "p", "NTIL", "seconds", "constraint violations", "suppressed", "classes", "verified")
    rows = tuple(
        (e.kind, e.k, e.p, round(e.ntil, 6), round(e.seconds, 3), e.violations, e.suppressed, e.classes,
         "yes" if e.verified else "NO")
        for e in runs
    )  # fmt: skip
    sheet = Sheet("campan-experiments", header, rows)
    figures = _figures(of) | {"records": records}
    fewer = sum(one.suppressed < other.suppressed for one, other in zip(of[CPKA], of[CKA], strict=True))
    found = {
        "violations": str(sum(run.violations for run in runs if run.kind != PK)),
        "rejected": str(sum(not run.verified for run in runs)),
        "fewer": str(fewer),
    }
    tables = [
        CAMPAN.section(
            what,
            {
                "printed_first": GRID[of[kind][0].k, of[kind][0].p][column],
                "printed_last": GRID[of[kind][-1].k, of[kind][-1].p][column],
                "first": of[kind][0],
                "last": of[kind][-1],
                "records": records,
                "alone": figures["alone"],
            },
            sheets=[_printed_beside_ours(f"campan-table-{5 + column}", of[kind], what, column, records)],
            drawings=[_table_drawing(of, what, up, kinds, column, records)],
        )
        for column, (what, up, kind, kinds) in enumerate(
            (
                ("violations", "cells beyond a boundary", PK, (PK,)),
                ("suppressed", "suppressed records", CPKA, (CPKA, CKA)),
            )
        )
    ]
    return [
        CAMPAN.section("loss", figures, sheets=[sheet], drawings=[_drawing(of, "ntil", "NTIL", 5)], found=found),
        CAMPAN.section("time", figures, sheets=[sheet], drawings=[_drawing(of, "seconds", "seconds", 6)]),
        *tables,
    ]


def _figures(of: Mapping[str, Sequence[ClusteringRun]]) -> dict[str, Any]:
    """The figures in the texts: ranges of each algorithm, and mean ratios of two."""
    names = dict(zip(("cpka", "pk", "cka", "ours"), KINDS, strict=True))
    figures: dict[str, Any] = {
        name: {
            what: from_to(min(values), max(values), digits)
            for what, digits in (("ntil", 3), ("seconds", 1))
            for values in [[getattr(run, what) for run in of[kind]]]
        }
        for name, kind in names.items()
    }

    def ratio(one: str, other: str, what: str) -> float:
        pairs = zip(of[names[one]], of[names[other]], strict=True)
        return statistics.fmean(getattr(a, what) / getattr(b, what) for a, b in pairs)

    return figures | {
        "cpka_by_pk": ratio("cpka", "pk", "ntil"),
        "cpka_by_cka": ratio("cpka", "cka", "ntil"),
        "ours_by_cpka": ratio("ours", "cpka", "ntil"),
        "pk_by_cpka": ratio("pk", "cpka", "seconds"),
        "alone": ", ".join({run.k: f"{run.suppressed:,} (k = {run.k})" for run in of[CKA]}.values()),
    }


def _lines(of: Mapping[str, Sequence[ClusteringRun]], k: int, what: str, kinds: Sequence[str]) -> list[Line]:
    """A measure against p at one k, one line per algorithm."""
    return [
        Line(kind, tuple((run.p, float(getattr(run, what))) for run in of[kind] if run.k == k), KINDS.index(kind),
             dashed=kind == OURS)
        for kind in kinds
    ]  # fmt: skip


def _drawing(of: Mapping[str, Sequence[ClusteringRun]], what: str, up: str, number: int) -> Drawing:
    """A figure of the paper: one panel per k."""
    ks = dict.fromkeys(run.k for run in of[CPKA])
    panels = [Panel(f"k = {k}", tuple(_lines(of, k, what, KINDS))) for k in ks]
    svg = line_plot(panels, title=f"{up[0].upper()}{up[1:]} against p", across="p", up=up)
    return Drawing(f"campan-{what}", f"as Figure {number}: {up} against p, a panel each k", svg)


def _table_drawing(
    of: Mapping[str, Sequence[ClusteringRun]], what: str, up: str, kinds: Sequence[str], column: int, records: int
) -> Drawing:
    """A table of the paper as a plot, each panel with its own scale; on as many records, what it prints is dashed."""
    panels = []
    for k in dict.fromkeys(run.k for run in of[CPKA]):
        points = tuple((run.p, float(GRID[k, run.p][column])) for run in of[kinds[0]] if run.k == k)
        printed = Line(f"{kinds[0]}, as printed", points, KINDS.index(kinds[0]), dashed=True)
        panels.append(Panel(f"k = {k}", (*_lines(of, k, what, kinds), *([printed] if records == RECORDS else []))))
    svg = line_plot(panels, title=f"{up[0].upper()}{up[1:]} against p", across="p", up=up, shared=False)
    return Drawing(f"campan-{what}", f"the paper prints a table: {up} against p, a panel each k", svg)


def _printed_beside_ours(name: str, runs: Sequence[ClusteringRun], what: str, column: int, records: int) -> Sheet:
    """A table of the paper beside ours."""
    header = ("k", "p", f"paper, {RECORDS} records", f"measured, {records} records")
    return Sheet(name, header, tuple((run.k, run.p, GRID[run.k, run.p][column], getattr(run, what)) for run in runs))


TASKS = (
    Task(CAMPAN.name, "worked tables of Campan et al.", lambda setting: [worked(setting)]),
    Task(CAMPAN.name, "experiments of Campan et al.", experiments, seconds=300, needs_adult=True),
)
