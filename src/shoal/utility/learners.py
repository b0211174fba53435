"""The models that are trained; the one file that knows scikit-learn.

Everything runs on one thread: sums in another order would make the last digits of a score depend on the machine.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from shoal.errors import MissingExtraError
from shoal.utility.columns import Codes, Floats

_STEPS = 300
"""Steps that the logistic regression may take; it says so when they are not enough."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a trained model says of the test records."""

    learner: str
    chances: Floats
    """``chances[i, c]``: how likely the model takes record ``i`` to be of class ``c``."""
    converged: bool


def check_installed() -> None:
    """Raise `MissingExtraError` with the line that installs scikit-learn where it is not there."""
    if find_spec("sklearn") is None:
        raise MissingExtraError("a model score (utility.target)", "utility")


def libraries() -> dict[str, str]:
    """The versions that a score may depend on."""
    return {"scikit-learn": version("scikit-learn")}


def predictions(train: Floats, classes: Codes, test: Floats, *, n_classes: int, seed: int) -> Iterator[Prediction]:
    """Train each model and let it predict the test records."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - an optional dependency
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=_STEPS))
    boosted = HistGradientBoostingClassifier(random_state=seed, early_stopping=False)
    for name, model in (("logistic-regression", logistic), ("gradient-boosting", boosted)):
        yield _trained(name, model, train, classes, test, n_classes)


def _trained(name: str, model: Any, train: Floats, classes: Codes, test: Floats, n_classes: int) -> Prediction:
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with scikit-learn

    chances = np.zeros((len(test), n_classes))
    present = np.unique(classes)
    if len(present) == 1:  # nothing to tell apart
        chances[:, present[0]] = 1.0
        return Prediction(name, chances, converged=True)
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(train, classes)
        chances[:, present] = model.predict_proba(test)
    converged = not any(issubclass(each.category, ConvergenceWarning) for each in caught)
    return Prediction(name, chances, converged)
