"""The process of one run: ``python -m shoal.ui.run.main RUN_FOLDER SESSION_FOLDER``.

Tells its progress on stdout, a JSON line each. What it makes appears under ``out`` when it is whole; until then it lies
under ``work``, which is deleted if the run ends in any other way. It ends when the server does.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.ui.run.kinds import KINDS
from shoal.ui.server.runs import OUT, STATUS, WORK
from shoal.ui.server.workspace import Workspace, read_json

_FAULT = "something went wrong in this run that should not. The table and the other runs are kept."
_EVERY = 0.1
"""Seconds between two lines of progress."""


class Teller:
    """Says how far the run is, not too often."""

    def __init__(self, out: Any) -> None:
        self._out, self._last, self._stage = out, 0.0, ""

    def __call__(self, stage: str, share: float) -> None:
        """The callback of the pipeline."""
        now = time.monotonic()
        if stage != self._stage or now - self._last > _EVERY:
            self._last, self._stage = now, stage
            self.tell({"stage": stage, "share": share})

    def tell(self, facts: dict[str, Any]) -> None:
        """One line."""
        self._out.write(json.dumps(facts, ensure_ascii=False) + "\n")
        self._out.flush()


def _end_with_the_server() -> None:
    """Stop at once when the other end of stdin is gone: nobody waits for this run any more."""
    sys.stdin.buffer.read()
    os._exit(1)


def main(folder: Path, workspace: Workspace) -> None:
    """Run and tell."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library that prints must not break the lines
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    teller = Teller(out)
    work = folder / WORK
    try:
        work.mkdir(mode=0o700)
        summary = KINDS[read_json(folder / STATUS)["kind"]](folder, work, workspace, teller)
        work.replace(folder / OUT)
        teller.tell({"done": True, "summary": summary})
    except ShoalError as error:
        teller.tell({"error": workspace.without_paths(error.to_dict())})
    except MemoryError:
        teller.tell({"error": {"error": "MemoryError", "message": "the memory does not suffice for this run."}})
    except Exception:  # what a library says may hold values of the data
        teller.tell({"error": {"error": "Fault", "message": _FAULT}})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Workspace(Path(sys.argv[2])))
