"""The frontier against its definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oracles.utility_oracle import undominated
from shoal.pipeline.compare.result import frontier

few = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 1.0])


@given(st.lists(st.tuples(few, few), max_size=30))
def test_the_frontier_has_the_points_that_no_other_beats_in_order_of_loss(points: list[tuple[float, float]]) -> None:
    found = frontier(points)
    assert sorted(found) == undominated(points)
    assert [points[place] for place in found] == sorted(points[place] for place in found)


def test_equal_points_are_on_it_together_and_a_beaten_tie_is_not() -> None:
    assert frontier([(1, 1), (1, 1), (1, 2), (2, 1), (0, 3)]) == [4, 0, 1]
