"""How large the classes are."""

from __future__ import annotations

from shoal.evidence.evidence import ClassSizes, Evidence
from shoal.formatting import number, pluralize
from shoal.present.html.markup import Markup, more, paragraph, row, table, tag
from shoal.present.plots.bars import Bin, bin_sizes, size_plot


def class_sizes_section(evidence: Evidence) -> list[Markup]:
    """Smallest, median and largest class, and the distribution."""
    sizes = evidence.class_sizes
    if not isinstance(sizes, ClassSizes):
        return [paragraph("No class is released.")]
    said = (
        f"The smallest class has {pluralize(sizes.smallest, 'record')}, the median is {number(sizes.quartiles[1])} (at "
        f"least half of the classes are no larger), and the largest has {pluralize(sizes.largest, 'record')}."
    )
    other = sizes.smallest_if_missing_matches_anything
    missing = (
        "Here a missing value counts as a value of its own. To a reader who takes a missing cell to match anything, "
        f"every record could be any of at least {pluralize(other, 'record')}."
    )
    bins = bin_sizes({int(size): classes for size, classes in sizes.classes_by_size.items()})
    caption = f"How many classes have how many records.{_binning(bins)}"
    rows = [row(each.label, number(each.classes), number(each.records)) for each in bins]
    figures = table("Classes and records by class size.", ["Class size", "Classes", "Records in them"], rows)
    return [
        paragraph(said),
        *([paragraph(missing)] if other != sizes.smallest else []),
        tag("figure", tag("figcaption", caption), size_plot(bins)),
        more("As a table, with records", figures),
    ]


def _binning(bins: list[Bin]) -> str:
    """How sizes are binned, where they are."""
    if all(each.low == each.high for each in bins):
        return ""
    if len({each.high - each.low + 1 for each in bins[1:-1]}) <= 1:
        return " Each bar stands for a range of sizes."
    return " Each bar stands for a range of sizes; the ranges grow wider with the size (a logarithmic scale)."
