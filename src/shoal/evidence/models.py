"""Each model as asked and as reached, and the class where it is weakest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from shoal.models.base import Model, Strength
from shoal.models.limits import limit_name
from shoal.table.classes import ClassStats, ClassView, Counts
from shoal.table.recoding import Recoding

_SAME = 1e-9
"""A class is at its limit when its figure differs from it by no more than this."""
_PLACES = 12


def describe_models(
    models: Sequence[Model], stats: ClassStats, recoding: Recoding | None = None
) -> list[dict[str, Any]]:
    """Each model as asked and what the release reaches; with the recoding also the weakest class of each parameter."""
    described = []
    for model in models:
        view = stats.view(model.column)
        asked = {each.name: _plain(getattr(model, each.name)) for each in fields(model) if each.name != "sensitive"}
        described.append(
            {
                "model": model.name,
                "sensitive": model.column,
                "asked": asked,
                "reached": {name: _rounded(value) for name, value in model.reached(view).items()},
                "holds": bool(model.holds(view).all() and model.table_holds(view)),
                **({} if recoding is None else {"weakest": _weakest(model, view, recoding)}),
            }
        )
    return described


def _weakest(model: Model, view: ClassView, recoding: Recoding) -> dict[str, Any]:
    """For each parameter that is about classes, the class that satisfies it least.

    Of several the smallest, of equally small ones the first by its labels, so that no order of classes decides.
    """
    limits, found = dict(asked_limits(model)), {}
    for parameter, strength in model.strengths(view).items():
        if not strength.of_class or not len(strength.per_class):
            continue
        figures = np.round(strength.per_class, _PLACES)
        weakest = np.flatnonzero(figures == (figures.min() if strength.at_least else figures.max()))
        place = _first(weakest, view.sizes, recoding)
        found[parameter] = {
            "strength": _rounded(float(figures[place])),
            "size": int(view.sizes[place]),
            "labels": _labels(recoding, place),
            "classes": len(weakest),
            "classes_at_limit": _at_limit(strength, limits.get(parameter)),
        }
    return found


def _at_limit(strength: Strength, limit: float | None) -> int:
    """Classes that would fail if the parameter were any stricter."""
    if limit is None:
        return 0
    return int(np.count_nonzero(np.abs(strength.per_class - limit) <= _SAME * max(1.0, abs(limit))))


def asked_limits(model: Model) -> Iterator[tuple[str, float]]:
    """Each number of a model under the name that its strength has: ``k``, ``alpha[HIV]``, ``dif[HIV]``."""
    for each in fields(model):
        value = getattr(model, each.name)
        if isinstance(value, Mapping):
            for key, limit in value.items():
                if isinstance(limit, Mapping):
                    yield from ((limit_name(part, key), float(number)) for part, number in limit.items())
                else:
                    yield limit_name(each.name, key), float(limit)
        elif isinstance(value, (int, float)):
            yield each.name, float(value)


def _first(classes: Counts, sizes: Counts, recoding: Recoding) -> int:
    """The smallest of some classes; of equally small ones the first by its labels, the missing label last."""
    left = classes[sizes[classes] == sizes[classes].min()]
    for j, hierarchy in enumerate(recoding.hierarchies):
        nodes = recoding.nodes[left, j]
        labels = {node: hierarchy.labels[node] for node in np.unique(nodes).tolist()}
        left = left[nodes == min(labels, key=lambda node: (labels[node] is None, labels[node] or ""))]
    return int(left[0])


def _labels(recoding: Recoding, place: int) -> dict[str, str | None]:
    """What a class shows, which everybody sees in the release."""
    columns = zip(recoding.quasi, recoding.hierarchies, recoding.nodes[place].tolist(), strict=True)
    return {name: hierarchy.labels[node] for name, hierarchy, node in columns}


def _rounded(value: float) -> float | int | None:
    """A figure that JSON can hold; None where no finite value is reached."""
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else round(value, _PLACES)


def _plain(value: Any) -> Any:
    """A model's parameter as JSON can hold it."""
    if isinstance(value, Mapping):
        return {("" if key is None else str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value
