"""The models that are trained, and what their predictions score; the one file that knows scikit-learn.

*Accuracy*: the share of records whose likeliest class is the right one. *Balanced accuracy*: that share within each
class, averaged over the classes. *AUC*: the chance that a record of a class gets a higher figure for it than a record
of another, ties counted half, averaged over the classes. Intervals are the 2.5 and 97.5 percentiles over resamples of
the test records (Efron & Tibshirani 1993); the difference of two models is taken within each resample.

Everything runs on one thread: sums in another order would make the last digits of a score depend on the machine.
"""

import warnings
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from shoal.errors import MissingExtraError
from shoal.table.classes import Counts, Floats

RESAMPLES = 200
_PERCENTILES = (2.5, 97.5)
_STEPS = 300  # steps that the logistic regression may take; it says so when they are not enough
_AT_ONCE = 20  # resamples that are worked on at once: all of them would fill the memory


def resamples(records: int, rng: np.random.Generator, count: int = RESAMPLES) -> Floats:
    """How often each resample draws each test record; the first row is the test itself, every record once."""
    drawn = [np.bincount(rng.integers(0, records, records), minlength=records) for _ in range(count)]
    return np.vstack([np.ones(records), *drawn])


def scores(chances: Floats, truth: Counts, counts: Floats) -> dict[str, Floats]:
    """Each measure on every resample; of equally likely classes the first is predicted."""
    right = (np.argmax(chances, axis=1) == truth).astype(np.float64)
    found, areas = [], []
    for each in np.unique(truth):
        of_class = (truth == each).astype(np.float64)
        found.append(_ratio(counts @ (of_class * right), counts @ of_class))
        areas.append(_areas(chances[:, each], of_class, counts))
    accuracy = (counts @ right) / counts.sum(axis=1)
    return {"accuracy": accuracy, "balanced_accuracy": _mean(np.array(found)), "auc": _mean(np.array(areas))}


def _ratio(part: Floats, whole: Floats) -> Floats:
    """A share, NaN where a resample has no record to take it of."""
    return np.asarray(np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0))


def _mean(by_class: Floats) -> Floats:
    """The mean over the classes that a resample has; NaN where it has none."""
    known = (~np.isnan(by_class)).sum(axis=0)
    return _ratio(np.nansum(by_class, axis=0), known.astype(np.float64))


def _areas(chances: Floats, of_class: Floats, counts: Floats) -> Floats:
    """The area under the curve of one class against the others, for every resample.

    Records are put in order of their figure; those of equal figures are one step. Then each record of the class beats
    the others on lower steps, and half of those on its own.
    """
    order = np.argsort(chances, kind="stable")
    starts = np.flatnonzero(np.diff(chances[order], prepend=-np.inf))
    areas = []
    for block in range(0, len(counts), _AT_ONCE):
        drawn, is_one = counts[block : block + _AT_ONCE, order], of_class[order]
        yes = np.add.reduceat(drawn * is_one, starts, axis=1)
        no = np.add.reduceat(drawn * (1.0 - is_one), starts, axis=1)
        below = np.cumsum(no, axis=1) - no
        areas.append(_ratio((yes * (below + no / 2)).sum(axis=1), yes.sum(axis=1) * no.sum(axis=1)))
    return np.concatenate(areas)


def figures(scored: Mapping[str, Floats]) -> dict[str, dict[str, float]]:
    """Each measure with its interval; NaN where the test had no record to take it of."""
    found = {}
    for name, values in scored.items():
        known = values[1:][~np.isnan(values[1:])]
        low, high = np.percentile(known, _PERCENTILES) if len(known) else (np.nan, np.nan)
        found[name] = {"value": float(values[0]), "low": float(low), "high": float(high)}
    return found


class Prediction(NamedTuple):
    """What a trained model says of the test records."""

    learner: str
    chances: Floats  # ``chances[i, c]``: how likely the model takes record ``i`` to be of class ``c``
    converged: bool


def check_installed() -> None:
    """Raise `MissingExtraError` with the line that installs scikit-learn where it is not there."""
    if find_spec("sklearn") is None:
        raise MissingExtraError("a model score (utility.target)", "utility")


def predictions(train: Floats, classes: Counts, test: Floats, *, n_classes: int, seed: int) -> Iterator[Prediction]:
    """Train each model and let it predict the test records."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - an optional dependency
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=_STEPS))
    boosted = HistGradientBoostingClassifier(random_state=seed, early_stopping=False)
    for name, model in (("logistic-regression", logistic), ("gradient-boosting", boosted)):
        yield _trained(name, model, train, classes, test, n_classes)


def _trained(name: str, model: Any, train: Floats, classes: Counts, test: Floats, n_classes: int) -> Prediction:
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
