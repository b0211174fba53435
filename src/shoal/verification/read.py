"""Reading what is to be verified: the release as it is, without the readers that the rest of Shoal uses."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from shoal.errors import DataError
from shoal.io import DataSource, read_table, to_arrow
from shoal.policy import Policy
from shoal.verification.text import text_column

_WRITTEN_BY_ARROW = {b"ARROW:schema"}
"""The one entry that a Parquet file of Arrow's always has: the types of its columns, which are checked themselves."""


@dataclass(frozen=True, eq=False)
class Given:
    """A release as it was handed over: every column as text, and what it carries besides."""

    names: tuple[str, ...]
    columns: dict[str, Any]
    """Arrow columns of canonical text; of two columns of one name, the first."""
    rows: int
    baggage: tuple[str, ...] = ()
    """What it carries besides its cells, in words: metadata, values that no row holds."""
    path: Path | None = None
    sha256: str | None = None


def read_release(release: Any) -> Given:
    """A release from a path or a table; a file that is no table is a `DataError`."""
    if not isinstance(release, str | Path):
        return _from_table(release)
    path = Path(release)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"The release {path} cannot be read: {error.strerror or error}.") from None
    digest = hashlib.sha256(raw).hexdigest()  # of the same bytes that are checked
    suffix = path.suffix.lower()
    try:
        if suffix == ".csv":
            names, columns, baggage = _from_csv(raw, path)
        elif suffix in {".parquet", ".pq"}:
            names, columns, baggage = _from_parquet(raw)
        else:
            raise DataError(f"The release {path} has the suffix {suffix!r}; a release is .csv, .parquet or .pq.")
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"The release {path} cannot be read as a table: {str(error).splitlines()[0]}") from None
    return _given(names, columns, baggage, path, digest)


def read_original(original: Any, policy: Policy, names: Sequence[str]) -> dict[str, Any]:
    """The columns of the original that a release may show, as text; read as the policy's ``data`` says."""
    data = policy.data
    if isinstance(original, str | Path):
        path = Path(original)
        tabs = ".tsv" in [suffix.lower() for suffix in path.suffixes[-2:]]
        separator = (data.separator if data else None) or ("\t" if tabs else ",")
        plain = {} if data is None else {"encoding": data.encoding, "quote": data.quote, "missing": tuple(data.missing)}
        table = read_table(DataSource(path, separator=separator, **plain), list(names))  # type: ignore[arg-type]
    else:
        table, _ = to_arrow(original, list(names), missing=("",) if data is None else data.missing)
    return {name: text_column(table.column(name), name) for name in names}


def _given(
    names: Sequence[str],
    columns: Sequence[Any],
    baggage: Sequence[str],
    path: Path | None = None,
    sha: str | None = None,
) -> Given:
    texts: dict[str, Any] = {}
    for name, column in zip(names, columns, strict=True):
        if name not in texts:
            texts[name] = text_column(column, name)
    return Given(tuple(names), texts, len(columns[0]) if columns else 0, tuple(baggage), path, sha)


_LARGEST_BLOCK = (1 << 31) - 1
"""As much as Arrow reads at once: a file up to that is one block, so that no cell lies on the edge of two."""


def _from_csv(raw: bytes, path: Path) -> tuple[list[str], list[Any], list[str]]:
    """UTF-8 with commas; an empty cell is missing, ``""`` is an empty text."""
    if raw.count(b'"') % 2:
        raise DataError(f"The release {path} has a quote that is never closed, so the rest of it would be one cell.")
    with io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline="") as text:
        names = next((row for row in csv.reader(text, strict=True) if row), None)
    if names is None:
        raise DataError(f"The release {path} is empty: it has no header.")
    places = [f"c{place}" for place in range(len(names))]  # names may repeat, places do not
    table = arrow_csv.read_csv(
        io.BytesIO(raw),
        read_options=arrow_csv.ReadOptions(
            column_names=places, skip_rows_after_names=1, block_size=min(max(len(raw), 1), _LARGEST_BLOCK)
        ),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(places, pa.string()),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )
    return names, table.columns, []


