"""A table in a cluster: a DataFrame, a file or folder, or a table of a catalog, counted where the records are.

The driver gets as many distinct rows as it may hold. Where there are more, two things are tried in this order, and the
evidence says which:

1. Insensitive columns are not counted: they stay with the records when these are recoded. Not for algorithms that
   split duplicates, which look at everything of a record.
2. Quasi-identifiers are made coarser: the one with the most values is raised by one level, within its boundary, until
   the distinct rows fit. The search then starts from there.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal.encode.resolve import unknown_columns, used_columns
from shoal.encode.result import Result, splits_duplicates
from shoal.errors import DataError, PolicyError
from shoal.formatting import listing
from shoal.io.columns import check_names
from shoal.io.frames import to_arrow
from shoal.io.source import CountedTable, Reading
from shoal.io.spark import cluster as spark
from shoal.io.spark.check import counted_rows
from shoal.io.spark.cluster import Named
from shoal.io.spark.counts import (
    CoarseColumn,
    CoarseRows,
    Codebook,
    coarsen,
    coded,
    collect_rows,
    distinct_values,
    grouped,
    in_full,
)
from shoal.policy import Policy
from shoal.policy.engine_spec import BLOCKS, CELLS, LEAST
from shoal.policy.spark_location import Place, read, with_empty_texts
from shoal.policy.spec import DataSpec
from shoal.search.problem import Progress
from shoal.table.canonical_text import has_text
from shoal.table.recoding import Recoding

_FORMATS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet", ".orc": "orc"}
_CHARSETS = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "ascii": "US-ASCII", "iso8859-1": "ISO-8859-1", "utf-16": "UTF-16",
             "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32": "UTF-32"}  # fmt: skip
_ONE_SLASH = re.compile(r"^(?!file:|dbfs:)([a-z][a-z0-9+.-]*):/(?!/)", re.IGNORECASE)
"""An address that went through a `Path`, which takes two slashes for one."""
NO_TEXT = "\ufdd0\ufdd1"
"""Stands in no file of text: Spark's sign for a cell without anything, so that an empty text is none."""


@dataclass(frozen=True)
class SparkSource:
    """A DataFrame of Spark, or what a path, an address or the policy names."""

    data: Any

    def snapshot(self) -> AbstractContextManager[object]:
        """Nothing is open: Spark reads when it has to."""
        return nullcontext()

    def read(self, policy: Policy, progress: Progress) -> Reading:
        """Count the distinct rows where the records are; `DataError` or `PolicyError` for what cannot be read."""
        with spark.spark_errors():
            return _fit(_input(self.data, policy), policy, progress)


@dataclass(frozen=True, eq=False)
class SparkInput:
    """The columns that a release may show, in the order of the data, and the names of all."""

    raw: Named  # as they are in the cluster
    frame: Named  # without NaN and marks of missing values
    names: list[str]
    missing: tuple[str, ...]

    def counted(self, names: Sequence[str]) -> CountedTable:
        """Some columns as they are in the cluster, counted anew."""
        wanted = [name for name in self.raw.names if name in names]
        table, counts = counted_rows(self.raw.select(wanted).public())
        plain, _ = to_arrow(table, wanted, missing=self.missing)
        return CountedTable(plain, counts)


@dataclass(frozen=True, eq=False, kw_only=True)
class SparkReading(Reading):
    """The distinct rows that the driver holds, and the table in the cluster."""

    given: SparkInput
    coarse: Mapping[str, CoarseColumn] = field(default_factory=dict)  # the quasi-identifiers that were made coarser
    n_distinct: int = 0  # how many distinct rows there are before anything is left out or made coarser
    allowed: int = 0

    def engine_facts(self, result: Result) -> Mapping[str, Any]:
        """How Spark went about it."""
        from_counts = splits_duplicates(result.policy)
        return {
            "engine": {
                "name": "spark",
                "cells": self.n_distinct,
                "cells_held": self.rows.n_rows,
                "cells_allowed": self.allowed,
                "left_out_of_cells": list(self.uncounted),
                "coarsened": {name: column.level for name, column in sorted(self.coarse.items())},
                "recoded": "from counts" if from_counts else "where the records lie",
            }
        }

    def in_full(self, recoding: Recoding) -> Recoding | None:
        """The recoding in the hierarchies as declared, where columns were made coarser."""
        return in_full(recoding, self.coarse) if self.coarse else None


