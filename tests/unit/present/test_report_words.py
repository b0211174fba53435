"""What models and measures declare for readers agrees with their definitions."""

from __future__ import annotations

import pytest

from shoal.metrics import METRICS
from shoal.models import MODELS, Model, at_least
from support.model_cases import MIXED, SAMPLES, view


def test_every_model_is_explained_in_one_sentence() -> None:
    for model in MODELS.values():
        assert model.summary.endswith(".")
        assert ". " not in model.summary


@pytest.mark.parametrize("model", SAMPLES, ids=repr)
def test_the_side_of_each_limit_is_that_of_the_definition(model: Model) -> None:
    for parameter, strength in model.strengths(view(MIXED)).items():
        assert at_least(model.name, parameter) is strength.at_least


def test_every_measure_is_explained_with_its_range() -> None:
    for metric in METRICS.values():
        assert metric.summary.endswith(".")
        assert (metric.scale == "0 to 1") == (metric.maximum == 1)
