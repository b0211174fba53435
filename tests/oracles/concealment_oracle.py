"""Which originals explain a release? Small tables, every original, and every outcome of every draw.

People are known by their quasi-identifiers, so an original is how many of those with the same quasi-identifiers have
the first of two values. A release is what a reader sees: labels, sizes and histograms of its classes, and how many
records are missing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random

import numpy as np

from shoal.errors import InfeasibleError
from shoal.models import AlphaKAnonymity, KAnonymity, Model, PSensitive, TCloseness
from shoal.search import ALGORITHMS
from shoal.search.conceal import Marks, Veto
from shoal.search.engine import LocalEngine
from shoal.search.problem import Problem
from shoal.search.search_result import SearchResult
from shoal.table.classes import Floats, Mask
from support.model_cases import COLUMN
from support.search_cases import Case, problem_of

MOST_RUNS = 20_000  # of one original: more is a mistake in the choice of the table
_KEYS = tuple(bytes([number]) * 32 for number in (1, 2, 3))
"""Which of equal records go to which cluster is drawn, too; that is followed for these keys only."""

FIRST, OTHER = "HIV", "Flu"
World = tuple[int, ...]
"""How many of the people with each combination of quasi-identifiers have the first value."""
Release = tuple[tuple[tuple[object, ...], int, int], ...] | None
"""Labels, records and those with the first value of each class, in order; None where there is no release."""


class ScriptedVeto(Veto):
    """Answers as it is told, in the order in which it is asked; what it is asked twice it answers alike."""

    def __init__(self, script: Sequence[bool], key: bytes) -> None:
        super().__init__(key, given=True)
        self.script, self.answers = script, dict[tuple[str, float], bool]()

    def refuses(self, purpose: str, *identity: Marks, chance: float | Floats = 0.5) -> Mask:
        draws = self.draws(purpose, *identity)
        return np.array(
            [
                possible > 0 and self._answer((purpose, draw))
                for draw, possible in zip(draws.tolist(), np.broadcast_to(chance, draws.shape).tolist(), strict=True)
            ],
            dtype=np.bool_,
        )

    def _answer(self, question: tuple[str, float]) -> bool:
        number = len(self.answers)
        return self.answers.setdefault(question, number < len(self.script) and self.script[number])


@dataclass(frozen=True)
class Outcome:
    """A release, and who is in which of its classes: their number by class and quasi-identifiers."""

    release: Release
    members: tuple[tuple[int, ...], ...]


def outcomes(case: Case, algorithm: str, *, conceal: bool, runs: int | None = None) -> set[Outcome]:
    """Every outcome that has a chance; with ``runs``, those of so many runs in which each draw is a coin.

    Fewer outcomes mean fewer explanations, so what runs miss makes secrets certain that are not, never the reverse.
    """
    problem, _ = problem_of(case)
    if not conceal:
        return {_outcome(case, _run(problem, algorithm))}
    keys = _KEYS if ALGORITHMS[algorithm].works_on_records else _KEYS[:1]
    if runs is not None:
        coin = Random(5)
        vetoes = [ScriptedVeto([coin.random() < 0.5 for _ in range(40)], keys[run % len(keys)]) for run in range(runs)]
        vetoes += [ScriptedVeto([answer] * 40, key) for key in keys for answer in (True, False)]
        return {_outcome(case, _run(replace(problem, veto=veto), algorithm)) for veto in vetoes}
    found, number = set[Outcome](), 0
    for key in keys:
        scripts: list[tuple[bool, ...]] = [()]
        while scripts:
            number += 1
            assert number <= MOST_RUNS, "too many draws to follow them all"
            veto = ScriptedVeto(script := scripts.pop(), key)
            found.add(_outcome(case, _run(replace(problem, veto=veto), algorithm)))
            told = tuple(veto.answers.values())
            scripts += [(*told[:index], True) for index in range(len(script), len(told))]
    return found


def _run(problem: Problem, algorithm: str) -> tuple[Problem, SearchResult | None]:
    engine = LocalEngine(problem.table, problem.ladders, problem.domains)
    try:
        return problem, ALGORITHMS[algorithm].run(problem, engine)
    except InfeasibleError:
        return problem, None


def _outcome(case: Case, ran: tuple[Problem, SearchResult | None]) -> Outcome:
    result = ran[1]
    if result is None:
        return Outcome(None, ())
    recoding = result.recoding
    entry = np.arange(len(recoding.row_class)) if recoding.entry is None else recoding.entry
    combinations = sorted(set(case.rows))
    place = {row: index for index, row in enumerate(combinations)}
    classes = defaultdict[int, Counter[tuple[int, bool]]](Counter)
    for row, number in zip(entry.tolist(), recoding.row_class.tolist(), strict=True):
        classes[number][place[case.rows[row]], case.sensitive[COLUMN][row] == FIRST] += 1
    seen = []
    for number, counter in classes.items():
        if number < 0:
            continue
        labels = tuple(
            hierarchy.labels[node]
            for hierarchy, node in zip(recoding.hierarchies, recoding.nodes[number].tolist(), strict=True)
        )
        having = sum(count for (_, has), count in counter.items() if has)
        members = tuple(counter[at, True] + counter[at, False] for at in range(len(combinations)))
        seen.append(((labels, counter.total(), having), members))
    seen.sort(key=repr)
    return Outcome(tuple(each for each, _ in seen), tuple(members for _, members in seen))


def worlds(sizes: Sequence[int]) -> Iterator[World]:
    """Every original of groups of people of these sizes."""
    yield from product(*(range(size + 1) for size in sizes))


def certain_by_histograms(sizes: Sequence[int], outcome: Outcome) -> set[tuple[int, bool]]:
    """Who certainly has, or has not, the first value for whoever knows only the classes and who is in them."""
    least, most = [0] * len(sizes), list(sizes)
    for (_, records, having), members in zip(outcome.release or (), outcome.members, strict=True):
        for at, mine in enumerate(members):
            least[at] += max(0, having - (records - mine))
            most[at] -= mine - min(mine, having)
    return {(at, True) for at, size in enumerate(sizes) if least[at] == size} | {
        (at, False) for at in range(len(sizes)) if most[at] == 0
    }


def betraying(sizes: Sequence[int], explained: Mapping[Outcome, set[World]]) -> dict[Outcome, set[tuple[int, bool]]]:
    """The outcomes whose explanations make somebody's value certain although the histograms do not."""
    found = {}
    for outcome, originals in explained.items():
        certain = {
            (at, has)
            for at, size in enumerate(sizes)
            for has in (True, False)
            if all(original[at] == (size if has else 0) for original in originals)
        }
        if beyond := certain - certain_by_histograms(sizes, outcome):
            found[outcome] = beyond
    return found