def _fit(given: SparkInput, policy: Policy, progress: Progress) -> SparkReading:
    """Count the distinct rows, and bring as many to the driver as it may hold."""
    allowed = policy.engine.cells or CELLS
    progress("counting distinct rows", 0.0)
    names = list(given.frame.names)
    insensitive = [name for name in names if policy.columns[name].role == "insensitive"]
    uncounted: tuple[str, ...] = ()
    found: int | None = None
    while True:
        counted = grouped(given.frame, [name for name in names if name not in uncounted])
        counted.frame.persist()
        try:
            here = counted.total()[0]
            found = here if found is None else found
            if here <= allowed:
                books = {name: Codebook.of(values) for name, values in distinct_values(counted).items()}
                rows = CoarseRows(collect_rows(coded(counted, books), books), policy, {})
                return _reading(given, policy, rows, uncounted, found, allowed)
            if uncounted or not insensitive or splits_duplicates(policy):
                coarse = coarsen(counted, policy, allowed, progress)
                return _reading(given, policy, coarse, uncounted, found, allowed)
        finally:
            counted.frame.unpersist()
        uncounted = tuple(insensitive)


def _reading(
    given: SparkInput, policy: Policy, found: CoarseRows, uncounted: tuple[str, ...], n_distinct: int, allowed: int
) -> SparkReading:
    counted = [name for name in policy.columns if name not in uncounted]

    def original() -> CountedTable | None:
        with spark.spark_errors():
            return None if found.columns else given.counted(counted)

    blocks = policy.engine.blocks
    return SparkReading(
        rows=found.rows,
        names=given.names,
        original=original,
        coarse_policy=found.policy if found.columns else None,
        uncounted=uncounted,
        not_done=_not_done(policy, uncounted, coarse=bool(found.columns)),
        workers=spark.SparkWorkers(given.frame.session, blocks or BLOCKS, 0 if blocks else LEAST),
        given=given,
        coarse=found.columns,
        n_distinct=n_distinct,
        allowed=allowed,
    )


def _not_done(policy: Policy, uncounted: Sequence[str], *, coarse: bool) -> dict[str, str]:
    """What the evidence has to do without, and why."""
    found = {}
    if policy.utility is not None:
        found["utility"] = "models are trained on records, and these are in a cluster."
    if uncounted:
        found["insensitive"] = (
            f"that each record has its own values of {listing(uncounted)} was not compared with the original, only "
            "that no combination of them is released more often than the original has it."
        )
    if coarse:
        found["truthfulness"] = (
            "the driver does not hold the values of columns that were made coarser, so records were not matched to "
            "originals."
        )
    return found


def _input(data: Any, policy: Policy) -> SparkInput:
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
                f"column {name!r} has the type {kind}, which has no single value per cell. "
                "Turn it into text, numbers or dates, or leave the column out of the policy.",
                code="unreadable-type",
            )
    missing = tuple(policy.data.missing) if policy.data is not None else ("",)
    return SparkInput(used, spark.cleaned(raw, wanted, missing), names, missing)


def _read(data: Any, policy: Policy) -> Any:
    spec = policy.data if policy.data is not None else DataSpec(path="")
    if data is not None and not isinstance(data, str | Path):
        raise DataError(
            f"engine: spark cannot read a table from {type(data).__name__}: pass a DataFrame of Spark, a path or "
            "spark:FORMAT:PATH, or leave engine out.",
            code="not-a-table",
        )
    if data is None and not spec.path:
        raise DataError(
            "the policy names no data and none was given. Set data: in the policy or pass --data.", code="no-data"
        )
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
        reason = spark.error_line(error)
        raise DataError(f"{place} cannot be read as {place.format}: {reason}", code="not-readable") from None


def place_of(text: str, policy: Policy | None, what: str) -> Place:
    """A location of Spark's, from its address or from a path whose suffix says the format; relative to the policy."""
    place = Place.of(text)
    if place is None:
        suffix = next((each for each in _FORMATS if text.rstrip("/").lower().endswith(each)), None)
        if suffix is None:
            raise DataError(
                f"the format of {text} is not known. Write {what}: {{spark: {{format: …, path: {text}}}}}, or let "
                f"the name end in one of {', '.join(_FORMATS)}.",
                code="unknown-format",
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
            "leave engine out.",
            code="unknown-encoding",
        )
    return _CHARSETS[name]


def _without_mark(names: list[str]) -> list[str]:
    """The names without the byte order mark that some programs put first in a file of text."""
    return [names[0].removeprefix("\ufeff"), *names[1:]] if names else names
