"""The desk process of a session: ``shoal.ui.desk.main SESSION_FOLDER MOST_RECORDS``.

It holds the table and answers what the page asks about it, one question after the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal.errors import InputError, ShoalError
from shoal.ui.desk import QUICK, choices, hierarchy, review, sensitive, table
from shoal.ui.desk.desk import Desk
from shoal.ui.run import columns, plots, records, results
from shoal.ui.server.worker import FAULT, OUT_OF_MEMORY, serve
from shoal.ui.server.workspace import Workspace

Question = Callable[[Desk, Mapping[str, Any]], dict[str, Any]]
_MODULES = (table, hierarchy, sensitive, choices, review, columns, plots, records, results)
ANSWERS: dict[str, Question] = {name: answer for module in _MODULES for name, answer in module.ANSWERS.items()}


def answer(desk: Desk, question: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question, or its error; an internal error says nothing of the data."""
    try:
        if question not in ANSWERS:
            raise InputError(f"there is no question {question!r}.", code="unknown-question")
        return ANSWERS[question](desk, arguments)
    except ShoalError as error:
        return {"error": desk.workspace.without_paths(error.to_dict())}
    except MemoryError:
        return {"error": OUT_OF_MEMORY}
    except Exception:
        return {"error": FAULT}


if __name__ == "__main__":
    here = Desk(Workspace(Path(sys.argv[1])), int(sys.argv[2]))
    serve(lambda question, arguments: answer(here, question, arguments), QUICK)
