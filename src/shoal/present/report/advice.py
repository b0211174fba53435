"""What to tighten and what to relax, from facts of this release alone: no search is repeated for it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from shoal.evidence.evidence import Evidence, ModelFacts, QuasiFacts
from shoal.formatting import number, percent, pluralize
from shoal.models import at_least as demands_at_least
from shoal.present.attacks import by_severity, remedy_sentence
from shoal.present.html.markup import Markup, bullets, join, name_of, names_of, tag
from shoal.present.report.attackers import titled
from shoal.present.report.losses import has_boundary
from shoal.present.report.requirements import model_head, numeric_parameters, parameter_name
from shoal.search import algorithms_by

_PLACES = 10_000
_LISTED = 3  # columns that are named for what they cost


def advice_section(evidence: Evidence) -> list[Markup]:
    """Stricter at no cost, what is at its limit, where detail goes, and what helps against leaks."""
    leaks = [attack for attack in by_severity(evidence.attacks) if attack.leak]
    remedies = [join(tag("strong", titled(attack), "."), " ", remedy_sentence(attack)) for attack in leaks]
    parts: list[Markup] = []
    for heading, items in (
        ("Stricter at no cost", [each for model in evidence.models for each in _free(model)]),
        ("At its limit", [*(each for model in evidence.models for each in _limits(model)), _suppression(evidence)]),
        ("Where the detail goes", list(_costs(evidence))),
        ("What helps against the leaks", remedies),
    ):
        if items:
            parts += [tag("h3", heading), bullets(items)]
    return [*parts, tag("h3", "To try a change"), bullets(_commands(evidence))]


def _free(model: ModelFacts) -> Iterator[Markup]:
    """Parameters that this very release satisfies more strictly than required."""
    for parameter, asked, reached in numeric_parameters(model):
        at_least = demands_at_least(model.model, parameter) is True
        if reached is None:
            continue
        could_be = (math.floor if at_least else math.ceil)(reached * _PLACES) / _PLACES  # to the weaker side
        if could_be > asked if at_least else could_be < asked:
            yield join(
                model_head(model), ": ", parameter_name(parameter), f" = {number(asked)} is required and "
                f"{number(could_be)} is reached. The policy could require ", tag("strong", number(could_be)),
                " at no cost: this release satisfies it.",
            )  # fmt: skip


def _limits(model: ModelFacts) -> Iterator[Markup]:
    """Parameters that some classes meet exactly: these decide what may be released."""
    for parameter, asked, _ in numeric_parameters(model):
        weakest = (model.weakest or {}).get(parameter)
        if weakest is not None and weakest.classes_at_limit:
            classes = weakest.classes_at_limit
            yield join(
                model_head(model), ": ",
                tag("strong", f"{pluralize(classes, 'class')} {'has' if classes == 1 else 'have'} exactly "),
                parameter_name(parameter), f" = {number(asked)}. Requiring more would change the release; requiring "
                "less may preserve more detail.",
            )  # fmt: skip


def _suppression(evidence: Evidence) -> Markup:
    allowed = int(evidence.policy.get("suppression", 0) * evidence.records + 1e-9)
    if not allowed:
        return join(
            "Suppression: no record may be suppressed. Allowing a few often preserves much detail of all others."
        )
    used = "all" if evidence.suppressed == allowed else number(evidence.suppressed)
    return join(f"Suppression: {used} of the {pluralize(allowed, 'record')} that may be suppressed were.")


def _costs(evidence: Evidence) -> Iterator[Markup]:
    """The columns that carry most of the loss, and the part of suppressed records in it."""
    losses = {name: column.ncp for name, column in evidence.columns.items() if isinstance(column, QuasiFacts)}
    total = sum(losses.values())
    if not total:
        return
    for name, loss in sorted(losses.items(), key=lambda item: -item[1])[:_LISTED]:
        if loss:
            gone = " It tells nothing any more: leaving the column out would cost nothing." if loss == 1 else ""
            share = f" carries {percent(loss / total)} of all detail lost; {percent(loss)} of its own is gone.{gone}"
            yield join(name_of(name), share)
    if evidence.suppressed:
        part = evidence.suppressed / evidence.records * len(losses) / total
        yield join(f"Suppressed records count as lost in every column: {percent(min(part, 1.0))} of all detail lost.")
    bounded = [name for name in losses if has_boundary(evidence, name)]
    if bounded:
        pays = " from being generalized further, so other columns or records pay for it."
        yield join("A boundary keeps ", names_of(bounded), pays)


def _commands(evidence: Evidence) -> list[Markup]:
    """What to run to try a change before deciding on it."""
    local = algorithms_by("classes")
    others = ",".join(dict.fromkeys([evidence.algorithm, *local]))
    asked = [model.asked for model in evidence.models]
    least = max([2, *(int(each["p"]) for each in asked if "p" in each)])
    k = next((int(each["k"]) for each in asked if "k" in each), None)
    grid = f" --k {','.join(map(str, sorted({max(least, k // 2), k, 2 * k})))}" if k is not None else ""
    tries = [
        join(tag("code", "shoal why POLICY --class 1"), " explains what blocks more detail for a class."),
        join(
            tag("code", f"shoal compare POLICY --algorithms {others}{grid}"),
            " shows what other algorithms and parameters cost, in one table and one plot.",
        ),
    ]
    if evidence.levels is None:
        return tries
    said = (
        f"This algorithm releases each column at one level everywhere. A local one ({', '.join(local)}) keeps each "
        "class as detailed as its own records allow, and usually loses far less."
    )
    return [*tries, join(said)]
