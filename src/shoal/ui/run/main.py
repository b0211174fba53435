"""The process of one run: ``shoal.ui.run.main RUN_FOLDER SESSION_FOLDER``, asked for one release or one lattice.

Its results appear under ``out`` when they are complete; until then they are under ``work``, which is deleted if the run
ends in any other way.
"""

import pickle
import sys
from pathlib import Path
from typing import Any

from shoal.errors import InfeasibleError
from shoal.evidence.evidence import Evidence
from shoal.io.sink import output_paths
from shoal.pipeline import publish
from shoal.pipeline.lattice import lattice_picture
from shoal.pipeline.prepare import prepare
from shoal.pipeline.run import make_release
from shoal.policy import Policy
from shoal.present.diagnosis import reasons_text
from shoal.present.verdict import WORDS
from shoal.search.problem import Progress
from shoal.ui.desk.document import check_file
from shoal.ui.desk.review import suggestions_to_page
from shoal.ui.server.worker import error_to_page, serve
from shoal.ui.server.workspace import OUT, SAVED, WORK, Workspace, write_bytes, write_json

_SUMMARY = ("records", "released", "suppressed", "classes", "verified", "measures", "algorithm", "models")
"""What the list of runs shows of the evidence."""


def run(folder: Path, workspace: Workspace, kind: str, progress: Progress) -> dict[str, Any]:
    """Make the release or draw the lattice, under ``work`` until it is complete."""
    work, policy = folder / WORK, check_file(folder / "policy.yaml").valid()
    work.mkdir(mode=0o700)
    summary = {}
    try:
        if kind == "lattice":
            progress("reading", 0.0)
            ready = prepare(workspace.table(), policy)
            write_json(work / "lattice.json", lattice_picture(ready, policy, progress))
        else:
            facts = _make_files(policy, workspace.table(), work, progress)
            summary = {key: facts[key] for key in _SUMMARY if key in facts}
            if facts.verdict is not None:
                decision = facts.verdict.decision
                summary["verdict"] = {"decision": decision, "text": WORDS[decision]}
    except InfeasibleError as error:
        found = error.diagnosis
        remedies = {"reasons": reasons_text(found), "suggestions": suggestions_to_page(found.relaxations)}
        return {"error": {**error_to_page(error, workspace), **remedies}}
    work.replace(folder / OUT)
    return {"summary": summary}


def _make_files(policy: Policy, data: Path, work: Path, progress: Progress) -> Evidence:
    """The release as CSV and as Parquet, each with its evidence and report, as the command line makes them."""
    stem = Path(policy.output).stem if policy.output is not None else "release"
    files: dict[str, dict[str, str]] = {}
    targets = {form: work / form / f"{stem}.{form}" for form in ("csv", "parquet")}
    for target in targets.values():
        target.parent.mkdir(mode=0o700)
    release = publish(policy, data=data, out=targets["csv"], progress=progress).release
    release.write(targets["parquet"])
    for form, target in targets.items():
        write_bytes(target.parent / "policy.yaml", (work.parent / "policy.yaml").read_bytes())
        paths = output_paths(target, recoding=policy.recoding)
        files[form] = {what: path.name for what, path in paths.items()} | {"policy": "policy.yaml"}
    write_json(work / "files.json", files)
    write_json(work / "evidence.json", release.evidence)
    result = release.result
    if result.record_problem is None:  # it was streamed: what explains single records takes the same release in memory
        result = make_release(data, policy, progress=lambda _, share: progress("preparing the explanations", share))
    saved = {"problem": result.record_problem, "recoding": result.record_recoding, "table": result.table}
    write_bytes(work / SAVED, pickle.dumps({"policy": policy, **saved}, protocol=pickle.HIGHEST_PROTOCOL))
    return release.facts


if __name__ == "__main__":
    here, session = Path(sys.argv[1]), Workspace(Path(sys.argv[2]))
    serve(lambda kind, _, progress: run(here, session, kind, progress), session)
