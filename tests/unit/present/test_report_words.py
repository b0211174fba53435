"""Every model and measure has words, and the words agree with the definitions."""

from __future__ import annotations

import pytest

from shoal.metrics import METRICS
from shoal.models import MODELS as DEFINED
from shoal.models import Model
from shoal.present.report.words import AT_LEAST, AT_MOST, MEASURES, MODELS
from support.model_cases import MIXED, SAMPLES, view


def test_every_model_is_explained_in_one_sentence() -> None:
    assert set(MODELS) == set(DEFINED)
    for words in MODELS.values():
        assert words.sentence.endswith(".")
        assert ". " not in words.sentence


@pytest.mark.parametrize("model", SAMPLES, ids=repr)
def test_the_side_of_each_limit_is_that_of_the_definition(model: Model) -> None:
    strengths = model.strengths(view(MIXED))
    sides = {name.partition("[")[0]: AT_LEAST if each.at_least else AT_MOST for name, each in strengths.items()}
    assert dict(MODELS[model.name].bounds) == sides


def test_every_measure_is_explained_with_its_direction_and_range() -> None:
    assert set(MEASURES) == set(METRICS)
    for name, metric in METRICS.items():
        words = MEASURES[name]
        assert words.higher_is_better == metric.higher_is_better
        assert (words.scale == "0 to 1") == (metric.maximum == 1)
        assert words.sentence.endswith(".")
