"""What was published by a recoding: classes with all their records, the levels, and the policy that it stands on."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.attacks.registry.signature import differing, policy_fingerprints
from shoal.attacks.released_classes import Rows, rows_of_release
from shoal.encode.pseudonyms import refuse_joining
from shoal.errors import DataError, InputError
from shoal.evidence.describe import describe_policy
from shoal.facts import plain
from shoal.formatting import listing
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.io import canonical_text, read_table, release_source, sha256_of
from shoal.pipeline.recoding_file import PublishedFile, RecodingLevels, read_recoding
from shoal.pipeline.release import Release
from shoal.pipeline.run import as_policy
from shoal.policy import Policy

_TABLES = (".csv", ".parquet", ".pq")
_SAID = ("columns", "privacy")  # what a policy must say alike


@dataclass(frozen=True, eq=False)
class Base:
    """Everything that a recoding has published so far."""

    policy: Policy
    table: pa.Table
    """All released records, suppressed ones as they stand where the policy keeps them as rows of ``*``."""
    rows: Rows
    scale: RecodingLevels
    files: tuple[PublishedFile, ...]  # the files that the records stand in; none for a release in memory

    @property
    def levels(self) -> Mapping[str, int] | None:
        """The level of each quasi-identifier; None for a local recoding."""
        return self.scale.levels

    @property
    def heights(self) -> Mapping[str, int]:
        """The height of each quasi-identifier's hierarchy, as far as the release shows it."""
        return self.scale.heights

    def levels_in(self, quasi: Iterable[str], hierarchies: Iterable[Hierarchy]) -> Mapping[str, int] | None:
        """The levels in the hierarchies of new records, whose root is the published one."""
        if self.levels is None:
            return None
        heights = {name: hierarchy.height for name, hierarchy in zip(quasi, hierarchies, strict=True)}
        return {
            name: heights[name] if level >= self.heights[name] else min(level, heights[name])
            for name, level in self.levels.items()
        }


def read_base(recoding: Any, policy: Policy | str | Path | None) -> Base:
    """Read what was published, from a recoding file, a release file with its policy, or a release in memory.

    Raises `InputError` where the policy is another one, or a published file is not what it was.
    """
    algorithm: Any = None
    files: tuple[PublishedFile, ...] = ()
    if isinstance(recoding, Release):
        asked = recoding.policy if policy is None else _same(as_policy(policy), policy_fingerprints(recoding.policy))
        table, columns = recoding.table, zip(recoding.recoding.quasi, recoding.recoding.hierarchies, strict=True)
        scale = RecodingLevels(recoding.recoding.levels, {name: hierarchy.height for name, hierarchy in columns})
    elif (path := Path(recoding)).suffix.lower() in _TABLES:
        if policy is None:
            raise InputError(f"{path} is a release: pass its policy as --policy.", code="no-policy")
        asked = as_policy(policy)
        scale, algorithm, digest = _evidence_beside(path, asked)
        files = (PublishedFile(path, digest),)
    else:
        file = read_recoding(path)
        if policy is None and file["policy"] is None:
            message = f"{path} names no policy, since its policy was built in Python. Pass it as --policy."
            raise InputError(message, code="no-policy")
        asked = _same(as_policy(file["policy"] if policy is None else policy), file["fingerprints"])
        scale, algorithm, files = (file[key] for key in ("scale", "algorithm", "published"))
    if files:
        table = together([_read(each) for each in files])
        asked = asked.changed(algorithm=algorithm)
    refuse_joining(asked)
    if asked.person is not None:
        raise InputError(
            "The policy counts people, and published files do not say whose their records are: whether somebody is in "
            "them already cannot be told. Make a new release of all records with `shoal anonymize`.",
            code="apply-with-person",
        )
    rows = rows_of_release(table, asked)
    _check_spellings(asked, rows)
    known = set(scale.heights) if scale.levels is None else {*scale.heights} & {*scale.levels}
    lacking = [name for name in asked.names("quasi") if name not in known]
    if lacking:
        message = f"The recoding does not have the quasi-identifier {lacking[0]!r}: it belongs to another policy."
        raise DataError(message, code="another-policy")
    scale = scale.as_shown(asked, dict(zip(rows.quasi, rows.labels, strict=True)))
    return Base(asked, table, rows, scale, files)


def _check_spellings(policy: Policy, rows: Rows) -> None:
    """Refuse to merge what is published: the same value would stand under two names in the release."""
    for name, (values, _) in rows.sensitive.items():
        value_of = policy.columns[name].value_of
        merged = [value for value in values if value in value_of]
        if merged and policy.published(name) != "categories":
            raise InputError(
                f"columns.{name}.same reads {merged[0]!r} as {value_of[str(merged[0])]!r}, and it is published "
                "already. Let the published spelling be the value, or make a new release with "
                "`shoal anonymize`.",
                code="published-value-merged",
            )


def _evidence_beside(release: Path, policy: Policy) -> tuple[RecodingLevels, Any, str]:
    """Levels, heights and algorithm of a release by the evidence beside it, and the hash of its file."""
    beside = release.with_name(f"{release.stem}.evidence.json")
    try:
        evidence = json.loads(beside.read_bytes())
        found = RecodingLevels.of_evidence(evidence), evidence["policy"].get("algorithm")
        digest, stated = str(evidence["release_sha256"]), {key: evidence["policy"][key] for key in _SAID}
    except OSError as error:
        raise DataError(
            f"The evidence {beside} beside the release cannot be read: {error.strerror or error}. It says how the "
            "release was recoded; or pass the recoding file of the release.",
            code="no-evidence",
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{beside} is not the evidence of a release: {error} is missing or wrong."
        raise DataError(message, code="not-evidence") from None
    given = plain(describe_policy(policy))
    _refuse(policy, [key for key, value in stated.items() if given.get(key) != value])
    return *found, digest


def _same(policy: Policy, fingerprints: Mapping[str, Any]) -> Policy:
    """The policy, if it says the same of the columns and the privacy as the one that the recoding stands on."""
    _refuse(policy, differing(policy_fingerprints(policy), fingerprints))
    return policy


def _refuse(policy: Policy, differences: list[str]) -> None:
    if differences:
        raise InputError(
            f"{policy.source} is not the policy of the published recoding: they differ in {listing(differences)}. Pass "
            "the policy as it was, or make a new release with `shoal anonymize`.",
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
