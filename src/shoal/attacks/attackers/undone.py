"""Undone: a published column gives back what generalization, categories or bins are to hide.

A quasi-identifier is released as ``[40, 50)``, a sensitive column as its category. What lies below these labels is
hidden, unless another released column goes with it: the exact age as a sensitive column, a city beside a masked
zipcode, a drug beside the category of an illness. Somebody with a list of people and their exact quasi-identifiers
then finds their records in the class, and somebody who knows what goes with what reads the hidden value. Within each
class every published column is tried against every hidden one, as `shoal.attacks.between_columns.column_tests` does
with secrets, one column at a time; the original says what was hidden. It is a leak where a tenth of the records are
concerned.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, not_tried
from shoal.attacks.attackers.columns import column_results
from shoal.attacks.between_columns.column_readings import Knowledge, Secret, Target, published_knowledge
from shoal.attacks.between_columns.column_tests import column_tests
from shoal.attacks.released_classes import Column, Ints

MATERIAL = 0.1
"""Share of the records whose hidden value must be guessed right beyond chance, or become certain. That ages and jobs go
together is statistics; that a column gives back what was generalized is not."""
_DEALT = 2_000  # records whose hidden values are dealt: a leak concerns so many records that these show it


class Undone(Attack):
    """Guesses hidden values from published columns."""

    name = "undone"
    title = "A column undoes what was generalized"
    attacker = (
        "Somebody who knows which hidden values go with which values of a released column, as zipcodes go with cities."
    )
    attempt = (
        "Guesses the hidden value of a quasi-identifier, a category or a bin as often as it occurs among the records "
        "of the class that agree in a released column. A success is a right guess; exposed are records whose hidden "
        "value becomes certain or, if these are more, records guessed right beyond chance."
    )
    baseline = "right guesses if the hidden values were shuffled at random within the classes"
    position = 51
    reads_insensitive = True
    needs_original = True
    tells_people_apart = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult | Sequence[AttackResult]:  # noqa: ARG004 - it is on no column
        """The results of each hidden column that published ones give back; one without a column where none does."""
        if scene.row_class is None:
            return not_tried("classes-overlap")
        kept = np.flatnonzero(scene.row_class >= 0)
        owner = np.asarray(scene.row_class, dtype=np.int64)[kept]
        hidden = [(name, target) for name, target in _hidden(scene, kept) if _varies(owner, target.codes)]
        if not hidden:
            return not_applicable("nothing-hidden")
        table = scene.original.problem.table if scene.original is not None else None
        assert table is not None
        weights = np.ones(len(kept), dtype=np.int64) if table.weights is None else table.weights[kept]
        published = _published(scene, kept)
        secrets = [
            Secret(name, [target], [each for each in published if each.columns != (name,)], paired=False, dealt=_DEALT)
            for name, target in hidden
        ]
        person = None if table.person is None else table.person[kept]
        tested = column_tests(owner, weights, secrets, person=person, seed=scene.seed)
        found = [(name, tests) for name, tests in tested.items() if tests.columns]
        if not found:
            return not_applicable("no-other-column")
        leaks = [
            replace(each, sensitive=name) if name in scene.rows.sensitive else each
            for name, tests in found
            for each in column_results(tests, int(weights.sum()), least=MATERIAL, hidden=name)
            if each.leak
        ]
        if leaks:
            return sorted(leaks, key=lambda each: -(each.records or 0))
        tests = min(found, key=lambda each: (each[1].strongest.p_value if each[1].strongest else 1.0, each[0]))[1]
        return column_results(tests, int(weights.sum()), hidden_columns=[name for name, _ in found], least=MATERIAL)


def _varies(owner: Ints, codes: Ints) -> bool:
    """Whether some class has two values."""
    first = np.full(int(owner.max(initial=0)) + 1, -1)
    first[owner] = codes
    return bool((first[owner] != codes).any())


def _hidden(scene: Scene, kept: Ints) -> Iterator[tuple[str, Target]]:
    """The original values of quasi-identifiers and of secrets that are not published as they are."""
    original = scene.original
    assert original is not None
    table = original.problem.table
    for j, name in enumerate(scene.released.quasi):
        codes = original.codes[j, table.row_tuple[kept]].astype(np.int64)
        yield name, Target(codes, int(codes.max(initial=0)) + 1)
    for name in scene.rows.sensitive:
        if scene.policy.published(name) in {"categories", "bins"} and name in original.rows.columns:
            column, unknown = original.rows.columns[name], scene.policy.columns[name].unknown_values
            known = np.array([label not in unknown for label in column.labels], dtype=np.bool_)
            codes = column.codes[kept].astype(np.int64)
            yield name, Target(np.where(known[codes], codes, -1), max(len(column.labels), 1))


def _published(scene: Scene, kept: Ints) -> list[Knowledge]:
    """The insensitive and sensitive columns as published, of the rows of the original that are released."""
    original = scene.original
    assert original is not None
    columns: dict[str, Column] = {}
    for name in () if scene.rows.unseen else scene.rows.insensitive:
        columns[name] = (original.rows.columns[name].labels, original.rows.columns[name].codes[kept])
    for name, codes in original.problem.table.row_sensitive.items():
        values = original.problem.domains[name].values
        columns[name] = ((*values, None), np.where(codes[kept] < 0, len(values), codes[kept]))
    weights = original.problem.table.weights
    return published_knowledge(columns, np.ones(len(kept), dtype=np.int64) if weights is None else weights[kept])
