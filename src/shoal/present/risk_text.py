"""The risk of a table on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal.formatting import listing, number, percent, pluralize
from shoal.present.terminal import aligned, folded

if TYPE_CHECKING:
    from shoal.attacks.risk.risk import Risk, Scenario
    from shoal.attacks.risk.subsets import ExtraColumnRisk

_SHOWN = 10
"""Subsets shown on a terminal; the JSON has all of them."""
_STEPS = (1, 2, 5, 10, 20, 50, 100)
"""Smallest class sizes of the rows in the table of class sizes."""


def risk_lines(risk: Risk) -> Iterator[str]:
    """The whole result, line by line."""
    yield from _summary(risk)
    yield ""
    yield from _class_sizes(risk)
    yield ""
    yield from _attackers(risk)
    yield ""
    yield from _columns(risk)
    yield ""
    yield from _subsets(risk)
    if risk.extra_columns:
        yield ""
        yield "Released besides the quasi-identifiers:"
        for each in risk.extra_columns:
            values = pluralize(each.distinct_values, "value")
            yield folded(f"  {each.column} ({each.role}, {values}) {extra_column_phrase(each, risk)}")


def _summary(risk: Risk) -> Iterator[str]:
    yield folded(
        f"{pluralize(risk.records, 'record')} in {pluralize(risk.classes, 'class')} by "
        f"{pluralize(len(risk.quasi), 'quasi-identifier')} ({listing(risk.quasi)}); "
        f"{_share(risk.uniques, risk.records)} unique."
    )
    if risk.suppressed_rows:
        rows = pluralize(risk.suppressed_rows, "row")
        yield f"Not counted: {rows} of * for suppressed records."
    if risk.records_with_missing:
        yield folded(
            f"k = {risk.k:,} if a missing value is a value of its own, {risk.k_if_missing_matches_anything:,} if it "
            f"matches anything. Values are missing in {_share(risk.records_with_missing, risk.records)}."
        )
    else:
        yield f"k = {risk.k:,}. No values are missing."


def _class_sizes(risk: Risk) -> Iterator[str]:
    rows = [["class size", "classes", "records", ""]]
    for low, after in zip(_STEPS, (*_STEPS[1:], None), strict=True):
        inside = {
            size: classes
            for size, classes in risk.classes_by_size.items()
            if low <= size and (after is None or size < after)
        }
        if inside:
            name = f"{low} and more" if after is None else str(low) if low == after - 1 else f"{low} to {after - 1}"
            records = sum(size * classes for size, classes in inside.items())
            rows.append([name, f"{sum(inside.values()):,}", f"{records:,}", percent(records / risk.records)])
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
    if risk.population is None:
        yield "The exact risk from a journalist or a marketer is unknown without a population (--population)."
    else:
        yield from _population(risk)
    estimate = risk.population_uniques
    if estimate is not None:
        unique = estimate.expected_population_uniques_in_the_table
        share = percent(estimate.probability_that_a_unique_is_unique_in_the_population)
        yield folded(
            f"Of {pluralize(risk.uniques, 'unique record')}, about {unique:,.1f} are estimated to be unique in the "
            f"population as well ({share}; {estimate.estimator} with a sampling fraction of "
            f"{number(estimate.sampling_fraction)}, usually too high for small fractions)."
        )


def _population(risk: Risk) -> Iterator[str]:
    people = risk.population
    assert people is not None
    yield f"The population has {pluralize(people.records, 'record')}."
    if people.records_absent or people.records_with_fewer:
        yield folded(
            f"It is incomplete: it has no match for {_share(people.records_absent, risk.records)}, and fewer records "
            f"than the table for the classes of {_share(people.records_with_fewer, risk.records)}. For these, the "
            "table's own class size is used."
        )


def _columns(risk: Risk) -> Iterator[str]:
    yield "How much each column makes people stand out:"
    rows = [["column", "values", "contribution", "unique alone", "unique without", "in minimal uniques"]]
    for each in risk.columns:
        counts = (each.uniques_alone, each.uniques_without, each.records_with_a_minimal_unique)
        rows.append(
            [each.column, f"{each.distinct_values:,}", f"{each.contribution:,.1f}", *(f"{count:,}" for count in counts)]
        )
    yield from aligned(rows, str.rjust)
    yield folded(
        "contribution: how many more records become unique, on average, when the column is added to a subset of fewer "
        f"than {risk.max_columns} of the others; unique without: records unique by all other columns; in minimal "
        "uniques: records that a subset with this column singles out and no smaller subset does."
    )
    singled = [
        f"{records:,} by {pluralize(size, 'column')}"
        for size, records in risk.singled_out_by_columns.items()
        if records
    ]
    yield f"Records singled out, by the fewest columns: {', '.join(singled) or 'none'}."


def _subsets(risk: Risk) -> Iterator[str]:
    telling = [each for each in risk.subsets if each.uniques]
    yield (
        f"Of {pluralize(len(risk.subsets), 'subset')} of up to {pluralize(risk.max_columns, 'column')}, "
        f"{len(telling):,} single someone out:"
    )
    rows = [["uniques", "minimal", "classes", "smallest", "average risk", "columns"]]
    for each in telling[:_SHOWN] or risk.subsets[:_SHOWN]:
        counts = (each.uniques, each.minimal_uniques, each.classes, each.smallest_class)
        rows.append([*(f"{count:,}" for count in counts), f"{each.average_risk:.4f}", ", ".join(each.columns)])
    numbers = aligned([row[:-1] for row in rows], str.rjust)
    yield from (f"{line}  {row[-1]}" for line, row in zip(numbers, rows, strict=True))
    left = len(risk.subsets) - (len(rows) - 1)
    if left:
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
        added = (
            f"{pluralize(column.added_uniques, 'more record')} {'is' if column.added_uniques == 1 else 'are'} unique"
        )
        alone = f" ({number(column.uniques_alone)} by this column alone)" if column.uniques_alone else ""
        return f"{head}with it, {added}{alone}.{fix}"
    if column.outcome == "adds-to-few":
        already = (
            "every record is unique without it" if risk.uniques == risk.records else "with all the others it adds none"
        )
        mean = f"added to a few quasi-identifiers it makes {column.contribution:,.1f} more records unique on average"
        return f"{head}{already}, but {mean}.{fix}"
    if column.outcome == "splits-classes":
        without = percent(risk.classes / risk.records)
        with_it = percent(column.average_risk)
        return f"makes no record unique but splits classes: average risk {with_it} instead of {without}."
    return "adds nothing: it splits no class of the quasi-identifiers."
