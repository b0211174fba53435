"""Columns: another published column tells a secret, within the classes and beyond what chance explains.

Models look at classes and single sensitive columns. A column that is released beside the secret may determine it all
the same: a score beside its text, a drug beside the illness, another sensitive column. Every published column is tried
against every secret, and every two columns with few values together (`shoal.attacks.between_columns.column_tests`, with
definitions). There is a result for each column that leaks, worst first, so that it is clear which one does it; two
columns are named together only where neither leaks alone.
"""

from collections.abc import Sequence
from typing import Any

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, not_tried, share, tried
from shoal.attacks.between_columns.guessed import ColumnTests, Guessed

_LISTED = 10  # results of one secret; the last one names further columns


class Columns(Attack):
    """Guesses each secret from every other published column."""

    name = "columns"
    title = "Another column reveals it"
    attacker = "Somebody who knows a person's quasi-identifiers and the person's value of another released column."
    attempt = (
        "Guesses the sensitive value as often as it occurs among the records of the class that agree in the other "
        "column. A success is a right guess; exposed are records whose value becomes certain or, if these are more, "
        "records guessed right beyond chance."
    )
    baseline = "right guesses if the values were shuffled at random within the classes"
    position = 50
    reads_insensitive = True
    on_sensitive = True
    tells_people_apart = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult | Sequence[AttackResult]:
        """A result for each column, or two, that tells the secret; one without columns where none does."""
        tests, unseen = scene.column_tests[column], scene.rows.unseen
        if not tests.columns:
            return not_tried("columns-not-compared") if unseen else not_applicable("no-other-column")
        return column_results(tests, scene.released.known(column), columns_not_compared=list(unseen))


def column_results(tests: ColumnTests, known: int, *, least: float = 0.0, **details: Any) -> list[AttackResult]:
    """The results of tests of columns against one secret; leaks expose ``least`` of the records beyond chance."""
    leaks = [each for each in tests.leaks if each.gain >= least * each.of]
    details |= {"columns_tested": len(tests.columns), "columns_paired": list(tests.paired)}
    details |= {"records_dealt": tests.tested}
    listed, more = leaks[:_LISTED], leaks[_LISTED:]
    if not listed:
        return [_nothing(tests.strongest, known, details)]
    found = [_result(each, details) for each in listed[:-1]]
    further = [list(each.columns) for each in more]
    return [*found, _result(listed[-1], {**details, "further_columns": further})]


def _result(guessed: Guessed, details: dict[str, Any]) -> AttackResult:
    certain = guessed.certain_beyond_chance
    return tried(
        records=min(max(certain, round(guessed.gain)), guessed.of),
        of=guessed.of,
        rate=guessed.belief / guessed.of,
        baseline=guessed.by_chance / guessed.of,
        leak=True,
        columns=guessed.columns,
        certain=certain,
        p_value=guessed.p_value,
        **_figures(guessed),
        **details,
    )


def _figures(guessed: Guessed) -> dict[str, Any]:
    return {
        "guessed": guessed.reading,
        "known_by": guessed.by,
        "from_class": guessed.from_class / guessed.of,
        "certain_records": guessed.certain,
        "certain_by_chance": guessed.certain_by_chance,
    }


def _nothing(strongest: Guessed | None, known: int, details: dict[str, Any]) -> AttackResult:
    """No column tells more than chance; the figures are those of the one that comes closest to it."""
    if strongest is None:  # the secret is certain in every class anyway
        return tried(records=0, of=known, rate=0.0, leak=False, certain=0, p_value=1.0, **details)
    rate, baseline = (share(each, strongest.of) for each in (strongest.belief, strongest.by_chance))
    details |= {"closest": list(strongest.columns), **_figures(strongest)}
    return tried(
        records=0, of=known, rate=rate, baseline=baseline, leak=False, certain=0, p_value=strongest.p_value, **details
    )
