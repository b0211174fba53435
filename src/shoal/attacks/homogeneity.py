"""Homogeneity: a class in which everybody has the same secret tells it of each of them.

A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "ℓ-diversity: privacy beyond k-anonymity", 2006,
section 2.1; Wang, Xu, Qu 2011, section IV, where the records in such classes are counted. Nothing else is needed than
a person's quasi-identifiers. Values that the policy's models leave free (not listed under (alp, dif), or under an
(α, k) with a limit a value) are counted apart: their owner has said that they are no secret.
"""

from __future__ import annotations

from shoal.attacks.certainty import certain, expected_by_chance
from shoal.attacks.estimate import Estimate, counted
from shoal.attacks.scene import Released

NAME = "homogeneity"


def homogeneity(released: Released, column: str) -> Estimate:
    """Records in classes with a single value of the column."""
    found, view, of = certain(released, column, 0), released.stats.view(column), released.records
    leak = found.records > found.without_classes
    if not found.records:
        verdict = f"No class has only one value of {column}{' that the policy protects' if found.free else ''}."
    elif not leak:
        verdict = f"Everybody has the same {column}: the classes give nothing away that the table does not."
    else:
        verdict = (
            f"{counted(found.records, 'record')} in {counted(found.classes, 'class', 'classes')} have the same "
            f"{column} as everybody in their class: it is certain for each of them."
        )
    if found.free:
        verdict += f" Of {counted(found.free, 'record')} the class has one value too, but the policy leaves it free."
    return Estimate(
        name=NAME,
        status="tried",
        sensitive=column,
        attacker="A neighbour who knows a person's quasi-identifiers and that the person is in the release.",
        tried=f"Looked for classes with a single value of {column}; a success is a record in one.",
        records=found.records,
        of=of,
        classes=found.classes,
        rate=found.records / of,
        baseline=found.without_classes / of,
        baseline_is=f"records whose {column} the overall frequencies alone make certain",
        leak=leak,
        verdict=verdict,
        details={
            "by_value": dict(found.by_value),
            "values_left_free": found.free,
            "expected_if_dealt_at_random": round(expected_by_chance(released.sizes, view.totals), 6),
        },
    )
