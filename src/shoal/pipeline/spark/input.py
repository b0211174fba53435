"""What a policy that runs on Spark reads: a DataFrame, a file or folder, or a table of a catalog."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.encode.resolve import unknown_columns, used_columns
from shoal.errors import DataError, PolicyError
from shoal.io.columns import check_names
from shoal.io.spark import cluster as spark
from shoal.io.spark.cluster import Named
from shoal.policy import Policy
from shoal.policy.spark_location import Place, read, with_empty_texts
from shoal.policy.spec import DataSpec
from shoal.table.arrow_types import has_text

_FORMATS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet", ".orc": "orc"}
_CHARSETS = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "ascii": "US-ASCII", "iso8859-1": "ISO-8859-1", "utf-16": "UTF-16",
             "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32": "UTF-32"}  # fmt: skip
_ONE_SLASH = re.compile(r"^(?!file:|dbfs:)([a-z][a-z0-9+.-]*):/(?!/)", re.IGNORECASE)
"""An address that went through a `Path`, which takes two slashes for one."""
NO_TEXT = "\ufdd0\ufdd1"
"""Stands in no file of text: Spark's sign for a cell without anything, so that an empty text is none."""


@dataclass(frozen=True, eq=False)
class SparkInput:
    """A table in a cluster: the columns that a release may show, in the order of the data, and the names of all."""

    raw: Named
    """As they lie there."""
    frame: Named
    """Without NaN and marks of missing values."""
    names: list[str]
    missing: tuple[str, ...]


def read_input(data: Any, policy: Policy) -> SparkInput:
    """The data given, or that of the policy. Raises `DataError` or `PolicyError` for what cannot be read."""
    given = data if spark.is_spark_frame(data) else _read(data, policy)
    raw = Named.of(given)
    names = check_names(raw.names, "the data")
    wanted = [name for name in names if name in used_columns(policy)]
    lacking = unknown_columns(policy.columns, names, "")
    if lacking:
        raise PolicyError(lacking, policy.source)
    used = raw.select(wanted)
    for name, kind in used.arrow_types().items():
        if not has_text(kind):
            raise DataError(
                f"column {name!r} has the type {kind}, which has no single value a cell. "
                "Turn it into text, numbers or dates, or leave the column out of the policy."
            )
    missing = tuple(policy.data.missing) if policy.data is not None else ("",)
    return SparkInput(used, spark.cleaned(raw, wanted, missing), names, missing)


def _read(data: Any, policy: Policy) -> Any:
    spec = policy.data if policy.data is not None else DataSpec(path="")
    if data is not None and not isinstance(data, str | Path):
        raise DataError(
            f"engine: spark cannot read a table from {type(data).__name__}: pass a DataFrame of Spark, a path or "
            "spark:FORMAT:PATH, or leave engine out."
        )
    if data is None and not spec.path:
        raise DataError("the policy names no data and none was given. Set data: in the policy or pass --data.")
    place = place_of(str(data) if data is not None else spec.path, policy if data is None else None, "data")
    session = spark.session_of(policy.engine.settings)
    try:
        if place.format != "csv":
            return read(session, place)
        frame = read(session, place, text_options(spec, place))
        return with_empty_texts(frame).toDF(*_without_mark(list(frame.columns)))
    except Exception as error:
        if not spark.is_from_spark(error):
            raise
        raise DataError(f"{place} cannot be read as {place.format}: {spark.in_words(error)}") from None


def place_of(text: str, policy: Policy | None, what: str) -> Place:
    """A place of Spark's, from its address or from a path whose suffix says the format; relative to the policy."""
    place = Place.of(text)
    if place is None:
        suffix = next((each for each in _FORMATS if text.rstrip("/").lower().endswith(each)), None)
        if suffix is None:
            raise DataError(
                f"the format of {text} cannot be told. Write {what}: {{spark: {{format: …, path: {text}}}}}, or let "
                f"the name end in one of {', '.join(_FORMATS)}."
            )
        options = (("sep", "\t"),) if suffix == ".tsv" else ()
        place = Place(_FORMATS[suffix], text, None, options)
    if place.path is None:
        return place
    if ":/" in place.path:
        return replace(place, path=_ONE_SLASH.sub(r"\1://", place.path).rstrip("/"))
    path = Path(place.path) if policy is None else policy.path(place.path)
    return replace(place, path=str(path.absolute()))


def text_options(spec: DataSpec, place: Place) -> dict[str, str]:
    """How Spark reads text as Shoal does: every cell as it stands, a record of another length an error."""
    separator = spec.separator if spec.separator is not None else dict(place.options).get("sep", ",")
    return {
        "header": "true",
        "sep": separator,
        "encoding": _charset(spec.encoding),
        "quote": spec.quote,
        "escape": spec.quote,
        "mode": "FAILFAST",
        "inferSchema": "false",
        "nullValue": NO_TEXT,
        "emptyValue": "",
        "columnPruning": "false",
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
    }


def _charset(encoding: str) -> str:
    """Spark's name for a text encoding, of which it reads few."""
    name = codecs.lookup(encoding).name
    if name not in _CHARSETS:
        raise DataError(
            f"Spark does not read text in {encoding}; it reads {', '.join(_CHARSETS.values())}. Convert the file, or "
            "leave engine out."
        )
    return _CHARSETS[name]


def _without_mark(names: list[str]) -> list[str]:
    """The names without the byte order mark that some programs put first in a file of text."""
    return [names[0].removeprefix("\ufeff"), *names[1:]] if names else names
