"""Sun's Table 8: the middle table, recoded top-down, is the right one, record by record."""

from __future__ import annotations

from random import Random

from shoal.models import KAnonymity, PAlphaSensitive
from shoal.reproduce.tables import SUN_8_MIDDLE, SUN_8_RIGHT
from shoal.search.local.top_down import top_down
from support.model_cases import COLUMN
from support.search_cases import Case, problem_of

TREE = {"****": {"4***": {"43**": {"435*": {"4351": None, "4352": None}}}}}
DISEASES = tuple(SUN_8_MIDDLE.column("Disease"))
CASE = Case(
    trees=(TREE,),
    rows=tuple((zipcode,) for zipcode in SUN_8_MIDDLE.column("Zipcode")),
    sensitive={COLUMN: DISEASES},
    models=(KAnonymity(2), PAlphaSensitive(2, alpha=1, sensitive=COLUMN)),
)
"""The text has α = 2, but {HIV, Flu} weighs 0 + 1: the printed table satisfies α = 1."""


def released(case: Case) -> list[str | None]:
    problem, engine = problem_of(case)
    recoding = top_down(problem, engine).recoding
    (hierarchy,) = recoding.hierarchies
    return [hierarchy.labels[recoding.nodes[each, 0]] for each in recoding.row_class]


def test_sun_8_comes_out_as_printed() -> None:
    assert SUN_8_RIGHT.column("Disease") == list(DISEASES)
    assert released(CASE) == SUN_8_RIGHT.column("Zipcode")


def test_sun_8_comes_out_of_the_records_in_any_order() -> None:
    order = [0, 1, 2, 3]
    for seed in range(5):
        Random(seed).shuffle(order)
        shuffled = CASE.shuffled(order)
        pairs = zip(released(shuffled), shuffled.sensitive[COLUMN], strict=True)
        assert sorted(pairs) == [("435*", "Flu"), ("435*", "HIV"), ("4351", "Flu"), ("4351", "HIV")]
