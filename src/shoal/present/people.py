"""People in words: where a policy says who a record is about, the models count people, and sentences must say so."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from shoal.formatting import listing, number, pluralize

_IN_PEOPLE = (
    (re.compile(r"\brecords that\b"), "people who"),
    (re.compile(r"\brecords\b"), "people"),
    (re.compile(r"\brecord\b"), "person"),
)


def people_phrase(count: int) -> str:
    """A number of people: ``1 person``, ``1,200 people``."""
    return pluralize(count, "person", "people")


def records_and_people(records: int, people: int | None) -> str:
    """A class by its records, or by its people and their records where people are counted."""
    counted = pluralize(records, "record")
    return counted if people is None else f"{people_phrase(people)} ({counted})"


def class_sizes_of(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """How large classes are, in people where the models count these; empty where there is no release."""
    sizes: Mapping[str, Any] = (facts.get("people") or facts).get("class_sizes") or {}
    return sizes


def in_people(sentence: str) -> str:
    """A sentence that a model declares about records, where it counts people instead."""
    for records, people in _IN_PEOPLE:
        sentence = records.sub(people, sentence)
    return sentence


def people_sentences(people: Mapping[str, Any]) -> Iterator[str]:
    """Who is in the release, who lost records, and how many people the classes have."""
    columns, whole, released = listing(people["columns"]), people_phrase(people["people"]), people["released"]
    sizes, each = people["class_sizes"], people["records_per_person"]
    yield (
        f"The models count people, told apart by {columns}: {number(released)} of {whole} "
        f"{'is' if released == 1 else 'are'} in the release."
    )
    yield _losses(people["lost_all"], people["lost_some"], people["lost_none"])
    if sizes:
        median = number(sizes["quartiles"][1])
        yield f"The smallest class has {people_phrase(sizes['smallest'])}; the median is {median}."
    several = each["people_with_several"]
    have = f"{people_phrase(several)} {'has' if several == 1 else 'have'} several records"
    most, median = number(each["largest"]), number(each["median"])
    yield f"In the data, {have}, up to {most}; the median is {median} per person."


def _losses(everything: int, some: int, nothing: int) -> str:
    if not everything and not some:
        return "Nobody loses a record."
    lose = ["loses" if count == 1 else "lose" for count in (everything, some, nothing)]
    all_of_them = f"{people_phrase(everything)} {lose[0]} all of their records"
    return f"{all_of_them}, {number(some)} {lose[1]} some and {number(nothing)} {lose[2]} none."
