"""What `Model.least_removed` promises: no finer release that satisfies the model loses fewer records of a class.

Each class is split at random; parts that fail are left out, again and again where the model looks at the whole release.
Whenever what remains satisfies with no more records left out than allowed, every class has lost at least its bound.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.models import MODELS, Model, TCloseness
from support.model_cases import COLUMN, RANDOM, READINGS, classes, view

pytestmark = pytest.mark.slow

MERGE_CLOSED = [name for name, model in MODELS.items() if model.merge_closed]


def settle(model: Model, parts: list[list[str | None]], unknown: frozenset[str | None]) -> list[int]:
    """The places of the parts that are kept."""
    kept = list(range(len(parts)))
    while kept:
        holds = model.holds(view([parts[place] for place in kept], unknown)).tolist()
        if all(holds):
            break
        kept = [place for place, held in zip(kept, holds, strict=True) if held]
    return kept


@pytest.mark.parametrize("name", MERGE_CLOSED)
@settings(max_examples=300)
@given(data=st.data())
def test_no_finer_satisfying_release_loses_fewer_records(name: str, data: st.DataObject) -> None:
    model, coarse, unknown = data.draw(RANDOM[name]), data.draw(classes(min_classes=1)), data.draw(READINGS)
    parts, owner = [], []
    for place, members in enumerate(coarse):
        sides = data.draw(st.lists(st.integers(0, 2), min_size=len(members), max_size=len(members)))
        for side in sorted(set(sides)):
            parts.append([value for value, chosen in zip(members, sides, strict=True) if chosen == side])
            owner.append(place)
    kept = set(settle(model, parts, unknown))
    removed = [0] * len(coarse)
    for place, part in enumerate(parts):
        if place not in kept:
            removed[owner[place]] += len(part)
    least = model.least_removed(view(coarse, unknown), sum(removed)).tolist()
    assert all(lost >= bound for lost, bound in zip(removed, least, strict=True))


def test_a_class_far_from_the_release_must_lose_records() -> None:
    far = view([["HIV"] * 50, ["Flu"] * 50])
    assert TCloseness(0.1, sensitive=COLUMN).least_removed(far, 0).tolist() == [20, 20]
    assert TCloseness(0.1, sensitive=COLUMN).least_removed(far, 10).tolist() == [15, 15]


def test_the_ordered_distance_gives_no_bound_because_values_may_vanish() -> None:
    far = view([["HIV"] * 50, ["Flu"] * 50])
    assert TCloseness(0.1, distance="ordered", sensitive=COLUMN).least_removed(far, 0).tolist() == [0, 0]
