"""A table in a cluster: a DataFrame, a file or folder, or a table of a catalog, counted where the records are."""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from shoal.encode.resolve import unknown_columns, used_columns
from shoal.encode.result import keeps_duplicates
from shoal.encode.spellings import merge_rows, merged_spellings
from shoal.encode.survey import survey_columns
from shoal.errors import DataError, PolicyError
from shoal.formatting import number
from shoal.io.columns import check_names
from shoal.io.frames import to_arrow
from shoal.io.source import CountedTable, Reading, Source, data_spec
from shoal.io.spark import cluster as spark
from shoal.io.spark.check import counted_rows
from shoal.io.spark.cluster import Named
from shoal.io.spark.counts import (
    CoarseColumn,
    coarse_policy,
    coarsen,
    distinct_rows,
    grouped,
    in_full,
)
from shoal.io.spark.survey import ClusterSurvey
from shoal.policy import Policy
from shoal.policy.engine_spec import BLOCKS, CELLS, LEAST
from shoal.policy.spark_location import SparkLocation, read, with_empty_texts
from shoal.policy.spec import DataSpec
from shoal.search.algorithm import Demand
from shoal.search.problem import Progress
from shoal.table.canonical_text import has_text
from shoal.table.recoding import Recoding

_FORMATS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet", ".orc": "orc"}
_CHARSETS = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "ascii": "US-ASCII", "iso8859-1": "ISO-8859-1", "utf-16": "UTF-16",
             "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32": "UTF-32"}  # fmt: skip
_ONE_SLASH = re.compile(r"^(?!file:|dbfs:)([a-z][a-z0-9+.-]*):/(?!/)", re.IGNORECASE)
"""An address that went through a `Path`, which takes two slashes for one."""
NO_TEXT = "\ufdd0\ufdd1"  # is in no text: Spark's sign for a cell without anything, so that an empty text is none


@dataclass(frozen=True)
class SparkSource(Source):
    """A DataFrame of Spark, or what a path, an address or the policy names."""

    data: Any

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
    with_survey: Named  # the frame, and the columns of households and weights


@dataclass(frozen=True, eq=False, kw_only=True)
class SparkReading(Reading):
    """The distinct rows that the driver holds, and the table in the cluster."""

    source: SparkInput
    coarse: Mapping[str, CoarseColumn] = field(default_factory=dict)  # the quasi-identifiers that were made coarser

    def in_full(self, recoding: Recoding) -> Recoding | None:
        """The recoding in the hierarchies as declared, where columns were made coarser."""
        return in_full(recoding, self.coarse) if self.coarse else None


def _fit(source: SparkInput, policy: Policy, progress: Progress) -> SparkReading:
    """Count the distinct rows, and bring as many to the driver as it may hold.

    Where they are too many, insensitive columns are not counted; where that is not enough, quasi-identifiers are made
    coarser.
    """
    allowed, blocks = policy.engine.cells or CELLS, policy.engine.blocks
    progress("counting distinct rows", 0.0)
    names = list(source.frame.names)
    insensitive = tuple(name for name in names if policy.columns[name].role == "insensitive")
    uncounted: tuple[str, ...] = ()
    coarse: Mapping[str, CoarseColumn] = {}
    n_distinct: int | None = None
    while True:
        counted = grouped(source.frame, [name for name in names if name not in uncounted])
        counted.frame.persist()
        try:
            found = int(counted.frame.count())
            n_distinct = found if n_distinct is None else n_distinct
            if found > allowed and insensitive and not uncounted and keeps_duplicates(policy):
                uncounted = insensitive
                continue
            if found <= allowed:
                rows = distinct_rows(counted, found, policy.person_columns)
            elif policy.person_columns:
                raise _too_many_rows_of_people(found, allowed)
            else:
                rows, coarse = coarsen(counted, policy, allowed, progress)
            break
        finally:
            counted.frame.unpersist()
    recoded = "where the records lie" if uncounted else "from counts"
    levels = {name: column.level for name, column in sorted(coarse.items())}
    engine = {"name": "spark", "cells": n_distinct, "cells_held": rows.n_rows, "cells_allowed": allowed,
              "left_out_of_cells": list(uncounted), "coarsened": levels, "recoded": recoded}  # fmt: skip
    lacking = {"utility-in-cluster": policy.utility is not None, "insensitive-in-cluster": bool(uncounted),
               "truthfulness-in-cluster": bool(coarse),
               "survey-coarse": bool(coarse and survey_columns(policy))}  # fmt: skip
    made = {Demand.EQUAL_LABELS: bool(uncounted), Demand.NO_SINGLE_RECORDS: int(rows.counts.sum()) > allowed}
    demands = frozenset(demand for demand, is_so in made.items() if is_so)
    merged, survey = merge_rows(rows, policy.columns), {} if coarse else survey_columns(policy)

    @cache
    def original() -> CountedTable | None:
        """The columns that were counted as they are in the cluster, counted anew: once for all that the verifier does,
        which checks a bound before anything is written, and then the release.
        """
        if coarse:
            return None
        wanted = [name for name in source.raw.names if name in policy.columns and name not in uncounted]
        with spark.spark_errors():
            table, counts = counted_rows(source.raw.select(wanted).public())
        return CountedTable(to_arrow(table, wanted, missing=source.missing)[0], counts)

    return SparkReading(
        merged, source.names, original,
        survey=ClusterSurvey(survey, source.with_survey, merged, policy.source) if survey else None,
        uncounted=uncounted, demands=demands, engine=engine, source=source, coarse=coarse,
        merged_spellings=merged_spellings(rows, policy.columns),
        coarse_policy=coarse_policy(policy, coarse) if coarse else None,
        not_done=tuple(code for code, is_so in lacking.items() if is_so),
        workers=spark.SparkWorkers(source.frame.session, blocks or BLOCKS, 0 if blocks else LEAST),
    )  # fmt: skip


