"""The risk of a table on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal.formatting import listing, number, percent, pluralize
from shoal.present.terminal import aligned, folded

if TYPE_CHECKING:
    from shoal.attacks.risk import Risk
    from shoal.attacks.risk.scenarios import Scenario

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
    if risk.beside:
        yield ""
        yield "Released besides the quasi-identifiers:"
        for each in risk.beside:
            yield folded(f"  {each.column} ({each.role}, {pluralize(each.distinct, 'value')}) {each.verdict}")


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
            f"k = {risk.k:,} if a missing value is a value of its own, {risk.k_if_missing_matches:,} if it matches "
            f"anything. Values are missing in {_share(risk.records_with_missing, risk.records)}."
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
            ["marketer (links every record)", "", f"{at_most}{risk.marketer:.4f}", ""],
        ]
    )
    yield f"Records above {threshold} are in classes of fewer than {risk.enough:,}."
    if risk.population is None:
        yield "The exact risk from a journalist or a marketer is unknown without a population (--population)."
    else:
        yield from _population(risk)
    estimate = risk.population_uniques
    if estimate is not None:
        yield folded(
            f"Of {pluralize(risk.uniques, 'unique record')}, about {estimate.records:,.1f} are estimated to be unique "
            f"in the population as well ({percent(estimate.probability)}; Zayatz 1991 with a sampling fraction of "
            f"{number(estimate.sampling_fraction)}, usually too high for small fractions)."
        )


def _population(risk: Risk) -> Iterator[str]:
    people = risk.population
    assert people is not None
    yield f"The population has {pluralize(people.records, 'record')}."
    if people.absent_records or people.short_records:
        yield folded(
            f"It is incomplete: it has no match for {_share(people.absent_records, risk.records)}, and fewer records "
            f"than the table for the classes of {_share(people.short_records, risk.records)}. For these, the "
            "table's own class size is used."
        )


def _columns(risk: Risk) -> Iterator[str]:
    yield "How much each column makes people stand out:"
    rows = [["column", "values", "contribution", "unique alone", "unique without", "in minimal uniques"]]
    for each in risk.columns:
        counts = (each.uniques_alone, each.uniques_without, each.in_minimal)
        rows.append(
            [each.column, f"{each.distinct:,}", f"{each.contribution:,.1f}", *(f"{count:,}" for count in counts)]
        )
    yield from aligned(rows, str.rjust)
    yield folded(
        "contribution: how many more records become unique, on average, when the column is added to a subset of fewer "
        f"than {risk.max_columns} of the others; unique without: records unique by all other columns; in minimal "
        "uniques: records that a subset with this column singles out and no smaller subset does."
    )
    singled = [f"{records:,} by {pluralize(size, 'column')}" for size, records in risk.singled_out.items() if records]
    yield f"Records singled out, by the fewest columns: {', '.join(singled) or 'none'}."


def _subsets(risk: Risk) -> Iterator[str]:
    telling = [each for each in risk.subsets if each.uniques]
    yield (
        f"Of {pluralize(len(risk.subsets), 'subset')} of up to {pluralize(risk.max_columns, 'column')}, "
        f"{len(telling):,} single someone out:"
    )
    rows = [["uniques", "minimal", "classes", "smallest", "average risk", "columns"]]
    for each in telling[:_SHOWN] or risk.subsets[:_SHOWN]:
        counts = (each.uniques, each.minimal_uniques, each.classes, each.smallest)
        rows.append([*(f"{count:,}" for count in counts), f"{each.average:.4f}", ", ".join(each.columns)])
    numbers = aligned([row[:-1] for row in rows], str.rjust)
    yield from (f"{line}  {row[-1]}" for line, row in zip(numbers, rows, strict=True))
    left = len(risk.subsets) - (len(rows) - 1)
    if left:
        yield f"and {pluralize(left, 'more subset')}, all listed with --json."


def _figures(scenario: Scenario) -> list[str]:
    above = f"{scenario.records_above:,} ({percent(scenario.above)})"
    return [f"{scenario.highest:.4f}", f"{scenario.average:.4f}", above]


def _share(count: int, of: int) -> str:
    return f"{pluralize(count, 'record')} ({percent(count / of)})"
