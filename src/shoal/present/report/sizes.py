"""How large the classes are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.present.html.markup import Markup, more, paragraph, row, table, tag
from shoal.present.plots.plots import Bin, bin_sizes, size_plot
from shoal.present.report.figures import counted, is_number, number, part_of


def sizes_section(evidence: Mapping[str, Any]) -> list[Markup]:
    """Smallest, median and largest class, and the distribution."""
    sizes = part_of(evidence, "class_sizes")
    if not sizes:
        return [paragraph("No class is released, or the evidence holds no class sizes.")]
    return [*_sentence(sizes), *_missing(sizes), *_distribution(sizes)]


def _sentence(sizes: Mapping[str, Any]) -> list[Markup]:
    parts = []
    if is_number(sizes.get("smallest")):
        parts.append(f"The smallest class has {counted(sizes['smallest'], 'record')}")
    quartiles = sizes.get("quartiles")
    if isinstance(quartiles, (list, tuple)) and len(quartiles) == 3:
        parts.append(f"the median is {number(quartiles[1])} (at least half of the classes are no larger)")
    if is_number(sizes.get("largest")):
        parts.append(f"the largest has {counted(sizes['largest'], 'record')}")
    text = ", ".join(parts)
    return [paragraph(f"{text[0].upper()}{text[1:]}.")] if text else []


def _missing(sizes: Mapping[str, Any]) -> list[Markup]:
    """The smallest crowd when a missing cell is read as matching anything, where that differs."""
    other = sizes.get("smallest_if_missing_matches_anything")
    if not is_number(other) or other == sizes.get("smallest"):
        return []
    return [
        paragraph(
            "Here a missing value counts as a value of its own. To a reader who takes a missing cell to match "
            f"anything, every record could be any of at least {counted(other, 'record')}."
        )
    ]


def _distribution(sizes: Mapping[str, Any]) -> list[Markup]:
    by_size = {int(size): int(classes) for size, classes in part_of(sizes, "classes_by_size").items()}
    if not by_size:
        return []
    bins = bin_sizes(by_size)
    caption = f"How many classes have how many records.{_binning(bins)}"
    rows = [row(each.label, number(each.classes), number(each.records)) for each in bins]
    figures = table("Classes and records by class size.", ["Class size", "Classes", "Records in them"], rows)
    return [
        tag("figure", tag("figcaption", caption), size_plot(bins)),
        more("The same as a table, with records", figures),
    ]


def _binning(bins: list[Bin]) -> str:
    """In words, how sizes are binned, where they are."""
    widths = {each.high - each.low + 1 for each in bins[1:-1]}
    if all(each.low == each.high for each in bins):
        return ""
    if len(widths) <= 1:
        return " Each bar stands for a range of sizes."
    return " Each bar stands for a range of sizes; ranges grow wider with the size (a logarithmic scale)."
