"""Questions about finished runs: their records, columns and classes, why, all of them in one plot, the lattice."""

from __future__ import annotations

from shoal.ui.run.columns import distributions
from shoal.ui.run.plots import lattice_svg, pick_node, runs_plot
from shoal.ui.run.records import before_after, classes
from shoal.ui.run.results import about_run, run_files, why

ANSWERS = {
    "before_after": before_after,
    "classes": classes,
    "distributions": distributions,
    "about_run": about_run,
    "run_files": run_files,
    "why": why,
    "runs_plot": runs_plot,
    "lattice_svg": lattice_svg,
    "pick_node": pick_node,
}
