"""An answer to "why?" in words, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from shoal.hierarchies.hierarchy import Label
from shoal.present.report.requirements import flat_parameters
from shoal.search.diagnosis.failures import Judgement, Lack, Split, named
from shoal.search.diagnosis.relaxations import counted

if TYPE_CHECKING:
    from shoal.pipeline.why.explain import ColumnWhy, LeftOut, Why
    from shoal.pipeline.why.find import Matches
    from shoal.search.bounds.cheapest_box import Box

_PARTS = 6
"""Parts of a class that are told of; the plain data has all of them."""
_CLASSES = 12
"""Classes of several matching records that are told of."""
_NOT_TRIED = {
    "greedy-lattice": "the walk of greedy-lattice did not come by it",
    "range": "the range method does not search: groups and ranges are set by its options",
}
"""Why an algorithm did not choose what nothing blocks, where it is not for the measure."""

_LEFT_OUT = {
    "optimal": "no release costs less than the one that optimal found, and that leaves it out",
    "incognito": "incognito chooses among the least general nodes, and does not compare them with more general ones",
    "greedy-lattice": "greedy-lattice goes up only until no more records fail than may be left out",
    "range": "the range method sets groups by its options, and leaves out those that fail",
}
"""Why a record is left out that its boundaries would let in.

