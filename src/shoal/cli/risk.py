"""`shoal risk`: the risk of a table in words and tables, for a terminal."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

import typer

from shoal.attacks.risk.risk import Risk, Scenario
from shoal.cli.commands import interruptible, load_policy
from shoal.cli.progress import progress_bar
from shoal.cli.show import aligned, counted
from shoal.formatting import percent
from shoal.pipeline.risk import risk
from shoal.present.risk import extra_column_phrase

_SHOWN = 10
"""Subsets shown on a terminal; the JSON has all of them."""
_STEPS = (1, 2, 5, 10, 20, 50, 100)
"""Where the rows of the table of class sizes begin."""
_WIDTH = 100


@interruptible
def run_risk(
    data: Path,
    policy_path: Path,
    *,
    max_columns: int,
    threshold: float,
    population: Path | None,
    sampling_fraction: float | None,
    as_json: bool,
) -> None:
    """Measure and show."""
    policy = load_policy(policy_path, data)
    with progress_bar() as progress:
        found = risk(
            data,
            policy,
            max_columns=max_columns,
            threshold=threshold,
            population=population,
            sampling_fraction=sampling_fraction,
            progress=progress,
        )
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
        return
    for line in risk_lines(found):
        typer.echo(line)


def risk_lines(found: Risk) -> Iterator[str]:
    """The whole result, line by line."""
    yield from _head(found)
    yield ""
    yield from _sizes(found)
    yield ""
    yield from _attackers(found)
    yield ""
    yield from _columns(found)
    yield ""
    yield from _subsets(found)
    if found.extra_columns:
        yield ""
        yield from _beside(found)


def _head(found: Risk) -> Iterator[str]:
    quasi = counted(len(found.quasi), "quasi-identifier", "quasi-identifiers")
    yield from _filled(
        f"{counted(found.records, 'record', 'records')} in {counted(found.classes, 'class', 'classes')} by {quasi} "
        f"({', '.join(found.quasi)}); {_share(found.uniques, found.records)} unique."
    )
    if found.suppressed_rows:
        one = found.suppressed_rows == 1
        rows = counted(found.suppressed_rows, "row", "rows")
        fate = "stands for a suppressed record and is" if one else "stand for suppressed records and are"
        yield f"{rows} of * {fate} not counted."
    if found.records_with_missing:
        yield (
            f"k is {found.k} with a missing value as a value of its own, {found.k_if_missing_matches_anything} if it "
            f"matches anything ({_share(found.records_with_missing, found.records)} lacking a value)."
        )
    else:
        yield f"k is {found.k}. No value is missing, so it is the same however missing values are read."


def _sizes(found: Risk) -> Iterator[str]:
    rows = [["class size", "classes", "records", ""]]
    for place, low in enumerate(_STEPS):
        high = _STEPS[place + 1] - 1 if place + 1 < len(_STEPS) else None
        inside = {
            size: classes
            for size, classes in found.classes_by_size.items()
            if low <= size and (high is None or size <= high)
        }
        if inside:
            name = f"{low} and more" if high is None else str(low) if low == high else f"{low} to {high}"
            records = sum(size * classes for size, classes in inside.items())
            rows.append([name, str(sum(inside.values())), str(records), f"{records / found.records:.1%}"])
    yield from (line.rstrip() for line in aligned(rows, str.rjust))


def _attackers(found: Risk) -> Iterator[str]:
    rows = [["risk of re-identification", "highest", "average", f"records above {found.threshold:g}"]]
    rows.append(["prosecutor (knows that the person is in the table)", *_figures(found.prosecutor)])
    at_most = "" if found.journalist is not None else "at most "
    picking = [f"{at_most}{figure}" for figure in _figures(found.journalist or found.prosecutor)]
    rows.append(["journalist (picks from the population)", *picking])
    rows.append(["marketer (links every record)", "", f"{at_most}{found.marketer.expected_share_linked:.4f}", ""])
    yield from (line.rstrip() for line in aligned(rows, str.ljust))
    yield f"Above {found.threshold:g} are the records of classes of fewer than {found.class_size_for_threshold}."
    if found.population is None:
        yield "What a journalist and a marketer can do exactly is not known: no population was given (--population)."
    else:
        yield from _population(found)
    estimate = found.population_uniques
    if estimate is not None:
        yield from _filled(
            f"Of {counted(found.uniques, 'unique', 'uniques')} about "
            f"{estimate.expected_population_uniques_in_the_table:.1f} are thought to be unique in the population too "
            f"({percent(estimate.probability_that_a_unique_is_unique_in_the_population)}; estimate of "
            f"{estimate.estimator} for a sampling fraction of {estimate.sampling_fraction:g}, mostly too high for "
            "small fractions)."
        )


def _population(found: Risk) -> Iterator[str]:
    people = found.population
    assert people is not None
    yield f"The population has {counted(people.records, 'record', 'records')}."
    if people.records_absent or people.records_with_fewer:
        yield from _filled(
            f"It is not the whole population: it has no record of {_share(people.records_absent, found.records)}, and "
            f"fewer than the table of the classes of {_share(people.records_with_fewer, found.records)}. These count "
            "as many as the table has, the most that is known of them."
        )


def _columns(found: Risk) -> Iterator[str]:
    yield "Which column makes people stand out:"
    rows = [["column", "values", "contribution", "unique alone", "unique without", "in minimal uniques"]]
    for each in found.columns:
        rows.append([
            each.column, str(each.distinct_values), f"{each.contribution:.1f}", str(each.uniques_alone),
            str(each.uniques_without), str(each.records_with_a_minimal_unique),
        ])  # fmt: skip
    yield from aligned(rows, str.rjust)
    yield from _filled(
        f"contribution: how many more records are unique when the column is added to a subset of fewer than "
        f"{found.max_columns} of the others, on average; unique without: uniques on all the others; in minimal "
        "uniques: records that a subset with this column singles out, and no smaller one."
    )
    singled = [
        f"{records} by {counted(size, 'column', 'columns')}"
        for size, records in found.singled_out_by_columns.items()
        if records
    ]
    yield f"Records singled out: {', '.join(singled) or 'none'} (each by the fewest that do)."


def _subsets(found: Risk) -> Iterator[str]:
    telling = [each for each in found.subsets if each.uniques]
    names = counted(len(found.subsets), "subset", "subsets")
    yield f"Of {names} of up to {counted(found.max_columns, 'column', 'columns')}, {len(telling)} single somebody out:"
    rows = [["uniques", "minimal", "classes", "smallest", "average risk", "columns"]]
    for each in telling[:_SHOWN] or found.subsets[:_SHOWN]:
        figures = [each.uniques, each.minimal_uniques, each.classes, each.smallest_class]
        rows.append([*map(str, figures), f"{each.average_risk:.4f}", ", ".join(each.columns)])
    head = aligned([row[:-1] for row in rows], str.rjust)
    yield from (f"{line}  {row[-1]}" for line, row in zip(head, rows, strict=True))
    left = len(found.subsets) - (len(rows) - 1)
    if left:
        yield f"and {counted(left, 'subset', 'subsets')} more: --json has all of them."


def _beside(found: Risk) -> Iterator[str]:
    yield "Released beside the quasi-identifiers:"
    for each in found.extra_columns:
        values = counted(each.distinct_values, "value", "values")
        yield from _filled(f"{each.column} ({each.role}, {values}) {extra_column_phrase(each, found)}", indent="  ")


def _figures(one: Scenario) -> list[str]:
    return [f"{one.highest:.4f}", f"{one.average:.4f}", f"{one.records_above_threshold} ({one.above_threshold:.1%})"]


def _share(count: int, of: int) -> str:
    return f"{counted(count, 'record', 'records')} ({count / of:.1%})"


def _filled(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent + "  " * bool(indent))
