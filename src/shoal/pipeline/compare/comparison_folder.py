"""The folder of a comparison: the policy and the result of each point, and which results still stand.

A result is written when its point is done, under a hidden name first, so that it is there whole or not at all. It
carries the hashes of its policy and of every file that was read; one that differs in any of them is computed again.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.errors import DataError, OutputError
from shoal.io import Staged, check_outputs, sha256_of
from shoal.io.staging import FORCE
from shoal.pipeline.compare.grid import GridPoint

KIND = "shoal comparison"
"""What ``comparison.json`` says it is."""


@dataclass(frozen=True)
class ComparisonFolder:
    """Where the files of a comparison lie."""

    path: Path

    @property
    def points(self) -> Path:
        """The folder of the points."""
        return self.path / "points"

    @property
    def outputs(self) -> dict[str, Path]:
        """The files that a comparison ends with."""
        return {name: self.path / f"comparison.{name}" for name in ("json", "csv", "html")}

    def policy(self, point: GridPoint) -> Path:
        """The policy of a point."""
        return self.points / f"{point.name}.yaml"

    def result(self, point: GridPoint) -> Path:
        """The result of a point."""
        return self.points / f"{point.name}.result.json"

    def release(self, point: GridPoint) -> Path:
        """The release of a point, where releases are written."""
        return self.points / point.output

    def check(self, points: Sequence[GridPoint], inputs: Sequence[Path], *, force: bool) -> None:
        """Refuse to write over an input, or over anything in the folder that no comparison has written."""
        files = [path for point in points for path in (self.policy(point), self.result(point))]
        for folder, outputs in ((self.path, list(self.outputs.values())), (self.points, files)):
            if folder.exists():
                check_outputs(outputs, inputs, force=True)
        if force:
            return
        compared = read_json(self.outputs["json"]).get("kind") == KIND
        foreign = [] if compared else [path for path in self.outputs.values() if path.exists()]
        for point in points:  # a policy that is neither what would be written nor what a result says was run
            path = self.policy(point)
            if path.exists() and path.read_bytes() != point.text.encode():
                known = read_json(self.result(point)).get("policy_sha256")
                if hashlib.sha256(path.read_bytes()).hexdigest() != known:
                    foreign.append(path)
        if foreign:
            named = ", ".join(map(str, foreign[:5])) + (f" and {len(foreign) - 5} more" if len(foreign) > 5 else "")
            raise OutputError(
                f"{named} {'was' if len(foreign) == 1 else 'were'} not written by this comparison, or edited since, "
                f"and would be overwritten. Choose another folder, or {FORCE}.",
                code="output-exists",
            )

    def finished(
        self, points: Sequence[GridPoint], inputs: Mapping[str, str], *, release: bool
    ) -> dict[str, dict[str, Any]]:
        """The results that stand, by point: of the same policy, inputs and version, and with a release where asked."""
        found = {}
        for point in points:
            result = read_json(self.result(point))
            made_from = {"policy_sha256": point.policy_sha256, "inputs_sha256": dict(inputs), "shoal": version("shoal")}
            if all(result.get(key) == value for key, value in made_from.items()) and (
                not release or not result["verified"] or self._released(point, result)
            ):
                found[point.name] = result
        return found

    def check_releases(self, points: Sequence[GridPoint]) -> None:
        """Refuse to go on over a release that is not what the result of its point says was written."""
        results = [(point, read_json(self.result(point))) for point in points if self.release(point).is_file()]
        damaged = [
            str(self.release(point))
            for point, result in results
            if result.get("release_sha256") is not None and not self._released(point, result)
        ]
        if damaged:
            raise OutputError(
                f"{', '.join(damaged)} {'is' if len(damaged) == 1 else 'are'} not as written by this comparison: the "
                "sha256 differs from that of the result. Delete it with its evidence and report to have it made again, "
                f"or {FORCE}.",
                code="release-changed",
            )

    def _released(self, point: GridPoint, result: Mapping[str, Any]) -> bool:
        """Whether the release of a point is there with the very bytes that its result speaks of."""
        path = self.release(point)
        return path.is_file() and file_hash(path) == result.get("release_sha256")


def file_hash(path: Path) -> str:
    """The hash of a file's bytes."""
    try:
        return sha256_of(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.", code="not-readable") from None


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file; empty where there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write_files(texts: Mapping[Path, str]) -> None:
    """Write text files so that all appear or none does; what was there is replaced."""
    with Staged(list(texts), force=True) as stage:
        for path, text in texts.items():
            stage.write_text(path, text)
        stage.commit()
