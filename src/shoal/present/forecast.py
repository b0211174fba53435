"""A forecast and a time estimate in words: short sentences with the number, the column and the boundary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shoal.formatting import listing, pluralize
from shoal.present.diagnosis import Naming, blocker_head, exact, shortfalls_text, suggestion

if TYPE_CHECKING:
    from shoal.pipeline.forecast.forecast import AlgorithmNote, Forecast, ForecastFacts, ModelForecast, ParameterReach
    from shoal.pipeline.forecast.time_estimate import TimeEstimate
    from shoal.search.diagnosis.diagnosis import BlockedClass

_OPEN = "may be reachable, but only a run can tell: the most general node fails, and a less general one may hold"


def forecast_text(forecast: Forecast) -> str:
    """The whole forecast, the most important first."""
    budget = forecast.facts.may_suppress
    changes = "; ".join(map(suggestion, forecast.relaxations))
    one = "This change would help" if len(forecast.relaxations) == 1 else "Any one of these changes would help"
    lines = [
        *overall(forecast),
        *(sentence for each in forecast.models for sentence in about_model(each, budget)),
        *([f"{one}: {changes}."] if changes else []),
        *about_table(forecast.facts),
    ]
    return "\n".join(lines)


def overall(forecast: Forecast, naming: Naming = str) -> list[str]:
    """Whether all models hold together, and what must be said about the algorithm."""
    return [*_together(forecast), *(_note(note, naming) for note in forecast.notes)]


def about_table(facts: ForecastFacts) -> list[str]:
    """What the table is like."""
    alone = "is" if facts.unique == 1 else "are"
    sizes = " × ".join(str(each) for each in facts.levels.values())
    return [
        f"{pluralize(facts.records, 'record')} with {pluralize(facts.distinct_rows, 'different combination')} of "
        f"quasi-identifiers; {pluralize(facts.unique, 'record')} {alone} unique.",
        f"The lattice has {pluralize(facts.lattice, 'node')} ({sizes} {'level' if sizes == '1' else 'levels'}).",
        f"Generalized as far as the boundaries allow, there {'is' if facts.top_classes == 1 else 'are'} "
        f"{pluralize(facts.top_classes, 'class')}, the smallest with {pluralize(facts.smallest_at_top, 'record')}.",
    ]


def about_model(found: ModelForecast, budget: int, naming: Naming = str) -> list[str]:
    """What one model can reach, and what blocks it; ``budget`` records may be suppressed."""
    required = _required(found)
    on = f" on {found.sensitive!r}" if found.sensitive else ""
    subject = f"{naming(found.model)}{on}{f' with {required}' if required else ''}"
    best = _best(found.reaches)
    if found.alone == "open":
        sentences = [f"{subject} {_OPEN}.", *([f"For {naming(found.model)}: {best}."] if best else [])]
    else:
        is_reachable = "is reachable" if found.alone == "reachable" else "is not reachable"
        sentences = [f"{subject} {is_reachable}{f': {best}' if best else ''}."]
    return [*sentences, *_blocking(found, budget)]


def _required(found: ModelForecast) -> str:
    return ", ".join(
        f"{each.parameter} = {exact(each.required)}" for each in found.reaches if each.required is not None
    )


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


def _blocking(found: ModelForecast, budget: int) -> Iterator[str]:
    if found.table_lacks:
        yield f"In the table as a whole: {shortfalls_text(found.table_lacks)}."
    if not found.failing_classes:
        return
    required = _required(found)
    for example in found.examples:
        one = example.records == 1
        if found.alone == "reachable":
            does = f"{'falls' if one else 'fall'} short of {required} and would be suppressed"
        else:
            does = f"{'blocks' if one else 'block'} {required}"
        yield f"{_records_in(example)} {does}: {shortfalls_text(example.lacks)}{_kept_apart(example)}."
    more = found.failing_classes - len(found.examples)
    if more:
        records = pluralize(found.failing_records - sum(each.records for each in found.examples), "record")
        yield f"{pluralize(more, 'more class')} with {records} {'fails' if more == 1 else 'fail'} too."
    if found.suppressed is not None:
        yield f"{_would_suppress(found.suppressed)} for it alone; {_allowed(budget)}."


def _records_in(example: BlockedClass) -> str:
    records = pluralize(example.records, "record")
    if not example.labels:
        return f"The {records} of the table in one class"
    quoted = {name: "missing" if label is None else f"'{label}'" for name, label in example.labels.items()}
    if len(quoted) == 1:
        return f"{records} in {next(iter(quoted.values()))}"
    return f"{records} in {', '.join(f'{name} {label}' for name, label in quoted.items())}"


def _kept_apart(example: BlockedClass) -> str:
    """Which boundaries keep a class from joining others."""
    names = [repr(name) for name in example.labels]
    if not names:
        return ""
    subject = "the boundaries on" if len(names) > 1 else "the boundary on"
    verb, whom = "keep" if len(names) > 1 else "keeps", "it" if example.records == 1 else "them"
    return f"; {subject} {listing(names)} {verb} {whom} apart"


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


def _note(note: AlgorithmNote, naming: Naming) -> str:
    if note.code == "one-result-holds":
        return f"{note.algorithm} makes one release, and the models hold on it."
    if note.code == "one-result-fails":
        failing = "; ".join(blocker_head(blocker, naming) for blocker in note.blockers)
        return f"{note.algorithm} makes one release, and the policy does not hold on it: {failing}."
    if note.code == "too-many-nodes":
        return f"{note.algorithm} searches at most {note.most_nodes:,} nodes; this lattice has {note.nodes:,}."
    if note.code == "starts-at-top":
        return f"{note.algorithm} starts from the most general release, which fails; {note.exhaustive} may find one."
    if note.code == "may-miss":
        return f"{note.algorithm} follows a single path and may miss a release that exists; only a run can tell."
    changes = "; ".join(suggestion(each, naming) for each in note.relaxations)
    return (
        f"{note.algorithm} was tried with these changes and misses the release that then exists, which "
        f"{note.exhaustive} would find: {changes}."
    )


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
    for limit, unit, name in ((90, 1, "s"), (90 * 60, 60, "minutes"), (48 * 3600, 3600, "hours")):
        if seconds < limit:
            return f"{_rounded(seconds / unit)} {name}"
    return f"{_rounded(seconds / 86400)} days"


def _rounded(value: float) -> str:
    return f"{value:.0f}" if value < 10 else f"{5 * round(value / 5)}"