def _tree(*groups: str) -> dict[str, object]:
    """A tree of values under their first characters, or of values alone."""
    if all(len(group) == 1 for group in groups):
        return {"*": dict.fromkeys(groups)}
    return {
        "*": {first: {each: None for each in groups if each[0] == first} for first in sorted({g[0] for g in groups})}
    }


@dataclass(frozen=True)
class SmallTables:
    """Every table of one shape."""

    name: str
    case: Case  # its secrets are ignored

    @property
    def sizes(self) -> list[int]:
        """How many people share each combination of quasi-identifiers."""
        return [self.case.rows.count(row) for row in sorted(set(self.case.rows))]

    def table(self, world: World) -> Case:
        """The table of one original."""
        left = dict(zip(sorted(set(self.case.rows)), world, strict=True))
        secrets = []
        for row in self.case.rows:
            secrets.append(FIRST if left[row] > 0 else OTHER)
            left[row] -= 1
        return replace(self.case, sensitive={COLUMN: tuple(secrets)})

    def explained(self, algorithm: str, *, conceal: bool, runs: int | None = None) -> dict[Outcome, set[World]]:
        """Each outcome with the originals that may lead to it."""
        found = defaultdict[Outcome, set[World]](set)
        for world in worlds(self.sizes):
            for outcome in outcomes(self.table(world), algorithm, conceal=conceal, runs=runs):
                found[outcome].add(world)
        return dict(found)


def _shape(name: str, rows: Mapping[str, int], models: tuple[Model, ...], budget: int = 0) -> SmallTables:
    """Tables of so many people with each value of one quasi-identifier, and a number that all have."""
    people = tuple((value, "1") for value, count in rows.items() for _ in range(count))
    options = {"group": {"q0": 0}, "ranges": ("q1",), "safe": True}
    case = Case((_tree(*rows), {"*": {"1": None}}), people, {COLUMN: ()}, models, budget, options=options)
    return SmallTables(name, case)


_AT_MOST_HALF = (KAnonymity(2), AlphaKAnonymity({FIRST: 0.5}, sensitive=COLUMN))
_TWO_VALUES = (KAnonymity(2), PSensitive(2, sensitive=COLUMN))
SHAPES = (
    _shape("11 x2, 12 x2, 21 x2; alpha-k 0.5; 2 may be left out", {"11": 2, "12": 2, "21": 2}, _AT_MOST_HALF, 2),
    _shape("11 x2, 12 x2, 21 x2; alpha-k 0.5", {"11": 2, "12": 2, "21": 2}, _AT_MOST_HALF),
    _shape("a x2, b x4; alpha-k 0.5", {"a": 2, "b": 4}, _AT_MOST_HALF),
    _shape("a x2, b x4; alpha-k 0.5; 2 may be left out", {"a": 2, "b": 4}, _AT_MOST_HALF, 2),
    _shape("a x3, b x3, c x2; 2-sensitive; 3 may be left out", {"a": 3, "b": 3, "c": 2}, _TWO_VALUES, 3),
    _shape("11 x3, 12 x2, 21 x3; t-closeness 0.3; 3 may be left out", {"11": 3, "12": 2, "21": 3},
           (KAnonymity(2), TCloseness(0.3, sensitive=COLUMN)), 3),
)  # fmt: skip
"""The shapes that an adversarial review found certain secrets in, and others of that kind."""
