"""The experiments of Campan, Truta & Cooper 2010, section 4: three greedy algorithms on Adult."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.result import Result
from shoal.metrics import METRICS, ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.pipeline.prepare import prepare, prepare_again
from shoal.pipeline.run import Clock, make_release
from shoal.policy import Policy
from shoal.reproduce.campan_tables import PAPER, worked
from shoal.reproduce.campan_words import GRID, RECORDS, Run, loss_words, suppressed_words, time_words, violation_words
from shoal.reproduce.hierarchies import CAMPAN, CAMPAN_BOUNDARIES
from shoal.reproduce.lines import Line, Panel, line_plot
from shoal.reproduce.section import Drawing, Section, Setting, Sheet, Statement, Task
from shoal.verification import verify

SENSITIVE = ("education-num", "education", "occupation")
WEIGHTS = {"education-num": 0.3, "education": 0.3, "occupation": 0.4}
SEED = 2010
QUICK_RECORDS = 1_000
CPKA, PK, CKA, OURS = "GreedyCPKA", "GreedyPKClustering", "GreedyCKA", "Shoal's own clustering"
KINDS = (CPKA, PK, CKA, OURS)


def policy(kind: str, k: int, p: int) -> Policy:
    """One run: with boundaries but for GreedyPKClustering, with p but for GreedyCKA."""
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": tree} for name, tree in CAMPAN.items()}
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


class _Runs:
    """The table, encoded once with boundaries and once without."""

    def __init__(self, table: pa.Table) -> None:
        self._bounded = prepare(table.select([*CAMPAN, *SENSITIVE]), policy(CPKA, 4, 2))
        self._free = prepare_again(self._bounded, policy(PK, 4, 2))

    def run(self, kind: str, k: int, p: int) -> Run:
        """Cluster, check the models with the verifier, and measure."""
        asked, clock = policy(kind, k, p), Clock()
        made = make_release(self._free if kind == PK else self._bounded, asked, clock)
        recoding = made.recoding
        summary = ReleaseSummary.of(recoding)
        return Run(
            kind, k, p, METRICS["ntil"].of(summary), clock.stages["search"], self._violations(made),
            recoding.suppressed, recoding.n_classes, verify(made.table, asked).passed,
        )  # fmt: skip

    def _violations(self, made: Result) -> int:
        """Cells beyond the boundaries, whether the run knew of them or not."""
        codes: list[NDArray[np.int32]] = [column.codes for column in made.resolved.quasi.values()]
        return count_violations(made.recoding, codes, self._bounded.resolved.problem.caps)


def experiments(setting: Setting) -> list[Section]:
    """Figures 5 and 6, Tables 5 and 6."""
    table = setting.records(QUICK_RECORDS)
    grid = [(k, p) for k, p in GRID if not setting.quick or (k in (4, 10) and p in (2, 4))]
    runs, found = _Runs(table), []
    runs.run(OURS, 4, 2)  # load the kernels
    done: dict[int, Run] = {}
    for place, (k, p) in enumerate(grid):
        for part, kind in enumerate(KINDS):
            setting.progress(f"{kind}, k = {k}, p = {p}", (place + part / len(KINDS)) / len(grid))
            if kind == CKA:
                done[k] = done[k] if k in done else runs.run(kind, k, 1)  # p says nothing to it
                found.append(done[k].at(p))
            else:
                found.append(runs.run(kind, k, p))
    return _sections(found, table.num_rows)


def _sections(found: Sequence[Run], records: int) -> list[Section]:
    header = ("algorithm", "k", "p", "NTIL", "seconds", "constraint violations", "suppressed", "classes", "verified")
    rows = tuple(
        (e.kind, e.k, e.p, round(e.ntil, 6), round(e.seconds, 3), e.violations, e.suppressed, e.classes,
         "yes" if e.verified else "NO")
        for e in found
    )  # fmt: skip
    sheet = Sheet("campan-experiments", header, rows)
    place = "Campan et al. 2010, section 4,"
    return [
        Section(PAPER, "Information loss of the three algorithms", f"{place} Figure 5", *loss_words(found, records),
                sheets=(sheet,), drawings=(_drawing(found, "ntil", "NTIL", 5),), statements=_checks(found)),
        Section(PAPER, "Running time", f"{place} Figure 6", *time_words(found, records), sheets=(sheet,),
                drawings=(_drawing(found, "seconds", "seconds", 6),)),
        Section(PAPER, "Constraint violations without boundaries", f"{place} Table 5",
                *violation_words(found), sheets=(_printed("campan-table-5", found, PK, "violations", 0, records),),
                drawings=(_table_drawing(found, "violations", "cells beyond a boundary", (PK,), 0, records),)),
        Section(PAPER, "Suppressed records", f"{place} Table 6", *suppressed_words(found, records),
                sheets=(_printed("campan-table-6", found, CPKA, "suppressed", 1, records),),
                drawings=(_table_drawing(found, "suppressed", "suppressed records", (CPKA, CKA), 1, records),)),
    ]  # fmt: skip


def _checks(found: Sequence[Run]) -> tuple[Statement, ...]:
    bounded = sum(run.violations for run in found if run.kind != PK)
    by_point: dict[tuple[int, int], dict[str, Run]] = {}
    for run in found:
        by_point.setdefault((run.k, run.p), {})[run.kind] = run
    fewer = sum(of[CPKA].suppressed < of[CKA].suppressed for of in by_point.values())
    return (
        Statement("cells beyond a boundary with boundaries set", "0", str(bounded)),
        Statement("releases that the verifier rejects", "0", str(sum(not run.verified for run in found))),
        Statement("points where p suppresses fewer records than k alone", "0", str(fewer)),
    )


def _lines(found: Sequence[Run], k: int, what: str, kinds: Sequence[str]) -> list[Line]:
    """A measure against p at one k, a line each algorithm."""
    runs = [run for run in found if run.k == k]
    points = {kind: [(run.p, float(getattr(run, what))) for run in runs if run.kind == kind] for kind in kinds}
    return [Line(kind, tuple(of), KINDS.index(kind), dashed=kind == OURS) for kind, of in points.items()]


def _drawing(found: Sequence[Run], what: str, up: str, figure: int) -> Drawing:
    """A figure of the paper: a panel each k."""
    ks = dict.fromkeys(run.k for run in found)
    panels = [Panel(f"k = {k}", tuple(_lines(found, k, what, KINDS))) for k in ks]
    drawn = line_plot(panels, title=f"{up[0].upper()}{up[1:]} against p", across="p", up=up)
    return Drawing(f"campan-{what}", f"as Figure {figure}: {up} against p, a panel each k", drawn)


def _table_drawing(found: Sequence[Run], what: str, up: str, kinds: Sequence[str], place: int, records: int) -> Drawing:
    """A table of the paper as a plot, each panel with its own scale; on as many records, what it prints is dashed."""
    panels = []
    for k in dict.fromkeys(run.k for run in found):
        points = tuple((run.p, float(GRID[k, run.p][place])) for run in found if (run.k, run.kind) == (k, kinds[0]))
        printed = Line(f"{kinds[0]}, as printed", points, KINDS.index(kinds[0]), dashed=True)
        beside = [printed] if records == RECORDS else []
        panels.append(Panel(f"k = {k}", (*_lines(found, k, what, kinds), *beside)))
    drawn = line_plot(panels, title=f"{up[0].upper()}{up[1:]} against p", across="p", up=up, shared=False)
    return Drawing(f"campan-{what}", f"the paper prints a table: {up} against p, a panel each k", drawn)


def _printed(name: str, found: Sequence[Run], kind: str, what: str, place: int, records: int) -> Sheet:
    """A table of the paper beside ours."""
    header = ("k", "p", f"paper, {RECORDS} records", f"measured, {records} records")
    rows = tuple((run.k, run.p, GRID[run.k, run.p][place], getattr(run, what)) for run in found if run.kind == kind)
    return Sheet(name, header, rows)


TASKS = (
    Task(PAPER, "worked tables of Campan et al.", lambda setting: [worked(setting)]),
    Task(PAPER, "experiments of Campan et al.", experiments, seconds=300, needs_adult=True),
)
