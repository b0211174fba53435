"""Similarity: a class in which every secret is of one category tells how grave it is, though the values differ.

Sun, Wang, Li, Truta 2008, section 6: classes whose records all fall in one category of sensitivity, and the records in
them. Whoever is placed among {HIV, Cancer} has a top secret, whichever it is. The attack is about declared categories;
without them there is nothing to be similar in.
"""

from __future__ import annotations

import numpy as np

from shoal.attacks.certainty import expected_by_chance
from shoal.attacks.estimate import Estimate, counted, not_applicable
from shoal.attacks.exposure import similarity as exposed_by_similarity
from shoal.attacks.scene import Released
from shoal.models.sensitivity import category_histogram

NAME = "similarity"
ATTACKER = "A neighbour who knows a person's quasi-identifiers, and the declared categories of the secret."


def similarity(released: Released, column: str) -> Estimate:
    """Records in classes with a single category of the column."""
    view, of = released.stats.view(column), released.records
    found = exposed_by_similarity(view)
    if found is None:
        return not_applicable(NAME, ATTACKER, f"{column} declares no categories.", column)
    counts, histogram = category_histogram(view)
    alone = histogram.distinct == 1
    totals = counts.sum(axis=0)
    by_category = counts[alone].sum(axis=0)
    without_classes = of if np.count_nonzero(totals) == 1 else 0
    leak = found.records > without_classes
    if not found.records:
        verdict = f"No class has only one category of {column}."
    elif not leak:
        verdict = f"Everybody's {column} is of one category: the classes give nothing away that the table does not."
    else:
        worst = int(np.flatnonzero(by_category)[0])
        verdict = (
            f"{counted(found.records, 'record')} in {counted(found.classes, 'class', 'classes')} "
            f"{'shares' if found.records == 1 else 'share'} the category of {column} with the whole class, "
            f"{by_category[worst]:,} of them in {view.domain.categories[worst]!r}."
        )
    return Estimate(
        name=NAME,
        status="tried",
        sensitive=column,
        attacker=ATTACKER,
        tried=f"Looked for classes with a single category of {column}; a success is a record in one.",
        records=found.records,
        of=of,
        classes=found.classes,
        rate=found.records / of,
        baseline=without_classes / of,
        baseline_is="records whose category the overall frequencies alone make certain",
        leak=leak,
        verdict=verdict,
        details={
            "by_category": {
                name: int(count) for name, count in zip(view.domain.categories, by_category, strict=True) if count
            },
            "expected_if_dealt_at_random": round(expected_by_chance(released.sizes, totals), 6),
        },
    )