def _too_many_rows_of_people(found: int, allowed: int) -> DataError:
    """With coarser quasi-identifiers nobody could check who is in which class, so people are counted in full or not."""
    return DataError(
        f"the data has {number(found)} distinct rows of people, and the driver may hold {number(allowed)} "
        "(engine.cells). People do not add up over parts of a table, so the driver needs every row of everybody. "
        "Raise engine.cells and give the driver memory for them, leave columns out, or round values in the data.",
        code="too-many-rows-of-people",
    )


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
            message = f"column {name!r} has the type {kind}, which has no single value per cell."
            fix = "Turn it into text, numbers or dates, or leave the column out of the policy."
            raise DataError(f"{message} {fix}", code="unreadable-type")
    missing = tuple(policy.data.missing) if policy.data is not None else ("",)
    survey = [name for name in survey_columns(policy).values() if name not in wanted]
    with_survey = spark.cleaned(raw, [*wanted, *survey], missing)
    return SparkInput(used, spark.cleaned(raw, wanted, missing), names, missing, with_survey)


def _read(data: Any, policy: Policy) -> Any:
    if data is not None and not isinstance(data, str | Path):
        fix = "pass a DataFrame of Spark, a path or spark:FORMAT:PATH, or leave engine out."
        raise DataError(f"engine: spark cannot read a table from {type(data).__name__}: {fix}", code="not-a-table")
    spec = data_spec(policy, data)
    location = spark_location(str(data) if data is not None else spec.path, policy if data is None else None, "data")
    session = spark.session_of(policy.engine.settings)
    with spark.spark_errors(DataError, f"{location} cannot be read as {location.format}", "not-readable"):
        if location.format != "csv":
            return read(session, location)
        frame = read(session, location, text_options(spec, location))
        # some programs put a byte order mark first in a file of text
        names = [name.removeprefix("\ufeff") if not index else name for index, name in enumerate(frame.columns)]
        return with_empty_texts(frame).toDF(*names)


def spark_location(text: str, policy: Policy | None, what: str) -> SparkLocation:
    """A location of Spark's, from its address or from a path whose suffix says the format; relative to the policy."""
    location = SparkLocation.of(text)
    if location is None:
        suffix = next((each for each in _FORMATS if text.rstrip("/").lower().endswith(each)), None)
        if suffix is None:
            written = f"{what}: {{spark: {{format: …, path: {text}}}}}"
            fix = f"Write {written}, or let the name end in one of {', '.join(_FORMATS)}."
            raise DataError(f"the format of {text} is not known. {fix}", code="unknown-format")
        options = (("sep", "\t"),) if suffix == ".tsv" else ()
        location = SparkLocation(_FORMATS[suffix], text, None, options)
    if location.path is None:
        return location
    if ":/" in location.path:
        return replace(location, path=_ONE_SLASH.sub(r"\1://", location.path).rstrip("/"))
    path = Path(location.path) if policy is None else policy.path(location.path)
    return replace(location, path=str(path.absolute()))


def text_options(spec: DataSpec, location: SparkLocation) -> dict[str, str]:
    """How Spark reads text as Shoal does: every cell as it stands, a record of another length an error."""
    separator = spec.separator if spec.separator is not None else dict(location.options).get("sep", ",")
    charset = _CHARSETS.get(codecs.lookup(spec.encoding).name)
    if charset is None:
        message = f"Spark does not read text in {spec.encoding}; it reads {', '.join(_CHARSETS.values())}."
        raise DataError(f"{message} Convert the file, or leave engine out.", code="unknown-encoding")
    return {
        "header": "true", "sep": separator, "encoding": charset, "quote": spec.quote, "escape": spec.quote,
        "mode": "FAILFAST", "inferSchema": "false", "columnPruning": "false", "nullValue": NO_TEXT, "emptyValue": "",
        "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false",
    }  # fmt: skip
