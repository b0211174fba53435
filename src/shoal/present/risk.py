"""The risk of a table in words: what the columns besides the quasi-identifiers add."""

from __future__ import annotations

from shoal.attacks.risk.extra_columns import ExtraColumnRisk
from shoal.attacks.risk.risk import Risk
from shoal.formatting import number, percent, pluralize


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
