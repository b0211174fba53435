"""Homogeneity: a class in which everybody has the same secret tells it of each of them.

A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "ℓ-diversity: privacy beyond k-anonymity", 2006,
section 2.1; Wang, Xu, Qu 2011, section IV, where the records in such classes are counted. Nothing else is needed than
a person's quasi-identifiers. Values that the policy's models leave free (not listed under (alp, dif), or under an
(α, k) with a limit a value) are counted apart: their owner has said that they are no secret.

Insensitive columns are released beside the secret, and no model looks at them. Whoever knows them of a person as well
looks for the secret among the records of the class that have them too: if everybody in a ward has the same illness, the
ward tells it, however mixed the classes are. That attack is reported beside; its baseline is the classes alone.
"""

from __future__ import annotations

import numpy as np

from shoal.attacks.certainty import certain, expected_by_chance
from shoal.attacks.estimate import Estimate, counted, not_applicable
from shoal.attacks.scene import Released

NAME = "homogeneity"
WITH_INSENSITIVE = "homogeneity-insensitive"
ATTACKER_INSENSITIVE = "A neighbour who knows a person's quasi-identifiers and insensitive columns."


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
            f"{counted(found.records, 'record')} in {counted(found.classes, 'class', 'classes')} "
            f"{'has' if found.records == 1 else 'have'} the same {column} as everybody in "
            f"{'its' if found.records == 1 else 'their'} class: it is certain for "
            f"{'its person' if found.records == 1 else 'each of them'}."
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
            "by_value_left_free": dict(found.by_free_value),
            "expected_if_dealt_at_random": round(expected_by_chance(released.sizes, view.totals), 6),
        },
    )


def homogeneity_insensitive(released: Released, column: str) -> Estimate:
    """Records whose secret the class and the insensitive columns make certain together."""
    if released.extras is None:
        reason = "the policy releases no insensitive column."
        return not_applicable(WITH_INSENSITIVE, ATTACKER_INSENSITIVE, reason, column)
    known, of = ", ".join(released.extras.columns), released.records
    alone, found = certain(released, column, 0), certain(released, column, 0, stats=released.extras.stats)
    more = found.records - alone.records
    verdict = f"Knowing {known} as well makes {column} certain for nobody whose class does not."
    if more:
        single = found.records == 1
        verdict = (
            f"For whoever knows {known}, {counted(found.records, 'record')} "
            f"{'has' if single else 'have'} the same {column} as all that are like {'it' if single else 'them'}, "
            f"{more:,} of them in classes that have others."
        )
    sizes = released.extras.sizes
    return Estimate(
        name=WITH_INSENSITIVE,
        status="tried",
        sensitive=column,
        attacker=ATTACKER_INSENSITIVE,
        tried=f"Looked for records with the same class and the same {known} that all have one value of {column}; a "
        "success is a record among such.",
        records=found.records,
        of=of,
        rate=found.records / of,
        baseline=alone.records / of,
        baseline_is=f"records whose {column} is certain by their class alone",
        leak=more > 0,
        verdict=verdict,
        details={
            "columns": list(released.extras.columns),
            "records_alone_by_them": int(np.count_nonzero(sizes == 1)),
            "by_value": dict(found.by_value),
            "values_left_free": found.free,
            "by_value_left_free": dict(found.by_free_value),
            "expected_if_dealt_at_random": round(expected_by_chance(sizes, released.stats.view(column).totals), 6),
        },
    )
