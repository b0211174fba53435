"""`risk`: what an attacker could do with a table as it stands, before anything is done to it.

Only the roles of the policy are used: values count as they are written, without hierarchies, and the models need not be
reachable. The table may be a release as well.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks.risk.people import people_risk
from shoal.attacks.risk.population_uniques import PopulationUniques, population_uniques
from shoal.attacks.risk.risk import (
    CodedColumn,
    Marketer,
    PopulationFacts,
    Risk,
    class_size_for,
    company_if_missing_matches,
    expected_share_linked,
    population_of,
    scenario,
)
from shoal.attacks.risk.subsets import measure_extra_column, measure_subsets
from shoal.attacks.risk.survey import survey_risk
from shoal.encode.resolve import unknown_columns
from shoal.encode.result import release_columns
from shoal.encode.spellings import merge_table
from shoal.encode.survey import SurveyDesign, survey_columns
from shoal.errors import DataError, InputError, PolicyError, PolicyProblem, did_you_mean
from shoal.io import canonical_text, column_names, encode, parse_location, read_table, release_source
from shoal.io.source import data_source, read_columns
from shoal.pipeline.run import as_policy
from shoal.policy import Policy
from shoal.policy.data_source import DataSource
from shoal.policy.spec import ColumnSpec
from shoal.search.problem import Progress, no_progress
from shoal.table.encoded import Counts, EncodedTable, encode_table
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.star_readings import Stars
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
    household: str | None = None,
    weight: str | None = None,
    progress: Progress = no_progress,
) -> Risk:
    """How open a table is by its quasi-identifiers as they stand.

    ``data`` is a path, a DataFrame or an Arrow table, a release included; None takes the policy's own ``data``. Every
    subset of at most ``max_columns`` quasi-identifiers is looked at. Risks above ``threshold`` are counted.
    ``population`` is a table of the population that the data was drawn from; where there is none,
    ``sampling_fraction`` - the share of it that the data is - allows an estimate of how many are unique there.
    ``household`` and ``weight`` are columns of the data, in place of those that the policy names: who lives together,
    and how many people of the population each record stands for, which also gives the sampling fraction.

    Raises `PolicyError`, `DataError` or `InputError` for input that is wrong.
    """
    _check_options(max_columns, threshold, sampling_fraction)
    asked = as_policy(policy, "risk()")
    progress("reading", 0.0)
    given = {key: name for key, name in (("household", household), ("weight", weight)) if name is not None}
    survey = survey_columns(asked) | given
    everything, suppressed = _without_stars(_read(data, asked, survey, given), asked)
    table = everything.select(_measured_columns(asked))
    columns = _encoded(table, asked)
    present = {key: name for key, name in survey.items() if name in everything.column_names}
    persons = {name: CodedColumn(*encode(everything.column(name))) for name in _person_columns(everything, asked)}
    design = SurveyDesign.of(everything, present, asked.source) if present else None
    quasi = {name: columns[name] for name in asked.names("quasi")}
    beside = [name for name in columns if name not in quasi]
    encoded = encode_table(
        {name: (column.codes, len(column.labels)) for name, column in quasi.items()},
        {name: columns[name].codes for name in beside},
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
        population_uniques=_uniques(sizes, sampling_fraction, design),
        max_columns=found.max_columns,
        subsets=tuple(sorted(found.subsets, key=lambda each: (-each.uniques, len(each.columns)))),
        columns=tuple(sorted(found.columns, key=lambda each: (-each.contribution, order[each.column]))),
        singled_out_by_columns=found.singled_out,
        extra_columns=tuple(more),
        survey=None if design is None else survey_risk(design, encoded.row_tuple, threshold),
        people=people_risk(persons, encoded.row_tuple, threshold) if persons else None,
        not_in_the_table=tuple(survey[key] for key in survey if key not in present) or None,
    )


def _person_columns(table: pa.Table, policy: Policy) -> tuple[str, ...]:
    """The columns that tell people apart; none where the table, such as a release, does not have all of them."""
    names = policy.person_columns
    return names if set(names) <= set(table.column_names) else ()


def _uniques(sizes: Counts, given: float | None, design: SurveyDesign | None) -> PopulationUniques | None:
    """The uniques of the population, by the sampling fraction that was given or that the weights sum to."""
    if given is None and design is not None and design.weights is not None:
        given = min(len(design.weights.whole) / math.fsum(design.weights.numbers()), 1.0)
    return None if given is None else population_uniques(sizes, given)


def _check_options(max_columns: object, threshold: object, sampling_fraction: object) -> None:
    if not isinstance(max_columns, int) or isinstance(max_columns, bool) or max_columns < 1:
        raise InputError(f"max_columns must be a whole number, 1 or more, not {max_columns!r}.", code="bad-option")
    for name, share in (("threshold", threshold), ("sampling_fraction", sampling_fraction)):
        if share is None and name == "sampling_fraction":
            continue
        good = isinstance(share, (int, float)) and not isinstance(share, bool) and math.isfinite(share)
        if not good or not 0 < float(share) <= 1:  # type: ignore[arg-type]
            raise InputError(f"{name} must be a number above 0 and at most 1, not {share!r}.", code="bad-option")


def _read(data: Any, policy: Policy, survey: Mapping[str, str], given: Mapping[str, str]) -> pa.Table:
    """The columns that the policy names, without identifiers; read as the policy says, else as a release is written.

    Those of the survey as well; they may be absent only where the policy names them and a release has no identifiers.
    """
    wanted = _measured_columns(policy)
    every = list(dict.fromkeys([*wanted, *survey.values(), *policy.person_columns]))
    release = _written_as_a_release(data, policy, wanted)
    if release is None:
        loaded, hint = read_columns(data, policy, every)
        table, names = loaded.table, loaded.names
    else:
        names, hint = column_names(release), ""
        table = read_table(release, [name for name in every if name in names])
    lacking = unknown_columns({name: ColumnSpec(role="quasi") for name in wanted}, names, hint)
    for key, name in given.items():
        if name not in names:
            message = f"the data has no column {name!r}."
            lacking.append(PolicyProblem(key, message, did_you_mean(name, names), code="unknown-column"))
    if lacking:
        raise PolicyError(lacking, policy.source)
    if not table.num_rows:
        raise DataError("the data has a header and no records: there is nothing to measure.", code="no-records")
    return merge_table(table, policy.columns)


def _measured_columns(policy: Policy) -> list[str]:
    """The columns that are released as the table has them, generalized or not: all but pseudonyms."""
    return [name for name in release_columns(policy, list(policy.columns)) if name != policy.pseudonym]


def _written_as_a_release(data: Any, policy: Policy, wanted: Sequence[str]) -> DataSource | None:
    """A file that has the columns only with commas and UTF-8, as releases are written whatever the data had."""
    if not isinstance(data, (str, Path)) or not isinstance(parse_location(data), Path):
        return None
    if set(wanted) <= set(column_names(data_source(policy, data))):
        return None
    source = release_source(Path(data))
    return source if set(wanted) <= set(column_names(source)) else None


def _without_stars(table: pa.Table, policy: Policy) -> tuple[pa.Table, int]:
    """The table without the rows of ``*`` that stand for suppressed records in a release, and how many they were."""
    if policy.suppressed != "star":
        return table, 0
    asked = stated(policy)
    texts = {name: canonical_text(table.column(name)) for name in _measured_columns(policy)}
    ones = np.ones(table.num_rows, dtype=np.int64)
    stars = Stars.of(texts, asked, quasi_labels(asked), ones)
    shown = stars.left(ones, stars.usual) > 0
    if not shown.any():
        message = f"all {table.num_rows} rows are * and stand for suppressed records: nothing is left to measure."
        raise DataError(message, code="no-records")
    return table.filter(pa.array(shown)), stars.usual


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


def _population(population: Any, policy: Policy, quasi: Columns, table: EncodedTable) -> tuple[PopulationFacts, Counts]:
    """The class sizes in a population, which is read as the policy's data is."""
    loaded, _ = read_columns(population, policy, list(quasi))
    for name in quasi:
        if name not in loaded.names:
            message = f"the population lacks the quasi-identifier {name!r}. {did_you_mean(name, loaded.names)}"
            raise DataError(message, code="unknown-column")
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
