"""What to tighten and what to relax, from facts of this release alone: no search is repeated for it."""

import math
from collections.abc import Iterator

from shoal.evidence.evidence import Evidence, QuasiFacts
from shoal.formatting import number, percent, pluralize
from shoal.models import at_least as demands_at_least
from shoal.present.html.markup import Markup, bullets, join, name_of, names_of, tag
from shoal.present.report.losses import has_boundary
from shoal.present.report.requirements import model_head, numeric_parameters, parameter_name
from shoal.present.report.verdict import remedies
from shoal.search import algorithms_by

_PER_UNIT = 10_000
_LISTED = 3  # columns that are named for what they cost


def advice_section(evidence: Evidence) -> list[Markup]:
    """Stricter at no cost, what is at its limit, where detail goes, and what helps against leaks."""
    free, limits = [], []  # parameters reached more strictly than required; those that some classes meet exactly
    for model in evidence.models:
        for parameter, asked, reached in numeric_parameters(model):
            head, at_least = join(model_head(model), ": "), demands_at_least(model.model, parameter) is True
            to_weaker_side = math.floor if at_least else math.ceil
            could_be = asked if reached is None else to_weaker_side(reached * _PER_UNIT) / _PER_UNIT
            if could_be > asked if at_least else could_be < asked:
                said = f" = {number(asked)} is required and {number(could_be)} is reached. The policy could require "
                end = " at no cost: this release satisfies it."
                free.append(join(head, parameter_name(parameter), said, tag("strong", number(could_be)), end))
            weakest = (model.weakest or {}).get(parameter)
            if weakest is not None and (classes := weakest.classes_at_limit):
                have = tag("strong", f"{pluralize(classes, 'class')} {'has' if classes == 1 else 'have'} exactly ")
                said = " Requiring more would change the release; requiring less may preserve more detail."
                limits.append(join(head, have, parameter_name(parameter), f" = {number(asked)}.", said))
    allowed = int(evidence.policy.get("suppression", 0) * evidence.records + 1e-9)
    used = "all" if evidence.suppressed == allowed else number(evidence.suppressed)
    suppression = f"{used} of the {pluralize(allowed, 'record')} that may be suppressed were."
    if not allowed:
        suppression = "no record may be suppressed. Allowing a few often preserves much detail of all others."
    parts: list[Markup] = []
    for heading, items in (
        ("Stricter at no cost", free),
        ("At its limit", [*limits, f"Suppression: {suppression}"]),
        ("Where the detail goes", list(_costs(evidence))),
        ("What helps against the leaks", remedies(evidence.verdict)),
        ("To try a change", _commands(evidence)),
    ):
        if items:
            parts += [tag("h3", heading), bullets(items)]
    return parts


def _costs(evidence: Evidence) -> Iterator[str]:
    """The columns that carry most of the loss, and the part of suppressed records in it."""
    losses = {name: column.ncp for name, column in evidence.columns.items() if isinstance(column, QuasiFacts)}
    total = sum(losses.values())
    if not total:
        return
    for name, loss in sorted(losses.items(), key=lambda item: -item[1])[:_LISTED]:
        if loss:
            gone = " It no longer tells anything, so leaving the column out would cost nothing." if loss == 1 else ""
            share = f" carries {percent(loss / total)} of all detail lost; {percent(loss)} of its own is gone.{gone}"
            yield join(name_of(name), share)
    if evidence.suppressed:
        part = min(evidence.suppressed / evidence.records * len(losses) / total, 1.0)
        yield f"Suppressed records count as lost in every column: {percent(part)} of all detail lost."
    if bounded := [name for name in losses if has_boundary(evidence, name)]:
        pays = " from being generalized further, so other columns or records pay for it."
        yield join("A boundary keeps ", names_of(bounded), pays)


def _commands(evidence: Evidence) -> list[str]:
    """What to run to try a change before deciding on it."""
    local = algorithms_by("classes")
    others = ",".join(dict.fromkeys([evidence.algorithm, *local]))
    asked = [model.asked for model in evidence.models]
    least = max([2, *(int(each["p"]) for each in asked if "p" in each)])
    k = next((int(each["k"]) for each in asked if "k" in each), None)
    grid = f" --k {','.join(map(str, sorted({max(least, k // 2), k, 2 * k})))}" if k is not None else ""
    compare = tag("code", f"shoal compare POLICY --algorithms {others}{grid}")
    said = (
        f"This algorithm releases each column at one level everywhere. A local one ({', '.join(local)}) keeps each "
        "class as detailed as its own records allow, and usually loses far less."
    )
    return [
        join(tag("code", "shoal why POLICY --class 1"), " explains what blocks more detail for a class."),
        join(compare, " shows what other algorithms and parameters cost, in one table and one plot."),
        *([said] if evidence.levels is not None else []),
    ]
