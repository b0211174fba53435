"""Man, Li & Wang: the worked example of grouping leakage; the paper has no experiment and no figure."""

from __future__ import annotations

from shoal.models import GroupLeakage, KAnonymity
from shoal.reproduce.masked import Masked, view_of
from shoal.reproduce.paper import Section, Setting, Task, figure
from shoal.reproduce.tables import MAN, MAN_1, MAN_2, MAN_3, MAN_ALPHA, MAN_QUASI


def worked(_: Setting) -> Section:
    """Tables 1 to 3 with p, k and the four limits of the text."""
    masked = Masked("man-table-3", MAN_1, MAN_3, MAN.content["trees"], ("Disease", "Disease"), key="No.")
    groups = {
        group: tuple(dict.fromkeys(row["Disease"] for row in MAN_3.records() if row["Grouping ID"] == group))
        for group in MAN_2
    }
    view = view_of(MAN_3, MAN_QUASI, "Disease", groups)
    k = figure(KAnonymity(4).reached(view)["k"])
    reached = GroupLeakage(2, alpha=MAN_ALPHA, sensitive="Disease").reached(view)
    leakage = {group: float(reached[f"alpha[{group}]"] or 0) for group in MAN_ALPHA}
    grouped = {value.lower() for values in MAN_2.values() for value in values}
    ungrouped = sorted({value for value in MAN_3.column("Disease") if value.lower() not in grouped})
    found = {
        "1-k": figure(KAnonymity(2).reached(view_of(MAN_1, MAN_QUASI, "Disease"))["k"]),
        "3-cells": masked.equal_cells(),
        "3-strangers": str(masked.without_original()),
        "3-k": k,
        "3-p": figure(reached["p"]),
        **{f"limit-{group}": "yes" if leakage[group] <= limit else "no" for group, limit in MAN_ALPHA.items()},
        "ungrouped": str(len(ungrouped)),
    }
    figures = {
        "k": k,
        "p": figure(reached["p"]),
        "leakage": ", ".join(f"{value:g}" for value in leakage.values()),
        "ungrouped": " and ".join(ungrouped),
    }
    return MAN.section("worked", figures, sheets=[masked.sheet()], found=found)


TASKS = (Task(MAN.name, "worked tables of Man et al.", lambda setting: [worked(setting)]),)
