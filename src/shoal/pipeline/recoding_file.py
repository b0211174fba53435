"""A published recoding on disk: ``*.recoding.json`` beside a release, from which `shoal apply` recodes new records.

It says which files were published by the recoding and their hashes, the levels of a full-domain recoding, and which
policy it stands on. The classes of a local recoding are those of the published files themselves. It holds no value of
the data, and of those that are not released not even how long they are; it names files, so it is kept internal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.attacks.registry.entry import read_document
from shoal.attacks.registry.signature import policy_fingerprints
from shoal.errors import DataError
from shoal.hierarchies.hierarchy import Label
from shoal.policy import Policy
from shoal.table.recoding import Recoding

FORMAT = "shoal recoding"
VERSION = 1


@dataclass(frozen=True)
class PublishedFile:
    """A file of released records."""

    path: Path
    sha256: str


@dataclass(frozen=True)
class RecodingLevels:
    """The levels of a recoding, and the heights that these are part of."""

    levels: Mapping[str, int] | None  # the level of each quasi-identifier; None for a local recoding
    heights: Mapping[str, int]

    @staticmethod
    def of_evidence(evidence: Mapping[str, Any]) -> RecodingLevels:
        """Levels and heights by the evidence."""
        columns = evidence["columns"].items()
        return RecodingLevels(
            evidence["levels"], {name: int(each["height"]) for name, each in columns if "height" in each}
        )

    def as_shown(self, policy: Policy, labels: Mapping[str, Iterable[Label]]) -> RecodingLevels:
        """The same, as far as released labels show it.

        The height of some hierarchies comes from the data, such as that of a mask from the longest code: it would tell
        how long the code of a suppressed person is. A level at the root stays there, any other below it.
        """
        levels, heights = None if self.levels is None else dict(self.levels), dict(self.heights)
        for name, height in self.heights.items():
            spec = policy.columns[name].hierarchy if name in policy.columns else None
            if spec is None or spec.kind.shown_height is None:
                continue
            heights[name] = spec.kind.shown_height(spec.fields, labels[name])
            if levels is not None and name in levels:
                at_root = levels[name] >= height
                levels[name] = heights[name] if at_root else levels[name]
                heights[name] = max(heights[name], levels[name] + (not at_root))
        return RecodingLevels(levels, heights)


def released_labels(recoding: Recoding) -> dict[str, list[Label]]:
    """The labels that a recoding releases in each quasi-identifier."""
    columns = zip(recoding.quasi, recoding.hierarchies, recoding.nodes.T, strict=True)
    return {name: [hierarchy.labels[node] for node in np.unique(nodes)] for name, hierarchy, nodes in columns}


def recoding_text(
    policy: Policy,
    target: Path,
    scale: RecodingLevels,
    published: Sequence[PublishedFile],
) -> str:
    """The recoding file that will lie at a path; paths in it are relative to it."""
    source = Path(policy.source)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "policy": relative_path(source, target.parent) if source.is_file() else None,
        "fingerprints": policy_fingerprints(policy),
        "algorithm": policy.to_dict().get("algorithm") or {},
        "levels": None if scale.levels is None else dict(scale.levels),
        "heights": dict(scale.heights),
        "published": [{"file": relative_path(each.path, target.parent), "sha256": each.sha256} for each in published],
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def read_recoding(path: Path) -> dict[str, Any]:
    """What a recoding file says, with its paths as they read from here; `DataError` for what is none.

    A policy that was built in Python has no path.
    """
    try:
        content = read_document(path.read_bytes(), FORMAT, VERSION)
        named, levels = content["policy"], content["levels"]
        return {
            "policy": None if named is None else path.parent / named,
            "fingerprints": {key: content["fingerprints"][key] for key in ("columns", "privacy")},
            "algorithm": dict(content["algorithm"]) or None,
            "scale": RecodingLevels(
                None if levels is None else {str(name): int(level) for name, level in levels.items()},
                {str(name): int(height) for name, height in content["heights"].items()},
            ),
            "published": tuple(
                PublishedFile(path.parent / each["file"], each["sha256"]) for each in content["published"]
            ),
        }
    except OSError as error:
        message = f"The recoding {path} cannot be read: {error.strerror or error}."
        raise DataError(message, code="not-readable") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{path} is not a recoding: {error}. `shoal anonymize --recoding` writes one beside its release."
        raise DataError(message, code="not-a-recoding") from None


def relative_path(path: Path, folder: Path) -> str:
    """A path as it reads from a folder; on another drive it stays whole."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return str(path.resolve())