Local algorithms leave out only what the boundaries do not let in.
"""

_BY_SUPPRESSION = "it is one of those that the suppression allows to leave out"


def lines(why: Why) -> Iterator[str]:
    """The whole answer."""
    yield from _head(why)
    if why.suppressed:
        yield from (line for each in why.left_out for line in _left_out(why, each))
        return
    for model in why.models:
        asked, reached = _parameters(model["asked"]), _parameters(model["reached"])
        yield f"  {named(model['model'], model['sensitive'])}: asked {asked}; reached here {reached}"
    yield from _cheapest(why)
    yield "What blocks less, column by column:"
    for column in why.columns:
        yield from _column(why, column)


def match_lines(matches: Matches) -> Iterator[str]:
    """Several records that fit, by class."""
    yield (
        f"{counted(matches.records, 'record', 'records')} with {_cells(matches.asked)} went to "
        f"{counted(len(matches.classes), 'place', 'places')}:"
    )
    for each in matches.classes[:_CLASSES]:
        if each.number is None:
            yield f"  {each.matching} left out"
        else:
            size = counted(each.size, "record", "records")
            yield f"  {each.matching} in class {each.number} of {size}: {_cells(each.released)}"
    if len(matches.classes) > _CLASSES:
        yield f"  and {len(matches.classes) - _CLASSES} classes more"
    yield "Name more values, a record by its number, or one of these classes."


def _head(why: Why) -> Iterator[str]:
    if why.record is not None:
        others = f" ({why.alike - 1} more with the same values)" if why.alike > 1 else ""
        yield f"Record {why.record}: {_cells(why.values)}{others}."
    if why.suppressed:
        yield f"It was left out by {why.algorithm}."
        return
    released = _cells({column.column: column.released for column in why.columns})
    size = counted(why.size, "record", "records")
    yield f"Class {why.number} of {why.classes}, made by {why.algorithm}, has {size}: {released}."


def _left_out(why: Why, each: LeftOut) -> Iterator[str]:
    where = "As the release is generalized" if each.where == "release" else "As far as the boundaries allow"
    cells = f" ({_cells(each.labels)})" if each.labels else ""
    size = counted(each.size, "record", "records")
    if each.lacks:
        yield f"  {where}, its class{cells} has {size} and fails: {_lacking(each.lacks)}."
    elif each.where == "boundary":
        yield f"  {where}, its class{cells} of {size} would hold: {_LEFT_OUT.get(why.algorithm, _BY_SUPPRESSION)}."
    else:
        yield f"  {where}, its class{cells} of {size} would hold: it was left out before, on the way there."


def _cheapest(why: Why) -> Iterator[str]:
    box = why.cheapest
    if why.cost is None:
        return
    if box is None:
        yield "  How little the record could cost at all is not known: there are too many boxes around it to look at."
        return
    cells = _cells(dict(zip([column.column for column in why.columns], box.labels, strict=True)))
    if why.cost <= box.cost + 1e-9:
        yield f"  No class that holds could cost the record less than its own does ({why.cost:.4f} a cell)."
    else:
        inside = counted(box.records, "record", "records")
        yield (
            f"  The cheapest box that could hold the record at all ({cells}; {inside} in it) costs {box.cost:.4f} a "
            f"cell, its class {why.cost:.4f}. {_box_fate(why, box)}"
        )


def _box_fate(why: Why, box: Box) -> str:
    """What became of the others in the cheapest box, and whether all of it could be a class at all."""
    here, gone = why.box_here - 1, why.box_left_out
    elsewhere = box.records - 1 - here - gone
    counts = [(here, "in this class"), (elsewhere, "in other classes"), (gone, "left out")]
    fates = ", ".join(f"{count} {where}" for count, where in counts if count)
    told = f"Of the others in it: {fates}." if fates else "Nobody else is in it."
    return f"{told} All of it together would fail {' and '.join(box.fails)}." if box.fails else told


def _column(why: Why, column: ColumnWhy) -> Iterator[str]:
    level = f" (level {column.level} of {column.height})" if column.level is not None else ""
    if not column.splits:
        yield f"- {column.column}: {shown(column.released)}{level}, as it is."
        return
    yield f"- {column.column}: {shown(column.released)}{level}. One step less:"
    first, *second = column.splits
    yield from (f"    {line}" for line in _parts(why, first))
    yield from (f"    {line}" for line in _verdict(why, column, first))
    for split in second:
        yield from (f"    {line}" for line in _partly(column, split))


def _parts(why: Why, split: Split) -> Iterator[str]:
    ranked = sorted(split.parts, key=lambda part: (not part.own, not part.lacks))
    for part in ranked[:_PARTS]:
        mine = ", this one too" if part.own and part.records > 1 else ", this one" if part.own else ""
        among = "" if part.size == part.records else f", in a class of {part.size}"
        fate = _lacking(part.lacks) if part.lacks else "would hold"
        verb = "is" if part.records == 1 else "are"
        share = f"{part.records} of {counted(why.size, 'record', 'records')}"
        yield f"{share} {verb} {shown(part.label)}{mine}{among}: {fate}."
    if len(ranked) > _PARTS:
        failing = sum(bool(part.lacks) for part in ranked[_PARTS:])
        yield f"{len(ranked) - _PARTS} more values, {failing} of which would fail."


def _verdict(why: Why, column: ColumnWhy, split: Split) -> Iterator[str]:
    judgement = split.judgement
    if column.level is None:
        if judgement.clean:
            yield f"Nothing blocks it: {_NOT_TRIED.get(why.algorithm, f'{why.algorithm} did not find it')}."
        else:
            yield f"Blocked: {_failing(judgement)}."
            yield from _at_a_price(split)
    elif judgement.holds:
        left = f"{judgement.left_out} left out, of {judgement.allowed} that may be" if judgement.left_out else ""
        measured = f"{why.metric} {split.measure:.6g} instead of {why.measure:.6g}"
        chosen = _NOT_TRIED.get(why.algorithm, "it was not chosen for that")
        gone = ", and this record would be left out" if any(part.own and part.lacks for part in split.parts) else ""
        yield f"Nothing blocks it ({', '.join(each for each in (left, measured) if each)}{gone}): {chosen}."
    else:
        yield f"Blocked: {_failing(judgement)}."


def _partly(column: ColumnWhy, split: Split) -> Iterator[str]:
    """Some parts alone, the rest staying as it is; nothing where a part fails, which has been said already."""
    if any(part.lacks for part in split.parts):
        return
    going = " and ".join(shown(part.label) for part in split.parts[:_PARTS])
    more = f" and {len(split.parts) - _PARTS} more" if len(split.parts) > _PARTS else ""
    staying = "" if split.rest is None else f", the other {split.rest.records} staying {shown(column.released)}"
    alone = f"Only {going}{more} finer{staying}: "
    if split.judgement.clean:
        yield f"{alone}nothing blocks that; it was not found."
        return
    rest = split.rest.lacks if split.rest is not None else ()
    yield f"{alone}blocked, {f'the rest fails {_lacking(rest)}' if rest else _failing(split.judgement)}."
    yield from _at_a_price(split)


def _at_a_price(split: Split) -> Iterator[str]:
    if split.at_a_price:
        more = counted(split.judgement.left_out, "record", "records")
        yield f"It would hold with {more} left out, and {split.judgement.allowed} more may be."


def _failing(judgement: Judgement) -> str:
    words = [
        f"{named(each.model, each.sensitive)} fails in {counted(each.classes, 'class', 'classes')} "
        f"({counted(each.records, 'record', 'records')})"
        for each in judgement.failures
    ]
    words += [f"the whole fails {lack}" for lack in judgement.whole]
    if judgement.left_out > judgement.allowed:
        may = f"{judgement.allowed} may be" if judgement.allowed else "none may be"
        words.append(f"{counted(judgement.left_out, 'record', 'records')} would have to be left out and {may}")
    return "; ".join(words)


def _lacking(found: tuple[Lack, ...]) -> str:
    return "; ".join(map(str, found))


def _parameters(given: Mapping[str, Any]) -> str:
    words = []
    for name, value in flat_parameters(given):
        figure = "without limit" if value is None else f"{value:.6g}" if isinstance(value, (int, float)) else str(value)
        words.append(f"{name} {figure}")
    return ", ".join(words)


def _cells(cells: Mapping[str, Label]) -> str:
    return ", ".join(f"{name} {shown(label)}" for name, label in cells.items())


def shown(label: Label) -> str:
    """A value or label in a sentence."""
    return "(missing)" if label is None else label
