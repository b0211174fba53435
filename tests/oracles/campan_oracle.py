"""GreedyCPKA once more, line by line as the paper prints it (Campan, Truta, Cooper 2010, section 3).

Nothing is shared with the package: clusters are lists of row numbers, values are labels, losses and diversities are
fractions computed anew each time they are asked for. The names are those of the pseudocode. What it leaves open is
settled as documented: "one tuple from" is the first in canonical order (by the places of the leaves in their trees,
then of the sensitive values, columns by name), dispersed records go in that order, and the draw of a block is
``int(random() * size)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from random import Random
from typing import TypeVar

from oracles import lattice_oracle as lattice
from oracles.lattice_oracle import Column, Label, Spec, Table

Cluster = list[int]
Item = TypeVar("Item")


class Campan:
    """One table and how its records are compared."""

    def __init__(self, table: Table, weights: Mapping[str, float]) -> None:
        self.table = table
        self.names = sorted(table.sensitive)
        if weights:
            shares = [Fraction(str(weights.get(name, 0))) for name in self.names]
        else:
            known = [set(table.sensitive[name]) - table.secrets[name].unknown for name in self.names]
            shares = [Fraction(1, max(len(each), 1)) for each in known]
        self.w = {name: share / sum(shares) for name, share in zip(self.names, shares, strict=True)}
        self.k = max((spec["k"] for spec in table.models if spec["model"] == "k-anonymity"), default=1)

    @cached_property
    def mam(self) -> list[Cluster]:
        """The classes of the maximum allowed microdata that are not OUT; every list in canonical order."""
        verdict = lattice.judge(self.table, lattice.top(self.table))
        classes = [sorted(rows, key=self.place) for rows in verdict.kept.values()] if verdict.satisfied else []
        return sorted(classes, key=lambda rows: self.place(rows[0]))

    def place(self, row: int) -> tuple[int, ...]:
        """Where a record stands in the canonical order."""
        table = self.table
        cells = zip(table.columns, table.rows[row], strict=True)
        leaves = [list(column.paths).index(leaf) for column, leaf in cells]
        secrets = [list(table.secrets[name].order).index(table.sensitive[name][row]) for name in self.names]
        return (*leaves, *secrets, *([table.person[row]] if table.person else []))

    def size(self, cl: Cluster) -> int:
        """How many records a cluster has, or people where people are counted."""
        return len({self.table.person[row] for row in cl}) if self.table.person else len(cl)

    def information_loss(self, cl: Cluster) -> Fraction:
        """Definition 10."""
        share = Fraction(0)
        for j, column in enumerate(self.table.columns):
            share += self.height_share(column, gen(column, {self.table.rows[row][j] for row in cl}))
        return len(cl) * share

    def height_share(self, column: Column, label: Label) -> Fraction:
        return Fraction(column.subtree_height(label), column.height) if column.height else Fraction(0)

    def diversity(self, row: int, cl: Cluster) -> Fraction:
        """Definition 13, and Definition 12 for a cluster of one record."""
        secret = self.table.sensitive
        known = [name for name in self.names if secret[name][row] not in self.table.secrets[name].unknown]
        fresh = (name for name in known if all(secret[name][row] != secret[name][other] for other in cl))
        return sum((self.w[name] for name in fresh), Fraction(0))

    def p_sensitive(self, cl: Cluster) -> bool:
        """Whether every model holds in a cluster that can be tested on a class, but k-anonymity."""
        specs = [spec for spec in self.table.models if spec["model"] not in ("k-anonymity", "alp-dif")]
        return all(self.holds(spec, cl) for spec in specs)

    def holds(self, spec: Spec, cl: Cluster) -> bool:
        """Whether a model holds in a cluster, with the other records that are kept beside it for t-closeness."""
        rest = [row for rows in self.mam for row in rows if row not in cl]
        classes: dict[tuple[Label, ...], list[int]] = {("in",): cl, **({("out",): rest} if rest else {})}
        return lattice.passes(self.table, [spec], classes)[0]["in",]


def gen(column: Column, leaves: set[Label]) -> Label:
    """Definition 8: the lowest common ancestor."""
    paths = [column.paths[leaf] for leaf in leaves]
    return next(label for label in paths[0] if all(label in path for path in paths))


def greedy_cpka(table: Table, *, seed: int, weights: Mapping[str, float]) -> list[Cluster]:
    """The clusters in the order in which they are made; rows in none of them are OUT."""
    campan = Campan(table, weights)
    random = Random(seed)
    clusters = []
    for cl in campan.mam:
        x_seed = cl[int(random.random() * len(cl))]
        clusters += greedy_pk_clustering(campan, list(cl), x_seed)
    return clusters


def greedy_pk_clustering(campan: Campan, im: Cluster, x_seed: int) -> list[Cluster]:
    """GreedyPKClustering: ``im`` are the records left, in canonical order."""
    s: list[Cluster] = []
    while im:
        x_seed = first_of(most(im, partial(campan.diversity, cl=[x_seed])))
        cl = [x_seed]
        im.remove(x_seed)
        grow(campan, cl, im)
        if campan.size(cl) >= campan.k and campan.p_sensitive(cl):
            s.append(cl)
        else:
            assert not im  # only last cluster can be dispersed
            disperse_cluster(campan, s, cl)
    mend(campan, s)
    return s


def grow(campan: Campan, cl: Cluster, im: Cluster) -> None:
    """Both phases; for limits on shares, which the second phase can break, again and again."""
    while True:
        while not campan.p_sensitive(cl) and im:
            temp = most(im, lambda x: campan.diversity(x, cl))
            x_star = first_of(least(temp, lambda x: campan.information_loss([*cl, x]) - campan.information_loss(cl)))
            cl.append(x_star)
            im.remove(x_star)
        while campan.size(cl) < campan.k and im:
            x_star = first_of(least(im, lambda x: campan.information_loss([*cl, x])))
            cl.append(x_star)
            im.remove(x_star)
        if campan.p_sensitive(cl) or not im:
            return


def disperse_cluster(campan: Campan, s: list[Cluster], cl: Cluster) -> None:
    for x in sorted(cl, key=campan.place):
        find_best_cluster(campan, x, s).append(x)


def find_best_cluster(campan: Campan, x: int, s: list[Cluster]) -> Cluster:
    best_cluster, info_loss = s[0], campan.information_loss([*s[0], x])
    for cl in s:
        if campan.information_loss([*cl, x]) < info_loss:
            best_cluster, info_loss = cl, campan.information_loss([*cl, x])
    return best_cluster


def mend(campan: Campan, s: list[Cluster]) -> None:
    """Not in the paper: a cluster in which dispersed records broke a limit is merged with the cheapest other one."""
    while failing := [cl for cl in s if not campan.p_sensitive(cl)]:
        one = failing[0]

        def growth(other: Cluster, one: Cluster = one) -> Fraction:
            parts = campan.information_loss(one) + campan.information_loss(other)
            return campan.information_loss([*one, *other]) - parts

        other = least([cl for cl in s if cl is not one], growth)[0]
        keep, drop = sorted([place_in(s, one), place_in(s, other)])
        s[keep] = [*one, *other]
        del s[drop]


def place_in(s: list[Cluster], cl: Cluster) -> int:
    return next(index for index, each in enumerate(s) if each is cl)


def most(rows: Sequence[int], figure: Callable[[int], Fraction]) -> list[int]:
    figures = [figure(row) for row in rows]
    return [row for row, each in zip(rows, figures, strict=True) if each == max(figures)]


def least(items: Sequence[Item], figure: Callable[[Item], Fraction]) -> list[Item]:
    figures = [figure(item) for item in items]
    return [item for item, each in zip(items, figures, strict=True) if each == min(figures)]


def first_of(rows: Iterable[int]) -> int:
    return next(iter(rows))


def fewest_left_out(table: Table) -> int:
    """How few records any release leaves out: by looking at every set of records that could be a class.

    A set can be one when its lowest common ancestors lie within the boundaries of all its records and the models hold.
    Only for models that look at one class: whichever sets are released together, each is judged alone.
    """
    n = len(table.rows)
    able = [mask for mask in range(1, 1 << n) if can_be_a_class(table, [row for row in range(n) if mask >> row & 1])]
    most_kept = [0] * (1 << n)
    for covered in range(1, 1 << n):
        for mask in able:
            if mask & covered == mask:
                most_kept[covered] = max(most_kept[covered], most_kept[covered & ~mask] + mask.bit_count())
    return n - most_kept[-1]


def can_be_a_class(table: Table, rows: Cluster) -> bool:
    for j, column in enumerate(table.columns):
        leaves = {table.rows[row][j] for row in rows}
        released = gen(column, leaves)
        if any(column.paths[leaf].index(released) > column.paths[leaf].index(column.cap(leaf)) for leaf in leaves):
            return False
    good, _ = lattice.passes(table, table.models, {(): rows})
    return good[()]
