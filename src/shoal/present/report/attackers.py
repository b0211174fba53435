"""What each attacker gets: the gravest first, in words, with the success drawn beside what would be known anyway."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from shoal.present.html.markup import Markup, join, listing, name_of, paired_table, paragraph, row, tag
from shoal.present.plots.svg import svg
from shoal.present.report.attack_words import ATTACKS
from shoal.present.report.figures import entries_of, is_number, number, percent, share

_LEAD = (
    "The release was attacked before it was published. An attacker who gets no more than could be known without the "
    "release has found nothing, so each success stands beside its baseline. Only what exceeds the baseline is a leak."
)
_KEY = (
    "In the plots the line runs from 0% on the left to 100% on the right: the dot is the share of successes, the "
    "upright stroke the baseline, and a thick line the 95% interval where the share is an estimate."
)


def attackers_section(evidence: Mapping[str, Any]) -> list[Markup]:
    """A row for each attack that was made, then those that were not."""
    attacks = entries_of(evidence, "attacks")
    if not attacks:
        return [paragraph("The evidence holds no attacks on this release.")]
    tried = by_gravity(attacks)
    others = [each for each in attacks if each.get("status") != "tried"]
    parts = [paragraph(_LEAD)]
    if tried:
        caption = "The attackers, those who get most first."
        pairs = [_pair(place, attack) for place, attack in enumerate(tried, start=1)]
        parts += [paragraph(_KEY, class_="soft"), paired_table(caption, ["Attack", "Outcome", "Exposed"], pairs)]
    if others:
        parts += [tag("h3", "Attacks that were not made"), listing([_unmade(each) for each in others])]
    return parts


def by_gravity(attacks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The attacks that were made: leaks before the rest, and of these the larger share of records first."""
    tried = [each for each in attacks if each.get("status") == "tried"]
    return sorted(tried, key=lambda each: (each.get("leak") is not True, -_exposed(each)))


def title_of(attack: Mapping[str, Any]) -> Markup:
    """An attack by its title and the column it is on."""
    name = str(attack.get("name"))
    title = ATTACKS[name].title if name in ATTACKS else name
    column = attack.get("sensitive")
    return join(title, " (", name_of(str(column)), ")") if column is not None else join(title)


def _exposed(attack: Mapping[str, Any]) -> float:
    records, of = attack.get("records"), attack.get("of")
    return records / of if is_number(records) and is_number(of) and of else 0.0


def _pair(place: int, attack: Mapping[str, Any]) -> tuple[Markup, str]:
    leak = attack.get("leak") is True
    outcome = tag("span", "leak" if leak else "nothing new", class_="mark" if leak else "mark good")
    records, of = attack.get("records"), attack.get("of")
    of_all = share(records, of)
    exposed = f"{number(records)} of {number(of)}" + (f" ({of_all})" if of_all and records else "")
    head = join(title_of(attack), tag("br"), tag("small", name_of(str(attack.get("name")))))
    said = [paragraph(_text(attack, "verdict")), paragraph(f"Who: {_text(attack, 'attacker')}")]
    below = tag("div", tag("div", *said), tag("div", *_success(place, attack)), class_="outcome")
    return row(head, outcome, exposed), below


def _text(attack: Mapping[str, Any], key: str) -> str:
    """A sentence of the evidence, percentages written as on the rest of the page."""
    return re.sub(r"(?<=\d) %", "%", number(attack.get(key)))


def _success(place: int, attack: Mapping[str, Any]) -> list[Markup]:
    """The success as a sentence and a plot; nothing where there is no rate."""
    rate, baseline = attack.get("rate"), attack.get("baseline")
    if not is_number(rate):
        return []
    interval = attack.get("interval")
    between = ""
    if _is_interval(interval):
        between = f" (95% interval {percent(interval[0])} to {percent(interval[1])})"
    said = f"Success {percent(rate)}{between}"
    if is_number(baseline):
        said += f", baseline {percent(baseline)}: {number(attack.get('baseline_is'))}"
    plot = success_plot(f"attack-{place}", rate, baseline if is_number(baseline) else None, interval, said)
    return [plot, paragraph(f"{said}.")]


def _is_interval(interval: Any) -> TypeGuard[Sequence[float]]:
    return isinstance(interval, (list, tuple)) and len(interval) == 2 and all(map(is_number, interval))


def success_plot(ident: str, rate: float, baseline: float | None, interval: Any, said: str) -> Markup:
    """A line from 0 to 100%, a dot at the success, a stroke at the baseline, the interval thick."""
    parts = [tag("line", x1="0", x2="100%", y1="0.7em", y2="0.7em", class_="scale")]
    parts += [tag("line", x1=end, x2=end, y1="0.45em", y2="0.95em", class_="scale") for end in ("0", "50%", "100%")]
    if _is_interval(interval):
        parts.append(tag("line", x1=_at(interval[0]), x2=_at(interval[1]), y1="0.7em", y2="0.7em", class_="interval"))
    parts.append(tag("circle", cx=_at(rate), cy="0.7em", r="0.32em", class_="dot"))
    if baseline is not None:
        parts.append(tag("line", x1=_at(baseline), x2=_at(baseline), y1="0.1em", y2="1.3em", class_="baseline"))
    return tag("div", svg(ident, "Success and baseline", f"{said}.", parts, 1.4), class_="success")


def _at(value: float) -> str:
    return f"{min(max(value, 0.0), 1.0) * 100:.2f}%"


def _unmade(attack: Mapping[str, Any]) -> Markup:
    return join(tag("strong", title_of(attack), "."), " ", _text(attack, "verdict"))
