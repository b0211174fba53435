"""Figures 2 and 3 of Sun et al. 2008: time and distortion ratio against the number of quasi-identifiers, p and α."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pyarrow as pa

from shoal.reproduce.hierarchies import SUN
from shoal.reproduce.lines import Line, Panel, line_plot
from shoal.reproduce.section import Drawing, Section, Setting, Sheet, Statement
from shoal.reproduce.sun_runs import (
    ALPHA,
    MODELS,
    QUICK_RECORDS,
    QUICK_SIZE,
    SEED,
    Asked,
    K,
    P,
    local,
    minimal,
    with_health,
)
from shoal.reproduce.sun_tables import PAPER
from shoal.reproduce.sun_words import Point, Points, distortion_words, time_words

SIZES, PS, ALPHAS = (2, 3, 4, 5, 6, 7), (2, 3, 4), (1, 2, 3, 4, 6, 8)
FIGURE_P = 4
"""p of Figures 2(a) and 3(a), which vary the number of quasi-identifiers."""
Axes = Mapping[str, Sequence[tuple[float, dict[str, Any]]]]
"""The points of each figure: the value across, and what is asked there."""


@dataclass
class _Measured:
    """Points of Figures 2 and 3, each measured once."""

    table: pa.Table
    repeat: int
    known: dict[Asked, Point] = field(default_factory=dict)

    def at(self, asked: Asked) -> Point:
        """Time and distortion ratio of a point; α says nothing to p-sensitivity."""
        key = replace(asked, alpha=0) if asked.model == "p-sensitive" else asked
        if key not in self.known:
            whole = minimal(self.table, asked, repeat=self.repeat)
            seconds, ratio = local(self.table, asked)
            self.known[key] = Point(whole.seconds, whole.ratio, whole.checks, seconds, ratio)
        return self.known[key]


def figures(setting: Setting) -> list[Section]:
    """Figures 2 and 3: time and distortion ratio against the number of quasi-identifiers, p and α."""
    size = QUICK_SIZE if setting.quick else len(SUN)
    axes: Axes = {
        "quasi-identifiers": [(x, {"size": x, "p": FIGURE_P}) for x in SIZES if x <= size],
        "p": [(x, {"p": x, "size": size}) for x in PS],
        "alpha": [(x, {"alpha": x, "size": size}) for x in (ALPHAS[1::2] if setting.quick else ALPHAS)],
    }
    measured = _Measured(with_health(setting.records(QUICK_RECORDS), SEED), 1 if setting.quick else 3)
    minimal(measured.table, Asked("p-sensitive", 2))  # load the kernels
    steps = [(axis, x, given, model) for axis, points in axes.items() for x, given in points for model in MODELS]
    found: dict[tuple[str, float, str], Point] = {}
    for place, (axis, x, given, model) in enumerate(steps):
        setting.progress("time and distortion ratio", place / len(steps))
        found[axis, x, model] = measured.at(Asked(model, **given))
    header = (
        "axis", "value", "model", "Incognito seconds", "Incognito distortion ratio", "nodes checked",
        "top-down seconds", "top-down distortion ratio",
    )  # fmt: skip
    rows = tuple(
        (axis, x, model, round(e.seconds, 4), round(e.ratio, 6), e.checks, round(e.local_seconds, 4),
         round(e.local_ratio, 6))
        for (axis, x, model), e in found.items()
    )  # fmt: skip
    sheet = Sheet("sun-time-and-distortion", header, rows)
    source = "Sun et al. 2008, section 6, Figures"
    return [
        Section(PAPER, "Time", f"{source} 2(a) and 2(b)", *time_words(found), sheets=(sheet,),
                drawings=_drawings("time", "seconds", found, axes)),
        Section(PAPER, "Distortion ratio", f"{source} 3(a) and 3(b)", *distortion_words(found), sheets=(sheet,),
                drawings=_drawings("distortion", "distortion ratio", found, axes), statements=_orders(found)),
    ]  # fmt: skip


_ACROSS = {"quasi-identifiers": "number of quasi-identifiers", "p": "p", "alpha": "α"}
_NUMBER = {"time": 2, "distortion": 3}


def _drawings(what: str, up: str, found: Points, axes: Axes) -> tuple[Drawing, ...]:
    """One plot an axis: Incognito with full marks, the top-down local recoding dashed."""
    drawings = []
    for axis, points in axes.items():
        lines = []
        for kind, (model, name) in enumerate(MODELS.items()):
            values = [(x, found[axis, x, model]) for x, _ in points]
            full = tuple((x, e.seconds if what == "time" else e.ratio) for x, e in values)
            dashed = tuple((x, e.local_seconds if what == "time" else e.local_ratio) for x, e in values)
            lines += [Line(name, full, kind), Line(f"{name}, top-down", dashed, kind, dashed=True)]
        part = "a" if axis == "quasi-identifiers" else "b"
        fixed = _fixed(axis, points[0][1])
        drawn = line_plot(
            [Panel(fixed, tuple(lines))],
            title=f"{up.capitalize()} against {_ACROSS[axis]}",
            across=_ACROSS[axis],
            up=up,
        )
        caption = f"as Figure {_NUMBER[what]}({part}): {up} against {_ACROSS[axis]}; {fixed}"
        drawings.append(Drawing(f"sun-{what}-{axis}", caption, drawn))
    return tuple(drawings)


def _fixed(axis: str, given: Mapping[str, Any]) -> str:
    """What is the same along an axis."""
    if axis == "quasi-identifiers":
        return f"p = {FIGURE_P}, k = {K}, α = {ALPHA}"
    held = f"k = {K}, α = {ALPHA}" if axis == "p" else f"p = {P}, k = {K}"
    return f"{held}, {given['size']} quasi-identifiers"


def _orders(found: Points) -> tuple[Statement, ...]:
    """What the definitions force on the least distortion ratio, and the paper denies."""
    weaker = {"p-alpha-sensitive": "p-sensitive", "p-plus-alpha-sensitive": "p-alpha-sensitive"}
    below = sum(e.ratio < found[axis, x, weaker[model]].ratio - 1e-9
                for (axis, x, model), e in found.items() if model in weaker)  # fmt: skip
    values = sorted({x for axis, x, _ in found if axis == "alpha"})
    falls = sum(
        found["alpha", high, model].ratio < found["alpha", low, model].ratio - 1e-9
        for model in weaker
        for low, high in pairwise(values)
    )
    return (
        Statement("points where a stronger model distorts less (Incognito)", "on average a third", str(below), "0",
                  "What satisfies (p, α) satisfies p-sensitivity, and (p⁺, α) implies (p, α): the least cannot be "
                  "less."),
        Statement("steps of α after which the distortion ratio is smaller (Incognito)", "it decreases", str(falls), "0",
                  "Definitions 4 and 5 ask for a total weight of at least α: more α asks for more."),
    )  # fmt: skip
