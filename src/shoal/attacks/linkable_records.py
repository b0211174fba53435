"""The released records that each person of the original fits: what is left of an attempt to link people to records.

Consistency after Gionis, Mazza & Tassa 2008 (k-Anonymization Revisited). Where labels overlap, a class that a person
fits may be out of the question, its records all belonging to others: every released record is of a person who fits it,
and no person has two. So an attacker looks at *assignments* of different people to all records. A record ``20`` beside
nine ``20-29`` is of the only person aged 20, though that person fits all ten. A pair of a person and a class is
*possible* if some assignment has it, and a person's candidates are the records of the classes that are. Nobody has
fewer candidates than the smallest class has records, so this is done only where a class has fewer than k records.

**Solution.** People of one tuple are interchangeable, and so are the records of a class; people who are not released go
to one class more, which everybody fits. One assignment is found by augmenting paths. In the graph that leads from each
class to the tuples assigned to it and from each tuple to the classes it fits, a pair that is not assigned is possible
exactly if it lies on a cycle, that is within one strongly connected component: shifting everybody along the cycle by
one gives the assignment that has it.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shoal.attacks.chance.statistics import Interval, mean_interval
from shoal.attacks.class_fit import CodePairs, fitting_pairs
from shoal.attacks.original_people import Original
from shoal.attacks.released_classes import Codes, Column, Ints, Released
from shoal.table.classes import Mask
from shoal.table.encoded import distinct_codes, spans

VICTIMS = 20_000  # people who are looked for where each may fit several classes; a random sample where there are more
_FREE = -1  # where people are who are assigned to no class
MOST_PEOPLE = 100_000_000  # people of classes, over everybody who is looked up, up to which each is counted once
MOST_PAIRS = 1_000_000  # pairs of a distinct row and a class up to which all people are matched at once


@dataclass(frozen=True, eq=False)
class LinkableRecords:
    """How many released records people fit; where people have several records, how many people fit a record."""

    sizes: Ints  # released records (or people) that the people of each distinct row fit, 0 left out
    people: Ints  # how many people each of these figures is about
    of: int  # people of the original who fit any released record, in all
    sampled: bool
    matching: str  # of all people at once: ``done``, ``not needed``, ``impossible`` or ``too many pairs``
    persons: tuple[Codes, Ints] | None = None
    """Where people have several records: everybody who was looked up, and the fewest people who fit a record of theirs;
    None where it is not known who a record is about."""

    @property
    def fewest(self) -> int:
        """The fewest records that anybody fits; 0 where nobody fits any."""
        return int(self.sizes.min()) if len(self.sizes) else 0

    def mean(self) -> float:
        """Mean number of records that a person fits."""
        return float((self.sizes * self.people).sum() / max(self.people.sum(), 1))

    def rate(self) -> float:
        """Expected share of right links."""
        return float((self.people / self.sizes).sum() / max(self.people.sum(), 1))

    def interval(self) -> Interval | None:
        """The interval of the rate; None where everybody was looked for."""
        return mean_interval(np.repeat(1.0 / self.sizes, self.people)) if self.sampled else None

    def people_below(self, k: int) -> tuple[int, int] | None:
        """People with a record that fewer than k people fit, of all people; None where this is not known."""
        return None if self.persons is None else (int(np.count_nonzero(self.persons[1] < k)), len(self.persons[0]))

    def below(self, k: int) -> int:
        """People who fit fewer than k records, scaled up from the sample."""
        few = int(self.people[self.sizes < k].sum())
        return few if not self.sampled else round(few * self.of / max(int(self.people.sum()), 1))


def linkable_records(
    released: Released, original: Original, seed: int, insensitive: Mapping[str, Column] | None = None
) -> LinkableRecords:
    """Count the released records that people fit; ``insensitive`` are those columns where the release is by them."""
    (codes, counts, covers, of_row), cells, sizes = original.people(insensitive or {}), released.cells, released.sizes
    chosen, people = np.arange(len(counts)), counts
    many = any(bool((cover.lengths > 1).any()) for cover in covers)
    if many and len(counts) > VICTIMS:
        chosen, people = sampled_people(counts, VICTIMS, seed)
    sampled = len(chosen) < len(counts)
    item, box = fitting_pairs(codes[:, chosen], cells, covers)
    matching = "not needed"
    if many and bool((released.class_people < released.k).any()):
        matching = "too many pairs"
        if len(item) * len(counts) <= MOST_PAIRS * len(chosen):
            rows, boxes = fitting_pairs(codes, cells, covers) if sampled else (item, box)
            possible = possible_pairs((rows, boxes), counts, sizes)
            matching = "impossible" if possible is None else "done"
            if possible is not None:
                index = np.full(len(counts), -1, dtype=np.int64)
                index[chosen] = np.arange(len(chosen))
                possible &= index[rows] >= 0
                item, box = index[rows[possible]], boxes[possible]
    candidates = np.bincount(item, weights=sizes[box], minlength=len(chosen)).astype(np.int64)
    if released.people is not None:
        candidates = _people_of_items(released, item, box, len(chosen))
    found, persons = candidates > 0, None
    of = int(people[found].sum())
    if sampled:
        of = round(of * int(counts.sum()) / max(int(people.sum()), 1))
    if released.people is not None and original.problem.table.person is not None:
        of_item = np.zeros(len(counts), dtype=np.int64)  # what was not looked up fits nobody
        of_item[chosen] = candidates
        persons = _fewest_by_person(original.problem.table.person, of_item[of_row])
    return LinkableRecords(candidates[found], people[found], of, sampled, matching, persons)


def _people_of_items(released: Released, item: Ints, box: Ints, n_items: int) -> Ints:
    """How many different people the classes have together that each item fits.

    Somebody may be in several of them. Where counting everybody once would take too long, the people of the largest of
    these classes are counted, who are fewer.
    """
    assert released.people is not None
    keys = distinct_codes(released.people.owner * released.people.width + released.people.person)
    starts = np.searchsorted(keys, np.arange(len(released.sizes) + 1) * released.people.width)
    keys %= released.people.width
    person = keys
    lengths, order = np.diff(starts), np.argsort(item, kind="stable")
    item, box = item[order], box[order]
    found, times = np.zeros(n_items, dtype=np.int64), np.bincount(item, minlength=n_items)
    np.maximum.at(found, item, lengths[box])
    several = np.flatnonzero(times[item] > 1)
    item, box = item[several], box[several]
    if int(lengths[box].sum()) > MOST_PEOPLE:
        return found
    ends = np.flatnonzero(np.diff(item, append=n_items))  # the last pair of each item
    first = 0
    while first < len(item):
        reach = int(np.searchsorted(np.cumsum(lengths[box[first:]]), MOST_PAIRS)) + first
        last = int(ends[np.searchsorted(ends, min(reach, len(item) - 1))]) + 1  # whole items, one at least
        part, classes = item[first:last], box[first:last]
        pairs = (
            np.repeat(part, lengths[classes]) * released.people.width + person[spans(starts[classes], lengths[classes])]
        )
        different = np.bincount(distinct_codes(pairs) // released.people.width, minlength=n_items)
        found[part] = different[part]
        first = last
    return found


def _fewest_by_person(person: Codes, candidates: Ints) -> tuple[Codes, Ints]:
    """Everybody with a record that some people fit, and how many fit the record that the fewest fit."""
    nobody = np.iinfo(np.int64).max
    fewest = np.full(int(person.max(initial=0)) + 1, nobody)
    np.minimum.at(fewest, person, np.where(candidates > 0, candidates, nobody))
    everybody = np.flatnonzero(fewest < nobody)
    return everybody.astype(person.dtype), fewest[everybody]


def sampled_people(counts: Ints, size: int, seed: int) -> tuple[Ints, Ints]:
    """A sample of people without replacement, from distinct rows with counts: the rows met, and how often each."""
    drawn = np.random.default_rng(seed).choice(int(counts.sum()), size=min(size, int(counts.sum())), replace=False)
    rows, people = np.unique(np.searchsorted(np.cumsum(counts), drawn, side="right"), return_counts=True)
    return rows.astype(np.int64), people.astype(np.int64)


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
    fitting = CodePairs.of((tuples, classes), len(counts)).lists()
    flow = _Assignment(fitting, CodePairs.of((classes, tuples), len(sizes) + 1).lists(), counts.tolist())
    demand = [*sizes.tolist(), spare]
    few_first = sorted(range(len(demand)), key=lambda cls: (len(flow.people[cls]), cls))
    if not all(flow.serve(cls, demand[cls]) for cls in few_first):
        return None
    graph = [[len(counts) + cls for cls in each] for each in fitting] + [list(each) for each in flow.given[:_FREE]]
    part = np.array(_components(graph), dtype=np.int64)
    assigned = np.fromiter(
        (bool(flow.given[c].get(t)) for t, c in zip(left.tolist(), right.tolist(), strict=True)), np.bool_, len(left)
    )
    return np.asarray(assigned | (part[left] == part[len(counts) + right]))


class _Assignment:
    """Who is assigned where, as it grows."""

    def __init__(self, classes: list[list[int]], people: list[list[int]], counts: list[int]) -> None:
        self.classes = classes  # those that each tuple fits
        self.people = people  # the tuples that fit each class
        self.given = [*(dict[int, int]() for _ in people), dict(enumerate(counts))]
        """The people assigned to each class, by tuple; and at last those not assigned yet."""
        self.held = [{_FREE} for _ in classes]  # the classes that people of each tuple are assigned to

    def serve(self, cls: int, wanted: int) -> bool:
        """Assign so many people to a class, moving others where that makes room; False where it cannot be."""
        for one in sorted(self.people[cls], key=lambda each: (len(self.classes[each]), each)):
            if not wanted:
                return True
            if free := self.given[_FREE].get(one, 0):
                wanted -= self._shift(one, cls, {cls: (-1, -1)}, min(wanted, free))
        while wanted:
            moved = self._along_a_path(cls, wanted)
            if not moved:
                return False
            wanted -= moved
        return True

    def _along_a_path(self, cls: int, wanted: int) -> int:
        """Bring people from the nearest tuple with free ones, each class on the way passing some on; how many."""
        via: dict[int, tuple[int, int]] = {cls: (-1, -1)}
        asked: set[int] = set()
        waiting = deque([cls])
        while waiting:
            at = waiting.popleft()
            for one in self.people[at]:
                if one in asked:
                    continue
                asked.add(one)
                if free := self.given[_FREE].get(one, 0):
                    return self._shift(one, at, via, min(wanted, free))
                for other in sorted(self.held[one] - via.keys()):
                    via[other] = (one, at)
                    waiting.append(other)
        return 0

    def _shift(self, one: int, at: int, via: dict[int, tuple[int, int]], amount: int) -> int:
        """Free people of a tuple go to a class, and as many of it go on to the next, as far as the way leads."""
        way, cls = [(one, _FREE, at)], at
        while (step := via[cls])[0] >= 0:
            way.append((step[0], cls, step[1]))
            amount = min(amount, self.given[cls][step[0]])
            cls = step[1]
        for mover, origin, target in way:
            if left := self.given[origin].pop(mover) - amount:
                self.given[origin][mover] = left
            else:
                self.held[mover].discard(origin)
            self.given[target][mover] = self.given[target].get(mover, 0) + amount
            self.held[mover].add(target)
        return amount


def _components(graph: list[list[int]]) -> list[int]:
    """The strongly connected component of each node (Tarjan 1972), without recursion."""
    root = len(graph)  # one node more, from which the search reaches all others
    graph = [*graph, list(range(root))]
    index, low, part = [-1] * len(graph), [0] * len(graph), [-1] * len(graph)
    stack, path, parts = [root], [(root, iter(graph[root]))], 0
    index[root], met = 0, 1
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
