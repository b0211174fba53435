"""The declarations of `top-down`; its search is `shoal.search.local.top_down`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from shoal.search.algorithm import Growth, LocalRecoding, Sees


class TopDown(LocalRecoding):
    """Specialization from the top, failing children pushed back."""

    name = "top-down"
    summary = "specialization from the top, failing children pushed back"
    does = "Starts with everything fully generalized and makes it finer step by step where the models allow."
    when = "A fast way where one column dominates, such as postal or diagnosis codes."
    drawback = "It never takes a step back, so it is not the best possible."
    implementation = "shoal.search.local.top_down:top_down"
    splits_duplicates = True
    growth: ClassVar[Mapping[Sees, Growth]] = {
        "sizes": Growth(0.05, 1.5e-5, 0.0, 2.5e-7),
        "classes": Growth(0.07, 3.7e-5, 0.0, 3.5e-7),
        "table": Growth(0.05, 1.1e-4, 2.8e-9, 3.0e-6),
    }
    position = 40
