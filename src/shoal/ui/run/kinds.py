"""What a run does: a release with everything beside it, or the lattice as a picture."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal.io.sink import output_paths
from shoal.pipeline import publish
from shoal.pipeline.forecast import lattice_picture
from shoal.pipeline.prepare import prepare
from shoal.pipeline.release import Release
from shoal.pipeline.run import make_release
from shoal.policy import Policy
from shoal.search.problem import Progress
from shoal.ui.server.confined import load_confined
from shoal.ui.server.workspace import Workspace, write_bytes, write_json

KEPT = "kept.pickle"
"""What a run was made from and became, for the desk's answers about it. It never leaves the session's folder, which
only its owner may write."""


def make(folder: Path, work: Path, workspace: Workspace, progress: Progress) -> dict[str, Any]:
    """The release as CSV and as Parquet, each with its evidence and report, as the command line makes them."""
    policy, data = load_confined(folder / "policy.yaml"), workspace.table()
    assert data is not None
    stem = Path(policy.output).stem if policy.output is not None else "release"
    files: dict[str, dict[str, str]] = {}
    targets = {form: work / form / f"{stem}.{form}" for form in ("csv", "parquet")}
    for target in targets.values():
        target.parent.mkdir(mode=0o700)
    published = publish(policy, data=data, out=targets["csv"], progress=progress)
    published.release.write(targets["parquet"])
    for form, target in targets.items():
        write_bytes(target.parent / "policy.yaml", (folder / "policy.yaml").read_bytes())
        files[form] = _names(target, policy)
    write_json(work / "files.json", files)
    write_json(work / "evidence.json", dict(published.release.evidence))
    kept = {"policy": policy, **_held(published.release, policy, data, progress)}
    write_bytes(work / KEPT, pickle.dumps(kept, protocol=pickle.HIGHEST_PROTOCOL))
    return summary(published.release.evidence)


def _held(release: Release, policy: Policy, data: Path, progress: Progress) -> dict[str, Any]:
    """What the desk explains single records with. Large files are streamed, where nothing of it is held: the same
    release is then made once more in memory.
    """
    if release.origin is not None:
        return {"origin": release.origin, "recoding": release.recoding, "table": release.table}
    made = make_release(data, policy, progress=lambda _, share: progress("preparing the explanations", share))
    return {"origin": made.origin, "recoding": made.record_recoding, "table": made.table}


def _names(target: Path, policy: Policy) -> dict[str, str]:
    """The files beside a release by what they are."""
    paths = output_paths(target, recoding=policy.recoding)
    return {what: path.name for what, path in paths.items()} | {"policy": "policy.yaml"}


def summary(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """What the list of runs shows of one."""
    keys = ("records", "released", "suppressed", "classes", "verified", "measures", "algorithm", "models")
    return {key: evidence[key] for key in keys if key in evidence}


def picture(folder: Path, work: Path, workspace: Workspace, progress: Progress) -> dict[str, Any]:
    """The lattice of the policy."""
    policy, data = load_confined(folder / "policy.yaml"), workspace.table()
    ready = prepare(data, policy, progress=progress)
    drawn = lattice_picture(ready, policy, progress)
    write_json(work / "lattice.json", drawn)
    return {}


KINDS: Mapping[str, Callable[[Path, Path, Workspace, Progress], dict[str, Any]]] = {"release": make, "lattice": picture}
