"""Columns that are released in another form: identifiers as pseudonyms, dates as days since another date.

A pseudonym tells which records are one person's, so it needs ``person`` and an algorithm that can promise the models
for all records of a person together: one that gives a column the same level everywhere.
"""

from collections.abc import Mapping
from typing import Any

from shoal.errors import did_you_mean
from shoal.policy.algorithm_spec import AlgorithmSpec
from shoal.policy.partial import PartialPolicy, PartialSpec
from shoal.policy.spec import ColumnSpec
from shoal.search import ALGORITHMS
from shoal.search.algorithm import Demand

KEY_VARIABLE = "SHOAL_PSEUDONYM_KEY"
"""The environment variable that has the key of pseudonyms where the policy names nothing else."""
FIRST = "first"
"""What ``relative`` says for the first date of each person."""
Columns = Mapping[str, PartialSpec[ColumnSpec]]


def check_pseudonyms(
    raw: Mapping[Any, Any],
    columns: Columns,
    person: tuple[str, ...],
    algorithm: AlgorithmSpec | None,
    parts: PartialPolicy,
) -> None:
    """Note what is wrong with pseudonyms: whom they link, and who can promise anything about linked records."""
    names = [name for name, part in columns.items() if part.role == "pseudonym"]
    for name in names:
        if name not in person:
            message = "a pseudonym shows which records belong to the same person, so person must name the column."
            fix = f"Add person: {name}, or give the column the role identifier."
            parts.add(f"columns.{name}.role", message, fix, code="pseudonym-without-person")
    if len(names) > 1:
        message = f"{names[1]!r} is a second pseudonym; the first is {names[0]!r}."
        fix = "Release one pseudonym: it is made from all columns of person."
        parts.add(f"columns.{names[1]}.role", message, fix, code="several-pseudonyms")
    if not names:
        return
    demands = {Demand.ONE_LEVEL}
    if algorithm is not None and algorithm.name in ALGORITHMS and algorithm.declared(demands).scope != "full-domain":
        able = [name for name, each in ALGORITHMS.items() if each.for_options({}, demands).scope == "full-domain"]
        promise = "the models for all records of a person together, and a pseudonym links them."
        fix = f"Use {', '.join(able[:-1])} or {able[-1]}, or give {names[0]} the role identifier."
        parts.add("algorithm.name", f"{algorithm.name} cannot guarantee {promise}", fix, code="links-records")
    if raw.get("registry"):
        fix = f"Leave registry out, or give {names[0]} the role identifier."
        parts.add("registry", "earlier releases are not compared by pseudonyms.", fix, code="links-records")


def check_relative(columns: Columns, person: tuple[str, ...], parts: PartialPolicy) -> None:
    """Note what is wrong with relative dates: the date that they count from, and hierarchies of the calendar."""
    for name, part in columns.items():
        column, where = part.value, f"columns.{name}.relative"
        if column is None or column.relative is None or "relative" in part.damaged:
            continue
        if column.relative == FIRST and not person:
            message = "it means the first date of a person, but the policy does not say who a record is about."
            parts.add(where, message, "Add person with the column that does.", code="relative-without-person")
        elif column.relative == name:
            parts.add(
                where, "counts from itself.", f"Write {FIRST}, or name another column.", code="relative-to-itself"
            )
        elif column.relative != FIRST and column.relative not in columns:
            fix = did_you_mean(column.relative, [FIRST, *columns])
            parts.add(where, f"unknown column {column.relative!r}.", fix, code="unknown-column")
        if column.hierarchy is not None and column.hierarchy.kinds == ["dates"]:
            message = "has calendar periods, but the column is released as numbers of days."
            fix = "Use intervals, such as {intervals: [7, 28, 364]}."
            parts.add(f"columns.{name}.hierarchy", message, fix, code="relative-hierarchy")


def check_by_itself(raw: Mapping[Any, Any], columns: Columns, parts: PartialPolicy) -> None:
    """Note where such columns cannot be released: their values depend on all records of a person."""
    engine = raw.get("engine")
    spark = (engine.get("name") if isinstance(engine, Mapping) else engine) == "spark"
    for column, part in columns.items():
        if part.role != "pseudonym" and (part.value is None or part.value.relative is None):
            continue
        where = f"columns.{column}.{'role' if part.role == 'pseudonym' else 'relative'}"
        if spark:
            message = "pseudonyms and relative dates are not available on Spark."
            parts.add(where, message, "Leave engine out, or release the column otherwise.", code="not-on-spark")
        if raw.get("recoding") and raw.get("person") is None:  # with a person, new records cannot join anyway
            message = "new records cannot join a release with relative dates."
            parts.add(where, message, "Leave recoding out, or release the column otherwise.", code="cannot-be-joined")
