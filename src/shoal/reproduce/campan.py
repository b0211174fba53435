"""Campan, Truta & Cooper 2010: worked tables, and three greedy algorithms on Adult (section 4)."""

import statistics
from collections.abc import Sequence
from typing import Any

from shoal.metrics import METRICS, ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.models import KAnonymity, PSensitive
from shoal.pipeline import anonymize
from shoal.pipeline.prepare import prepare
from shoal.pipeline.run import Clock, make_release
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.present.plots.point_plots import Line, Panel, line_plot
from shoal.reproduce import tables
from shoal.reproduce.masked import Masked, reached, rows_of, same_rows, view_of
from shoal.reproduce.paper import Drawing, Results, Section, Setting, Sheet, Task
from shoal.reproduce.tables import CAMPAN, CAMPAN_1, CAMPAN_4, CAMPAN_QUASI, quasi_columns
from shoal.reproduce.tables import CAMPAN_HIERARCHIES as HIERARCHIES

DECADES = ("30-39", "40-49")  # the boundary of the age in the worked tables
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
RECORDS = 45_222  # records that the paper's figures are of


def worked(_: Setting) -> Section:
    """MM1 is not 2-sensitive, MM2 breaks the boundaries, MM3 satisfies all; GreedyCPKA makes MM3."""
    trees, sheets, losses = CAMPAN.content["trees"], [], []
    sensitive = PSensitive(2, sensitive="Diagnosis")
    found: dict[str, str] = {}
    for number in (2, 3, 4):
        table = CAMPAN.tables[str(number)]
        masked = Masked(f"campan-table-{number}", CAMPAN_1, table, trees, ("Diagnosis", "Diagnosis"), key="Record")
        view = view_of(table, CAMPAN_QUASI, "Diagnosis")
        found |= masked.comparison_with_print(number) | {
            f"{number}-k": reached(view, KAnonymity(3), "k"),
            f"{number}-p": reached(view, sensitive, "p"),
            f"{number}-beyond": str(masked.violations({"Age": DECADES})),
        }
        sheets.append(masked.sheet())
        losses.append(f"{masked.measure('ntil'):.3f} (MM{number - 1})")
    columns: dict[str, Any] = {"Record": {"role": "identifier"}, "Name": {"role": "identifier"}}
    columns |= quasi_columns({name: {"tree": tree} for name, tree in trees.items()})
    columns["Age"]["boundary"] = list(DECADES)
    columns["Diagnosis"] = {"role": "sensitive"}
    privacy = [{"model": "k-anonymity", "k": 3}, {"model": "p-sensitive", "p": 2, "sensitive": "Diagnosis"}]
    released = []
    for seed in SEEDS:  # GreedyCPKA on Table 1, with decades as the boundary of the age
        algorithm = {"name": "greedy-clustering", "faithful": True, "seed": seed}
        released.append(
            anonymize(CAMPAN_1.arrow(), Policy(columns=columns, privacy=privacy, algorithm=algorithm)).table
        )
    equal = [table for table in released if same_rows(table, CAMPAN_4, NAMES) == "9 of 9"]
    shown = (equal or released)[0]
    found["4-rows"] = same_rows(shown, CAMPAN_4, NAMES)
    sheets.append(Sheet("campan-greedy-cpka", NAMES, tuple(rows_of(shown, NAMES))))
    figures = {"equal": len(equal), "first": SEEDS[0], "last": SEEDS[-1], "losses": ", ".join(losses)}
    return CAMPAN.section("worked", figures, sheets=sheets, found=found)


def policy(kind: str, k: int, p: int) -> Policy:
    """One run: with boundaries but for GreedyPKClustering, with p but for GreedyCKA."""
    columns = quasi_columns(HIERARCHIES)
    if kind != PK:
        for name, level in tables.CAMPAN_BOUNDARIES.items():
            columns[name] = {**columns[name], "boundary": level}
    columns |= {name: {"role": "sensitive"} for name in SENSITIVE}
    privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k}]
    if kind != CKA:
        privacy.append({"model": "p-sensitive", "p": p, "sensitive": list(SENSITIVE)})
    algorithm: dict[str, Any] = {"name": "greedy-clustering", "metric": "ntil", "seed": SEED}
    if kind != OURS:
        algorithm |= {"faithful": True, "weights": WEIGHTS}
    return Policy(columns=columns, privacy=privacy, algorithm=algorithm, suppression=0.99)


