"""The declarations of `mondrian`; its search is `shoal.search.local.mondrian`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from shoal.search.algorithm import Growth, LocalRecoding, Sees


class Mondrian(LocalRecoding):
    """Strict multidimensional cuts."""

    name = "mondrian"
    summary = "strict multidimensional cuts"
    does = "Cuts the records in parts, each time in the column that spreads widest, as long as the models allow."
    when = "The first one to try when one level per column loses too much: fast, and near the best."
    implementation = "shoal.search.local.mondrian:mondrian"
    growth: ClassVar[Mapping[Sees, Growth]] = {
        "sizes": Growth(0.012, 6.0e-6, 0.0, 2.0e-7),
        "classes": Growth(0.015, 9.0e-6, 0.0, 4.0e-7),
        "table": Growth(0.020, 9.0e-6, 0.0, 4.0e-7),
    }
    position = 50
