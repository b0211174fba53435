"""Common starting points for a policy, with the reason for every figure (``docs/choosing.md``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Preset:
    """A beginning that others use, with the reason for every figure (docs/choosing.md)."""

    id: str
    title: str
    why: str
    k: int
    suppression: float | None = None
    categories: bool = False
    """Whether (p⁺, α) is asked beside it on the columns that have categories."""

    def to_dict(self) -> dict[str, Any]:
        """As the page has it."""
        return {
            "id": self.id,
            "title": self.title,
            "why": self.why,
            "k": self.k,
            "suppression": self.suppression,
            "categories": self.categories,
        }


PRESETS = (
    Preset(
        "internal",
        "Internal sharing: k = 3",
        "Practice ranges from k = 3 for internal use. Contracts and access control must do the rest, and sensitive "
        "columns need a model of their own.",
        3,
    ),
    Preset(
        "health",
        "Health data: k = 10, (p⁺, α), 5 %",
        "A good beginning for health data: k = 10, (p⁺, α) where there are categories (p = 2 categories, α = 1: one "
        "harmless record in every class), and 5 % of the records may be left out.",
        10,
        0.05,
        categories=True,
    ),
    Preset(
        "public",
        "Public release: k = 12",
        "The European Medicines Agency recommends a risk of at most 0.09 for publishing clinical reports; k = 12 keeps "
        "1/k below it. No law that we know names a k. Sensitive columns need a model of their own.",
        12,
    ),
)
