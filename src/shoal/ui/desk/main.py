"""The desk process of a session: ``python -m shoal.ui.desk.main SESSION_FOLDER MOST_RECORDS``.

It holds the table and answers what the page asks about it, one question after the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.ui.desk import hierarchy as desk_hierarchy
from shoal.ui.desk import privacy as desk_privacy
from shoal.ui.desk import runs as desk_runs
from shoal.ui.desk import sensitive as desk_sensitive
from shoal.ui.desk import table as desk_table
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.questions import QUICK
from shoal.ui.server.worker import serve
from shoal.ui.server.workspace import Workspace

Question = Callable[[Desk, Mapping[str, Any]], dict[str, Any]]
ANSWERS: dict[str, Question] = {
    **desk_table.ANSWERS,
    **desk_hierarchy.ANSWERS,
    **desk_sensitive.ANSWERS,
    **desk_privacy.ANSWERS,
    **desk_runs.ANSWERS,
}
_FAULT = "something went wrong here that should not. What you did so far is kept; try again, or change what you asked."


def answer(desk: Desk, question: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question, or its error in words; a fault of ours says nothing of the data."""
    try:
        return ANSWERS[question](desk, arguments)
    except ShoalError as error:
        return {"error": desk.workspace.without_paths(error.to_dict())}
    except MemoryError:
        return {"error": {"error": "MemoryError", "message": "the memory does not suffice for this table."}}
    except Exception:
        return {"error": {"error": "Fault", "message": _FAULT}}


if __name__ == "__main__":
    here = Desk(Workspace(Path(sys.argv[1])), int(sys.argv[2]))
    serve(lambda question, arguments: answer(here, question, arguments), QUICK)