def _from_parquet(raw: bytes) -> tuple[list[str], list[Any], list[str]]:
    """Read with dictionaries as they stand in the file: they may list values that no row holds."""
    buffer = pa.BufferReader(raw)
    schema = parquet.ParquetFile(buffer).schema_arrow
    text = [field.name for field in schema if _is_text(field.type)]
    file = parquet.ParquetFile(buffer, read_dictionary=text)
    stored = set(file.metadata.metadata or {}) - _WRITTEN_BY_ARROW
    baggage = _metadata(file.schema_arrow, {key.decode(errors="replace") for key in stored})
    table = file.read()
    return table.column_names, table.columns, [*baggage, *_unused(table)]


def _is_text(kind: Any) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(value) or pa.types.is_large_string(value))


def _from_table(release: Any) -> Given:
    """A table in memory; its dictionaries and metadata are looked at before they are left behind."""
    baggage: list[str] = []
    if isinstance(release, pa.Table):
        baggage = [*_metadata(release.schema, set()), *_unused(release)]
    else:
        for name, kind in _categoricals(release):
            held = len(release[name].dropna().unique())
            if held < len(kind.categories):
                unused = len(kind.categories) - held
                baggage.append(f"the categorical column {name!r} lists {unused:,} values that no record holds")
        baggage += _beside_cells(release)
    table, _ = to_arrow(release)
    if isinstance(release, pa.Table) and len(table.column_names) < len(release.column_names):
        baggage.append("it carries row labels in a column of its own; drop it")
    return _given(table.column_names, table.columns, baggage)


def _beside_cells(frame: Any) -> list[str]:
    """What a pandas DataFrame carries beside its cells: row labels that are no mere count from 0, names, and attrs."""
    index: Any = getattr(frame, "index", None)
    columns: Any = getattr(frame, "columns", None)
    if not hasattr(index, "nlevels") or not hasattr(columns, "nlevels"):
        return []
    found = []
    if index.nlevels > 1 or index.tolist() != list(range(len(index))):
        found.append("its index holds values: row labels go with it; call reset_index(drop=True)")
    if named := [name for name in (*index.names, *columns.names) if name is not None]:
        found.append(f"its index or the list of its columns has a name ({', '.join(map(str, named))})")
    if attrs := getattr(frame, "attrs", None):
        found.append(f"it carries attrs ({', '.join(sorted(map(str, attrs)))})")
    return found


def _categoricals(frame: Any) -> list[tuple[str, Any]]:
    """The columns of a pandas DataFrame that carry a list of categories, told by what they have."""
    dtypes = getattr(frame, "dtypes", None)
    if dtypes is None or not hasattr(dtypes, "items"):
        return []
    return [(name, kind) for name, kind in dtypes.items() if hasattr(kind, "categories") and hasattr(kind, "ordered")]


def _metadata(schema: Any, stored: set[str]) -> list[str]:
    """Metadata of the schema, the file and the fields."""
    keys = stored | {key.decode(errors="replace") for key in schema.metadata or {}}
    for field in schema:
        keys |= {f"{field.name}: {key.decode()}" for key in field.metadata or {} if key != b"PARQUET:field_id"}
    return [f"it carries metadata ({', '.join(sorted(keys))})"] if keys else []


def _unused(table: Any) -> list[str]:
    """Dictionaries that list values which no record holds."""
    found = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_dictionary(column.type):
            continue
        listed = {value for chunk in column.chunks for value in chunk.dictionary.to_pylist()}
        held = {value for chunk in column.chunks for value in pc.unique(chunk.cast(column.type.value_type)).to_pylist()}
        if unused := len(listed - held - {None}):
            found.append(f"the dictionary of column {name!r} lists {unused:,} values that no record holds")
    return found
