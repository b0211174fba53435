"""Files of statistics packages: SPSS, SAS and Stata.

They carry types and, beside a value, the label that people read: where a value has one, the label is the value, since
nobody publishes that sex is 2. Values that the file declares missing are missing. Catalogues of SAS, which hold labels
in a file of their own, are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from shoal.errors import DataError, MissingExtraError
from shoal.io.columns import check_names, chosen, plain, without_fractions
from shoal.io.formats.file_format import FileFormat
from shoal.io.formats.statistics_dates import from_format
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind
from shoal.table.canonical_text import canonical_text

_READERS: Final = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
    ".dta": "read_dta",
}
_UTF8: Final = frozenset({"utf-8", "utf8"})


def stat_names(source: DataSource) -> list[str]:
    """The names of the variables, reading no record."""
    return _names(_read(source, metadataonly=True)[1], source)


def read_stat(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    """The variables that are asked for, values with a label as their label."""
    names = stat_names(source)
    wanted = chosen(names, columns, str(source.path))
    content, about = _read(source, usecols=wanted or names[:1], disable_datetime_conversion=True)
    arrays = [_column(name, content[name], about, source) for name in wanted or names[:1]]
    table = pa.Table.from_arrays(arrays, wanted or names[:1]).select(wanted)
    return plain(table, str(source.path), source.missing if source.quoted_missing else ())


def _names(about: Any, source: DataSource) -> list[str]:
    if not about.column_names:
        raise DataError(f"{source.path} has no variables.", code="empty-file")
    return check_names(about.column_names, str(source.path))


def _read(source: DataSource, **options: Any) -> tuple[Mapping[str, list[Any]], Any]:
    """The content by variable, and what the file says about it."""
    try:
        import pyreadstat  # noqa: PLC0415  only for those who read such files
    except ImportError:
        raise MissingExtraError(f"reading {source.path.name}, a file of a statistics package,", "stats") from None
    read: Callable[..., Any] = getattr(pyreadstat, _READERS[source.path.suffix.lower()])
    if source.encoding.lower().replace("_", "-") not in _UTF8 and source.path.suffix.lower() != ".por":
        options["encoding"] = source.encoding  # else as the file says
    try:
        content, about = read(source.path, output_format="dict", **options)
    except (
        pyreadstat.ReadstatError,
        pyreadstat.PyreadstatError,
        UnicodeDecodeError,
        ValueError,
        OverflowError,
    ) as error:
        hint = " Give its encoding under data in the policy." if _is_about_text(error) else ""
        reason = str(error).rstrip(".")
        message = f"{source.path} is not a readable {source.path.suffix} file: {reason}.{hint}"
        raise DataError(message, code="not-a-statistics-file") from None
    return content, about


def _is_about_text(error: Exception) -> bool:
    return isinstance(error, UnicodeDecodeError) or "convert" in str(error).lower()


def _column(name: str, values: Sequence[Any], about: Any, source: DataSource) -> pa.Array:
    typed = _typed(name, values, about, source)
    labels = {value: label for value, label in about.variable_value_labels.get(name, {}).items() if label}
    if not source.labels or not labels:
        return typed
    texts = canonical_text(typed).to_pylist()
    shown = [labels.get(value, text) for value, text in zip(values, texts, strict=True)]
    _refuse_shared_labels(name, texts, shown, source)
    return pa.array(shown, pa.string())


def _typed(name: str, values: Sequence[Any], about: Any, source: DataSource) -> pa.Array:
    """The values of one variable, which are all texts or all numbers; what the numbers count is in its format."""
    if isinstance(next((value for value in values if value is not None), None), str):
        return pa.array(values, pa.string())
    numbers = pa.array(values, pa.float64())
    written = about.original_variable_types.get(name) or ""
    where = f"{source.path}: column {name!r}"
    dated = from_format(numbers.to_numpy(zero_copy_only=False), written, source.path.suffix.lower(), where)
    if dated is not None:
        return dated
    single = about.readstat_variable_types.get(name) == "float"  # Stata's 0.1 of 32 bits is 0.1
    return without_fractions(numbers.cast(pa.float32()) if single else numbers)


def _refuse_shared_labels(name: str, texts: Sequence[Any], shown: Sequence[Any], source: DataSource) -> None:
    """Two values must not become one only because they have the same label."""
    owner: dict[Any, Any] = {}
    for text, label in dict.fromkeys(zip(texts, shown, strict=True)):
        if label is not None and owner.setdefault(label, text) != text:
            raise DataError(
                f"{source.path}: in column {name!r} the values {owner[label]} and {text} are both labelled {label!r}. "
                "Give them different labels, or write labels: false under data to read the values themselves.",
                code="labels-shared",
            )


STATISTICS = FileFormat(kinds=(FileKind.SPSS, FileKind.SAS, FileKind.STATA), column_names=stat_names, read=read_stat)
