"""The full-domain searches once more, by looking at every node: tuples of labels, nested dicts and fractions.

Nothing is shared with the package. A tree is a nested dict from label to what stands under it, ``None`` under a leaf;
its one outermost label is the root. A model is a dict as a policy writes it. A lattice node is a step of the ladder of
each quasi-identifier: the declared levels with each value stopping at its boundary, steps that change nothing left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from oracles import model_oracles as models
from oracles import people_oracle

Label = str | None
Node = tuple[int, ...]
Spec = Mapping[str, Any]
WHOLE_TABLE = ("t-closeness", "alp-dif")
TIE = 1e-12


@dataclass(frozen=True, eq=False)
class Column:
    """A quasi-identifier: its tree and the labels that values may not be generalized beyond."""

    tree: Mapping[Any, Any]
    boundary: tuple[Label, ...] | int | None = None

    @cached_property
    def paths(self) -> dict[Label, tuple[Label, ...]]:
        """From each leaf to the root, the leaf first."""
        found: dict[Label, tuple[Label, ...]] = {}

        def walk(nested: Mapping[Label, Any], above: tuple[Label, ...]) -> None:
            for label, under in nested.items():
                if under is None:
                    found[label] = (label, *above)
                else:
                    walk(under, (label, *above))

        walk(self.tree, ())
        return found

    @property
    def height(self) -> int:
        return max(len(path) for path in self.paths.values()) - 1

    def at(self, leaf: Label, level: int) -> Label:
        """What a leaf is at a level, counted from the root: a shallow leaf waits until its parent's turn."""
        path = self.paths[leaf]
        waits = self.height - (len(path) - 1)
        return path[max(0, level - waits)]

    def cap(self, leaf: Label) -> Label:
        """The first boundary met from the leaf upward, or the root."""
        if isinstance(self.boundary, int):
            return self.at(leaf, self.boundary)
        return next((label for label in self.paths[leaf] if label in (self.boundary or ())), self.paths[leaf][-1])

    def released(self, leaf: Label, level: int) -> Label:
        path = self.paths[leaf]
        return path[min(path.index(self.at(leaf, level)), path.index(self.cap(leaf)))]

    @cached_property
    def ladder(self) -> list[int]:
        """The levels that differ from the level below."""
        rows = [[self.released(leaf, level) for leaf in self.paths] for level in range(self.height + 1)]
        return [level for level, row in enumerate(rows) if level == 0 or row != rows[level - 1]]

    def leaves_under(self, label: Label) -> int:
        return sum(label in path for path in self.paths.values())

    def subtree_height(self, label: Label) -> int:
        return max(path.index(label) for path in self.paths.values() if label in path)

    def level_of(self, label: Label) -> int:
        """The lowest level at which the label appears."""
        return min(level for level in range(self.height + 1) if label in {self.at(leaf, level) for leaf in self.paths})


@dataclass(frozen=True, eq=False)
class Secret:
    """What a model may ask of a sensitive column."""

    categories: Mapping[str, Sequence[Label]] = field(default_factory=dict)
    order: Sequence[Label] = ()
    paths: Mapping[Label, Sequence[Label]] = field(default_factory=dict)
    """The path of each value, the root first."""
    numbers: Mapping[Label, str] = field(default_factory=dict)
    """The number that each value stands for."""
    unknown: frozenset[Label] = frozenset()


@dataclass(frozen=True, eq=False)
class Table:
    """A problem: rows as tuples of leaf labels, the sensitive values of each row, and what is asked."""

    columns: tuple[Column, ...]
    rows: Sequence[tuple[Label, ...]]
    sensitive: Mapping[str, Sequence[Label]]
    secrets: Mapping[str, Secret]
    models: tuple[Spec, ...]
    budget: int = 0
    weights: tuple[float, ...] = ()
    person: Sequence[int] | None = None
    """Who each row is about, where the models count people."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What comes of a node."""

    satisfied: bool
    kept: dict[tuple[Label, ...], list[int]]
    """The rows of each released class."""
    suppressed: frozenset[int]


