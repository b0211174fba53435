"""A published recoding on disk: ``*.recoding.json`` beside a release, from which `shoal apply` recodes new records.

It says which files were published by the recoding and their hashes, the levels of a full-domain recoding, and which
policy it stands on. The classes of a local recoding are those of the published files themselves. It holds no value of
the data; it names files, so it stays in the house.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.attacks.registry.entry import read_document
from shoal.attacks.registry.signature import policy_fingerprints
from shoal.errors import DataError
from shoal.policy import Policy

FORMAT = "shoal recoding"
VERSION = 1


@dataclass(frozen=True)
class PublishedFile:
    """A file of released records."""

    path: Path
    sha256: str


def heights_of(evidence: Mapping[str, Any]) -> dict[str, int]:
    """The height of each quasi-identifier's hierarchy, by the evidence."""
    return {name: int(column["height"]) for name, column in evidence["columns"].items() if "height" in column}


def recoding_text(
    policy: Policy,
    target: Path,
    levels: Mapping[str, int] | None,
    heights: Mapping[str, int],
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
        "levels": None if levels is None else dict(levels),
        "heights": dict(heights),
        "published": [{"file": relative_path(each.path, target.parent), "sha256": each.sha256} for each in published],
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def read_recoding(path: Path) -> dict[str, Any]:
    """What a recoding file says, with its paths as they read from here; `DataError` for what is none.

    A policy that was built in Python has no path; a local recoding has no ``levels``.
    """
    try:
        content = read_document(path.read_bytes(), FORMAT, VERSION)
        named, levels = content["policy"], content["levels"]
        return {
            "policy": None if named is None else path.parent / named,
            "fingerprints": {key: content["fingerprints"][key] for key in ("columns", "privacy")},
            "algorithm": dict(content["algorithm"]) or None,
            "levels": None if levels is None else {str(name): int(level) for name, level in levels.items()},
            "heights": {str(name): int(height) for name, height in content["heights"].items()},
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
