"""A forecast and a time estimate in words: short sentences with the number, the column and the boundary."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shoal.formatting import listing, pluralize
from shoal.present.diagnosis import Naming, blocker_head, exact, shortfalls_text, suggestion, would_help
from shoal.present.people import people_phrase, records_and_people
from shoal.present.warnings import warning_sentence

if TYPE_CHECKING:
    from shoal.pipeline.forecast.forecast import Forecast, ForecastFacts, ModelForecast, ParameterReach
    from shoal.pipeline.forecast.time_estimate import TimeEstimate
    from shoal.search.diagnosis.failures import BlockedClass

_OPEN = "may be reachable, but only a run can tell: the most general node fails, and a less general one may hold"
_NOTES = {
    "one-result-holds": "{algorithm} makes one release, and the models hold on it.",
    "one-result-fails": "{algorithm} makes one release, and the policy does not hold on it: {failing}.",
    "too-many-nodes": "{algorithm} searches at most {most_nodes:,} nodes; this lattice has {nodes:,}.",
    "starts-at-top": "{algorithm} starts from the most general release, which fails; {exhaustive} may find one.",
    "may-miss": "{algorithm} follows a single path and may miss a release that exists; only a run can tell.",
    "missed": "{algorithm} was tried with these changes and misses the release that then exists, which {exhaustive} "
    "would find: {changes}.",
}  # what must be said of the policy's algorithm


def forecast_text(forecast: Forecast) -> str:
    """The whole forecast, the most important first."""
    lines = overall(forecast)
    for each in forecast.models:
        lines += about_model(each, forecast.facts.may_suppress)
    if changes := forecast.relaxations:
        lines.append(f"{would_help(changes)}: {'; '.join(map(suggestion, changes))}.")
    return "\n".join([*lines, *about_table(forecast.facts)])


def overall(forecast: Forecast, naming: Naming = str) -> list[str]:
    """Whether all models hold together, and what must be said about the algorithm."""
    lines = list(_together(forecast))
    for note in forecast.notes:
        failing = "; ".join(blocker_head(blocker, naming) for blocker in note.blockers)
        changes = "; ".join(suggestion(each, naming) for each in note.relaxations)
        lines.append(_NOTES[note.code].format_map({**vars(note), "failing": failing, "changes": changes}))
    return [*lines, *map(warning_sentence, forecast.warnings)]


def about_table(facts: ForecastFacts) -> list[str]:
    """What the table is like."""
    sizes = " × ".join(str(each) for each in facts.levels.values())
    combinations = pluralize(facts.distinct_rows, "different combination")
    unique = pluralize(facts.unique, "record is", "records are")
    of = "" if facts.people is None else f" of {people_phrase(facts.people)}"
    smallest = records_and_people(facts.smallest_at_top, facts.fewest_people_at_top)
    return [
        f"{pluralize(facts.records, 'record')}{of} with {combinations} of quasi-identifiers; {unique} unique.",
        f"The lattice has {pluralize(facts.lattice, 'node')} ({sizes} {'level' if sizes == '1' else 'levels'}).",
        f"Generalized as far as the boundaries allow, there {'is' if facts.top_classes == 1 else 'are'} "
        f"{pluralize(facts.top_classes, 'class')}, the smallest with {smallest}.",
    ]


def about_model(forecast: ModelForecast, budget: int, naming: Naming = str) -> list[str]:
    """What one model can reach, and what blocks it; ``budget`` records may be suppressed."""
    required = _required(forecast)
    on = f" on {forecast.sensitive!r}" if forecast.sensitive else ""
    subject = f"{naming(forecast.model)}{on}{f' with {required}' if required else ''}"
    best = _best(forecast.reaches)
    if forecast.alone == "open":
        sentences = [f"{subject} {_OPEN}.", *([f"For {naming(forecast.model)}: {best}."] if best else [])]
    else:
        is_reachable = "is reachable" if forecast.alone == "reachable" else "is not reachable"
        sentences = [f"{subject} {is_reachable}{f': {best}' if best else ''}."]
    return [*sentences, *_blocking(forecast, budget)]


def _required(forecast: ModelForecast) -> str:
    given = ((each.parameter, each.required) for each in forecast.reaches if each.required is not None)
    return ", ".join(f"{parameter} = {exact(value)}" for parameter, value in given)


def _best(reaches: Sequence[ParameterReach]) -> str:
    """The strongest values: all that the model has, each with the others as required."""
    parts = []
    for each in reaches:
        if each.alone is None:
            parts.append(f"no other {each.parameter} alone would help")
        elif each.proven:
            bound = "at most" if each.at_least else "no less than"
            parts.append(f"{bound} {each.parameter} = {exact(each.alone)} is reachable")
        else:
            value = f"{each.parameter} = {exact(each.alone)}"
            parts.append(f"{value} is reached at the most general node, and a less general one may reach more")
    return "; ".join(parts)


def _blocking(forecast: ModelForecast, budget: int) -> Iterator[str]:
    if forecast.table_lacks:
        yield f"In the table as a whole: {shortfalls_text(forecast.table_lacks)}."
    if not forecast.failing_classes:
        return
    required = _required(forecast)
    for example in forecast.examples:
        one = example.records == 1
        does = f"{'blocks' if one else 'block'} {required}"
        if forecast.alone == "reachable":
            does = f"{'falls' if one else 'fall'} short of {required} and would be suppressed"
        yield f"{_records_in(example)} {does}: {shortfalls_text(example.lacks)}{_kept_apart(example)}."
    if more := forecast.failing_classes - len(forecast.examples):
        records = pluralize(forecast.failing_records - sum(each.records for each in forecast.examples), "record")
        yield f"{pluralize(more, 'more class')} with {records} {'fails' if more == 1 else 'fail'} too."
    if forecast.suppressed is not None:
        yield f"{_would_suppress(forecast.suppressed)} for it alone; {_allowed(budget)}."


def _records_in(example: BlockedClass) -> str:
    records = pluralize(example.records, "record")
    if not example.labels:
        return f"The {records} of the table in one class"
    quoted = {name: "missing" if label is None else f"'{label}'" for name, label in example.labels.items()}
    named = quoted.values() if len(quoted) == 1 else (f"{name} {label}" for name, label in quoted.items())
    return f"{records} in {', '.join(named)}"


def _kept_apart(example: BlockedClass) -> str:
    """Which boundaries keep a class from joining others."""
    names = [repr(name) for name in example.labels]
    if not names:
        return ""
    boundaries, keep = ("the boundaries on", "keep") if len(names) > 1 else ("the boundary on", "keeps")
    return f"; {boundaries} {listing(names)} {keep} {'it' if example.records == 1 else 'them'} apart"


def _together(forecast: Forecast) -> Iterator[str]:
    budget, suppressed = forecast.facts.may_suppress, forecast.suppressed
    if forecast.verdict == "reachable":
        where = "at least" if forecast.least_suppressed else "at the most general node"
        out = f" with {where} {pluralize(suppressed, 'record')} suppressed; {_allowed(budget)}" if suppressed else ""
        yield f"The policy can be satisfied{out}."
        return
    if forecast.verdict == "open":
        yield f"The policy {_OPEN}."
    else:
        yield "The policy cannot be satisfied within the boundaries and the allowed suppression."
    if len(forecast.models) > 1 and all(each.alone == "reachable" for each in forecast.models):
        yield "Each model alone is reachable."
    if suppressed is not None and suppressed > budget:
        yield f"{_would_suppress(suppressed)}; {_allowed(budget)}."


def _would_suppress(records: int) -> str:
    return f"At the most general node {pluralize(records, 'record')} would have to be suppressed"


def _allowed(budget: int) -> str:
    return f"{budget:,} may be" if budget else "none may be"


def estimate_text(estimate: TimeEstimate) -> str:
    """``about 3 s (2 s to 6 s)``."""
    return f"{typical_text(estimate)} ({range_text(estimate)})"


def typical_text(estimate: TimeEstimate) -> str:
    """``about 3 s``."""
    return f"about {duration_text(estimate.typical)}"


def range_text(estimate: TimeEstimate) -> str:
    """``2 s to 6 s``."""
    low, high = duration_text(estimate.low), duration_text(estimate.high)
    return low if low == high else f"{low} to {high}"


def estimate_basis(estimate: TimeEstimate) -> list[str]:
    """What an estimate rests on."""
    combinations = pluralize(estimate.distinct_rows, "different combination")
    basis = [
        f"{pluralize(estimate.records, 'record')} with {combinations} of quasi-identifiers",
        f"{estimate.algorithm}: {_search_basis(estimate)}",
        f"checking one node took {estimate.check * 1000:.2f} ms just now",
    ]
    if estimate.compiling:
        basis.append("the kernels have not been compiled on this machine yet; that happens once and is counted")
    if estimate.utility:
        basis.append("not counted: the utility task, which anonymizes and learns several times")
    if estimate.busy > 1:
        basis.append(f"other work on this machine: up to {estimate.busy:.1f} times as long while it lasts")
    return basis


def _search_basis(estimate: TimeEstimate) -> str:
    search = estimate.search
    if search.basis == "one-pass":
        return "one pass over the groups"
    if search.basis == "checks" and search.checks is not None:
        fewest, most = search.checks
        return f"{fewest:,} to {most:,} checks of a lattice of {pluralize(search.nodes or 0, 'node')}"
    exactly = " with the paper's choices" if search.basis == "faithful-growth" else ""
    refining = f", and up to {search.refine:g} s of refining" if search.refine else ""
    return f"its growth with combinations and records, as measured{exactly}{refining}"


def duration_text(seconds: float) -> str:
    """A time as people say it: rounded to what an estimate can mean."""
    if seconds < 1:
        return f"{max(seconds, 0.1):.1f} s"
    units = ((90, 1, "s"), (90 * 60, 60, "minutes"), (48 * 3600, 3600, "hours"), (math.inf, 86400, "days"))
    value, name = next((seconds / unit, name) for limit, unit, name in units if seconds < limit)
    return f"{value:.0f} {name}" if value < 10 else f"{5 * round(value / 5)} {name}"
