"""An answer to "why?" in words: line by line for a terminal, in parts for a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.formatting import listing, number, pluralize
from shoal.hierarchies.hierarchy import Label
from shoal.present.diagnosis import Naming, shortfalls_text
from shoal.present.terminal import model_lines

if TYPE_CHECKING:
    from shoal.pipeline.why.explain import ColumnWhy, LeftOut, Why
    from shoal.pipeline.why.find import Matches
    from shoal.search.diagnosis.failures import Judgement, Lack, Split

_PARTS = 6  # parts of a class that are listed; the plain data has all of them
_CLASSES = 12  # classes of several matching records that are listed

_NOT_CHOSEN = {
    "one-path": "the search goes up one path, which does not pass here",
    "one-result": "the algorithm does not search: its options set groups and ranges",
}
"""Why nothing blocks a choice that was not made, by how the algorithm searches, where it is not for the measure."""

_SUPPRESSED = {
    "best-node": "no release costs less than this one, which suppresses it",
    "minimal-nodes": "the search compares only the least general nodes, not more general ones",
    "one-path": "the search goes up only until no more records fail than may be suppressed",
    "one-result": "the options set the groups, and those that fail are suppressed",
}
"""Why a record is suppressed although its boundaries would allow a class, by how the algorithm searches.

Local algorithms suppress only what the boundaries rule out.
"""


def explanation(why: Why, naming: Naming = str) -> dict[str, Any]:
    """An answer in parts: what became of the record, what is known of it, and each column, with models named so."""
    if why.suppressed:
        return {"head": _head(why), "summary": [_suppressed(why, each, naming) for each in why.left_out], "columns": []}
    reached, columns = [f"{line} here" for line in model_lines(why.models, "", naming)], []
    for each in why.columns:
        level = f" (level {each.level} of {each.height})" if each.level is not None else ""
        facts = {"column": each.column, "verdict": each.verdict, "released": f"{_label_text(each.released)}{level}"}
        columns.append(facts | {"lines": list(_finer(why, each, naming))})
    return {"head": _head(why), "summary": [*reached, *_cheapest(why, naming)], "columns": columns}


def explanation_text(why: Why) -> str:
    """An answer as lines of text."""
    parts = explanation(why)
    lines = [*parts["head"], *(f"  {line}" for line in parts["summary"])]
    if parts["columns"]:
        lines.append("What prevents more detail, column by column:")
    for each in parts["columns"]:
        end = ". One step finer:" if each["lines"] else ", not generalized."
        lines += [f"- {each['column']}: {each['released']}{end}", *(f"    {line}" for line in each["lines"])]
    return "\n".join(lines)


def matches_text(matches: Matches) -> str:
    """Several records that fit, by class, as lines of text."""
    lines = [
        f"{pluralize(matches.records, 'record')} with {_cells(matches.asked)} went to "
        f"{pluralize(len(matches.classes), 'class')}:"
    ]
    for each in matches.classes[:_CLASSES]:
        if each.number is None:
            lines.append(f"  {each.matching:,} suppressed")
        else:
            size = pluralize(each.size, "record")
            lines.append(f"  {each.matching:,} in class {each.number} of {size}: {_cells(each.released)}")
    if len(matches.classes) > _CLASSES:
        lines.append(f"  and {len(matches.classes) - _CLASSES:,} more classes")
    return "\n".join([*lines, "Give more values, the number of a record, or one of these classes."])


def _head(why: Why) -> list[str]:
    lines = []
    if why.record is not None:
        more = pluralize(why.alike - 1, "more record")
        others = f" ({more} with the same values)" if why.alike > 1 else ""
        lines.append(f"Record {why.record}: {_cells(why.values)}{others}.")
    if why.suppressed:
        return [*lines, f"It was suppressed by {why.algorithm}."]
    released = _cells({column.column: column.released for column in why.columns})
    size = pluralize(why.size, "record")
    return [*lines, f"Class {why.number} of {why.classes}, found by {why.algorithm}, has {size}: {released}."]


def _suppressed(why: Why, each: LeftOut, naming: Naming) -> str:
    where = "As the release is generalized" if each.where == "release" else "As far as the boundaries allow"
    cells, size = f" ({_cells(each.labels)})" if each.labels else "", pluralize(each.size, "record")
    if each.lacks:
        return f"{where}, its class{cells} has {size} and fails: {_lacking(each.lacks, naming)}."
    reason = "it was suppressed earlier in the search"
    if each.where == "boundary":
        reason = _SUPPRESSED.get(why.search, "it is one of the records that may be suppressed")
    return f"{where}, its class{cells} of {size} would satisfy the models: {reason}."


def _cheapest(why: Why, naming: Naming) -> Iterator[str]:
    """How little the record could cost, and what became of the others in the cheapest box."""
    box = why.cheapest
    if why.cost is None:
        return
    if box is None:
        yield "How little this record could cost is not known: there are too many boxes around it to look at."
    elif why.cost <= box.cost + 1e-9:
        yield f"No class that satisfies the models could cost this record less than its own ({why.cost:.4f} per cell)."
    else:
        cells = _cells(dict(zip([column.column for column in why.columns], box.labels, strict=True)))
        here, gone = why.box_here - 1, why.box_left_out
        others = [(here, "in this class"), (box.records - 1 - here - gone, "in other classes"), (gone, "suppressed")]
        fates = ", ".join(f"{count:,} {where}" for count, where in others if count)
        fate = f"Of the others in it: {fates}." if fates else "Nobody else is in it."
        if fails := [_named(model, sensitive, naming) for model, sensitive in box.fails]:
            fate += f" All of it together would fail {listing(fails)}."
        yield (
            f"The cheapest box that could hold this record ({cells}; {pluralize(box.records, 'record')} in it) costs "
            f"{box.cost:.4f} per cell, its class {why.cost:.4f}. {fate}"
        )


def _finer(why: Why, column: ColumnWhy, naming: Naming) -> Iterator[str]:
    """What one step finer would do: part by part, then as a whole, then for some parts alone."""
    if not column.splits:
        return
    first, *others = column.splits
    ranked = sorted(first.parts, key=lambda part: (not part.own, not part.lacks))
    for part in ranked[:_PARTS]:
        own = ", including this one" if part.own and part.records > 1 else ", this one" if part.own else ""
        among = "" if part.class_size == part.records else f", in a class of {part.class_size:,}"
        fate = f"fails {_lacking(part.lacks, naming)}" if part.lacks else "would satisfy the models"
        share = f"{part.records:,} of {pluralize(why.size, 'record')}"
        yield f"{share} {'has' if part.records == 1 else 'have'} {_label_text(part.value)}{own}{among}: {fate}."
    if rest := ranked[_PARTS:]:
        yield f"{pluralize(len(rest), 'more value')}, {sum(bool(part.lacks) for part in rest):,} of which would fail."
    yield from _verdict(why, column, first, naming)
    for split in others:
        yield from _only_some(column, split, naming)


def _verdict(why: Why, column: ColumnWhy, split: Split, naming: Naming) -> Iterator[str]:
    judgement = split.judgement
    if column.level is None:
        if judgement.clean:
            yield f"Nothing blocks it: {_NOT_CHOSEN.get(why.search, f'{why.algorithm} did not find it')}."
        else:
            yield f"Blocked: {_failing(judgement, naming)}."
            yield from _at_a_price(split)
    elif judgement.holds:
        allowed = f"{judgement.left_out:,} suppressed, {judgement.may_be_left_out:,} allowed"
        measured = f"{why.metric} {number(split.measure or 0)} instead of {number(why.measure)}"
        facts = [*([allowed] if judgement.left_out else []), measured]
        if any(part.own and part.lacks for part in split.parts):
            facts.append("this record would be suppressed")
        chosen = _NOT_CHOSEN.get(why.search, "it was not chosen because of that")
        yield f"Nothing blocks it ({', '.join(facts)}): {chosen}."
    else:
        yield f"Blocked: {_failing(judgement, naming)}."


def _only_some(column: ColumnWhy, split: Split, naming: Naming) -> Iterator[str]:
    """Some parts alone, the rest staying as it is; nothing where a part fails, which has been said already."""
    if any(part.lacks for part in split.parts):
        return
    going = listing([_label_text(part.value) for part in split.parts], most=_PARTS)
    staying = (
        "" if split.rest is None else f", with the other {split.rest.records:,} still {_label_text(column.released)}"
    )
    alone = f"Only {going} finer{staying}: "
    if split.judgement.clean:
        yield f"{alone}nothing blocks that, but it was not found."
        return
    rest = split.rest.lacks if split.rest is not None else ()
    reason = f"the rest fails {_lacking(rest, naming)}" if rest else _failing(split.judgement, naming)
    yield f"{alone}blocked, {reason}."
    yield from _at_a_price(split)


def _at_a_price(split: Split) -> Iterator[str]:
    if split.at_a_price:
        more = pluralize(split.judgement.left_out, "record")
        yield f"It would hold with {more} suppressed; {split.judgement.may_be_left_out:,} more may be."


def _failing(judgement: Judgement, naming: Naming) -> str:
    reasons = [
        f"{_named(each.model, each.sensitive, naming)} fails in {pluralize(each.classes, 'class')} "
        f"({pluralize(each.records, 'record')})"
        for each in judgement.fails
    ]
    if judgement.fails_as_a_whole:
        reasons.append(f"the release as a whole fails {_lacking(judgement.fails_as_a_whole, naming)}")
    if judgement.left_out > judgement.may_be_left_out:
        allowed = f"{judgement.may_be_left_out:,}" if judgement.may_be_left_out else "none"
        reasons.append(f"{pluralize(judgement.left_out, 'record')} would have to be suppressed and {allowed} may be")
    return "; ".join(reasons)


def _lacking(lacks: Sequence[Lack], naming: Naming) -> str:
    return "; ".join(f"{_named(each.model, each.sensitive, naming)} ({shortfalls_text(each.lacks)})" for each in lacks)


def _named(model: str, sensitive: str | None, naming: Naming) -> str:
    return f"{naming(model)} on {sensitive}" if sensitive else naming(model)


def _cells(cells: Mapping[str, Label]) -> str:
    return ", ".join(f"{name} {_label_text(label)}" for name, label in cells.items())


def _label_text(label: Label) -> str:
    return "(missing)" if label is None else label
