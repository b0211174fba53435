"""Files of statistics packages: SPSS, SAS and Stata.

Where a value has a label, the label is the value: nobody publishes that sex is 2. Dates are numbers whose format says
what they count; one whose meaning is not certain is refused, since a raw count is no value.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError, MissingExtraError
from shoal.formatting import pluralize
from shoal.io.columns import check_names, chosen, duration_text, plain, without_fractions, without_times
from shoal.io.formats.file_format import FileFormat
from shoal.io.formats.unpacked_size import unpacked_limit, unpacks_too_large
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind
from shoal.table.canonical_text import canonical_text

_SECOND: Final = 10**6  # in microseconds, like all that follows
_DAY: Final = 24 * 60 * 60 * _SECOND
_SPSS_START: Final = -141428 * _DAY  # 14 October 1582, from 1970
_START: Final = -3653 * _DAY  # 1 January 1960, likewise
_YEARS: Final = (-719162 * _DAY, 2932897 * _DAY)  # from the year 1 to the end of 9999, likewise: what dates can be


_BYTES_OF_A_CELL: Final = 8  # the least that the reader takes for one
_Numbers = NDArray[np.float64]


def _micros(numbers: _Numbers, unit: int) -> pa.Array:
    """Microseconds from the start, to the nearest; the whole is counted apart, since a double cannot keep both."""
    missing = np.isnan(numbers)
    given = np.where(missing, 0.0, numbers)
    whole = np.floor(given)
    parts = np.rint((given - whole) * unit)
    return pa.array(whole.astype(np.int64) * unit + parts.astype(np.int64), pa.int64(), mask=missing)


def _refuse(wrong: NDArray[np.bool_], numbers: _Numbers, subject: str) -> None:
    if wrong.any():
        message = subject.format(f"{numbers[wrong][0]:.15g}")
        raise DataError(f"{message} ({pluralize(int(wrong.sum()), 'such value')}).", code="value-out-of-range")


def _moments(numbers: _Numbers, subject: str, unit: int = _SECOND, start: int = _START) -> pa.Array:
    """Moments; days where none has a time of day."""
    first, end = ((each - start) / unit for each in _YEARS)
    _refuse((numbers < first) | (numbers >= end), numbers, f"{subject}, but {{}} is no date of the years 1 to 9999")
    return without_times(pc.add(_micros(numbers, unit), start).cast(pa.timestamp("us")))


def _durations(numbers: _Numbers, subject: str) -> pa.Array:
    """Times of day where all are shorter than a day, else their texts: the same text for the same duration."""
    _refuse(np.abs(numbers) > 10**12, numbers, f"{subject}, but {{}} seconds are no duration")
    micros = _micros(numbers, _SECOND)
    low, high = pc.min_max(micros).as_py().values()
    return micros.cast(pa.time64("us")) if low is None or (low >= 0 and high < _DAY) else duration_text(micros)


def _clock(numbers: _Numbers, subject: str, unit: int = _SECOND) -> pa.Array:
    """Times of day. Of a longer count such a format shows a part only, and leaves open what it is."""
    outside = (numbers < 0) | (np.rint(numbers * unit) >= _DAY)
    fix = "Give it a format of moments, or turn it into a number of hours"
    _refuse(outside, numbers, f"{subject} of a time of day, but {{}} is not within one day. {fix}")
    return _micros(numbers, unit).cast(pa.time64("us"))


def _periods(numbers: _Numbers, subject: str, in_year: int, text: str) -> pa.Array:
    """Periods of a year: 2020-03, 2020-Q1 and 2020-H1 as generalised dates are written, weeks as 2020w09."""
    years = np.floor(numbers / in_year) + 1960
    broken = (np.floor(numbers) < numbers) | (years < 1) | (years > 9999)
    _refuse(broken, numbers, f"{subject}, but {{}} is no whole period of the years 1 to 9999")
    periods = [None if np.isnan(each) else divmod(int(each), in_year) for each in numbers]
    return pa.array([each and text.format(1960 + each[0], each[1] + 1) for each in periods], pa.string())


_SPSS: Final = (
    ("[AEJS]?DATE|MOYR|QYR|WKYR|DATETIME|YMDHMS", partial(_moments, start=_SPSS_START)),
    ("D?TIME|MTIME", _durations),
)
_SAS: Final = (
    ("DATETIME|DTDATE|DTMONYY|DTYEAR|DTWKDATX|DTYYQC|DATEAMPM|MDYAMPM|(IS|E|B)8601D[TN]", _moments),
    (
        "DATE|(DDMMYY|MMDDYY|YYMMDD)[BCDNPS]?|(MMYY|YYMM|YYQ|YYQR)[CDNPS]?|YYMON|MONYY|YEAR|QTRR?|MONTH|MONNAME|DAY|"
        "DOWNAME|WEEKDAY|WEEKDAT[EX]|WEEK[UVW]|WORDDAT[EX]|JULDAY|JULIAN|(IS|E|B)8601DA",
        partial(_moments, unit=_DAY),
    ),
    ("TIME|HHMM|HOUR|MMSS", _durations),
    ("TOD|TIMEAMPM|(IS|E|B)8601TM", _clock),
)
_SAS_UNKNOWN: Final = re.compile(r"NL(DAT|TIM)\w*|EURDF\w*|MINGUO|NENGO|HEBDATE|PDJUL[GI]|(IS|E|B)8601[DLT][ZX]")
_STATA: Final = {
    "d": partial(_moments, unit=_DAY),
    "c": partial(_moments, unit=1000),
    "w": partial(_periods, in_year=52, text="{:04d}w{:02d}"),  # not those of ISO 8601: every year has 52
    "m": partial(_periods, in_year=12, text="{:04d}-{:02d}"),
    "q": partial(_periods, in_year=4, text="{:04d}-Q{}"),
    "h": partial(_periods, in_year=2, text="{:04d}-H{}"),
}
_STATA_FORMAT: Final = re.compile(r"%-?(?:t(.)|(d))(.*)")
_STATA_CLOCK: Final = re.compile(r"[Hh]{2}|MM|mm|SS|ss|\.s+|[aA]\.?[mM]\.?")
_STATA_FIXES: Final = {
    "b": "Its days are those of a business calendar, which is in a file of its own: turn them into %td with dofb()",
    "C": "It counts leap seconds: turn it into %tc with cofC()",
}


def _converter(written: str, suffix: str, where: str) -> Callable[[_Numbers, str], pa.Array] | None:
    """What makes values of the numbers (NaN: missing) that a format counts; None where it is no format of time."""
    if suffix != ".dta":
        name = re.sub(r"\d*(\.\d*)?$", "", written.upper())  # whatever its width
        sas = suffix in {".xpt", ".sas7bdat"}
        if sas and _SAS_UNKNOWN.fullmatch(name):
            raise _unknown(where, written, "Give it the format DATE9., DATETIME20. or TIME8., whichever it holds")
        return next((convert for known, convert in (_SAS if sas else _SPSS) if re.fullmatch(known, name)), None)
    found = _STATA_FORMAT.fullmatch(written)
    if found is None or found[1] in {"y", "g"}:  # years, and numbers that count nothing, are what they are
        return None
    letter = found[1] or found[2]
    if letter not in _STATA:
        raise _unknown(where, written, _STATA_FIXES.get(letter, "Turn it into %td or %tc"))
    clock = letter == "c" and found[3] and not re.search("[A-Za-z]", _STATA_CLOCK.sub("", found[3]))
    return partial(_clock, unit=1000) if clock else _STATA[letter]


def _unknown(where: str, written: str, fix: str) -> DataError:
    message = f"{where} has the format {written}, which cannot be read. {fix}, or leave the column out."
    return DataError(message, code="unknown-format")


_READERS: Final = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".sas7bdat": "read_sas7bdat",
                   ".xpt": "read_xport", ".dta": "read_dta"}  # fmt: skip
_UTF8: Final = frozenset({"utf-8", "utf8"})


def variable_names(source: DataSource) -> list[str]:
    """The names of the variables, reading no record."""
    _, about = _read(source, metadataonly=True)
    if not about.column_names:
        raise DataError(f"{source.path} has no variables.", code="empty-file")
    return check_names(about.column_names, str(source.path))


def read_variables(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    """The variables that are asked for, values with a label as their label."""
    names = variable_names(source)
    wanted = chosen(names, columns, str(source.path))
    some, limit = wanted or names[:1], unpacked_limit(source)
    most = limit // (_BYTES_OF_A_CELL * len(some))
    content, about = _read(source, usecols=some, disable_datetime_conversion=True, row_limit=most + 1)
    if len(content[some[0]]) > most:
        raise unpacks_too_large(source, limit)
    table = pa.Table.from_arrays([_column(name, content[name], about, source) for name in some], some)
    return plain(table.select(wanted), str(source.path), source.marks)


def _read(source: DataSource, **options: Any) -> tuple[Mapping[str, list[Any]], Any]:
    """The content by variable, and what the file says about it."""
    try:
        import pyreadstat  # noqa: PLC0415  only for those who read such files
    except ImportError:
        raise MissingExtraError(f"reading {source.path.name}, a file of a statistics package,", "stats") from None
    read: Callable[..., Any] = getattr(pyreadstat, _READERS[source.path.suffix.lower()])
    if source.encoding.lower().replace("_", "-") not in _UTF8 and source.path.suffix.lower() != ".por":
        options["encoding"] = source.encoding  # else as the file says
    errors = (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeDecodeError, ValueError, OverflowError)
    try:
        content, about = read(source.path, output_format="dict", **options)
    except errors as error:
        about_text = isinstance(error, UnicodeDecodeError) or "convert" in str(error).lower()
        hint = " Give its encoding under data in the policy." if about_text else ""
        message = f"{source.path} is not a readable {source.path.suffix} file: {str(error).rstrip('.')}.{hint}"
        raise DataError(message, code="not-a-statistics-file") from None
    return content, about


def _column(name: str, values: Sequence[Any], about: Any, source: DataSource) -> pa.Array:
    """The values of one variable, or their labels; two values must not become one by having the same label."""
    typed = _typed(name, values, about, source)
    labels = {value: label for value, label in about.variable_value_labels.get(name, {}).items() if label}
    if not source.labels or not labels:
        return typed
    texts = canonical_text(typed).to_pylist()
    shown = [labels.get(value, text) for value, text in zip(values, texts, strict=True)]
    owner: dict[Any, Any] = {}
    for text, label in dict.fromkeys(zip(texts, shown, strict=True)):
        if label is not None and owner.setdefault(label, text) != text:
            both = f"the values {owner[label]} and {text} are both labelled {label!r}."
            fix = "Give them different labels, or write labels: false under data to read the values themselves."
            raise DataError(f"{source.path}: in column {name!r} {both} {fix}", code="labels-shared")
    return pa.array(shown, pa.string())


def _typed(name: str, values: Sequence[Any], about: Any, source: DataSource) -> pa.Array:
    """The values of one variable, which are all texts or all numbers; what the numbers count is in its format."""
    if isinstance(next((value for value in values if value is not None), None), str):
        return pa.array(values, pa.string())
    numbers = pa.array(values, pa.float64())
    written = about.original_variable_types.get(name) or ""
    where = f"{source.path}: column {name!r}"
    convert = _converter(written, source.path.suffix.lower(), where)
    if convert is not None:
        return convert(numbers.to_numpy(zero_copy_only=False), f"{where} has the format {written}")
    single = about.readstat_variable_types.get(name) == "float"  # Stata's 0.1 of 32 bits is 0.1
    return without_fractions(numbers.cast(pa.float32()) if single else numbers)


STATISTICS = FileFormat((FileKind.SPSS, FileKind.SAS, FileKind.STATA), variable_names, read_variables)
