"""What the page may ask of a session's desk, by name; `shoal.ui.desk.main` has the answers."""

from __future__ import annotations

NEWEST = frozenset({"check", "forecast", "estimate", "hierarchy"})
"""Questions that a change of the policy asks again: of those that wait, only the last of its name is answered."""

QUICK = frozenset({"rows", "column"})
"""Questions that only look at the table: they do not wait for those that work on it."""

QUESTIONS = frozenset(
    {
        *("open_example", "reread", "about_table", "rows", "column"),
        *("hierarchy", "import_hierarchy", "export_hierarchy", "sensitivity"),
        *("choices", "check", "forecast", "estimate", "relax", "way_out"),
        *("before_after", "classes", "distributions", "why", "pick_node", "runs_plot", "lattice_svg"),
        *("about_run", "run_files"),
    }
)
"""``open_upload`` is not among them: only the server asks it, after a file has come in."""
