"""The desk process of a session: ``shoal.ui.desk.main SESSION_FOLDER MOST_RECORDS``.

It holds the table and answers what the page asks about it, one question after the other.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.ui.desk import QUICK, choices, hierarchy, review, sensitive, table
from shoal.ui.desk.desk import Desk
from shoal.ui.run import columns, plots, records, results
from shoal.ui.server.worker import serve
from shoal.ui.server.workspace import Workspace

Question = Callable[[Desk, Mapping[str, Any]], dict[str, Any]]
_QUESTIONS: tuple[Question, ...] = (
    table.open_upload, table.open_example, table.reread, table.about_table, table.rows, table.column,
    hierarchy.hierarchy, hierarchy.import_hierarchy, hierarchy.export_hierarchy,
    sensitive.sensitivity, choices.choices, review.review,
    columns.distributions, records.before_after, records.classes,
    results.about_run, results.run_files, results.why,
    plots.runs_plot, plots.lattice_svg, plots.pick_node,
)  # fmt: skip
ANSWERS = {question.__name__: question for question in _QUESTIONS}


def answer(desk: Desk, question: str, query: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a question of the page."""
    if question not in ANSWERS:
        raise InputError(f"There is no question {question!r}.", code="unknown-question")
    return ANSWERS[question](desk, query)


if __name__ == "__main__":
    here = Desk(Workspace(Path(sys.argv[1])), int(sys.argv[2]))
    serve(lambda question, query, _: answer(here, question, query), here.workspace, QUICK)
