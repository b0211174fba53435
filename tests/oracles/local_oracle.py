"""The partitioning recodings once more, class by class and record by record: labels, lists and fractions.

Each gives the label tuple that every row is released with, None where it is left out. Only models that can be tested on
a class alone are understood; nothing is shared with the package. Columns that are `InRanges` are released as ranges.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from oracles import lattice_oracle as lattice
from oracles.lattice_oracle import Column, Label, Table


@dataclass(frozen=True, eq=False)
class InRanges(Column):
    """A column of numbers in ascending order that is released as ranges ``low<=high``; its figures know these too."""

    def ends(self, label: Label) -> list[Label]:
        """The label itself, or the two ends of a range."""
        return [label] if label is None or "<=" not in label else list(label.split("<="))

    def leaves_under(self, label: Label) -> int:
        if len(self.ends(label)) == 1:
            return super().leaves_under(label)
        low, high = map(int, self.ends(label))  # type: ignore[arg-type]
        return sum(leaf is not None and low <= int(leaf) <= high for leaf in self.paths)

    def subtree_height(self, label: Label) -> int:
        return super().subtree_height(self.common(self.ends(label)))

    def level_of(self, label: Label) -> int:
        return super().level_of(self.common(self.ends(label)))

    def common(self, labels: Sequence[Label]) -> Label:
        """The lowest label above all of some leaves; a label that is none stays."""
        paths = [self.paths[label] for label in labels] if set(labels) <= set(self.paths) else [tuple(labels)]
        return next(label for label in paths[0] if all(label in path for path in paths))


Rows = list[int]
Parts = list[Rows]
Secret = tuple[int, ...]


@dataclass(frozen=True)
class Local:
    """A problem whose blocks are known."""

    table: Table
    kept: frozenset[int]
    read: tuple[str, ...]

    def holds(self, rows: Sequence[int]) -> bool:
        """Whether the rows satisfy as a class, the rest of the table around them."""
        if not rows:
            return False
        others = sorted(self.kept - set(rows))
        classes: dict[tuple[Label, ...], Rows] = {("in",): list(rows)}
        if others:
            classes["out",] = others
        return lattice.passes(self.table, self.table.models, classes)[0]["in",]

    def places(self, j: int) -> list[Label]:
        return list(self.table.columns[j].paths)

    def lowest(self, j: int, rows: Sequence[int]) -> Label:
        """The lowest label that all rows lie under."""
        paths = [self.table.columns[j].paths[self.table.rows[row][j]] for row in rows]
        return next(label for label in paths[0] if all(label in path for path in paths))

    def mixed(self, j: int, rows: Sequence[int]) -> bool:
        """Whether the rows have both numbers and missing values in a column that is released as ranges."""
        values = {self.table.rows[row][j] for row in rows}
        return isinstance(self.table.columns[j], InRanges) and None in values and len(values) > 1

    def label(self, j: int, rows: Sequence[int]) -> Label:
        """What the rows are released as: the lowest label, or the range from the smallest to the largest number."""
        values = {self.table.rows[row][j] for row in rows}
        if not isinstance(self.table.columns[j], InRanges) or None in values or len(values) == 1:
            return self.lowest(j, rows)
        numbers = sorted(int(value) for value in values if value is not None)
        return f"{numbers[0]}<={numbers[-1]}"

    def loss(self, j: int, label: Label) -> Fraction:
        column: Column = self.table.columns[j]
        domain = len(column.paths)
        return Fraction(column.leaves_under(label) - 1, domain - 1) if domain > 1 else Fraction(0)

    def children(self, j: int, rows: Sequence[int]) -> dict[Label, Rows] | None:
        """The rows by the child of their lowest common label; None where they share one value."""
        top = self.lowest(j, rows)
        found: dict[Label, Rows] = {}
        for leaf in self.places(j):
            path = self.table.columns[j].paths[leaf]
            inside = [row for row in rows if self.table.rows[row][j] == leaf]
            if inside and path[0] != top:
                found.setdefault(path[path.index(top) - 1], []).extend(inside)
        return found or None

    def secret(self, row: int, names: Sequence[str]) -> Secret:
        order = [list(self.table.secrets[name].order) for name in names]
        values = tuple(each.index(self.table.sensitive[name][row]) for name, each in zip(names, order, strict=True))
        return (*values, self.table.person[row]) if self.table.person and names is self.read else values

    def kind(self, row: int) -> tuple[object, ...]:
        codes = tuple(self.places(j).index(value) for j, value in enumerate(self.table.rows[row]))
        others = [name for name in sorted(self.table.sensitive) if name not in self.read]
        return (codes, self.secret(row, self.read), self.secret(row, others))


Released = list[tuple[Label, ...] | None]


def mondrian(table: Table, metric: str = "loss") -> Released | None:
    """With ranges, cuts as ranges have them and cuts as trees have them: what costs less, of equals the former."""
    found = _solve(table, partial(_cut, metric=metric))
    if found is None or not any(isinstance(column, InRanges) for column in table.columns):
        return found
    plain = _solve(table, partial(_cut, metric=metric, in_ranges=False))
    assert plain is not None
    return min(found, plain, key=lambda each: round(cost_of(table, metric, each), 9))


def top_down(table: Table) -> Released | None:
    return _solve(table, _specialize)


def cost_of(table: Table, metric: str, released: Released) -> float:
    """What a release costs by a measure; less is better."""
    kept: dict[tuple[Label, ...], Rows] = {}
    for row, labels in enumerate(released):
        if labels is not None:
            kept.setdefault(labels, []).append(row)
    if metric == "constraint_violations":
        return 0.0  # classes lie within blocks, and blocks within boundaries
    value = lattice.measure(metric, table, kept)
    return 1 - value if metric == "precision" else value


def _solve(table: Table, step: Callable[[Local, Rows], Parts | None]) -> Released | None:
    """Apply a step to every class until none can be divided; None where the blocks themselves do not satisfy."""
    blocks = lattice.judge(table, lattice.top(table))
    if not blocks.satisfied:
        return None
    read = tuple(sorted({spec["sensitive"] for spec in table.models if "sensitive" in spec}))
    local = Local(table, frozenset(row for rows in blocks.kept.values() for row in rows), read)
    waiting, released = list(blocks.kept.values()), {}
    while waiting:
        rows = waiting.pop()
        parts = step(local, rows)
        if parts is None:
            labels = tuple(local.label(j, rows) for j in range(len(table.columns)))
            released.update(dict.fromkeys(rows, labels))
        else:
            assert sorted(row for part in parts for row in part) == sorted(rows)
            assert len(parts) > 1
            assert all(local.holds(part) for part in parts)
            waiting += parts
    return [released.get(row) for row in range(len(table.rows))]


def _absorb(local: Local, rest: Rows, parts: Parts) -> Parts | None:
    """The rest with as many of the smallest parts as it needs, and the parts that are left, at least one."""
    ordered = sorted(parts, key=len)
    for number in range(len(parts)):
        together = [*rest, *(row for part in ordered[:number] for row in part)]
        if local.holds(together):
            return [together, *ordered[number:]]
    return None


def _cut(local: Local, rows: Rows, *, metric: str, in_ranges: bool = True) -> Parts | None:
    """The cut that saves most for how far it divides the rows; of equals the first."""
    found = list(_cuts(local, rows, in_ranges=in_ranges))
    scores = [round(_score(local, rows, parts, metric=metric, in_ranges=in_ranges), 9) for parts in found]
    return found[scores.index(max(scores))] if found else None


def _cuts(local: Local, rows: Rows, *, in_ranges: bool) -> Iterator[Parts]:
    for j in range(len(local.table.columns)):
        ways: list[Callable[[Local, int, Rows], Parts | None]] = [_at_children]
        ways += [partial(_between_values, quarters=quarters) for quarters in (2, 1, 3)]
        if in_ranges and local.mixed(j, rows):
            ways.append(_off_missing)
        for way in ways:
            if (parts := way(local, j, rows)) is not None:
                yield parts
    together: dict[tuple[Label, ...], Rows] = {}
    for row in rows:
        together.setdefault(tuple(local.table.rows[row]), []).append(row)
    ordered = sorted(together, key=lambda each: [local.places(j).index(label) for j, label in enumerate(each)])
    if len(together) > 1 and (parts := _with_rest(local, [together[each] for each in ordered])) is not None:
        yield parts


def _score(local: Local, rows: Rows, parts: Parts, *, metric: str, in_ranges: bool) -> float:
    def cost(some: Rows) -> Fraction:
        return sum((_cell(local, j, some, metric, in_ranges) for j in range(len(local.table.columns))), Fraction(0))

    saved = sum((len(part) * (cost(rows) - cost(part)) for part in parts), Fraction(0))
    return float(saved) / _divided(parts) ** 0.75


def _cell(local: Local, j: int, rows: Rows, metric: str, in_ranges: bool) -> Fraction:
    """What a cell of the rows costs by a measure: of ranges NCP, and so by measures that have no cells."""
    column = local.table.columns[j]
    if in_ranges and isinstance(column, InRanges):
        return local.loss(j, local.label(j, rows)) * (column.height if metric == "distortion_ratio" else 1)
    label = local.lowest(j, rows)
    if metric == "distortion_ratio":
        return Fraction(column.level_of(label))
    return lattice.CELLS.get(metric, lattice.CELLS["ncp"])(column, label)


def _at_children(local: Local, j: int, rows: Rows) -> Parts | None:
    children = local.children(j, rows)
    return None if children is None else _with_rest(local, list(children.values()))


def _with_rest(local: Local, parts: Parts) -> Parts | None:
    """The parts that hold, and the others together with as many of the smallest as they need."""
    good = [part for part in parts if local.holds(part)]
    rest = [row for part in parts if not local.holds(part) for row in part]
    return (_absorb(local, rest, good) if rest else good) if good else None


def _off_missing(local: Local, j: int, rows: Rows) -> Parts | None:
    sides = [[row for row in rows if (local.table.rows[row][j] is None) == without] for without in (True, False)]
    return sides if all(local.holds(side) for side in sides) else None


def _between_values(local: Local, j: int, rows: Rows, *, quarters: int) -> Parts | None:
    """The cut between two values that is nearest to so many quarters of the rows, if both sides hold.

    Sides that have too few records for some model are not looked at; two values are two children.
    """
    place = {leaf: code for code, leaf in enumerate(local.places(j))}
    codes = sorted({place[local.table.rows[row][j]] for row in rows})
    sides = [
        [[row for row in rows if (place[local.table.rows[row][j]] <= code) == low] for low in (True, False)]
        for code in codes[:-1]
    ]
    asked = {"k-anonymity": "k", "epsilon-m": "m"}
    least = max([1, *(int(spec[asked[spec["model"]]]) for spec in local.table.models if spec["model"] in asked)])
    sides = [pair for pair in sides if min(map(len, pair)) >= least]
    if len(codes) < 3 or not sides:
        return None
    best = min(sides, key=lambda pair: abs(4 * len(pair[0]) - quarters * len(rows)))
    return best if all(local.holds(side) for side in best) else None


def _specialize(local: Local, rows: Rows) -> Parts | None:
    """Algorithm 1 on one class: the attribute that saves most for how far its children divide the rows."""
    best: tuple[float, Parts] | None = None
    for j in range(len(local.table.columns)):
        children = local.children(j, rows)
        found = None if children is None else _pushed(local, list(children.values()))
        if found is None:
            continue
        rest, good = found
        above = local.loss(j, local.lowest(j, rows))
        names = {row: label for label, part in (children or {}).items() for row in part}
        saved = sum((above - local.loss(j, names[row]) for part in good for row in part), Fraction(0))
        divided = _divided(_as_pushed(local, list((children or {}).values())))
        score = round(float(saved) / divided**0.75, 9)
        if best is None or score > best[0]:
            best = (score, [*([rest] if rest else []), *good])
    return None if best is None else best[1]


def _as_pushed(local: Local, children: Parts) -> Parts:
    """The children that hold, and what is pushed back before anything is borrowed."""
    good = [part for part in children if local.holds(part)]
    rest = [row for part in children if not local.holds(part) for row in part]
    return [*good, rest] if rest else good


def _divided(parts: Parts) -> float:
    """How far parts divide their class."""
    total = sum(map(len, parts))
    return math.fsum(len(part) * math.log(total / len(part)) for part in parts)


def _pushed(local: Local, children: Parts) -> tuple[Rows, Parts] | None:
    """What stays at the parent and in the children; None where nothing can be specialized."""
    good = [part for part in children if local.holds(part)]
    rest = [row for part in children if not local.holds(part) for row in part]
    if not good:
        return None
    if not rest or local.holds(rest):
        return rest, good
    taken = _take(local, rest, good)
    if taken is not None:
        return taken
    merged = _absorb(local, rest, good)
    return None if merged is None else (merged[0], merged[1:])


def _take(local: Local, rest: Rows, parts: Parts) -> tuple[Rows, Parts] | None:
    """Take secrets until the rest holds; the records only then, since models see nothing but secrets."""
    whole = [*rest, *(row for part in parts for row in part)]
    every = Counter(local.secret(row, local.read) for row in whole)
    order = {row: _preference(local, rest, part, row) for part in parts for row in part}
    at_rest, left, struck = list(rest), [sorted(part, key=order.__getitem__) for part in parts], set()
    while not local.holds(at_rest):
        has = Counter(local.secret(row, local.read) for row in at_rest)
        wanted = [secret for secret in every if secret not in struck and has[secret] < every[secret]]
        if not wanted:
            return None
        wanted.sort(key=lambda s: (-(every[s] * len(at_rest) - has[s] * len(whole)), s))
        secret, amount = _next(local, at_rest, left, wanted[:8])
        offers = [(_spared(local, part, secret, amount), part) for part in left]
        given, giver = min(offers, key=lambda offer: (-len(offer[0]), -len(offer[1])))
        if not given:
            struck.add(secret)
        at_rest += given
        giver[:] = [row for row in giver if row not in given]
    return at_rest, left


def _next(local: Local, rest: Rows, parts: Parts, wanted: list[Secret]) -> tuple[Secret, int]:
    for secret in wanted:
        one = next(row for part in parts for row in part if local.secret(row, local.read) == secret)
        if local.holds([*rest, one]):
            return secret, 1
    return wanted[0], max(1, len(rest) // 16)


def _spared(local: Local, part: Rows, secret: Secret, amount: int) -> Rows:
    """What a child gives of a secret and still holds: as much as asked or has, one at least, or nothing."""
    mine = [row for row in part if local.secret(row, local.read) == secret]
    for number in (min(amount, len(mine)), 1):
        if mine and local.holds([row for row in part if row not in mine[:number]]):
            return mine[:number]
    return []


def _preference(local: Local, rest: Rows, part: Rows, row: int) -> tuple[object, ...]:
    """Records that widen the rest least go first, then rare ones."""
    widening = sum(local.loss(j, local.lowest(j, [*rest, row])) for j in range(len(local.table.columns)))
    return (widening, sum(local.kind(other) == local.kind(row) for other in part), local.kind(row), row)
