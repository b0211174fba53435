"""The process of one run: ``shoal.ui.run.main RUN_FOLDER SESSION_FOLDER``.

It reports its progress on stdout, a JSON line each. Its results appear under ``out`` when they are complete; until then
they are under ``work``, which is deleted if the run ends in any other way. It ends when the server does.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal.errors import InfeasibleError, ShoalError
from shoal.io.sink import output_paths
from shoal.pipeline import publish
from shoal.pipeline.forecast import lattice_picture
from shoal.pipeline.prepare import prepare
from shoal.pipeline.release import Release
from shoal.pipeline.run import make_release
from shoal.policy import Policy
from shoal.present.diagnosis import reasons_text
from shoal.search.problem import Progress
from shoal.ui.desk.review import suggestions_to_page
from shoal.ui.server.policy_limits import load_session_policy
from shoal.ui.server.runs import OUT, SAVED, STATUS, WORK
from shoal.ui.server.worker import FAULT, OUT_OF_MEMORY
from shoal.ui.server.workspace import Workspace, read_json, write_bytes, write_json

_EVERY = 0.1  # seconds between two lines of progress


class ProgressReporter:
    """Writes how far the run is, not too often."""

    def __init__(self, out: Any) -> None:
        self._out, self._last, self._stage = out, 0.0, ""

    def __call__(self, stage: str, share: float) -> None:
        """The callback of the pipeline."""
        now = time.monotonic()
        if stage != self._stage or now - self._last > _EVERY:
            self._last, self._stage = now, stage
            self.write({"stage": stage, "share": share})

    def write(self, facts: dict[str, Any]) -> None:
        """One line."""
        self._out.write(json.dumps(facts, ensure_ascii=False) + "\n")
        self._out.flush()


def make_files(folder: Path, work: Path, workspace: Workspace, progress: Progress) -> dict[str, Any]:
    """The release as CSV and as Parquet, each with its evidence and report, as the command line makes them."""
    policy, data = load_session_policy(folder / "policy.yaml"), workspace.table()
    stem = Path(policy.output).stem if policy.output is not None else "release"
    files: dict[str, dict[str, str]] = {}
    targets = {form: work / form / f"{stem}.{form}" for form in ("csv", "parquet")}
    for target in targets.values():
        target.parent.mkdir(mode=0o700)
    published = publish(policy, data=data, out=targets["csv"], progress=progress)
    published.release.write(targets["parquet"])
    for form, target in targets.items():
        write_bytes(target.parent / "policy.yaml", (folder / "policy.yaml").read_bytes())
        paths = output_paths(target, recoding=policy.recoding)
        files[form] = {what: path.name for what, path in paths.items()} | {"policy": "policy.yaml"}
    write_json(work / "files.json", files)
    write_json(work / "evidence.json", published.release.evidence)
    saved = {"policy": policy, **_explainable(published.release, policy, data, progress)}
    write_bytes(work / SAVED, pickle.dumps(saved, protocol=pickle.HIGHEST_PROTOCOL))
    return summary(published.release.evidence)


def _explainable(release: Release, policy: Policy, data: Path, progress: Progress) -> dict[str, Any]:
    """What the desk explains single records with. Large files are streamed, where none of it is in memory: the same
    release is then made once more in memory.
    """
    result = release.result
    if result.record_problem is None:
        result = make_release(data, policy, progress=lambda _, share: progress("preparing the explanations", share))
    return {"problem": result.record_problem, "recoding": result.record_recoding, "table": result.table}


def summary(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """What the list of runs shows of one."""
    keys = ("records", "released", "suppressed", "classes", "verified", "measures", "algorithm", "models")
    return {key: evidence[key] for key in keys if key in evidence}


def draw_lattice(folder: Path, work: Path, workspace: Workspace, progress: Progress) -> dict[str, Any]:
    """The lattice of the policy."""
    policy = load_session_policy(folder / "policy.yaml")
    ready = prepare(workspace.table(), policy, progress=progress)
    write_json(work / "lattice.json", lattice_picture(ready, policy, progress))
    return {}


KINDS: Mapping[str, Callable[[Path, Path, Workspace, Progress], dict[str, Any]]] = {
    "release": make_files,
    "lattice": draw_lattice,
}


def _end_with_the_server() -> None:
    """Stop at once when the other end of stdin is gone: nobody waits for this run any more."""
    sys.stdin.buffer.read()
    os._exit(1)


def main(folder: Path, workspace: Workspace) -> None:
    """Run, and report progress and result."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library that prints must not break the lines
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    reporter = ProgressReporter(out)
    work = folder / WORK
    try:
        work.mkdir(mode=0o700)
        result = KINDS[read_json(folder / STATUS)["kind"]](folder, work, workspace, reporter)
        work.replace(folder / OUT)
        reporter.write({"done": True, "summary": result})
    except ShoalError as error:
        facts = workspace.without_paths(error.to_dict())
        if isinstance(error, InfeasibleError):
            facts["reasons"] = reasons_text(error.diagnosis)
            facts["suggestions"] = suggestions_to_page(error.diagnosis.relaxations)
        reporter.write({"error": facts})
    except MemoryError:
        reporter.write({"error": OUT_OF_MEMORY})
    except Exception:  # what a library says may contain values of the data
        reporter.write({"error": FAULT})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Workspace(Path(sys.argv[2])))
