"""People whose records are linked: each has a pseudonym, which shows that all of them are one person's.

Whoever knows everything about a person's records looks for the pseudonym with these records. So people hide among those
who have the same: the *linked class* of a person is the multiset of the released quasi-identifiers of all their
records. A class of records, the smallest part that can still be told apart, is then the records with one combination
of quasi-identifiers within one linked class. Everybody in the linked class has equally many of them.

A more general recoding unites linked classes, since what two people have in common they have in common after it, too.
So each follows from any finer one, without looking at people again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
Counts = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Links:
    """What links some sets of records, each with one combination of quasi-identifiers within one linked class."""

    linked: Indices  # the linked class of each set
    each: Counts  # how many records of the set everybody in its linked class has

    def regrouped(self, keys: Indices) -> tuple[Indices, Indices, Links]:
        """The sets by more general quasi-identifiers, given by a key for each: which each is part of, one part, links.

        Keys and linked classes are numbered in an order that depends on what they hold alone.
        """
        linked = same_records(self.linked, keys, self.each)[self.linked]
        width = int(keys.max(initial=0)) + 1
        keyed = keys * (int(linked.max(initial=0)) + 1) + linked
        _, first, owner = np.unique(keyed, return_index=True, return_inverse=True)
        _, pair_first, pair = np.unique(self.linked * width + keys, return_index=True, return_inverse=True)
        each = np.bincount(pair, weights=self.each).astype(np.int64)  # of one linked class before, which all agree in
        of_set = np.zeros(len(first), dtype=np.int64)
        of_set[owner[pair_first]] = each
        return owner.astype(np.int64), first, Links(linked[first], of_set)


def same_records(person: Indices, keys: Indices, counts: Counts) -> Indices:
    """A number for each person, the same for those who have the same keys equally often; ascending by these."""
    n_people, width = int(person.max(initial=-1)) + 1, int(keys.max(initial=0)) + 1
    pairs, pair = np.unique(person * width + keys, return_inverse=True)
    often = np.bincount(pair, weights=counts, minlength=len(pairs)).astype(np.int64)
    people, key = pairs // width, pairs % width
    items, entry = np.unique(key * (int(often.max(initial=0)) + 1) + often, return_inverse=True)
    starts = np.searchsorted(people, np.arange(n_people + 1))
    lengths = np.diff(starts)
    found, used = np.zeros(n_people, dtype=np.int64), 0
    for length in np.unique(lengths[lengths > 0]).tolist():
        members = np.flatnonzero(lengths == length)
        number = np.zeros(len(members), dtype=np.int64)
        for place in range(length):
            number = np.unique(number * len(items) + entry[starts[members] + place], return_inverse=True)[1]
        found[members] = used + number
        used += int(number.max()) + 1
    return found


def link_records(person: Indices, keys: Indices, counts: Counts) -> tuple[Indices, Indices, Links]:
    """The sets that records of some people form by their keys: the set of each record, one record of each, links."""
    width = int(keys.max(initial=0)) + 1
    _, first, pair = np.unique(person * width + keys, return_index=True, return_inverse=True)
    each = np.bincount(pair, weights=counts, minlength=len(first)).astype(np.int64)
    owner, some, links = Links(person[first], each).regrouped(keys[first])
    return owner[pair], first[some], links


def linked_classes(person: Codes, row_class: Codes, weights: Counts | None) -> Indices:
    """The linked class of each class of records, from the person and the class (-1 for none) of each row."""
    kept = np.flatnonzero(row_class >= 0)
    owner, people = row_class[kept].astype(np.int64), person[kept].astype(np.int64)
    counts = np.ones(len(kept), dtype=np.int64) if weights is None else weights[kept]
    found = np.zeros(int(owner.max(initial=-1)) + 1, dtype=np.int64)
    found[owner] = same_records(people, owner, counts)[people]
    return found