HOLDS: dict[str, Callable[[Spec, Sequence[Sequence[Label]], Secret], list[bool]]] = {
    "k-anonymity": lambda spec, classes, _: models.k_holds(classes, spec["k"]),
    "p-sensitive": lambda spec, classes, _: models.p_holds(classes, spec["p"]),
    "distinct-l-diversity": lambda spec, classes, _: models.p_holds(classes, spec["l"]),
    "p-alpha-sensitive": lambda spec, classes, secret: models.p_alpha_holds(
        classes, spec["p"], spec["alpha"], list(secret.categories.values())
    ),
    "p-plus-alpha-sensitive": lambda spec, classes, secret: models.p_plus_alpha_holds(
        classes, spec["p"], spec["alpha"], list(secret.categories.values())
    ),
    "group-leakage": lambda spec, classes, secret: models.group_leakage_holds(
        classes, spec["p"], spec["alpha"], secret.categories
    ),
    "alp-dif": lambda spec, classes, _: models.alp_dif_holds(classes, spec["limits"]),
    "entropy-l-diversity": lambda spec, classes, _: models.entropy_l_holds(classes, spec["l"]),
    "recursive-cl-diversity": lambda spec, classes, _: models.recursive_holds(classes, spec["c"], spec["l"]),
    "alpha-k-anonymity": lambda spec, classes, _: models.alpha_k_holds(classes, spec["alpha"]),
    "t-closeness": lambda spec, classes, secret: [
        far <= models.decimal(spec["t"]) + models.SLACK for far in _distances(spec, classes, secret)
    ],
    "k-e": lambda spec, classes, secret: models.k_e_holds(classes, spec["k"], spec["e"], secret.numbers),
    "epsilon-m": lambda spec, classes, secret: models.epsilon_m_holds(
        classes, spec["epsilon"], spec["m"], spec["relative"], secret.numbers
    ),
}


def holds(spec: Spec, classes: Sequence[Sequence[Label]], secret: Secret) -> list[bool]:
    """Which classes (lists of sensitive values) meet a model's condition on a class."""
    seen = classes if spec["model"] == "k-anonymity" else models.known(classes, secret.unknown)
    return HOLDS[spec["model"]](spec, seen, secret)


def table_holds(spec: Spec, classes: Sequence[Sequence[Label]], secret: Secret) -> bool:
    """Whether a model's condition on the release as a whole is met."""
    return spec["model"] != "alp-dif" or models.alp_holds(models.known(classes, secret.unknown), spec["limits"])


def _distances(spec: Spec, classes: Sequence[Sequence[Label]], secret: Secret) -> list[Fraction]:
    def ranked(values: Sequence[Label]) -> tuple[Label, ...]:
        return tuple(sorted(values, key=str))

    paths = tuple((value, tuple(path)) for value, path in secret.paths.items())
    everything = ranked([value for each in classes for value in each])
    return [_distance(spec["distance"], ranked(each), everything, tuple(secret.order), paths) for each in classes]


@lru_cache(maxsize=50_000)
def _distance(
    kind: str,
    each: tuple[Label, ...],
    everything: tuple[Label, ...],
    order: tuple[Label, ...],
    paths: tuple[tuple[Label, tuple[Label, ...]], ...],
) -> Fraction:
    grounds: dict[str, Callable[[], models.Distance]] = {
        "equal": lambda: models.equal_distance,
        "ordered": lambda: models.ordered_distance([value for value in order if value in everything]),
        "hierarchical": lambda: models.hierarchical_distance(
            {value: path for value, path in paths if value in everything}
        ),
    }
    return models.earth_mover(each, everything, grounds[kind]())


def ladder_nodes(table: Table) -> list[Node]:
    """Every node, less general ones first, then in column order."""
    steps = product(*(range(len(column.ladder)) for column in table.columns))
    return sorted(steps, key=lambda node: (sum(node), node))


def top(table: Table) -> Node:
    return tuple(len(column.ladder) - 1 for column in table.columns)


def nominal(table: Table, node: Node) -> tuple[int, ...]:
    """The declared levels of a node."""
    return tuple(column.ladder[step] for column, step in zip(table.columns, node, strict=True))


def release(table: Table, node: Node, row: int) -> tuple[Label, ...]:
    levels = nominal(table, node)
    cells = zip(table.columns, table.rows[row], levels, strict=True)
    return tuple(column.released(leaf, level) for column, leaf, level in cells)


