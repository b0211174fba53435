"""Adding records to published classes, by the definition: try every subset. For tiny classes only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from oracles.lattice_oracle import Label, Secret, Spec, holds, table_holds


def satisfied(classes: Sequence[Sequence[Label]], specs: Sequence[Spec], secret: Secret) -> bool:
    """Whether the classes, those without a record left out, satisfy every model as a release."""
    there = [list(each) for each in classes if each]
    if not there:
        return True
    return all(all(holds(spec, there, secret)) and table_holds(spec, there, secret) for spec in specs)


def most_added(
    before: Sequence[Label], new: Sequence[Label], specs: Sequence[Spec], secret: Secret, *, alone: bool
) -> int:
    """How many of the new records one class can take at most, for models that look at classes one by one."""
    counts: Mapping[Label, int] = {value: list(new).count(value) for value in new}
    best = 0
    for taken in product(*(range(count + 1) for count in counts.values())):
        added = [value for value, count in zip(counts, taken, strict=True) for _ in range(count)]
        ways = [[*before, *added], *([added] if alone else [])]
        if len(added) > best and all(satisfied([each], specs, secret) for each in ways):
            best = len(added)
    return best
