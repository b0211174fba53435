"""What to tighten and what to relax, from facts of this release alone: nothing is searched again for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from shoal.models import at_least as demands_at_least
from shoal.models import model_title
from shoal.present.html.markup import Markup, join, listing, name_of, paragraph, tag
from shoal.present.report.attack_words import ATTACKS
from shoal.present.report.attackers import by_gravity, title_of
from shoal.present.report.figures import counted, entries_of, is_number, number, part_of, percent
from shoal.present.report.requirements import flat_parameters, parameter_name
from shoal.search import algorithms_by

_PLACES = 10_000
_TOLD = 3
"""Columns that are named for what they cost."""


def advice_section(evidence: Mapping[str, Any]) -> list[Markup]:
    """Stricter at no cost, what is at its limit, where detail goes, and what helps against leaks."""
    parts: list[Markup] = []
    for heading, items in (
        ("Stricter at no cost", list(_free(evidence))),
        ("At its limit", list(_limits(evidence))),
        ("Where the detail goes", list(_costs(evidence))),
        ("What helps against the leaks", list(_remedies(evidence))),
    ):
        if items:
            parts += [tag("h3", heading), listing(items)]
    return [*parts, *_commands(evidence)] if parts else [paragraph("The evidence is not enough to advise.")]


def _parameters(evidence: Mapping[str, Any]) -> Iterator[tuple[str, Markup, str, Any, Any, Mapping[str, Any]]]:
    """Each numeric parameter: name and head of its model, its name, asked, reached, and the weakest class."""
    for model in entries_of(evidence, "models"):
        name, column = str(model.get("model")), model.get("sensitive")
        title = model_title(name)
        head = join(title, " on ", name_of(str(column))) if column is not None else join(title)
        reached = part_of(model, "reached")
        for parameter, asked in flat_parameters(model.get("asked")):
            if is_number(asked) and parameter in reached:
                yield name, head, parameter, asked, reached[parameter], part_of(part_of(model, "weakest"), parameter)


def _free(evidence: Mapping[str, Any]) -> Iterator[Markup]:
    """Parameters that this very release satisfies more strictly than was asked."""
    for name, head, parameter, asked, reached, _ in _parameters(evidence):
        at_least = demands_at_least(name, parameter) is True
        if not is_number(reached):
            continue
        could_be = _rounded(reached, at_least=at_least)
        if could_be > asked if at_least else could_be < asked:
            yield join(
                head, ": ", parameter_name(parameter), f" = {number(asked)} was asked and {number(could_be)} is ",
                "reached. It could be ", tag("strong", number(could_be)), " at no cost: this release has it.",
            )  # fmt: skip


def _rounded(value: float, *, at_least: bool) -> float:
    """Four places, rounded to the weaker side, where the release still satisfies it."""
    return (math.floor if at_least else math.ceil)(value * _PLACES) / _PLACES


def _limits(evidence: Mapping[str, Any]) -> Iterator[Markup]:
    """Parameters that some classes meet exactly: these decide what may be released."""
    for _, head, parameter, asked, _, weakest in _parameters(evidence):
        classes = weakest.get("classes_at_limit")
        if is_number(classes) and classes > 0:
            has = "has" if classes == 1 else "have"
            yield join(
                head, ": ", tag("strong", f"{counted(classes, 'class')} {has} exactly "), parameter_name(parameter),
                f" = {number(asked)}. Asking for more would change the release; asking for less may let more detail "
                "through.",
            )  # fmt: skip
    allowed = _budget(evidence)
    suppressed = evidence.get("suppressed")
    if allowed and is_number(suppressed):
        used = "all" if suppressed == allowed else number(suppressed)
        yield join(f"Suppression: {used} of the {counted(allowed, 'record')} that may be left out were.")
    elif allowed == 0:
        yield join("Suppression: no record may be left out. Allowing a few often keeps much detail of all others.")


def _budget(evidence: Mapping[str, Any]) -> int | None:
    share, records = part_of(evidence, "policy").get("suppression", 0), evidence.get("records")
    return int(share * records + 1e-9) if is_number(share) and is_number(records) and "policy" in evidence else None


def _costs(evidence: Mapping[str, Any]) -> Iterator[Markup]:
    """The columns that carry most of the loss, and the part of the records left out in it."""
    losses = {
        name: float(column["ncp"])
        for name, column in part_of(evidence, "columns").items()
        if isinstance(column, Mapping) and is_number(column.get("ncp"))
    }
    total = sum(losses.values())
    if not total:
        return
    for name, loss in sorted(losses.items(), key=lambda item: -item[1])[:_TOLD]:
        if loss:
            own = f" carries {percent(loss / total)} of all detail lost; {percent(loss)} of its own is gone."
            gone = " It tells nothing any more: leaving the column out would cost nothing." if loss == 1 else ""
            yield join(name_of(name), own, gone)
    suppressed, records = evidence.get("suppressed"), evidence.get("records")
    if is_number(suppressed) and is_number(records) and suppressed and records:
        part = suppressed / records * len(losses) / total
        yield join(f"Records left out count as lost in every column: {percent(min(part, 1.0))} of all detail lost.")
    declared = part_of(part_of(evidence, "policy"), "columns")
    bounded = [name for name in losses if part_of(declared, name).get("boundary") is not None]
    if bounded:
        names = join(*map(name_of, bounded), between=", ")
        yield join("A boundary keeps ", names, " from being blurred further, so other columns or records pay for it.")


def _remedies(evidence: Mapping[str, Any]) -> Iterator[Markup]:
    for attack in by_gravity(entries_of(evidence, "attacks")):
        words = ATTACKS.get(str(attack.get("name")))
        if attack.get("leak") is True and words is not None:
            yield join(tag("strong", title_of(attack), ":"), " ", words.remedy)


def _commands(evidence: Mapping[str, Any]) -> list[Markup]:
    """What to run to try a change before deciding on it."""
    algorithm, local = evidence.get("algorithm"), evidence.get("levels") is None
    own = [algorithm] if isinstance(algorithm, str) else []
    finer = algorithms_by("classes")
    others = ",".join(dict.fromkeys([*own, *finer]))
    asked = [part_of(model, "asked") for model in entries_of(evidence, "models")]
    least = max([2, *(int(each["p"]) for each in asked if is_number(each.get("p")))])
    k = next((int(each["k"]) for each in asked if is_number(each.get("k"))), None)
    grid = f" --k {','.join(map(str, sorted({max(least, k // 2), k, 2 * k})))}" if k is not None else ""
    tries = [
        join(tag("code", "shoal why POLICY --class 1"), " says what blocks less generalization of a class."),
        join(
            tag("code", f"shoal compare POLICY --algorithms {others}{grid}"),
            " shows what other algorithms and parameters cost, in one table and one plot.",
        ),
    ]
    if not local:
        tries.append(
            join(
                f"This algorithm releases a column at one level everywhere. A local one ({', '.join(finer)}) releases "
                "each class as finely as its own records allow, and usually loses far less."
            )
        )
    return [tag("h3", "To try a change"), listing(tries)]