def experiments(setting: Setting) -> list[Section]:
    """Figures 5 and 6, Tables 5 and 6."""
    table = setting.records(QUICK_RECORDS)
    grid = [(k, p) for k, p in GRID if not setting.quick or (k in (4, 10) and p in (2, 4))]
    bounded = prepare(table.select([*HIERARCHIES, *SENSITIVE]), policy(CPKA, 4, 2))  # encoded once with boundaries
    free = prepare(bounded, policy(PK, 4, 2))  # and once without

    def run(kind: str, k: int, p: int) -> dict[str, Any]:
        """Cluster, check the models with the verifier, and measure; boundaries also where the run knew of none."""
        chosen, clock = policy(kind, k, p), Clock()
        release = make_release(free if kind == PK else bounded, chosen, clock)
        recoding, codes = release.recoding, [column.codes for column in release.resolved.quasi.values()]
        return {
            "algorithm": kind,
            "k": k,
            "p": p,
            "NTIL": METRICS["ntil"].of(ReleaseSummary.of(recoding)),
            "seconds": clock.stages["search"],
            "constraint violations": count_violations(recoding, codes, bounded.resolved.problem.caps),
            "suppressed": recoding.suppressed,
            "classes": recoding.n_classes,
            "verified": "yes" if verify(release.table, chosen).passed else "NO",
        }

    run(OURS, 4, 2)  # load the kernels
    runs, without_p = Results(), dict[int, dict[str, Any]]()
    for index, (k, p) in enumerate(grid):
        for part, kind in enumerate(KINDS):
            setting.progress(f"{kind}, k = {k}, p = {p}", (index + part / len(KINDS)) / len(grid))
            if kind == CKA and k not in without_p:  # which knows no p
                without_p[k] = run(kind, k, 1)
            runs.append(without_p[k] | {"p": p} if kind == CKA else run(kind, k, p))
    return _sections(runs, table.num_rows)


def _sections(runs: Results, records: int) -> list[Section]:
    sheet, figures = runs.sheet("campan-experiments", seconds=3), _figures(runs) | {"records": records}
    suppressed = [runs.where(algorithm=kind).column("suppressed") for kind in (CPKA, CKA)]
    found = {
        "violations": str(sum(run["constraint violations"] for run in runs if run["algorithm"] != PK)),
        "rejected": str(runs.column("verified").count("NO")),
        "fewer": str(sum(ours < theirs for ours, theirs in zip(*suppressed, strict=True))),
    }
    sections = []
    for name, what, number, findings in (("loss", "NTIL", 5, found), ("time", "seconds", 6, None)):
        drawing = _drawing(runs, what, what, f"as Figure {number}: {what} against p, one panel per k")
        sections.append(CAMPAN.section(name, figures, sheets=[sheet], drawings=[drawing], found=findings))
    for column, (name, what, up, kinds) in enumerate((
        ("violations", "constraint violations", "cells beyond a boundary", (PK,)),
        ("suppressed", "suppressed", "suppressed records", (CPKA, CKA)),
    )):  # fmt: skip
        own = runs.where(algorithm=kinds[0])
        printed = [GRID[run["k"], run["p"]][column] for run in own]
        header = ("k", "p", f"paper, {RECORDS} records", f"measured, {records} records")
        rows = zip(own.column("k"), own.column("p"), printed, own.column(what), strict=True)
        ends = {"printed_first": printed[0], "printed_last": printed[-1], "first": own[0], "last": own[-1]}
        caption = f"the paper prints a table: {up} against p, one panel per k"
        beside = column if records == RECORDS else None
        drawing = _drawing(runs, what, up, caption, kinds, name=name, printed=beside, shared=False)
        sheets = [Sheet(f"campan-table-{5 + column}", header, tuple(rows))]
        sections.append(CAMPAN.section(name, figures | ends, sheets=sheets, drawings=[drawing]))
    return sections


def _figures(runs: Results) -> dict[str, Any]:
    """The figures in the texts: ranges of each algorithm, and mean ratios of two."""
    of = {name: runs.where(algorithm=kind) for name, kind in zip(("cpka", "pk", "cka", "ours"), KINDS, strict=True)}
    figures: dict[str, Any] = {}
    for name, own in of.items():
        columns = {what: own.column(what) for what in ("NTIL", "seconds")}
        figures[name] = {what: (min(values), max(values)) for what, values in columns.items()}
    for one, other, what in (
        ("cpka", "pk", "NTIL"), ("cpka", "cka", "NTIL"), ("ours", "cpka", "NTIL"), ("pk", "cpka", "seconds"),
    ):  # fmt: skip
        pairs = zip(of[one].column(what), of[other].column(what), strict=True)
        figures[f"{one}_by_{other}"] = statistics.fmean(value / base for value, base in pairs)
    alone = {run["k"]: f"{run['suppressed']:,} (k = {run['k']})" for run in of["cka"]}
    return figures | {"alone": ", ".join(alone.values())}


def _drawing(
    runs: Results, what: str, up: str, caption: str, kinds: Sequence[str] = KINDS, *, name: str = "",
    printed: int | None = None, shared: bool = True,
) -> Drawing:  # fmt: skip
    """A measure against p, one panel per k and one line per algorithm; what the paper prints of the first is dashed."""
    panels = []
    for k in dict.fromkeys(runs.column("k")):
        own = {kind: runs.where(k=k, algorithm=kind).points("p", what) for kind in kinds}
        lines = [Line(kind, own[kind], KINDS.index(kind), dashed=kind == OURS) for kind in kinds]
        if printed is not None:
            points = tuple((p, float(GRID[k, int(p)][printed])) for p, _ in own[kinds[0]])
            lines.append(Line(f"{kinds[0]}, as printed", points, KINDS.index(kinds[0]), dashed=True))
        panels.append(Panel(f"k = {k}", tuple(lines)))
    svg = line_plot(panels, title=f"{up[0].upper()}{up[1:]} against p", across="p", up=up, shared=shared)
    return Drawing(f"campan-{name or what.lower()}", caption, svg)


TASKS = (
    Task(CAMPAN.name, "worked tables of Campan et al.", lambda setting: [worked(setting)]),
    Task(CAMPAN.name, "experiments of Campan et al.", experiments, seconds=300, needs_adult=True),
)
