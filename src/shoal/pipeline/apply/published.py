"""What was published by a recoding: classes with all their records, the levels, and the policy that it stands on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.attacks.registry.signature import differing, policy_fingerprints
from shoal.attacks.released_classes import Rows, rows_of_release
from shoal.errors import DataError, InputError
from shoal.evidence.describe import describe_policy
from shoal.formatting import listing
from shoal.io import canonical_text, read_table, release_source, sha256_of
from shoal.pipeline.recoding_file import PublishedFile, heights_of, read_recoding
from shoal.pipeline.release import Release
from shoal.pipeline.run import as_policy
from shoal.policy import Policy

_TABLES = (".csv", ".parquet", ".pq")


@dataclass(frozen=True, eq=False)
class Base:
    """Everything that a recoding has published so far."""

    policy: Policy
    table: pa.Table
    """All released records, suppressed ones as they stand where the policy keeps them as rows of ``*``."""
    rows: Rows
    levels: Mapping[str, int] | None  # the level of each quasi-identifier; None for a local recoding
    heights: Mapping[str, int]
    files: tuple[PublishedFile, ...]  # the files that the records stand in; none for a release in memory


def read_base(recoding: Any, policy: Policy | str | Path | None) -> Base:
    """Read what was published, from a recoding file, a release file with its policy, or a release in memory.

    Raises `InputError` where the policy is another one, or a published file is not what it was.
    """
    if isinstance(recoding, Release):
        heights = zip(recoding.recoding.quasi, recoding.recoding.hierarchies, strict=True)
        return _base(
            recoding.policy if policy is None else _same(as_policy(policy), policy_fingerprints(recoding.policy)),
            recoding.table,
            levels=recoding.recoding.levels,
            heights={name: hierarchy.height for name, hierarchy in heights},
        )
    path = Path(recoding)
    if path.suffix.lower() in _TABLES:
        return _from_release(path, policy)
    file = read_recoding(path)
    if policy is None and file.policy is None:
        message = f"{path} names no policy, since its policy was built in Python. Pass it as --policy."
        raise InputError(message, code="no-policy")
    asked = _same(as_policy(file.policy if policy is None else policy), file.fingerprints)
    table = together([_read(each) for each in file.published])
    changed = asked.changed(algorithm=file.algorithm or None)
    return _base(changed, table, levels=file.levels, heights=file.heights, files=file.published)


def _from_release(path: Path, policy: Policy | str | Path | None) -> Base:
    """A release with the evidence beside it, which says at which levels it was recoded."""
    if policy is None:
        raise InputError(f"{path} is a release: pass its policy as --policy.", code="no-policy")
    asked, beside = as_policy(policy), path.with_name(f"{path.stem}.evidence.json")
    try:
        evidence = json.loads(beside.read_bytes())
        levels, heights, digest = evidence["levels"], heights_of(evidence), str(evidence["release_sha256"])
        stated = {key: evidence["policy"][key] for key in ("columns", "privacy")}
        algorithm = evidence["policy"].get("algorithm")
    except OSError as error:
        raise DataError(
            f"The evidence {beside} beside the release cannot be read: {error.strerror or error}. It says how the "
            "release was recoded; or pass the recoding file of the release.",
            code="no-evidence",
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{beside} is not the evidence of a release: {error} is missing or wrong."
        raise DataError(message, code="not-evidence") from None
    given = json.loads(json.dumps(describe_policy(asked)))
    differs = [key for key, value in stated.items() if given.get(key) != value]
    if differs:
        raise _another(asked, differs)
    file = PublishedFile(path, digest)
    table = _read(file)
    return _base(asked.changed(algorithm=algorithm), table, levels=levels, heights=heights, files=(file,))


def _base(
    policy: Policy,
    table: pa.Table,
    *,
    levels: Mapping[str, int] | None,
    heights: Mapping[str, int],
    files: tuple[PublishedFile, ...] = (),
) -> Base:
    lacking = [name for name in policy.names("quasi") if name not in heights or (levels and name not in levels)]
    if lacking:
        message = f"The recoding does not have the quasi-identifier {lacking[0]!r}: it belongs to another policy."
        raise DataError(message, code="another-policy")
    return Base(policy, table, rows_of_release(table, policy), levels, heights, files)


def _same(policy: Policy, fingerprints: Mapping[str, Any]) -> Policy:
    """The policy, if it says the same of the columns and the privacy as the one that the recoding stands on."""
    differs = differing(policy_fingerprints(policy), fingerprints)
    if differs:
        raise _another(policy, differs)
    return policy


def _another(policy: Policy, places: list[str]) -> InputError:
    return InputError(
        f"{policy.source} is not the policy of the published recoding: they differ in {listing(places)}. Pass the "
        "policy as it was, or make a new release with `shoal anonymize`.",
        code="another-policy",
    )


def _read(file: PublishedFile) -> pa.Table:
    """A published file, if it is still what it was."""
    try:
        digest = sha256_of(file.path)
    except OSError as error:
        message = f"The published file {file.path} cannot be read: {error.strerror or error}."
        raise DataError(message, code="not-readable") from None
    if digest != file.sha256:
        message = f"{file.path} is not the file that was published: its sha256 differs. Bring back the file as it was."
        raise InputError(message, code="published-file-changed")
    return read_table(release_source(file.path))


def together(tables: list[pa.Table]) -> pa.Table:
    """Released tables as one, with the columns of the first; where types differ, as canonical text."""
    first, *others = tables
    names = first.column_names
    for other in others:
        if sorted(other.column_names) != sorted(names):
            message = "The published files do not have the same columns, so they do not belong to one recoding."
            raise DataError(message, code="differing-columns")
    if all(table.select(names).schema.equals(first.schema) for table in others):
        return pa.concat_tables([table.select(names) for table in tables])
    texts = [pa.table({name: canonical_text(table.column(name)) for name in names}) for table in tables]
    return pa.concat_tables(texts)
