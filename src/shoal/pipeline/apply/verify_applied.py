"""The independent check of new records that join what is published: of everything together, and of themselves."""

from __future__ import annotations

from pathlib import Path

from shoal.io import in_order_of_cells
from shoal.pipeline.apply.published import Base, together
from shoal.pipeline.run import Unverified
from shoal.pipeline.verify import verify
from shoal.verification import Check, Verification


def verified(made: Unverified, base: Base, *, replaces: bool, written: Path | None = None) -> Verification:
    """Check the union as a release, and the new records against their original.

    Unless the earlier release is withdrawn the new records must pass as a release of their own, too. How many records
    may be left out is not asked: what cannot be released is withheld, however much it is. ``written`` is the file that
    takes the place of the table of new records. The ends of ranges are values of published records, of which the new
    ones need not have any.
    """
    union = verify(in_order_of_cells(together([base.table, made.table])), base.policy)
    part = verify(written if written is not None else made.table, base.policy, original=made.loaded.table)
    models = {model.name if model.column is None else f"{model.name}[{model.column}]" for model in base.policy.models()}
    passed_over = {"suppression", "range-ends"} | (models if replaces else set())
    checks = [
        Check(f"new: {each.name}", each.passed, each.message, each.facts)
        for each in part.checks
        if each.name not in passed_over
    ]
    return Verification((*union.checks, *checks), union.records, union.classes, union.suppressed)
