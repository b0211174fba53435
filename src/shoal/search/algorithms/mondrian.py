"""`mondrian`: strict multidimensional cuts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from shoal.search.algorithm import METRIC, RANGES, REFINE, Algorithm, Growth, Sees


class Mondrian(Algorithm):
    """The search is `shoal.search.local.mondrian`."""

    name = "mondrian"
    summary = "strict multidimensional cuts"
    does = "Cuts the records in parts, each time in the column that spreads widest, as long as the models allow."
    when = "The first one to try when one level per column loses too much: fast, and near the best."
    drawback = "Labels of different width appear side by side, which an analysis has to deal with."
    implementation = "shoal.search.local.mondrian:mondrian"
    options = (METRIC, REFINE, RANGES)
    scope = "local"
    search = "classes"
    bytes_per_row = 500
    growth: ClassVar[Mapping[Sees, Growth]] = {
        "sizes": Growth(0.012, 6.0e-6, 0.0, 2.0e-7),
        "classes": Growth(0.015, 9.0e-6, 0.0, 4.0e-7),
        "table": Growth(0.020, 9.0e-6, 0.0, 4.0e-7),
    }
    position = 50
