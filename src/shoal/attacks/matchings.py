"""All people and all records at once: which classes a person can be in when everybody else must be somewhere too.

Every released record is of a person of the original who fits it, and no person has two. So an attacker does not look
at one person alone but at *assignments* of different people to all records (Gionis, Mazza & Tassa 2008, who count
neighbours in perfect matchings). A record ``20`` beside nine ``20-29`` is of the only person aged 20, though that
person fits all ten. A pair of a person and a class is *possible* if some assignment has it.

**Solution.** People of one tuple are interchangeable, and so are the records of a class; people who are not released go
to one class more, which everybody fits. One assignment is found by augmenting paths. In the graph that leads from each
class to the tuples assigned to it and from each tuple to the classes it fits, a pair that is not assigned is possible
exactly if it lies on a cycle, that is within one strongly connected component: shifting everybody along the cycle by
one gives the assignment that has it.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from shoal.attacks.released_classes import Ints
from shoal.table.classes import Mask


def possible_pairs(pairs: tuple[Ints, Ints], counts: Ints, sizes: Ints) -> Mask | None:
    """Which of the pairs of a tuple and a class that fit some assignment has; None where there is no assignment.

    ``counts`` are people by tuple, ``sizes`` records by class.
    """
    left, right = pairs
    spare = int(counts.sum() - sizes.sum())
    if spare < 0:
        return None
    everybody = np.arange(len(counts), dtype=np.int64)
    tuples, classes = np.concatenate([left, everybody]), np.concatenate([right, np.full(len(counts), len(sizes))])
    flow = _Assignment(_lists(tuples, classes, len(counts)), _lists(classes, tuples, len(sizes) + 1), counts.tolist())
    demand = [*sizes.tolist(), spare]
    few_first = sorted(range(len(demand)), key=lambda place: (len(flow.people[place]), place))
    if not all(flow.serve(place, demand[place]) for place in few_first):
        return None
    part = np.array(_components(flow.graph()), dtype=np.int64)
    assigned = np.fromiter(
        (bool(flow.given[c].get(t)) for t, c in zip(left.tolist(), right.tolist(), strict=True)), np.bool_, len(left)
    )
    found: Mask = assigned | (part[left] == part[len(counts) + right])
    return found


def _lists(owner: Ints, other: Ints, width: int) -> list[list[int]]:
    """For each owner the others beside it, ascending."""
    order = np.lexsort((other, owner))
    ends = np.searchsorted(owner[order], np.arange(1, width))
    return [each.tolist() for each in np.split(other[order], ends)]


class _Assignment:
    """Who is assigned where, as it grows."""

    def __init__(self, classes: list[list[int]], people: list[list[int]], free: list[int]) -> None:
        self.classes = classes
        """For each tuple the classes that it fits."""
        self.people = people
        """For each class the tuples that fit it."""
        self.free = free
        """People of each tuple not assigned yet."""
        self.given: list[dict[int, int]] = [{} for _ in people]
        """For each class the people assigned, by tuple."""
        self.held: list[set[int]] = [set() for _ in classes]
        """For each tuple the classes that people of it are assigned to."""

    def serve(self, place: int, wanted: int) -> bool:
        """Assign so many people to a class, moving others where that makes room; False where it cannot be."""
        for one in sorted(self.people[place], key=lambda each: (len(self.classes[each]), each)):
            if not wanted:
                return True
            if self.free[one]:
                taken = min(wanted, self.free[one])
                self.free[one] -= taken
                self._move(one, None, place, taken)
                wanted -= taken
        while wanted:
            moved = self._along_a_path(place, wanted)
            if not moved:
                return False
            wanted -= moved
        return True

    def _along_a_path(self, place: int, wanted: int) -> int:
        """Bring people from the nearest tuple with free ones, each class on the way passing some on; how many."""
        via: dict[int, tuple[int, int]] = {place: (-1, -1)}
        asked: set[int] = set()
        waiting = deque([place])
        while waiting:
            at = waiting.popleft()
            for one in self.people[at]:
                if one in asked:
                    continue
                asked.add(one)
                if self.free[one]:
                    return self._shift(one, at, via, min(wanted, self.free[one]))
                for other in sorted(self.held[one] - via.keys()):
                    via[other] = (one, at)
                    waiting.append(other)
        return 0

    def _shift(self, one: int, at: int, via: dict[int, tuple[int, int]], amount: int) -> int:
        """Free people of a tuple go to a class, and as many of it go on to the next, as far as the way leads."""
        way = []
        place = at
        while (step := via[place])[0] >= 0:
            way.append((step[0], place, step[1]))
            amount = min(amount, self.given[place][step[0]])
            place = step[1]
        self.free[one] -= amount
        self._move(one, None, at, amount)
        for mover, origin, target in way:
            self._move(mover, origin, target, amount)
        return amount

    def _move(self, one: int, origin: int | None, target: int, amount: int) -> None:
        if origin is not None:
            self.given[origin][one] -= amount
            if not self.given[origin][one]:
                del self.given[origin][one]
                self.held[one].discard(origin)
        self.given[target][one] = self.given[target].get(one, 0) + amount
        self.held[one].add(target)

    def graph(self) -> list[list[int]]:
        """Where each tuple, then each class, leads to: to the classes it fits, to the tuples assigned to it."""
        tuples = len(self.classes)
        return [[tuples + place for place in each] for each in self.classes] + [list(each) for each in self.given]


def _components(graph: list[list[int]]) -> list[int]:
    """The strongly connected component of each node (Tarjan 1972), without recursion."""
    index, low, part = [-1] * len(graph), [0] * len(graph), [-1] * len(graph)
    stack: list[int] = []
    met = parts = 0
    for start in range(len(graph)):
        if index[start] >= 0:
            continue
        index[start] = low[start] = met
        met += 1
        stack.append(start)
        path = [(start, iter(graph[start]))]
        while path:
            node, others = path[-1]
            for other in others:
                if index[other] < 0:
                    index[other] = low[other] = met
                    met += 1
                    stack.append(other)
                    path.append((other, iter(graph[other])))
                    break
                if part[other] < 0:
                    low[node] = min(low[node], index[other])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == index[node]:
                    while part[node] < 0:
                        part[stack.pop()] = parts
                    parts += 1
    return part
