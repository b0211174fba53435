"""Files of statistics packages: SPSS, SAS and Stata.

They carry types and, beside a value, the label that people read: where a value has one, the label is the value, since
nobody publishes that sex is 2. Values that the file declares missing are missing. Catalogues of SAS, which hold labels
in a file of their own, are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError, MissingExtraError
from shoal.formatting import pluralize
from shoal.io.columns import check_names, chosen, duration_text, plain, without_fractions
from shoal.io.formats.file_format import FileFormat
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind
from shoal.table.canonical_text import canonical_text

_SECOND: Final = 10**6  # in microseconds, like all that follows
_DAY: Final = 24 * 60 * 60 * _SECOND
_SPSS_START: Final = -141428 * _DAY  # 14 October 1582, from 1970
_START: Final = -3653 * _DAY  # 1 January 1960, likewise
_YEARS: Final = (-719162 * _DAY, 2932897 * _DAY)  # from the year 1 to the end of 9999, likewise: what dates can be


@dataclass(frozen=True)
class _Count:
    """What the numbers of a variable count: moments, durations, times of day, periods, or something unknown."""

    kind: str
    unit: int = _SECOND
    start: int = _START
    a_year: int = 0
    period: str = ""


_DURATION: Final = _Count("duration")
_SPSS: Final = (
    ("[AEJS]?DATE|MOYR|QYR|WKYR|DATETIME|YMDHMS", _Count("moment", start=_SPSS_START)),
    ("D?TIME|MTIME", _DURATION),
)
_SAS: Final = (
    ("DATETIME|DTDATE|DTMONYY|DTYEAR|DTWKDATX|DTYYQC|DATEAMPM|MDYAMPM|(IS|E|B)8601D[TN]", _Count("moment")),
    (
        "DATE|(DDMMYY|MMDDYY|YYMMDD)[BCDNPS]?|(MMYY|YYMM|YYQ|YYQR)[CDNPS]?|YYMON|MONYY|YEAR|QTRR?|MONTH|MONNAME|DAY|"
        "DOWNAME|WEEKDAY|WEEKDAT[EX]|WEEK[UVW]|WORDDAT[EX]|JULDAY|JULIAN|(IS|E|B)8601DA",
        _Count("moment", unit=_DAY),
    ),
    ("TIME|HHMM|HOUR|MMSS", _DURATION),
    ("TOD|TIMEAMPM|(IS|E|B)8601TM", _Count("clock")),
    (r"NL(DAT|TIM)\w*|EURDF\w*|MINGUO|NENGO|HEBDATE|PDJUL[GI]|(IS|E|B)8601[DLT][ZX]", _Count("unknown")),
)
_STATA: Final = {
    "d": _Count("moment", unit=_DAY),
    "c": _Count("moment", unit=1000),
    "w": _Count("period", a_year=52, period="w{:02d}"),  # not those of ISO 8601: every year has 52
    "m": _Count("period", a_year=12, period="-{:02d}"),
    "q": _Count("period", a_year=4, period="-Q{}"),
    "h": _Count("period", a_year=2, period="-H{}"),
}
_STATA_FORMAT: Final = re.compile(r"%-?(?:t(.)|(d))(.*)")
_STATA_CLOCK: Final = re.compile(r"[Hh]{2}|MM|mm|SS|ss|\.s+|[aA]\.?[mM]\.?")
_STATA_FIXES: Final = {
    "b": "Its days are those of a business calendar, which is in a file of its own: turn them into %td with dofb()",
    "C": "It counts leap seconds: turn it into %tc with cofC()",
}


def from_format(numbers: NDArray[np.float64], written: str, suffix: str, where: str) -> pa.Array | None:
    """The numbers of a variable (NaN: missing) as what its format says; None where that is no format of time."""
    count = _stata(written, where) if suffix == ".dta" else _named(written, suffix, where)
    if count is None:
        return None
    convert: dict[str, Callable[[NDArray[np.float64], _Count, str], pa.Array]] = {
        "moment": _moments,
        "duration": _durations,
        "clock": _clock,
        "period": _periods,
    }
    return convert[count.kind](numbers, count, f"{where} has the format {written}")


def _named(written: str, suffix: str, where: str) -> _Count | None:
    """What a format of SPSS or SAS counts, whatever its width."""
    name = re.sub(r"\d*(\.\d*)?$", "", written.upper())
    known = _SAS if suffix in {".xpt", ".sas7bdat"} else _SPSS
    count = next((each for pattern, each in known if re.fullmatch(pattern, name)), None)
    if count is not None and count.kind == "unknown":
        raise _unknown(where, written, "Give it the format DATE9., DATETIME20. or TIME8., whichever it holds")
    return count


def _stata(written: str, where: str) -> _Count | None:
    found = _STATA_FORMAT.fullmatch(written)
    if found is None or found[1] in {"y", "g"}:  # years, and numbers that count nothing, are what they are
        return None
    letter = found[1] or found[2]
    if letter not in _STATA:
        raise _unknown(where, written, _STATA_FIXES.get(letter, "Turn it into %td or %tc"))
    clock = letter == "c" and found[3] and not re.search("[A-Za-z]", _STATA_CLOCK.sub("", found[3]))
    return _Count("clock", unit=1000) if clock else _STATA[letter]


def _unknown(where: str, written: str, fix: str) -> DataError:
    message = f"{where} has the format {written}, which cannot be read. {fix}, or leave the column out."
    return DataError(message, code="unknown-format")


def _micros(numbers: NDArray[np.float64], count: _Count) -> pa.Array:
    """Microseconds from the start, to the nearest; the whole is counted apart, since a double cannot keep both."""
    missing = np.isnan(numbers)
    given = np.where(missing, 0.0, numbers)
    whole = np.floor(given)
    parts = np.rint((given - whole) * count.unit)
    return pa.array(whole.astype(np.int64) * count.unit + parts.astype(np.int64), pa.int64(), mask=missing)


def _moments(numbers: NDArray[np.float64], count: _Count, subject: str) -> pa.Array:
    """Moments; days where none has a time of day."""
    first, end = ((each - count.start) / count.unit for each in _YEARS)
    _refuse((numbers < first) | (numbers >= end), numbers, f"{subject}, but {{}} is no date of the years 1 to 9999")
    moments = pc.add(_micros(numbers, count), count.start).cast(pa.timestamp("us"))
    days = moments.cast(pa.date32(), safe=False)
    return days if pc.all(pc.equal(days.cast(moments.type), moments)).as_py() is not False else moments


def _durations(numbers: NDArray[np.float64], count: _Count, subject: str) -> pa.Array:
    """Times of day where all are shorter than a day, else their texts: the same text for the same duration."""
    _refuse(np.abs(numbers) > 10**12, numbers, f"{subject}, but {{}} seconds are no duration")
    micros = _micros(numbers, count)
    low, high = pc.min_max(micros).as_py().values()
    if low is None or (low >= 0 and high < _DAY):
        return micros.cast(pa.time64("us"))
    return duration_text(micros)


def _clock(numbers: NDArray[np.float64], count: _Count, subject: str) -> pa.Array:
    """Times of day. Of a longer count such a format shows a part only, and leaves open what it is."""
    outside = (numbers < 0) | (np.rint(numbers * count.unit) >= _DAY)
    fix = "Give it a format of moments, or turn it into a number of hours"
    _refuse(outside, numbers, f"{subject} of a time of day, but {{}} is not within one day. {fix}")
    return _micros(numbers, count).cast(pa.time64("us"))


def _periods(numbers: NDArray[np.float64], count: _Count, subject: str) -> pa.Array:
    """Periods of a year: 2020-03, 2020-Q1 and 2020-H1 as generalised dates are written, weeks as 2020w09."""
    years = np.floor(numbers / count.a_year) + 1960
    broken = (np.floor(numbers) < numbers) | (years < 1) | (years > 9999)
    _refuse(broken, numbers, f"{subject}, but {{}} is no whole period of the years 1 to 9999")
    periods = pa.array(numbers, from_pandas=True).cast(pa.int64()).to_pylist()
    return pa.array([None if period is None else _period(period, count) for period in periods], pa.string())


def _period(period: int, count: _Count) -> str:
    years, rest = divmod(period, count.a_year)
    return f"{1960 + years:04d}" + count.period.format(rest + 1)


def _refuse(wrong: NDArray[np.bool_], numbers: NDArray[np.float64], subject: str) -> None:
    if wrong.any():
        message = subject.format(f"{numbers[wrong][0]:.15g}")
        raise DataError(f"{message} ({pluralize(int(wrong.sum()), 'such value')}).", code="value-out-of-range")


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
