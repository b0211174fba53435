"""Small tables, and the least that any release of them loses: by integer programming, and by trying every partition.

Records with equal values are one *item*. Classes that are released with the same labels are one class, so a release
opens some boxes and says how many records of each item go to which of them:

    minimize    sum over boxes and items of cost(box) x[box, item]  +  sum of s[item]
    subject to  sum over boxes of x[box, item] + s[item] = records of the item,          sum of s <= suppressed
                x[box, item] <= records of the item * y[box],     sum over items of x[box, item] >= k y[box]
                z[box, value] <= sum over items with the value of x[box, item],     z[box, value] <= y[box]
                sum over values of z[box, value] >= p y[box]

with y = 1 for an open box and whole numbers x and s. Without whole numbers, and with any y >= 0, this is the relaxation
over all classes that prices are the dual of: for one box and y = 1, the constraints on x and z are those of a flow, so
their corners are whole numbers, which are classes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize, sparse

import shoal

SECRET = "secret"
Item = tuple[str, ...]
"""The quasi-identifiers of a record, then its sensitive value."""


@dataclass(frozen=True)
class SmallTable:
    """A table of quasi-identifiers with trees and boundaries, one sensitive column, and what a class must have."""

    trees: tuple[Mapping[str, Any], ...]
    """Nested mappings down to ``None``, with one name on top."""
    records: tuple[Item, ...]
    k: int
    p: int = 1
    suppressed: int = 0
    boundaries: tuple[tuple[str, ...] | int | None, ...] = ()
    ranged: tuple[int, ...] = ()
    """Columns of numbers, in the order of their tree, that may be released as ranges."""
    measure: str = "ncp"

    @property
    def names(self) -> list[str]:
        return [f"q{j}" for j in range(len(self.trees))]

    @property
    def table(self) -> pa.Table:
        columns = zip(*self.records, strict=True)
        return pa.table(dict(zip([*self.names, SECRET], map(list, columns), strict=True)))

    def policy(self, **more: Any) -> shoal.Policy:
        columns: dict[str, Any] = {SECRET: {"role": "sensitive"}}
        bounds = self.boundaries or (None,) * len(self.trees)
        for name, tree, bound in zip(self.names, self.trees, bounds, strict=True):
            limit = {} if bound is None else {"boundary": bound if isinstance(bound, int) else list(bound)}
            columns[name] = {"role": "quasi", "hierarchy": {"tree": tree}, **limit}
        privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": self.k}]
        if self.p > 1:
            privacy.append({"model": "p-sensitive", "p": self.p, "sensitive": SECRET})
        if self.ranged and "algorithm" not in more:
            more["algorithm"] = {"name": "mondrian", "ranges": [self.names[column] for column in self.ranged]}
        share = min((self.suppressed + 0.5) / len(self.records), 1.0) if self.suppressed else 0.0
        return shoal.Policy(columns=columns, privacy=privacy, suppression=share, **more)

    @cached_property
    def items(self) -> dict[Item, int]:
        return dict(sorted(Counter(self.records).items()))

    def labels(self, column: int) -> dict[str, list[str]]:
        """The labels of each value of a column, up to its boundary."""
        paths = list(_paths(self.trees[column], ()))
        longest = max(map(len, paths))
        chains = {path[0]: [path[0]] * (longest - len(path)) + path for path in paths}
        bound = (self.boundaries or (None,) * len(self.trees))[column]
        if isinstance(bound, int):
            return {value: chain[: bound + 1] for value, chain in chains.items()}
        ends = {
            value: next((place for place, label in enumerate(chain) if label in (bound or ())), len(chain))
            for value, chain in chains.items()
        }
        return {value: chain[: ends[value] + 1] for value, chain in chains.items()}

    def cost(self, column: int, label: str) -> float:
        """What a cell costs in the measure, by its definition."""
        paths = list(_paths(self.trees[column], ()))
        height = max(map(len, paths)) - 1
        under = [path for path in paths if label in path]
        if self.measure == "ncp":
            return (len(under) - 1) / max(len(paths) - 1, 1)
        if self.measure == "wang_loss":
            return (len(under) - 1) / len(paths)
        if self.measure == "ntil":
            return max(path.index(label) for path in under) / height
        short = [0 if path.index(label) == 0 else height + 1 - len(path) + path.index(label) for path in under]
        return min(short) / height

    def weight(self, column: int) -> float:
        """What a column counts in the measure."""
        return max(map(len, _paths(self.trees[column], ()))) - 1.0 if self.measure == "distortion_ratio" else 1.0

    def range_cost(self, column: int, low: str, high: str) -> float:
        """NCP of a cell that is released as a range."""
        leaves = leaves_of(self.trees[column])
        return (leaves.index(high) - leaves.index(low)) / max(len(leaves) - 1, 1)

    @cached_property
    def boxes(self) -> dict[frozenset[int], float]:
        """The cost of the cheapest box for each set of items that one holds, if a class could be in it."""
        items = list(self.items)
        options = []
        for column in range(len(self.trees)):
            under: dict[str, set[int]] = {}
            labels = self.labels(column)
            for index, item in enumerate(items):
                for label in set(labels[item[column]]):
                    under.setdefault(label, set()).add(index)
            options.append([(inside, self.cost(column, label)) for label, inside in sorted(under.items())])
            for low, high in combinations(leaves_of(self.trees[column]), 2) if column in self.ranged else ():
                inside = {index for index, item in enumerate(items) if int(low) <= int(item[column]) <= int(high)}
                options[-1].append((inside, self.range_cost(column, low, high)))
        found: dict[frozenset[int], float] = {}
        weights = [self.weight(column) for column in range(len(self.trees))]
        for box in product(*options):
            inside = frozenset(set.intersection(*(held for held, _ in box)))
            if self.allows(Counter({items[index]: self.items[items[index]] for index in inside})):
                cost = sum(w * each for w, (_, each) in zip(weights, box, strict=True)) / sum(weights)
                found[inside] = min(cost, found.get(inside, math.inf))
        return found

    def allows(self, records: Counter[Item]) -> bool:
        """Whether records may form a class."""
        return records.total() >= self.k and len({item[-1] for item in records}) >= self.p


def _paths(tree: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[list[str]]:
    """Each value with its groups up to the root."""
    for name, under in tree.items():
        if under:
            yield from _paths(under, (name, *above))
        else:
            yield [name, *above]


@dataclass(frozen=True)
class Program:
    """The program of a table: variables are x for each box and item, y for each box, z for each box and value, s."""

    costs: NDArray[np.float64]
    equal: tuple[Any, NDArray[np.float64]]
    at_most: tuple[Any, NDArray[np.float64]]
    whole: NDArray[np.int64]
    opens: NDArray[np.bool_]  # which variables are a y


def program_of(table: SmallTable) -> Program:
    """The program as matrices."""
    records, secrets = list(table.items.values()), [item[-1] for item in table.items]
    costs: list[float] = []
    whole: list[int] = []
    opens: list[bool] = []
    equal: list[tuple[int, int, float]] = []
    at_most: list[tuple[int, int, float]] = []
    rows = 0

    def variable(cost: float, *, integer: bool, is_open: bool = False) -> int:
        costs.append(cost)
        whole.append(int(integer))
        opens.append(is_open)
        return len(costs) - 1

    for inside, cost in sorted(table.boxes.items(), key=lambda box: sorted(box[0])):
        y = variable(0.0, integer=True, is_open=True)
        x = {item: variable(cost, integer=True) for item in sorted(inside)}
        for item, number in x.items():
            equal.append((item, number, 1.0))
            at_most += [(rows, number, 1.0), (rows, y, -float(records[item]))]
            rows += 1
        at_most += [(rows, y, float(table.k)), *((rows, number, -1.0) for number in x.values())]
        rows += 1
        if table.p == 1:
            continue
        z = {value: variable(0.0, integer=False) for value in sorted({secrets[item] for item in inside})}
        for value, number in z.items():
            with_value = [x[item] for item in inside if secrets[item] == value]
            at_most += [(rows, number, 1.0), *((rows, each, -1.0) for each in with_value)]
            at_most += [(rows + 1, number, 1.0), (rows + 1, y, -1.0)]
            rows += 2
        at_most += [(rows, y, float(table.p)), *((rows, number, -1.0) for number in z.values())]
        rows += 1
    for item in range(len(records)):
        number = variable(1.0, integer=True)
        equal.append((item, number, 1.0))
        at_most.append((rows, number, 1.0))
    limits = np.zeros(rows + 1)
    limits[rows] = table.suppressed
    return Program(
        np.array(costs),
        (_matrix(equal, len(records), len(costs)), np.array(records, dtype=np.float64)),
        (_matrix(at_most, rows + 1, len(costs)), limits),
        np.array(whole),
        np.array(opens),
    )


def _matrix(entries: list[tuple[int, int, float]], rows: int, columns: int) -> Any:
    row, column, value = zip(*entries, strict=True)
    return sparse.csr_array((value, (row, column)), shape=(rows, columns))


def exact_loss(table: SmallTable) -> float | None:
    """The mean loss of the best release; None where there is none."""
    program = program_of(table)
    upper = np.where(program.opens, 1.0, np.inf)
    limits = [
        optimize.LinearConstraint(program.equal[0], program.equal[1], program.equal[1]),
        optimize.LinearConstraint(program.at_most[0], -np.inf, program.at_most[1]),
    ]
    bounds = optimize.Bounds(np.zeros(len(upper)), upper)
    options = {"mip_rel_gap": 0.0}
    found = optimize.milp(program.costs, integrality=program.whole, bounds=bounds, constraints=limits, options=options)
    return None if found.x is None else float(found.fun) / len(table.records)


def relaxed_loss(table: SmallTable) -> tuple[float, dict[Item, float]] | None:
    """The mean loss of the relaxation over all classes, and its prices; None where there is no solution."""
    program = program_of(table)
    found = optimize.linprog(
        program.costs, A_ub=program.at_most[0], b_ub=program.at_most[1], A_eq=program.equal[0], b_eq=program.equal[1]
    )
    if found.x is None:
        return None
    prices = dict(zip(table.items, found.eqlin.marginals.tolist(), strict=True))
    return float(found.fun) / len(table.records), prices


def exact_loss_by_partitions(table: SmallTable) -> float | None:
    """The same by trying every way to part the records into classes, some of them suppressed."""
    labels = [table.labels(column) for column in range(len(table.trees))]
    costs = [{label: table.cost(column, label) for label in set().union(*each.values())}
             for column, each in enumerate(labels)]  # fmt: skip
    best = None
    for classes, suppressed in _partitions(table.records):
        if len(suppressed) > table.suppressed or not all(table.allows(Counter(each)) for each in classes):
            continue
        total = float(len(suppressed))
        for each in classes:
            for column, label_of in enumerate(labels):
                shared = set.intersection(*(set(label_of[record[column]]) for record in each))
                cell = min((costs[column][label] for label in shared), default=math.inf)
                if column in table.ranged:
                    numbers = sorted((record[column] for record in each), key=int)
                    cell = min(cell, table.range_cost(column, numbers[0], numbers[-1]))
                total += len(each) * cell / len(labels)
        if total < math.inf and (best is None or total < best):
            best = total
    return None if best is None else best / len(table.records)


def _partitions(records: tuple[Item, ...]) -> Iterator[tuple[list[list[Item]], list[Item]]]:
    if not records:
        yield [], []
        return
    first, rest = records[0], records[1:]
    for classes, suppressed in _partitions(rest):
        yield classes, [first, *suppressed]
        yield [[first], *classes], suppressed
        for place, each in enumerate(classes):
            yield [*classes[:place], [first, *each], *classes[place + 1 :]], suppressed


TREES: tuple[Mapping[str, Any], ...] = (
    {"*": {"ab": {"a": None, "b": None}, "cd": {"c": None, "d": None}, "e": None}},
    {"any": {"low": {"0": None, "1": None, "2": None}, "high": {"3": None, "4": None}}},
    {"all": {"N": {"N1": {"n1": None, "n2": None}, "n3": None}, "S": {"s1": None}}},
)
BOUNDARIES: tuple[tuple[tuple[str, ...] | int | None, ...], ...] = (
    (None, ("ab", "cd"), 1),
    (None, ("low",), 2),
    (None, ("N", "S"), ("N1",), 1),
)


def leaves_of(tree: Mapping[str, Any]) -> list[str]:
    return [path[0] for path in _paths(tree, ())]


@st.composite
def small_tables(draw: st.DrawFn, *, most_records: int = 7) -> SmallTable:
    """Tables of one to three quasi-identifiers, with everything that the bound takes into account."""
    chosen = draw(st.lists(st.sampled_from(range(3)), min_size=1, max_size=3))
    trees = tuple(TREES[each] for each in chosen)
    bounds = draw(st.one_of(st.just(()), st.tuples(*(st.sampled_from(BOUNDARIES[each]) for each in chosen))))
    record = st.tuples(*(st.sampled_from(leaves_of(tree)) for tree in trees), st.sampled_from(["x", "y", "z"]))
    records = draw(st.lists(record, min_size=1, max_size=most_records))
    p, suppressed = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    k = draw(st.integers(p, 4))
    numbers = tuple(column for column, each in enumerate(chosen) if each == 1)
    ranged = numbers if not bounds and draw(st.booleans()) else ()
    return SmallTable(trees, tuple(records), k, p, min(suppressed, len(records) - 1), bounds, ranged)
