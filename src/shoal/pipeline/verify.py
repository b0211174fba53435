"""`verify`, and the verify stage: what was written and what was read, handed to the independent verifier as plain data.

Files in a cluster are read there by the verifier; of a table, or where some columns are not counted, it gets a count of
the rows as they were written. Nothing that recoded them has a part in it: the original is counted a second time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal import verification
from shoal.encode.pseudonyms import key_at_hand
from shoal.encode.result import Result
from shoal.formatting import listing, number
from shoal.io import DatabaseTable, read_batches, to_arrow
from shoal.io.linked_tables import as_one_table, released_files
from shoal.io.sink import ReleaseFiles, WrittenRelease
from shoal.io.source import CountedTable, Reading
from shoal.policy import Policy
from shoal.policy.location import Location, parse_location
from shoal.policy.spec import DataSpec
from shoal.verification import Check, Claim, CountedRows, Verification, stated
from shoal.verification.canonical_text import text_column
from shoal.verification.read import Original, ReadRelease, content_sha256, joined_parts, read_part, read_release
from shoal.verification.release_checks import check_columns


def verify(
    release: Any,
    policy: Policy | Mapping[str, Any] | str | Path,
    original: Any = None,
    *,
    apart: Sequence[str] = (),
    claim: Claim | None = None,
    suppressed: int | None = None,
) -> Verification:
    """Check a release against its policy and, where it is at hand, against the original.

    ``release`` is the path of a CSV or Parquet file or of a folder of them that Spark wrote, or a pandas, polars or
    Arrow table; ``policy`` a `Policy`, its content or its path; ``original`` a path, read as the policy's ``data``
    says, or a table. Raises `PolicyError` for a policy that is wrong and `DataError` for a release or an original that
    cannot be read at all; everything else that is wrong is a failing check. ``apart``, ``claim`` and ``suppressed`` are
    explained at `shoal.verification.verify`.
    """
    if isinstance(policy, Mapping):
        policy = Policy.model_validate(policy)
    elif not isinstance(policy, Policy):
        policy = Policy.load(policy)
    if policy.tables is not None:
        policy, folder = as_one_table(policy), None if original is None else Path(str(original))
        return _verify_tables(released_files(policy, Path(release)), policy, original_files(policy, folder))
    baggage: list[str] = []
    if not isinstance(release, str | Path | pa.Table | CountedRows | ReadRelease):
        baggage = frame_baggage(release)
        release = to_arrow(release)[0]
    given = _readable(original, policy)
    asked, key = stated(policy), key_at_hand(policy)  # whoever has no key compares what goes without
    return verification.verify(
        release, asked, given, apart=apart, baggage=baggage, claim=claim, key=key, suppressed=suppressed
    )


def original_files(policy: Policy, folder: Path | None) -> dict[str, Location] | None:
    """The files of linked tables under the names that they have in the policy, but in a folder; None without one."""
    files = {name: Path(spec.data.path).name for name, spec in (policy.tables or {}).items()}
    return None if folder is None else {name: folder / file for name, file in files.items()}


def _verify_tables(files: Mapping[str, Path], policy: Policy, originals: Mapping[str, Location] | None) -> Verification:
    """Check the files of linked tables, and against their originals where these are at hand."""
    given, tables = None, policy.tables or {}
    if originals is not None:
        sources = {name: tables[name].data.source(path) for name, path in originals.items()}
        given = {name: partial(read_batches, source) for name, source in sources.items()}
    return verification.verify(files, stated(policy), given, key=key_at_hand(policy))


def _readable(original: Any, policy: Policy) -> Original | None:
    """The original as the verifier takes it."""
    if original is None or isinstance(original, CountedRows):
        return original
    data = policy.data or DataSpec(path="")
    if isinstance(original, str | Path | DatabaseTable):
        source = data.source(parse_location(original))
        return lambda names: read_batches(source, names)
    return lambda names: to_arrow(original, names, missing=data.missing)[0]


def frame_baggage(frame: Any) -> list[str]:
    """What a DataFrame carries besides its cells: row labels other than a count from 0, names, attrs, categories."""
    found = []
    dtypes: Any = getattr(frame, "dtypes", None)
    for name, kind in dtypes.items() if hasattr(dtypes, "items") else ():
        if hasattr(kind, "categories") and hasattr(kind, "ordered"):  # the column carries a list of categories
            unused = len(kind.categories) - len(frame[name].dropna().unique())
            if unused > 0:
                found.append(f"the categorical column {name!r} lists {unused:,} values that no record holds")
    index: Any = getattr(frame, "index", None)
    columns: Any = getattr(frame, "columns", None)
    if not hasattr(index, "nlevels") or not hasattr(columns, "nlevels"):
        return found
    if index.nlevels > 1 or index.tolist() != list(range(len(index))):
        found.append("its index holds values: row labels go with it; call reset_index(drop=True)")
    if named := [name for name in (*index.names, *columns.names) if name is not None]:
        found.append(f"its index or the list of its columns has a name ({', '.join(map(str, named))})")
    if attrs := getattr(frame, "attrs", None):
        found.append(f"it carries attrs ({', '.join(sorted(map(str, attrs)))})")
    return found


def claim_of(result: Result) -> Claim | None:
    """What became of each record, for a policy that counts people; the verifier believes nothing of it.

    None where the rows have coarser values than the original.
    """
    policy = result.policy
    if not policy.person_columns or policy.pseudonym is not None or result.coarse_policy is not None:
        return None
    rows, recoding = result.rows, result.recoding
    labels = {
        name: pa.array(hierarchy.labels, pa.string()).take(pa.array(recoding.nodes[:, j]))
        for j, (name, hierarchy) in enumerate(zip(recoding.quasi, recoding.hierarchies, strict=True))
    }
    return Claim(rows.to_table(), rows.counts, recoding.row_class, pa.table(labels))


def verify_written(result: Result, reading: Reading, written: WrittenRelease) -> Verification:
    """Check a release as it was written, against the data as it was read."""
    policy, claim, suppressed = result.policy, claim_of(result), result.recoding.suppressed
    if isinstance(written.release, Mapping):  # the originals are read a second time
        tables = policy.tables or {}
        originals = {name: policy.location(spec.data.path) for name, spec in tables.items()}
        return _verify_tables(written.release, policy, originals)
    original, names = _as_counted_rows(reading.original()), reading.uncounted
    if isinstance(written.release, ReleaseFiles):
        files = joined_parts(written.release.read(read_part))
        found = verify(files, policy, original, claim=claim, suppressed=suppressed)
        return replace(found, checks=(*found.checks, *_not_as_written(content_sha256(files), written.sha256)))
    if not isinstance(written.release, CountedTable):
        return verify(written.release, policy, original, apart=names, claim=claim, suppressed=suppressed)
    judged = policy
    if names:
        content = policy.model_dump(exclude_unset=True)["columns"]
        judged = policy.changed(columns={key: each for key, each in content.items() if key not in names}, utility=None)
    found = verify(_as_counted_rows(written.release), judged, original, claim=claim, suppressed=suppressed)
    checks = list[Check]()
    for check in found.checks:
        if check.name == "columns":  # of all that were written
            empty = pa.table({name: pa.array([], pa.string()) for name in written.columns})
            checks.append(check_columns(read_release(empty), stated(policy)))
        elif check.name != "order":
            checks.append(check)
        elif written.rows_out_of_order is not None:  # as it is in the files: the counts were put in order here
            wrong = written.rows_out_of_order(text_column)
            message = "the rows are sorted by their cells"
            if wrong:
                message = (
                    f"{number(wrong)} rows stand before one that sorts ahead of them: their order may be the input's"
                )
            checks.append(Check("order", not wrong, message, {"out_of_order": wrong}))
    if written.rows_not_in_original is not None:  # the columns that were not counted
        lacking = written.rows_not_in_original(text_column)
        stars = (found.suppressed or 0) if policy.suppressed == "star" else 0  # have nothing in these columns
        message = f"no combination of {listing(names)} is released more often than the original has it"
        if lacking > stars:
            message = (
                f"{number(lacking)} rows have combinations of {listing(names)} that the original does not have as often"
            )
        checks.append(Check("insensitive", lacking <= stars, message, {"rows": lacking, "columns": list(names)}))
    return replace(found, checks=tuple(checks))


def _not_as_written(found: str, expected: str | None) -> list[Check]:
    """A failing check where files do not have the rows that were to be written; else nothing."""
    if found == expected:
        return []
    message = "the files do not have the rows that were to be written"
    return [Check("hash", False, message, {"claimed": expected, "found": found})]


def verify_result(result: Result, written: WrittenRelease) -> Verification:
    """Check a verified result as it was written anew, against the rows that it was made from."""
    claim = claim_of(result)
    original = None if claim is None else CountedRows(claim.table, claim.counts)
    suppressed = result.recoding.suppressed
    return verify(written.release, result.policy.as_read(), original, claim=claim, suppressed=suppressed)


def original_rows(reading: Reading, policy: Policy) -> Original | None:
    """The original of a run as the verifier takes it; None where it is not at hand as one table."""
    return _readable(_as_counted_rows(reading.original()), policy)


def _as_counted_rows(table: Any) -> Any:
    if not isinstance(table, CountedTable):
        return table
    return CountedRows(table.table, table.counts, table.records, table.blank)
