"""What can be chosen in this installation, as it declares itself: for the documentation."""

from __future__ import annotations

from shoal.metrics import METRICS
from shoal.models import MODELS
from shoal.search import ALGORITHMS


def catalog(kind: str) -> list[tuple[str, str, str]]:
    """The models, measures or algorithms: name, what each says of itself, and its parameters or range."""
    if kind == "models":
        return [(name, each.summary, ", ".join(p.name for p in each.parameters)) for name, each in MODELS.items()]
    if kind == "measures":
        return [(name, each.summary, each.scale) for name, each in METRICS.items()]
    return [(name, each.does, ", ".join(option.name for option in each.options)) for name, each in ALGORITHMS.items()]
