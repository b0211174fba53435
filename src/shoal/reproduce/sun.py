"""Sun, Wang, Li & Truta 2008: worked tables, similarity attack (section 6), and the figures on time and distortion."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from shoal.reproduce.hierarchies import SUN
from shoal.reproduce.lines import Line, Panel, line_plot
from shoal.reproduce.section import Drawing, Section, Setting, Sheet, Statement, Task
from shoal.reproduce.sun_figures import figures
from shoal.reproduce.sun_runs import MODELS, QUICK_RECORDS, QUICK_SIZE, SEED, Asked, minimal, with_health
from shoal.reproduce.sun_tables import PAPER, worked
from shoal.reproduce.sun_words import Attack, similarity_words

SUPPRESSED = (0.0, 0.01, 0.05)
"""The paper does not say whether records were suppressed: so without, and with at most so many."""


def attacked(setting: Setting) -> list[Section]:
    """Minimal nodes, and how many of them are open to the similarity attack."""
    table = setting.records(2 * QUICK_RECORDS)
    draws, size = (1, QUICK_SIZE + 1) if setting.quick else (2, len(SUN))
    found = []
    steps = [(share, draw, model) for share in SUPPRESSED for draw in range(draws) for model in MODELS]
    for place, (share, draw, model) in enumerate(steps):
        setting.progress("similarity attack", place / len(steps))
        result = minimal(with_health(table, SEED + draw), Asked(model, size, suppression=share))
        found.append(Attack(model, share, draw, result.nodes, result.vulnerable, result.exposed, result.ratio))
    header = (
        "model",
        "suppression",
        "draw",
        "minimal nodes",
        "open",
        "records open at worst",
        "least distortion ratio",
    )
    rows = tuple((e.model, e.suppression, e.draw, e.nodes, e.vulnerable, e.exposed, round(e.ratio, 6)) for e in found)
    lines = tuple(_share_line(found, model, kind) for kind, model in enumerate(MODELS))
    plot = line_plot(
        [Panel("", lines)], title="Minimal nodes open to the similarity attack", across="suppressed at most, %",
        up="open, % of minimal nodes",
    )  # fmt: skip
    open_ = sum(each.vulnerable for each in found if each.model == "p-plus-alpha-sensitive")
    by_definition = Statement(
        "(2⁺, 2)-sensitive: minimal nodes open to the similarity attack", "3 of 28", str(open_), "0",
        "Definition 5 asks for p = 2 categories in every class, so none lies in a single one.",
    )  # fmt: skip
    words = similarity_words(found, table.num_rows)
    caption = "the numbers that the paper gives in words, against the share of records that may be suppressed"
    return [
        Section(
            PAPER, "Similarity attack on minimal nodes", "Sun et al. 2008, section 6, Similarity Attack", *words,
            sheets=(Sheet("sun-similarity", header, rows),),
            drawings=(Drawing("sun-similarity", caption, plot),), statements=(by_definition,),
        )
    ]  # fmt: skip


def _share_line(found: Sequence[Attack], model: str, kind: int) -> Line:
    points = []
    for share in SUPPRESSED:
        runs = [each for each in found if each.model == model and each.suppression == share]
        points.append((100 * share, statistics.fmean(100 * each.vulnerable / each.nodes for each in runs)))
    return Line(MODELS[model], tuple(points), kind)


TASKS = (
    Task(PAPER, "worked tables of Sun et al.", lambda setting: [worked(setting)]),
    Task(PAPER, "similarity attack of Sun et al.", attacked, seconds=100, needs_adult=True),
    Task(PAPER, "figures of Sun et al.", figures, seconds=150, needs_adult=True),
)
