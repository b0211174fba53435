"""What each attacker learns: the gravest first, with the success drawn beside what would be known anyway."""

from shoal.attacks.attack import AttackResult
from shoal.evidence.evidence import Evidence
from shoal.formatting import number, percent
from shoal.present import attacks
from shoal.present.attacks import by_severity, declared, verdict_sentence
from shoal.present.html.markup import Markup, bullets, join, mark, name_of, paired_table, paragraph, tag
from shoal.present.plots.bars import success_plot

_LEAD = (
    "Shoal attacked the release before publication. An attacker who learns no more than could be known without the "
    "release has learned nothing from it, so each success is compared with a baseline. Only what exceeds the baseline "
    "is a leak."
)
_KEY = (
    "In the plots the line runs from 0% on the left to 100% on the right: the dot is the share of successes, the "
    "upright stroke the baseline, and a thick line the 95% interval where the share is an estimate."
)


def attackers_section(evidence: Evidence) -> list[Markup]:
    """A row for each attack that was made, then those that were not, and what was assumed of earlier releases."""
    if not evidence.attacks:
        return [paragraph("The release was not attacked.")]
    parts = [paragraph(_LEAD)]
    if tried := by_severity(evidence.attacks):
        pairs = [_pair(index, attack) for index, attack in enumerate(tried, start=1)]
        caption = "The attackers, those who learn most first."
        parts += [paragraph(_KEY, class_="soft"), paired_table(caption, ["Attack", "Outcome", "Exposed"], pairs)]
    if any(each.counted for each in evidence.attacks):
        parts.append(paragraph(attacks.COUNTED_IN_RECORDS))
    if others := [each for each in evidence.attacks if each.status != "tried"]:
        items = [join(tag("strong", titled(each), "."), " ", verdict_sentence(each)) for each in others]
        parts += [tag("h3", "Attacks that were not made"), bullets(items)]
    if evidence.composition is not None:
        parts += [tag("h3", "Earlier releases"), paragraph(attacks.COMPOSITION_ASSUMPTION)]
        if notes := attacks.composition_notes(evidence.composition.notes):
            parts.append(bullets(notes))
    return parts


def titled(attack: AttackResult) -> Markup:
    """An attack by its title and the column it is on."""
    title, column = declared(attack, "title"), attack.sensitive
    return join(title, " (", name_of(column), ")") if column is not None else join(title)


def _pair(index: int, attack: AttackResult) -> tuple[tuple[str, ...], Markup]:
    share = f" ({percent(attack.records / attack.of)})" if attack.records and attack.of else ""
    exposed = f"{number(attack.records or 0)} of {number(attack.of or 0)}{share}"
    if attack.people is not None:
        exposed = attacks.exposed_phrase(attack)
    head = join(titled(attack), tag("br"), tag("small", name_of(attack.name)))
    who, how = f"Who: {declared(attack, 'attacker')}", f"How: {declared(attack, 'attempt')}"
    words = tag("div", *map(paragraph, (verdict_sentence(attack), who, how)))
    success = attacks.success_phrase(attack)
    plot = success_plot(f"attack-{index}", attack.rate or 0.0, attack.baseline or 0.0, attack.interval, success)
    below = tag("div", words, tag("div", plot, paragraph(f"{success}.")), class_="outcome")
    return (head, mark(not attack.leak, "nothing new", "leak"), exposed), below