def classes_at(table: Table, node: Node, rows: Sequence[int]) -> dict[tuple[Label, ...], list[int]]:
    found: dict[tuple[Label, ...], list[int]] = {}
    for row in rows:
        found.setdefault(release(table, node, row), []).append(row)
    return found


def passes(
    table: Table, specs: Sequence[Spec], classes: Mapping[tuple[Label, ...], list[int]]
) -> tuple[dict[tuple[Label, ...], bool], bool]:
    """Which classes meet all the models' conditions on classes, and whether those on the whole are met."""
    good = dict.fromkeys(classes, True)
    whole = True
    for spec in specs:
        column = spec.get("sensitive")
        values = [[table.sensitive[column][row] if column else None for row in rows] for rows in classes.values()]
        secret = table.secrets[column] if column else Secret()
        for name, held in zip(classes, _held(table, spec, classes, values, secret), strict=True):
            good[name] = good[name] and held
        whole = whole and _whole_held(table, spec, classes, values, secret)
    return good, whole


Classes = Mapping[tuple[Label, ...], list[int]]
Values = Sequence[Sequence[Label]]


def _events(person: Sequence[int], classes: Classes, values: Values) -> list[list[tuple[int, Label]]]:
    members = zip(classes.values(), values, strict=True)
    return [list(zip([person[row] for row in rows], each, strict=True)) for rows, each in members]


def _held(table: Table, spec: Spec, classes: Classes, values: Values, secret: Secret) -> list[bool]:
    if table.person is None:
        return holds(spec, values, secret)
    return people_oracle.holds(spec, _events(table.person, classes, values), secret)


def _whole_held(table: Table, spec: Spec, classes: Classes, values: Values, secret: Secret) -> bool:
    if table.person is None:
        return table_holds(spec, values, secret)
    return people_oracle.table_holds(spec, _events(table.person, classes, values), secret)


def verdict(table: Table, node: Node, rows: Sequence[int], specs: Sequence[Spec], budget: int) -> Verdict:
    """Leave out failing classes; test what looks at the whole table on the rest, until nothing more fails."""
    classes = classes_at(table, node, rows)
    single = [spec for spec in specs if spec["model"] not in WHOLE_TABLE]
    whole = [spec for spec in specs if spec["model"] in WHOLE_TABLE]
    good, _ = passes(table, single, classes)
    kept = {name: rows for name, rows in classes.items() if good[name]}
    while True:
        good, on_the_whole = passes(table, whole, kept)
        if all(good.values()):
            break
        kept = {name: rows for name, rows in kept.items() if good[name]}
    out = frozenset(rows) - {row for members in kept.values() for row in members}
    return Verdict(bool(kept) and len(out) <= budget and on_the_whole, kept, out)


def judge(table: Table, node: Node) -> Verdict:
    return verdict(table, node, range(len(table.rows)), table.models, table.budget)


def minimal_nodes(table: Table) -> list[Node]:
    """Every satisfying node with no satisfying node strictly below it."""
    satisfying = [node for node in ladder_nodes(table) if judge(table, node).satisfied]
    return [
        node
        for node in satisfying
        if not any(other != node and all(a <= b for a, b in zip(other, node, strict=True)) for other in satisfying)
    ]


def best_node(table: Table, metric: str, among: Sequence[Node] | None = None) -> tuple[Node, float] | None:
    """The satisfying node of least cost, of equals the least general, then the first; and its cost."""
    costs = {}
    for node in ladder_nodes(table) if among is None else among:
        outcome = judge(table, node)
        if outcome.satisfied:
            costs[node] = cost(metric, table, outcome)
    if not costs:
        return None
    least = min(costs.values())
    ties = [node for node, each in costs.items() if each <= least + TIE]
    chosen = min(ties, key=lambda node: (sum(node), node))
    return chosen, costs[chosen]


def cost(metric: str, table: Table, outcome: Verdict) -> float:
    """The measure turned so that less is better."""
    value = measure(metric, table, outcome.kept)
    return 1 - value if metric == "precision" else value


CELLS: dict[str, Callable[[Column, Label], Fraction]] = {
    "ncp": lambda column, label: _share(column.leaves_under(label) - 1, len(column.paths) - 1),
    "loss": lambda column, label: _share(column.leaves_under(label) - 1, len(column.paths) - 1),
    "ntil": lambda column, label: _share(column.subtree_height(label), column.height),
    "precision": lambda column, label: _share(column.level_of(label), column.height),
    "wang_loss": lambda column, label: _share(column.leaves_under(label) - 1, len(column.paths)),
}


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)


