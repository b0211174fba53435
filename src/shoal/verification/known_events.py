"""How few people fit what somebody may know of a person: written a second time, from the definition.

Somebody knows at most m records of a person. They lie in certain classes, and everybody fits who has at least as many
records in each of these. A person's records in a class are its first, second, … one: what is known are records such
that with the third one of a class the first and the second are known, too. Such sets of records are found by pairing
each record of a person with those behind it, at every distance.
"""

from collections.abc import Iterator

import numpy as np

from shoal.verification.canonical_text import Codes
from shoal.verification.classes import Classes
from shoal.verification.result import Check
from shoal.verification.stated_policy import StatedPolicy

NAME = "known-events"


def check_known_events(classes: Classes, policy: StatedPolicy) -> Check:
    """Whether k people fit any records of a person that somebody may know."""
    assert classes.person is not None, "people are counted"
    k = max(entry.get("k", 1) for entry in policy.privacy if entry["model"] == "k-anonymity")
    fewest = fewest_fitting(classes.class_of, classes.person, classes.counts, policy.events)
    facts = {"counted": classes.counted, "k": k, "events": policy.events, "fewest_people": fewest}
    known = f"{fewest:,} {classes.noun(fewest)} or more fit any {policy.events} records of a person"
    return Check(NAME, fewest >= k, known if fewest >= k else f"{known}, but {k:,} are required", facts)


def fewest_fitting(group: Codes, person: Codes, counts: Codes, events: int) -> int:
    """The fewest people that fit at most so many records of anybody; 0 where there are no records.

    Rows are records in a group (a class), each of a person, and as many as they count.
    """
    width = int(group.max(initial=0)) + 1
    places, index = np.unique(person * width + group, return_inverse=True)
    number = np.minimum(np.bincount(index, weights=counts, minlength=len(places)), events).astype(np.int64)
    place = np.repeat(places, number)
    who, cls = place // width, place % width
    nth = np.arange(len(place)) - np.repeat(np.cumsum(number) - number, number)
    fewest = 0
    for size in range(1, events + 1):
        keys, people = np.zeros((0, size), dtype=np.int64), np.zeros(0, dtype=np.int64)
        for chain in _chains(who, cls, nth, size):
            keys, people = _added(keys, people, cls[chain] * events + nth[chain])
        if len(people):
            fewest = int(people.min()) if not fewest else min(fewest, int(people.min()))
    return fewest


def _chains(who: Codes, cls: Codes, nth: Codes, size: int) -> Iterator[Codes]:
    """Sets of so many records of one person, as ascending positions: a row for each."""
    waiting = [np.flatnonzero(nth == 0)[:, None]]
    while waiting:
        chain = waiting.pop()
        if chain.shape[1] == size:
            yield chain
            continue
        end = chain[:, -1]
        distance = 1
        while len(chain):
            inside = end + distance < len(who)
            chain, end = chain[inside], end[inside]
            same = who[end + distance] == who[end]
            chain, end = chain[same], end[same]
            after = end + distance
            allowed = (nth[after] == 0) | ((distance == 1) & (cls[after] == cls[end]))
            if allowed.any():
                waiting.append(np.column_stack([chain[allowed], after[allowed]]))
            distance += 1


def _added(keys: Codes, people: Codes, more: Codes) -> tuple[Codes, Codes]:
    """Sets of records with how many people have each, and some more of single people."""
    rows = np.concatenate([keys, more])
    order = np.lexsort(rows.T)
    rows, weights = rows[order], np.concatenate([people, np.ones(len(more), dtype=np.int64)])[order]
    first = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(axis=1))[: len(rows)])
    return rows[first], np.add.reduceat(weights, first) if len(first) else weights
