"""What evidence and attacks say of people, compared with people counted one by one on the released records."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import median
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError, PolicyError
from shoal.pipeline.release import Release

record = st.tuples(
    st.integers(0, 7), st.sampled_from([20, 21, 35, 50]), st.sampled_from("FM"), st.sampled_from(["A", "B", "C"])
)
tables = st.lists(record, min_size=6, max_size=30)


def release_of(records: list[Any], algorithm: str) -> Release | None:
    """A release that counts people; None where there is none."""
    names = ("pid", "age", "sex", "illness")
    table = pa.table(
        {name: list(map(str, column)) for name, column in zip(names, zip(*records, strict=True), strict=True)}
    )
    policy = {
        "columns": {
            "pid": {"role": "identifier"},
            "age": {"role": "quasi", "hierarchy": {"intervals": [10, 40]}},
            "sex": {"role": "quasi", "hierarchy": "flat"},
            "illness": {"role": "sensitive", "categories": {"grave": ["A"], "mild": ["B", "C"]}},
        },
        "person": "pid",
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "algorithm": algorithm,
        "suppression": 0.3,
    }
    try:
        return shoal.anonymize(table, shoal.Policy.model_validate(policy))
    except (InfeasibleError, PolicyError):
        return None


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "greedy-clustering"])
@given(records=tables)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_figures_about_people_are_those_of_counting_one_by_one(records: list[Any], algorithm: str) -> None:
    release = release_of(records, algorithm)
    if release is None:
        return
    owner = release.recoding.row_class.tolist()
    released = [(each, cls) for each, cls in zip(records, owner, strict=True) if cls >= 0]
    members, values = defaultdict(set), defaultdict(set)
    for (person, _, _, illness), cls in released:
        members[cls].add(person)
        values[cls].add(illness)
    before, after = Counter(each[0] for each in records), Counter(each[0] for each, _ in released)
    people = release.evidence["people"]
    assert people["columns"] == ["pid"]
    assert (people["people"], people["released"]) == (len(before), len(after))
    assert people["lost_all"] == sum(after[person] == 0 for person in before)
    assert people["lost_some"] == sum(0 < after[person] < before[person] for person in before)
    assert people["lost_none"] == sum(after[person] == before[person] for person in before)
    assert people["records_per_person"] == {
        "median": median(before.values()),
        "largest": max(before.values()),
        "people_with_several": sum(count > 1 for count in before.values()),
    }
    sizes = [len(each) for each in members.values()]
    assert people["class_sizes"]["smallest"] == min(sizes)
    assert people["class_sizes"]["classes_by_size"] == {str(size): n for size, n in sorted(Counter(sizes).items())}
    weakest = release.evidence["models"][0]["weakest"]["k"]
    assert weakest["people"] == min(sizes)
    assert release.evidence["models"][0]["reached"]["k"] == min(sizes)
    single = {cls for cls, found in values.items() if len(found) == 1}
    exposed = {each[0] for each, cls in released if cls in single}
    exposure = release.evidence["exposure"]["illness"]["homogeneity"]
    assert exposure == {
        "classes": len(single),
        "records": sum(cls in single for _, cls in released),
        "people": len(exposed),
    }
    attacks = {each.name: each for each in release.facts.attacks}
    assert (attacks["homogeneity"].people, attacks["homogeneity"].of_people) == (len(exposed), len(after))
    few = {cls for cls, found in values.items() if len(found) <= attacks["background"].details["values_ruled_out"] + 1}
    assert attacks["background"].people == len({each[0] for each, cls in released if cls in few})
    fits = people_who_fit(release, records, members)
    linkage = attacks["linkage"]
    if linkage.details["matching_all_at_once"] == "not needed":
        assert linkage.details["fewest_candidates"] == min(fits)
        assert linkage.rate == pytest.approx(sum(1 / each for each in fits) / len(fits))
    assert linkage.people == 0
    assert linkage.rate is not None
    assert linkage.baseline is not None
    assert linkage.rate <= linkage.baseline + 1e-9


def people_who_fit(release: Release, records: list[Any], members: dict[int, set[int]]) -> list[int]:
    """How many different people are in the classes that each original record fits; those that fit none left out."""
    problem, recoding = release.result.record_problem, release.recoding
    assert problem is not None
    found = []
    for index in range(len(records)):
        leaves = problem.table.codes[:, problem.table.row_tuple[index]].tolist()
        people = set[int]()
        for cls, inside in members.items():
            shown = zip(recoding.hierarchies, recoding.nodes[cls].tolist(), leaves, strict=True)
            if all(hierarchy.first[node] <= leaf <= hierarchy.last[node] for hierarchy, node, leaf in shown):
                people |= inside
        if people:
            found.append(len(people))
    return found
