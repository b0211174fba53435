"""The sentences of a forecast: short, with the number, the column, the value and the boundary they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.hierarchies.hierarchy import Label
from shoal.pipeline.forecast.result import BlockedClass, Facts, ModelForecast, Reach, Verdict
from shoal.search.diagnosis.relaxations import Relaxation, counted, written

_OPEN = "may be reachable; only a run tells"


def fact_sentences(facts: Facts) -> Iterator[str]:
    """What the table is like."""
    records = counted(facts.records, "record", "records")
    yield (
        f"{records} with {counted(facts.tuples, 'different combination', 'different combinations')} of "
        f"quasi-identifiers; {counted(facts.unique, 'record stands', 'records stand')} alone with a combination."
    )
    levels = " × ".join(str(each) for each in facts.levels.values())
    of = "level" if levels == "1" else "levels"
    yield f"The lattice has {counted(facts.lattice, 'node', 'nodes')} ({levels} {of})."
    yield (
        f"Generalized as far as the boundaries allow there {'is' if facts.top_classes == 1 else 'are'} "
        f"{counted(facts.top_classes, 'class', 'classes')}, the smallest of "
        f"{counted(facts.smallest_at_top, 'record', 'records')}."
    )


def model_sentences(found: ModelForecast, budget: int) -> Iterator[str]:
    """What one model can reach, and what blocks it."""
    asked = _asked(found)
    if found.alone == "reachable":
        yield f"{asked} is reachable{_best(found.reaches)}."
    elif found.alone == "unreachable":
        yield f"{asked} is not reachable{_best(found.reaches)}."
    else:
        yield f"{asked} {_OPEN}: the most general node fails it, and a less general one may hold."
        if found.reaches:
            yield f"For {found.model}{_best(found.reaches)}."
    yield from _blocking(found, budget)


def _asked(found: ModelForecast) -> str:
    values = ", ".join(f"{each.parameter} = {written(each.asked)}" for each in found.reaches if each.asked is not None)
    on = f" for {found.sensitive!r}" if found.sensitive else ""
    return f"{found.model} with {values}{on}" if values else f"{found.model}{on}"


def _best(reaches: Sequence[Reach]) -> str:
    """The strongest values: all that the model has, each with the others as asked."""
    parts = []
    for each in reaches:
        if each.alone is None:
            parts.append(f"no other {each.parameter} alone would do")
            continue
        value = f"{each.parameter} = {written(each.alone)}"
        if each.proven:
            parts.append(f"{'at most' if each.at_least else 'no less than'} {value} is reachable")
        else:
            parts.append(f"{value} is reached at the most general node, and a less general one may reach more")
    return f": {'; '.join(parts)}" if parts else ""


def _blocking(found: ModelForecast, budget: int) -> Iterator[str]:
    if found.table_lacks is not None:
        yield f"In the table as a whole {found.table_lacks}."
    if not found.failing_classes:
        return
    asked = ", ".join(f"{each.parameter} = {written(each.asked)}" for each in found.reaches if each.asked is not None)
    for example in found.examples:
        one = example.records == 1
        if found.alone == "reachable":
            does = f"{'falls' if one else 'fall'} short of {asked} and would be left out"
        else:
            does = f"{'blocks' if one else 'block'} {asked}"
        yield f"{_records_in(example)} {does}: {example.lacks}{_kept_apart(example)}."
    shown = sum(each.records for each in found.examples)
    more = found.failing_classes - len(found.examples)
    if more:
        records = counted(found.failing_records - shown, "record", "records")
        yield f"{counted(more, 'more class', 'more classes')} with {records} {'fails' if more == 1 else 'fail'} too."
    if found.suppressed is not None:
        yield f"{_suppressed(found.suppressed)} for it alone; {_allowed(budget)}."


def _records_in(example: BlockedClass) -> str:
    records = counted(example.records, "record", "records")
    if not example.labels:
        return f"The {records} of the table in one class"
    if len(example.labels) == 1:
        return f"{records} in {_quoted(next(iter(example.labels.values())))}"
    return f"{records} in {', '.join(f'{name} {_quoted(label)}' for name, label in example.labels.items())}"


def _kept_apart(example: BlockedClass) -> str:
    """Which boundaries keep a class from joining others."""
    names = [repr(name) for name in example.labels]
    if not names:
        return ""
    many = len(names) > 1
    whom = "it" if example.records == 1 else "them"
    return f"; the {'boundaries' if many else 'boundary'} on {_and(names)} {'keep' if many else 'keeps'} {whom} apart"


def _suppressed(records: int) -> str:
    return f"At the most general node {counted(records, 'record', 'records')} would have to be left out"


def _allowed(budget: int) -> str:
    return f"{budget} may be" if budget else "none may be"


def together_sentences(
    verdict: Verdict, models: Sequence[ModelForecast], suppressed: int | None, budget: int, *, least: bool
) -> Iterator[str]:
    """Whether all models hold together; ``least`` where no release suppresses fewer records than the top does."""
    every = "The policy" if len(models) == 1 else "All models together"
    be = "is" if len(models) == 1 else "are"
    if verdict == "reachable":
        where = "at least" if least else "at the most general node"
        out = f"; {where} {counted(suppressed, 'record', 'records')} left out, {_allowed(budget)}" if suppressed else ""
        yield f"{every} {be} reachable{out}."
        return
    if verdict == "open":
        yield f"{every} {_OPEN}: the most general node fails, and a less general one may hold."
    else:
        yield f"{every} {be} not reachable within the boundaries and the records that may be left out."
    if len(models) > 1 and all(each.alone == "reachable" for each in models):
        yield "Each model alone is reachable."
    if suppressed is not None and suppressed > budget:
        yield f"{_suppressed(suppressed)}; {_allowed(budget)}."


def change_sentences(relaxations: Sequence[Relaxation]) -> Iterator[str]:
    """What would help."""
    if len(relaxations) == 1:
        yield f"This change would do: {relaxations[0]}."
    elif relaxations:
        yield f"Any one of these changes would do: {'; '.join(map(str, relaxations))}."


def missed_sentences(algorithm: str, missed: Sequence[Relaxation]) -> Iterator[str]:
    """What would help another algorithm only."""
    if missed:
        changes = "; ".join(map(str, missed))
        yield f"{algorithm} was tried and misses the release that there is with: {changes}. optimal would find it."


def _quoted(label: Label) -> str:
    return "missing" if label is None else f"'{label}'"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
