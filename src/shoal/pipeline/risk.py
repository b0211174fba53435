"""`risk`: what an attacker could do with a table as it stands, before anything is done to it.

Only the roles of the policy are used: values count as they are written, without hierarchies, and the models need not be
reachable. The table may be a release as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks.missing import company_if_missing_matches
from shoal.attacks.risk.risk import (
    CodedColumn,
    Counts,
    Marketer,
    PopulationFacts,
    Risk,
    class_size_for,
    estimate_uniques,
    expected_share_linked,
    population_of,
    scenario,
)
from shoal.attacks.risk.subsets import measure_extra_column, measure_subsets
from shoal.encode.resolve import unknown_columns, used_columns
from shoal.errors import DataError, InputError, PolicyError, PolicyProblem, did_you_mean
from shoal.hierarchies.hierarchy import ROOT_LABEL
from shoal.io import column_names, encode, place, read_table, release_source
from shoal.io.source import read_columns
from shoal.pipeline.run import as_policy
from shoal.policy import Policy
from shoal.policy.spec import ColumnSpec
from shoal.search.problem import Progress, no_progress
from shoal.table.encoded import EncodedTable, encode_table
from shoal.verification.ranges import quasi_labels
from shoal.verification.release_checks import star_rows
from shoal.verification.stated_policy import stated

Columns = Mapping[str, CodedColumn]


def risk(
    data: Any = None,
    policy: Policy | str | Path | Mapping[str, Any] | None = None,
    *,
    max_columns: int = 3,
    threshold: float = 0.2,
    population: Any = None,
    sampling_fraction: float | None = None,
    progress: Progress = no_progress,
) -> Risk:
    """How open a table is by its quasi-identifiers as they stand.

    ``data`` is a path, a DataFrame or an Arrow table, a release included; None takes the policy's own ``data``. Every
    subset of at most ``max_columns`` quasi-identifiers is looked at. Risks above ``threshold`` are counted.
    ``population`` is a table of the population that the data was drawn from; where there is none,
    ``sampling_fraction`` - the share of it that the data is - allows an estimate of how many are unique there.

    Raises `PolicyError`, `DataError` or `InputError` for input that is wrong.
    """
    _check_options(max_columns, threshold, sampling_fraction)
    asked = as_policy(policy, "risk()")
    progress("reading", 0.0)
    table, suppressed = _without_stars(_read(data, asked), asked)
    columns = _encoded(table, asked)
    quasi = {name: columns[name] for name in asked.names("quasi")}
    beside = [name for name in columns if name not in quasi]
    encoded = encode_table(
        {name: (column.codes, len(column.labels)) for name, column in quasi.items()},
        {name: (columns[name].codes, len(columns[name].labels)) for name in beside},
        table.num_rows,
    )
    people = None if population is None else _population(population, asked, quasi, encoded)
    sizes = encoded.counts
    size, classes = np.unique(sizes, return_counts=True)
    lacking = [np.array([each is None for each in column.labels]) for column in quasi.values()]
    missing = np.stack([of_label[encoded.codes[j]] for j, of_label in enumerate(lacking)])
    radices = [len(column.labels) for column in quasi.values()]
    found = measure_subsets(encoded, radices, max_columns, progress)
    order = {name: index for index, name in enumerate(quasi)}
    more = []
    for name in encoded.pairs:
        progress(f"{name}, released beside the quasi-identifiers", 1.0)
        more.append(measure_extra_column(encoded, radices, name, asked.columns[name].role, found))
    return Risk(
        records=encoded.n_rows,
        suppressed_rows=suppressed,
        quasi=tuple(quasi),
        classes=encoded.n_tuples,
        uniques=int((sizes == 1).sum()),
        k=int(sizes.min()),
        k_if_missing_matches_anything=int(company_if_missing_matches(encoded.codes, missing, sizes).min()),
        records_with_missing=int(sizes[missing.any(axis=0)].sum()),
        classes_by_size={int(each): int(count) for each, count in zip(size, classes, strict=True)},
        threshold=threshold,
        class_size_for_threshold=class_size_for(threshold),
        prosecutor=scenario(sizes, sizes, threshold),
        journalist=None if people is None else scenario(sizes, people[1], threshold),
        marketer=Marketer(expected_share_linked(sizes, sizes if people is None else people[1]), people is None),
        population=None if people is None else people[0],
        population_uniques=None if sampling_fraction is None else estimate_uniques(sizes, sampling_fraction),
        max_columns=found.max_columns,
        subsets=tuple(sorted(found.subsets, key=lambda each: (-each.uniques, len(each.columns)))),
        columns=tuple(sorted(found.columns, key=lambda each: (-each.contribution, order[each.column]))),
        singled_out_by_columns=found.singled_out,
        extra_columns=tuple(more),
    )


def _check_options(max_columns: object, threshold: object, sampling_fraction: object) -> None:
    if not isinstance(max_columns, int) or isinstance(max_columns, bool) or max_columns < 1:
        raise InputError(f"max_columns must be a whole number, 1 or more, not {max_columns!r}.", code="bad-option")
    for name, share in (("threshold", threshold), ("sampling_fraction", sampling_fraction)):
        if share is None and name == "sampling_fraction":
            continue
        good = isinstance(share, (int, float)) and not isinstance(share, bool) and math.isfinite(share)
        if not good or not 0 < float(share) <= 1:  # type: ignore[arg-type]
            raise InputError(f"{name} must be a number above 0 and at most 1, not {share!r}.", code="bad-option")


def _read(data: Any, policy: Policy) -> pa.Table:
    """The columns that the policy names, without identifiers; read as the policy says, else as a release is written."""
    wanted = used_columns(policy)
    loaded, hint = read_columns(data, policy, wanted)
    table, names = loaded.table, loaded.names
    if not set(wanted) <= set(names) and isinstance(data, (str, Path)) and isinstance(place(data), Path):
        source = release_source(Path(data))  # a release has commas and UTF-8 whatever the data had
        if set(wanted) <= set(column_names(source)):
            table, names = read_table(source, wanted), wanted
    lacking = unknown_columns({name: ColumnSpec(role="quasi") for name in wanted}, names, hint)
    if lacking:
        raise PolicyError(lacking, policy.source)
    if not table.num_rows:
        raise DataError("the data has a header and no records: there is nothing to measure.", code="no-records")
    return table.select(wanted)


def _without_stars(table: pa.Table, policy: Policy) -> tuple[pa.Table, int]:
    """The table without the rows of ``*`` that stand for suppressed records in a release, and how many they were."""
    if policy.suppressed != "star":
        return table, 0
    others = [name for name in table.column_names if policy.columns[name].role != "quasi"]
    starred = np.ones(table.num_rows, dtype=np.bool_)
    for name in table.column_names:
        labels, codes = encode(table.column(name))
        sign = None if name in others else ROOT_LABEL
        starred &= np.array([label == sign for label in labels], dtype=np.bool_)[codes]
    if not others and starred.any():
        texts = {name: pa.array([ROOT_LABEL] * int(starred.sum())) for name in table.column_names}
        asked = stated(policy)
        if not star_rows(texts, asked, quasi_labels(asked)).any():
            return table, 0  # nothing tells them from a class that was generalized to the roots
    if starred.all():
        raise DataError(
            f"all {table.num_rows} rows are * and stand for suppressed records: nothing is left to measure.",
            code="no-records",
        )
    return table.filter(pa.array(~starred)), int(starred.sum())


def _encoded(table: pa.Table, policy: Policy) -> dict[str, CodedColumn]:
    """The columns as codes; sensitive ones only where their values are published. Raises where one has no value."""
    columns, problems = {}, []
    for name in table.column_names:
        role = policy.columns[name].role
        if role == "sensitive" and policy.published(name) == "categories":
            continue
        try:
            columns[name] = CodedColumn(*encode(table.column(name)))
        except DataError as error:
            problems.append(PolicyProblem(f"columns.{name}", str(error), code="unreadable-type"))
            continue
        if columns[name].labels == [None] and role != "insensitive":
            message = f"has no value in any of the {table.num_rows} records."
            fix = "Check the missing marks under data, or leave the column out."
            problems.append(PolicyProblem(f"columns.{name}", message, fix, code="no-values"))
    if problems:
        raise PolicyError(problems, policy.source)
    return columns


def _population(given: Any, policy: Policy, quasi: Columns, table: EncodedTable) -> tuple[PopulationFacts, Counts]:
    """The class sizes in a population, which is read as the policy's data is."""
    loaded, _ = read_columns(given, policy, list(quasi))
    for name in quasi:
        if name not in loaded.names:
            raise DataError(
                f"the population lacks the quasi-identifier {name!r}. {did_you_mean(name, loaded.names)}",
                code="unknown-column",
            )
    if not loaded.table.num_rows:
        raise DataError("the population has a header and no records.", code="no-records")
    rows = [CodedColumn(*encode(loaded.table.column(name))) for name in quasi]
    classes = [CodedColumn(column.labels, table.codes[j]) for j, column in enumerate(quasi.values())]
    found, sizes = population_of(classes, table.counts, rows)
    if found.records_absent == table.n_rows:
        raise DataError(
            f"the population of {found.records} records has no record with the quasi-identifiers of any of the "
            f"{table.n_rows} records of the data. It must have the same values, written in the same way.",
            code="population-differs",
        )
    return found, sizes
