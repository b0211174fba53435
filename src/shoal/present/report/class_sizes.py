"""How large the classes are."""

from shoal.evidence.evidence import Evidence
from shoal.evidence.people import ClassSizes
from shoal.formatting import number, pluralize
from shoal.present.html.markup import Markup, more, paragraph, table, tag
from shoal.present.people import people_phrase
from shoal.present.plots.bars import bin_sizes, size_plot


def class_sizes_section(evidence: Evidence) -> list[Markup]:
    """Smallest, median and largest class, and the distribution."""
    sizes = evidence.class_sizes if evidence.people is None else evidence.people.class_sizes
    if not isinstance(sizes, ClassSizes):
        return [paragraph("No class is released.")]
    phrase = people_phrase if evidence.people is not None else _records_phrase
    noun = "people" if evidence.people is not None else "records"
    said = (
        f"The smallest class has {phrase(sizes.smallest)}, the median is {number(sizes.quartiles[1])} (at "
        f"least half of the classes are no larger), and the largest has {phrase(sizes.largest)}."
    )
    if evidence.people is not None:
        said += " Somebody with records in several classes is counted in each of them."
    other = sizes.smallest_if_missing_matches_anything
    missing = (
        "Here a missing value counts as a value of its own. To a reader who takes a missing cell to match anything, "
        f"every record could be any of at least {_records_phrase(other or 0)}."
    )
    bins = bin_sizes({int(size): classes for size, classes in sizes.classes_by_size.items()})
    caption = f"How many classes have how many {noun}."
    if any(each.low != each.high for each in bins):
        caption += " Each bar stands for a range of sizes"
        alike = len({each.high - each.low for each in bins[1:-1]}) <= 1
        caption += "." if alike else "; the ranges grow wider with the size (a logarithmic scale)."
    rows = [(each.label, number(each.classes), number(each.records)) for each in bins]
    heads = ["Class size", "Classes", f"{noun.capitalize()} in them"]
    figures = table(f"Classes and {noun} by class size.", heads, rows)
    return [
        paragraph(said),
        *([paragraph(missing)] if other not in {None, sizes.smallest} else []),
        tag("figure", tag("figcaption", caption), size_plot(bins)),
        more(f"As a table, with {noun}", figures),
    ]


def _records_phrase(count: int) -> str:
    return pluralize(count, "record")
