"""What the papers say of their own tables, said by the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest

from shoal.models import (
    AlpDif,
    GroupLeakage,
    KAnonymity,
    Model,
    PAlphaSensitive,
    PPlusAlphaSensitive,
    PSensitive,
)
from shoal.models.sensitivity import category_distance, category_weight, class_weight
from shoal.present.diagnosis import shortfalls_text
from shoal.reproduce.tables import (
    CAMPAN_1,
    CAMPAN_2,
    CAMPAN_3,
    CAMPAN_4,
    CAMPAN_QUASI,
    MAHESH_1,
    MAHESH_2,
    MAHESH_T_STAR,
    MAN_1,
    MAN_2,
    MAN_3,
    MAN_ALPHA,
    MAN_QUASI,
    SUN_1,
    SUN_2,
    SUN_4,
    SUN_5,
    SUN_6,
    SUN_7,
    SUN_7_CATEGORIES,
    SUN_7_TOTALS,
    SUN_8_LEFT,
    SUN_8_MIDDLE,
    SUN_8_RIGHT,
    SUN_QUASI,
    WANG_1,
    WANG_2,
    WANG_3,
    WANG_QUASI,
    PaperTable,
)
from shoal.table.classes import ClassView
from support.builders import domain_of, view_of


def seen(
    table: PaperTable,
    quasi: Sequence[str],
    sensitive: str,
    categories: Mapping[str, Sequence[str]] | None = None,
) -> ClassView:
    """What a model sees of a printed table."""
    values = sorted({value for block in (categories or {}).values() for value in block} or table.column(sensitive))
    domain = domain_of(dict.fromkeys(values), column=sensitive, categories=categories)
    return view_of(list(table.classes(quasi, sensitive).values()), domain)


def holds(model: Model, view: ClassView) -> bool:
    """Whether the table satisfies the model."""
    return bool(model.holds(view).all()) and model.table_holds(view)


def place(value: str, categories: Mapping[str, Sequence[str]] = SUN_4) -> int:
    (found,) = (i for i, block in enumerate(categories.values(), start=1) if value in block)
    return found


def test_suns_worked_distances_and_weight() -> None:
    assert category_distance(place("Cancer"), place("Flu"), 4) == 1
    assert category_distance(place("Phthisis"), place("Asthma"), 4) == Fraction(1, 3)
    assert [category_weight(i, 4) for i in (1, 2, 3, 4)] == [0, Fraction(1, 3), Fraction(2, 3), 1]
    view = view_of([["Cancer", "Phthisis", "Asthma", "Flu"]], seen(SUN_1, SUN_QUASI, "Health Condition", SUN_4).domain)
    assert class_weight(view, 0) == 2


def test_sun_1_is_not_anonymous_and_sun_2_is_2_anonymous_with_five_classes() -> None:
    assert KAnonymity(2).reached(seen(SUN_1, SUN_QUASI, "Health Condition")) == {"k": 1}
    view = seen(SUN_2, SUN_QUASI, "Health Condition")
    assert len(view.sizes) == 5
    assert KAnonymity(2).reached(view) == {"k": 2}
    assert not holds(PSensitive(2, sensitive="Health Condition"), view)


def test_sun_5_is_2_sensitive_4_anonymous_and_its_first_class_has_one_category() -> None:
    view = seen(SUN_5, SUN_QUASI, "Health Condition", SUN_4)
    assert KAnonymity(4).reached(view) == {"k": 4}
    assert PSensitive(2, sensitive="Health Condition").reached(view) == {"p": 2}
    plus = PPlusAlphaSensitive(2, alpha=0, sensitive="Health Condition")
    assert plus.holds(view).tolist() == [False, True, False]
    assert "1 distinct category" in shortfalls_text(plus.shortfalls(view, 0))


def test_sun_6_is_2_plus_2_sensitive_4_anonymous_and_no_more() -> None:
    view = seen(SUN_6, SUN_QUASI, "Health Condition", SUN_4)
    model = PPlusAlphaSensitive(2, alpha=2, sensitive="Health Condition")
    assert holds(KAnonymity(4), view)
    assert holds(model, view)
    assert model.reached(view) == {"p": 2, "alpha": 2}
    assert [class_weight(view, index) for index in range(3)] == [2, 2, 2]
    assert not holds(model.relaxed("alpha", 2.000000001), view)


def test_the_categories_that_sun_6_prints_are_those_of_sun_4() -> None:
    number = {"One": 1, "Two": 2, "Three": 3, "Four": 4}
    for record in SUN_6.records():
        assert place(record["Health Condition"]) == number[record["Category ID"]]


def test_sun_7_is_3_1_sensitive_4_anonymous_with_totals_1_2_3() -> None:
    view = seen(SUN_7, SUN_QUASI, "Disease", SUN_7_CATEGORIES)
    model = PAlphaSensitive(3, alpha=1, sensitive="Disease")
    assert holds(KAnonymity(4), view)
    assert holds(model, view)
    assert model.reached(view) == {"p": 3, "alpha": 1}
    assert [str(class_weight(view, index)) for index in range(3)] == list(SUN_7_TOTALS)
    printed = {record["Disease"]: Fraction(record["weight"]) for record in SUN_7.records()}
    assert {value: category_weight(place(value, SUN_7_CATEGORIES), 4) for value in printed} == printed


def test_sun_8_holds_with_alpha_1_and_not_with_the_alpha_2_of_the_text() -> None:
    assert SUN_8_LEFT.column("Zipcode") == SUN_8_MIDDLE.column("Zipcode")
    before, after = (seen(table, ["Zipcode"], "Disease", SUN_4) for table in (SUN_8_MIDDLE, SUN_8_RIGHT))
    model = PAlphaSensitive(2, alpha=1, sensitive="Disease")
    assert holds(KAnonymity(2), after)
    assert holds(model, after)
    assert not holds(model, before)
    assert not holds(model.relaxed("alpha", 2), after)


def man_groups() -> dict[str, tuple[str, ...]]:
    """Values as Table 3 spells them, by the grouping that it prints beside them."""
    return {
        group: tuple(dict.fromkeys(r["Disease"] for r in MAN_3.records() if r["Grouping ID"] == group))
        for group in MAN_2
    }


def test_man_3_satisfies_its_four_limits_with_p_2_and_not_with_the_3_of_its_caption() -> None:
    view = seen(MAN_3, MAN_QUASI, "Disease", man_groups())
    model = GroupLeakage(2, alpha=MAN_ALPHA, sensitive="Disease")
    assert model.domain_problems(view.domain) == []
    assert KAnonymity(4).reached(view) == {"k": 4}
    assert holds(model, view)
    assert not holds(model.relaxed("p", 3), view)
    assert model.reached(view) == {"p": 2, "alpha[1]": 0.5, "alpha[2]": 0.5, "alpha[3]": 0.5, "alpha[4]": 0.5}
    assert not holds(model.relaxed("alpha[1]", 0.49), view)


def test_man_1_has_the_records_of_man_3_and_no_anonymity() -> None:
    assert KAnonymity(2).reached(seen(MAN_1, MAN_QUASI, "Disease")) == {"k": 1}
    assert sorted(MAN_1.column("No.")) == sorted(MAN_3.column("No."))


def test_mahesh_t_star_is_not_2_anonymous_on_zip_and_age() -> None:
    view = seen(MAHESH_T_STAR, ["Zipcode", "Age"], "Disease")
    assert KAnonymity(2).holds(view).tolist() == [False] * 9
    assert shortfalls_text(KAnonymity(2).shortfalls(view, 0)) == "1 record, 2 required"
    assert KAnonymity(3).reached(seen(MAHESH_2, ["Zipcode"], "Disease")) == {"k": 3}
    assert sorted(MAHESH_1.column("Age")) == sorted(MAHESH_2.column("Age"))


def test_wang_1_is_2_anonymous_and_open_to_the_homogeneity_attack() -> None:
    view = seen(WANG_1, WANG_QUASI, "Illness")
    assert holds(KAnonymity(2), view)
    assert PSensitive(2, sensitive="Illness").holds(view).tolist() == [False, True, False]
    model = AlpDif({"HIV": {"alp": 0.5, "dif": 0.1}}, sensitive="Illness")
    assert model.reached(view) == {"alp[HIV]": 1, "dif[HIV]": 0}
    assert not holds(model, view)


def test_wang_2_is_2_sensitive_in_a_single_class() -> None:
    view = seen(WANG_2, WANG_QUASI, "Illness")
    assert view.sizes.tolist() == [6]
    assert holds(PSensitive(2, sensitive="Illness"), view)


def test_wang_3_protects_hiv_and_leaves_fever_open() -> None:
    view = seen(WANG_3, WANG_QUASI, "Illness")
    assert holds(KAnonymity(2), view)
    assert PSensitive(2, sensitive="Illness").holds(view).tolist() == [True, False]
    assert holds(AlpDif({"HIV": {"alp": 0.5, "dif": 0}}, sensitive="Illness"), view)
    assert not holds(AlpDif({"FEVER": {"alp": 0.5, "dif": 0}}, sensitive="Illness"), view)


@pytest.mark.parametrize(("table", "sensitive"), [(CAMPAN_2, False), (CAMPAN_3, True), (CAMPAN_4, True)])
def test_campans_masked_tables_are_3_anonymous_and_all_but_the_first_2_sensitive(
    table: PaperTable, sensitive: bool
) -> None:
    view = seen(table, CAMPAN_QUASI, "Diagnosis")
    assert view.sizes.tolist() == [3, 3, 3]
    assert holds(KAnonymity(3), view)
    assert holds(PSensitive(2, sensitive="Diagnosis"), view) is sensitive


def test_campans_masked_tables_keep_the_diagnosis_of_each_record() -> None:
    diagnosis = {record["Record"]: record["Diagnosis"] for record in CAMPAN_1.records()}
    for table in (CAMPAN_2, CAMPAN_3, CAMPAN_4):
        assert {record["Record"]: record["Diagnosis"] for record in table.records()} == diagnosis


def test_only_the_second_class_of_campans_first_table_fails() -> None:
    view = seen(CAMPAN_2, CAMPAN_QUASI, "Diagnosis")
    model = PSensitive(2, sensitive="Diagnosis")
    assert model.holds(view).tolist() == [True, False, True]
    assert shortfalls_text(model.shortfalls(view, 1)) == "1 distinct value of Diagnosis, 2 required"