def measure(metric: str, table: Table, kept: Mapping[tuple[Label, ...], Sequence[int]]) -> float:
    """A measure by its formula, over the original's cells: a suppressed cell costs 1."""
    n = len(table.rows)
    released = {row: name for name, rows in kept.items() for row in rows}
    if metric == "suppressed":
        return float(n - len(released))
    if metric == "constraint_violations":
        return float(sum(_beyond(table, row, name) for row, name in released.items()))
    if metric == "discernibility":
        return float(sum(len(rows) ** 2 for rows in kept.values()) + (n - len(released)) * n)
    if metric == "average_class_size":
        return len(released) / len(kept) if kept else 0.0
    if metric == "distortion_ratio":
        return _distortion(table, released)
    means = [_mean(CELLS[metric], table, j, released) for j in range(len(table.columns))]
    if metric == "loss":
        return math.prod(1 + float(mean) for mean in means) ** (1 / len(means)) - 1
    mean = sum(means, Fraction(0)) / len(means)
    return float(1 - mean if metric == "precision" else mean)


def _mean(
    cell: Callable[[Column, Label], Fraction], table: Table, j: int, released: Mapping[int, tuple[Label, ...]]
) -> Fraction:
    column, n = table.columns[j], len(table.rows)
    costs = (cell(column, released[row][j]) if row in released else Fraction(1) for row in range(n))
    return sum(costs, Fraction(0)) / n


def _distortion(table: Table, released: Mapping[int, tuple[Label, ...]]) -> float:
    raised = possible = 0
    for j, column in enumerate(table.columns):
        for row in range(len(table.rows)):
            raised += column.level_of(released[row][j]) if row in released else column.height
            possible += column.height
    return raised / possible if possible else 0.0


def _beyond(table: Table, row: int, name: tuple[Label, ...]) -> int:
    """Cells of a row that lie above the boundary of its own value."""
    return sum(
        column.paths[leaf].index(label) > column.paths[leaf].index(column.cap(leaf))
        for column, leaf, label in zip(table.columns, table.rows[row], name, strict=True)
    )


@dataclass(frozen=True, eq=False)
class GreedyWalk:
    """The path of Wang's greedy search and where it ends."""

    path: list[Node]
    outcome: Verdict | None


def greedy(table: Table) -> GreedyWalk:
    """Phase 1: raise the attribute of least loss until the models on single classes fail for at most the budget, and
    suppress those records. Phase 2: go on with the rest until all models hold, suppressing nothing more.
    """
    rows = list(range(len(table.rows)))
    single = [spec for spec in table.models if spec["model"] not in WHOLE_TABLE]
    path = [tuple(0 for _ in table.columns)]
    first = _climb(table, rows, single, table.budget, path)
    if first is None or len(single) == len(table.models):
        return GreedyWalk(path, first)
    rest = [row for row in rows if row not in first.suppressed]
    second = _climb(table, rest, table.models, 0, path)
    if second is None:
        return GreedyWalk(path, None)
    return GreedyWalk(path, Verdict(True, second.kept, first.suppressed))


def _climb(table: Table, rows: Sequence[int], specs: Sequence[Spec], budget: int, path: list[Node]) -> Verdict | None:
    while True:
        outcome = verdict(table, path[-1], rows, specs, budget)
        if outcome.satisfied:
            return outcome
        steps = list(_steps(table, path[-1], rows))
        if not steps:
            return None
        path.append(min(steps)[2])


def _steps(table: Table, node: Node, rows: Sequence[int]) -> Iterator[tuple[Fraction, int, Node]]:
    """Each attribute raised by one step, with loss (10): (1 - W) times the sum over records of (9)."""
    for j, column in enumerate(table.columns):
        if node[j] + 1 < len(column.ladder):
            level = column.ladder[node[j] + 1]
            weight = Fraction(str(table.weights[j])) if table.weights else Fraction(0)
            covered = sum(column.leaves_under(column.released(table.rows[row][j], level)) - 1 for row in rows)
            loss = (1 - weight) * Fraction(covered, len(column.paths))
            yield loss, j, (*node[:j], node[j] + 1, *node[j + 1 :])
