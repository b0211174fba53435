"""The risk of a table on the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shoal.formatting import listing, number, percent, pluralize
from shoal.present.people import people_phrase
from shoal.present.terminal import aligned, folded

if TYPE_CHECKING:
    from shoal.attacks.risk.people import PeopleRisk
    from shoal.attacks.risk.population_uniques import Estimate, PopulationUniques
    from shoal.attacks.risk.risk import Risk, Scenario
    from shoal.attacks.risk.subsets import ExtraColumnRisk
    from shoal.attacks.risk.survey import SurveyRisk

_SHOWN = 10  # subsets shown on a terminal; the JSON has all of them
_STEPS = (1, 2, 5, 10, 20, 50, 100)  # smallest class sizes of the rows in the table of class sizes


def risk_lines(risk: Risk) -> Iterator[str]:
    """The whole result, line by line."""
    yield folded(
        f"{pluralize(risk.records, 'record')} in {pluralize(risk.classes, 'class')} by "
        f"{pluralize(len(risk.quasi), 'quasi-identifier')} ({listing(risk.quasi)}); "
        f"{_share(risk.uniques, risk.records)} unique."
    )
    if risk.suppressed_rows:
        yield f"Not counted: {pluralize(risk.suppressed_rows, 'row')} of * for suppressed records."
    if risk.records_with_missing:
        yield folded(
            f"k = {risk.k:,} if a missing value is a value of its own, {risk.k_if_missing_matches_anything:,} if it "
            f"matches anything. Quasi-identifiers are missing in {_share(risk.records_with_missing, risk.records)}."
        )
    else:
        yield f"k = {risk.k:,}. No quasi-identifier is missing."
    if risk.people is not None:
        yield folded(_of_people(risk.people, risk.threshold))
    for part in (_class_sizes, _attackers, _survey, _population_uniques, _columns, _subsets):
        if lines := list(part(risk)):
            yield ""
            yield from lines
    if risk.extra_columns:
        yield ""
        yield "Released besides the quasi-identifiers:"
        for each in risk.extra_columns:
            values = pluralize(each.distinct_values, "value")
            yield folded(f"  {each.column} ({each.role}, {values}) {extra_column_phrase(each, risk)}")


def _of_people(people: PeopleRisk, threshold: float) -> str:
    alone = f"{people_phrase(people.alone)} {'is' if people.alone == 1 else 'are'} alone in a class"
    return (
        f"By {listing(people.columns)}, these records belong to {people_phrase(people.people)}. To somebody who knows "
        f"one record of a person, {alone} (k = {people.k:,} in people). The risk of a person is at most "
        f"{people.highest:.4f}, {people.average:.4f} on average, and above {number(threshold)} for "
        f"{people_phrase(people.above_threshold)}. The figures below count records."
    )


def _class_sizes(risk: Risk) -> Iterator[str]:
    rows = [["class size", "classes", "records", ""]]
    for low, after in zip(_STEPS, (*_STEPS[1:], math.inf), strict=True):
        if inside := {size: classes for size, classes in risk.classes_by_size.items() if low <= size < after}:
            above = "" if low == after - 1 else f" to {after - 1}" if after < math.inf else " and more"
            records = sum(size * classes for size, classes in inside.items())
            rows.append([f"{low}{above}", f"{sum(inside.values()):,}", f"{records:,}", percent(records / risk.records)])
    yield from aligned(rows, str.rjust)


def _attackers(risk: Risk) -> Iterator[str]:
    at_most = "" if risk.journalist is not None else "at most "
    journalist = [f"{at_most}{figure}" for figure in _figures(risk.journalist or risk.prosecutor)]
    threshold = number(risk.threshold)
    yield from aligned(
        [
            ["risk of re-identification", "highest", "average", f"records above {threshold}"],
            ["prosecutor (knows that the person is in the table)", *_figures(risk.prosecutor)],
            ["journalist (picks someone from the population)", *journalist],
            ["marketer (links every record)", "", f"{at_most}{risk.marketer.expected_share_linked:.4f}", ""],
        ]
    )
    yield f"Records above {threshold} are in classes of fewer than {risk.class_size_for_threshold:,}."
    people = risk.population
    if people is None:
        yield "The exact risk from a journalist or a marketer is unknown without a population (--population)."
    else:
        yield f"The population has {pluralize(people.records, 'record')}."
        if people.records_absent or people.records_with_fewer:
            yield folded(
                f"It is incomplete: it has no match for {_share(people.records_absent, risk.records)}, and fewer "
                f"records than the table for the classes of {_share(people.records_with_fewer, risk.records)}. For "
                "these, the table's own class size is used."
            )


def _survey(risk: Risk) -> Iterator[str]:
    if risk.survey is not None:
        yield from aligned(survey_rows([risk.survey], ["figure"]))
        yield from map(folded, survey_notes(risk.survey))
    for name in risk.not_in_the_table or ():
        yield f"The table has no column {name!r}, which is not released: its risk can be measured on the data only."


def survey_rows(risks: Sequence[SurveyRisk], heads: Sequence[str]) -> list[list[str]]:
    """The figures of a survey as a table: a column for each of some tables of the same records."""
    rows = [["risk of the survey", *heads]]
    threshold = number(risks[0].threshold)
    people = [each.individual for each in risks if each.individual is not None]
    if people:
        rows += [
            ["record, with weights: highest", *(f"{each.highest:.4f}" for each in people)],
            ["record, with weights: average", *(f"{each.average:.4f}" for each in people)],
            [
                f"records above {threshold}",
                *(_of(each.records_above_threshold, each.above_threshold) for each in people),
            ],
            ["expected re-identifications", *(f"{each.expected_reidentifications:,.1f}" for each in people)],
        ]
    homes = [each.households for each in risks if each.households is not None]
    if homes:
        above = [_of(each.households_above_threshold, each.above_threshold) for each in homes]
        rows += [
            ["household, found through any member: highest", *(f"{each.highest:.4f}" for each in homes)],
            ["household, found through any member: average", *(f"{each.average:.4f}" for each in homes)],
            [f"households above {threshold}", *above],
            ["expected households found", *(f"{each.expected_households_found:,.1f}" for each in homes)],
            ["expected records in them", *(f"{each.expected_records_in_them:,.1f}" for each in homes)],
        ]
    return rows


def survey_notes(risk: SurveyRisk) -> Iterator[str]:
    """What the figures of a survey rest on."""
    people, homes = risk.individual, risk.households
    if people is not None:
        yield (
            f"The weights ({people.column}) sum to a population of {number(people.population)}. The risk of a record "
            "is the expected 1 / number of people like it in the population (Benedetti and Franconi 1998)."
        )
        if people.records_with_small_weights:
            records = pluralize(people.records_with_small_weights, "record is", "records are")
            yield f"{records} in classes whose weights sum to less than their records: they count by their records."
    if homes is not None:
        basis = "the risk with weights" if homes.weighted else "1 / size of the class"
        yield (
            f"{pluralize(homes.households, 'household')} ({homes.column}), the largest of "
            f"{pluralize(homes.largest, 'record')}. A household is found if any member is, each with {basis} and "
            "independently of the others."
        )


def _of(count: int, share: float) -> str:
    return f"{count:,} ({percent(share)})"


_NO_ESTIMATE = {
    "no-uniques": "no record is unique",
    "all-unique": "every record is unique, so its parameters cannot be estimated",
    "one-class": "all records are in one class, so its parameters cannot be estimated",
    "no-maximum": "the class sizes do not follow its distribution",
    "no-solution": "no parameters give these class sizes",
    "several-solutions": "different parameters give these class sizes",
    "not-converged": "the iteration did not converge",
}


def _population_uniques(risk: Risk) -> Iterator[str]:
    found = risk.population_uniques
    if found is None:
        return
    unique = found.expected_population_uniques_in_the_table
    share = percent(found.probability_that_a_unique_is_unique_in_the_population)
    yield folded(
        f"Of {pluralize(risk.uniques, 'unique record')}, about {unique:,.1f} are estimated to be unique in the "
        f"population as well ({share}; {found.estimator} with a sampling fraction of "
        f"{number(found.sampling_fraction)}{_caution(found)}). By estimator:"
    )
    yield from (folded(f"  {each.estimator}: {_estimate(each)}") for each in found.estimates)


def _caution(found: PopulationUniques) -> str:
    """Zayatz is what is left at small fractions where Pitman has no estimate."""
    small = found.estimator == found.estimates[0].estimator and found.sampling_fraction < 1 / 2
    return ", usually too high for small fractions" if small else ""


def _estimate(each: Estimate) -> str:
    if each.expected_population_uniques_in_the_table is None:
        return f"no estimate, {_NO_ESTIMATE[each.outcome]}"
    share = percent(each.probability_that_a_unique_is_unique_in_the_population or 0.0)
    return f"{each.expected_population_uniques_in_the_table:,.1f} ({share})"


def _columns(risk: Risk) -> Iterator[str]:
    yield "How much each column makes people stand out:"
    rows = [["column", "values", "contribution", "unique alone", "unique without", "in minimal uniques"]]
    for each in risk.columns:
        counts = (each.uniques_alone, each.uniques_without, each.records_with_a_minimal_unique)
        row = [each.column, f"{each.distinct_values:,}", f"{each.contribution:,.1f}"]
        rows.append([*row, *(f"{count:,}" for count in counts)])
    yield from aligned(rows, str.rjust)
    yield folded(
        "contribution: how many more records become unique, on average, when the column is added to a subset of fewer "
        f"than {risk.max_columns} of the others; unique without: records unique by all other columns; in minimal "
        "uniques: records that a subset with this column singles out and no smaller subset does."
    )
    singled = risk.singled_out_by_columns.items()
    fewest = ", ".join(f"{records:,} by {pluralize(size, 'column')}" for size, records in singled if records)
    yield f"Records singled out, by the fewest columns: {fewest or 'none'}."


def _subsets(risk: Risk) -> Iterator[str]:
    telling = [each for each in risk.subsets if each.uniques]
    subsets, most = pluralize(len(risk.subsets), "subset"), pluralize(risk.max_columns, "column")
    yield f"Of {subsets} of up to {most}, {len(telling):,} single someone out:"
    rows = [["uniques", "minimal", "classes", "smallest", "average risk", "columns"]]
    for each in telling[:_SHOWN] or risk.subsets[:_SHOWN]:
        counts = (each.uniques, each.minimal_uniques, each.classes, each.smallest_class)
        rows.append([*(f"{count:,}" for count in counts), f"{each.average_risk:.4f}", ", ".join(each.columns)])
    numbers = aligned([row[:-1] for row in rows], str.rjust)
    yield from (f"{line}  {row[-1]}" for line, row in zip(numbers, rows, strict=True))
    if left := len(risk.subsets) - (len(rows) - 1):
        yield f"and {pluralize(left, 'more subset')}, all listed with --json."


def _figures(scenario: Scenario) -> list[str]:
    above = f"{scenario.records_above_threshold:,} ({percent(scenario.above_threshold)})"
    return [f"{scenario.highest:.4f}", f"{scenario.average:.4f}", above]


def _share(count: int, of: int) -> str:
    return f"{pluralize(count, 'record')} ({percent(count / of)})"


def extra_column_phrase(column: ExtraColumnRisk, risk: Risk) -> str:
    """What a column adds to the quasi-identifiers, as the end of a sentence that begins with its name."""
    insensitive = column.role == "insensitive"
    head = "acts as a quasi-identifier: " if insensitive else "singles people out if it is known: "
    fix = " If others may know it, give it the role quasi or leave it out." if insensitive else ""
    if column.outcome == "identifies":
        fix = " Leave it out, or give it the role identifier." if insensitive else ""
        return f"has a different value in every record, like an identifier.{fix}"
    if column.outcome == "adds-uniques":
        added = pluralize(column.added_uniques, "more record is", "more records are")
        alone = f" ({number(column.uniques_alone)} by this column alone)" if column.uniques_alone else ""
        return f"{head}with it, {added} unique{alone}.{fix}"
    if column.outcome == "adds-to-few":
        every = risk.uniques == risk.records
        already = "every record is unique without it" if every else "with all the others it adds none"
        mean = f"added to a few quasi-identifiers it makes {column.contribution:,.1f} more records unique on average"
        return f"{head}{already}, but {mean}.{fix}"
    if column.outcome == "splits-classes":
        without, with_it = percent(risk.classes / risk.records), percent(column.average_risk)
        return f"makes no record unique but splits classes: average risk {with_it} instead of {without}."
    return "adds nothing: it splits no class of the quasi-identifiers."
