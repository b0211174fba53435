"""Of each model the class where it is weakest: which one, how strong, and how many are at the limit."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.evidence.describe import describe_models
from shoal.models import AlpDif, GroupLeakage, KAnonymity, Model, PSensitive, RecursiveCLDiversity
from shoal.table.recoding import Recoding
from support.builders import hierarchy_of, stats_of
from support.model_cases import COLUMN, DOMAIN, MIXED, SAMPLES, view

AGE = hierarchy_of({"young": ["1", "2", "3"], "old": ["4", "5", None]})
CLASSES = (
    ("HIV", "Flu", "Flu"),
    ("HIV", "HIV", "Flu", "Cancer"),
    ("Flu", "Cancer", "Asthma"),
    ("Flu", "Flu", "HIV", "HIV", "Cancer"),
)


def recoding(*labels: str | None) -> Recoding:
    sizes = [len(each) for each in CLASSES]
    nodes = np.array([[AGE.by_label[label]] for label in labels], dtype=np.int32)
    return Recoding(("age",), (AGE,), np.repeat(np.arange(len(sizes)), sizes).astype(np.int32), nodes)


def weakest(model: Model, *labels: str | None) -> dict[str, dict[str, object]]:
    (described,) = describe_models([model], stats_of(CLASSES, DOMAIN), recoding(*labels))
    found: dict[str, dict[str, object]] = described["weakest"]
    return found


def test_the_smallest_class_is_named_by_what_it_shows() -> None:
    found = weakest(KAnonymity(3), "young", "2", "1", "4")
    assert found == {"k": {"strength": 3, "size": 3, "labels": {"age": "1"}, "classes": 2, "classes_at_limit": 2}}
    assert weakest(KAnonymity(2), "young", "2", "1", "4")["k"]["classes_at_limit"] == 0


def test_of_equally_weak_classes_the_smallest_counts_then_the_first_by_its_labels_the_missing_one_last() -> None:
    model = PSensitive(2, sensitive=COLUMN)
    assert weakest(model, "1", "2", "3", "4")["p"] == {
        "strength": 2, "size": 3, "labels": {"age": "1"}, "classes": 1, "classes_at_limit": 1,
    }  # fmt: skip
    assert weakest(KAnonymity(3), None, "2", "old", "4")["k"]["labels"] == {"age": "old"}


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_the_order_of_the_classes_decides_nothing(order: tuple[int, ...]) -> None:
    labels = ("1", "2", "3", "4")
    sizes = [len(CLASSES[place]) for place in order]
    nodes = np.array([[AGE.by_label[labels[place]]] for place in order], dtype=np.int32)
    shuffled = Recoding(("age",), (AGE,), np.repeat(np.arange(4), sizes).astype(np.int32), nodes)
    stats = stats_of([CLASSES[place] for place in order], DOMAIN)
    model = GroupLeakage(1, alpha={"Top Secret": 0.8}, sensitive=COLUMN)
    (described,) = describe_models([model], stats, shuffled)
    assert described["weakest"] == weakest(model, *labels)


def test_a_limit_of_one_value_has_the_name_that_it_has_among_what_is_reached() -> None:
    found = weakest(GroupLeakage(1, alpha={"Top Secret": 0.75}, sensitive=COLUMN), "1", "2", "3", "4")
    assert set(found) == {"p", "alpha[Top Secret]"}
    assert found["alpha[Top Secret]"]["strength"] == 0.75
    assert found["alpha[Top Secret]"]["classes_at_limit"] == 1


def test_a_figure_of_the_whole_release_has_no_weakest_class() -> None:
    assert set(weakest(AlpDif({"HIV": {"alp": 0.9, "dif": 0.9}}, sensitive=COLUMN), "1", "2", "3", "4")) == {"dif[HIV]"}


def test_a_class_that_reaches_nothing_finite_has_no_strength() -> None:
    found = weakest(RecursiveCLDiversity(4, c=1.0, sensitive=COLUMN), "1", "2", "3", "4")
    assert found["c"]["strength"] is None


@pytest.mark.parametrize("model", SAMPLES, ids=repr)
def test_the_weakest_class_reaches_what_every_class_reaches(model: Model) -> None:
    sizes = [len(each) for each in MIXED]
    nodes = np.arange(len(sizes), dtype=np.int32).reshape(-1, 1)
    made = Recoding(("age",), (AGE,), np.repeat(np.arange(len(sizes)), sizes).astype(np.int32), nodes)
    (described,) = describe_models([model], stats_of(MIXED, DOMAIN), made)
    strengths = model.strengths(view(MIXED))
    for parameter, found in described["weakest"].items():
        assert found["strength"] == described["reached"][parameter]
        assert found["labels"]["age"] in AGE.labels
        worst = np.min if strengths[parameter].at_least else np.max
        assert found["classes"] == int(
            np.isclose(strengths[parameter].per_class, worst(strengths[parameter].per_class)).sum()
        )
