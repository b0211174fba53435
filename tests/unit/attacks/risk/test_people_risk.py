"""The risk of people with several records, compared with counting them one by one."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from support.visits import policy_of_visits, visits, write_visits

rows = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", "d", ""]), st.sampled_from(["20", "30", "40"])), min_size=1, max_size=20
)


@given(rows)
@settings(max_examples=60, deadline=None)
def test_the_risk_of_people_is_that_of_counting_one_by_one(records: list[tuple[str, str]]) -> None:
    import pyarrow as pa

    table = pa.table({"pid": [person or None for person, _ in records], "age": [age for _, age in records]})
    policy = {
        "columns": {"pid": {"role": "identifier"}, "age": {"role": "quasi", "hierarchy": "flat"}},
        "person": "pid",
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    found = shoal.risk(table, policy, threshold=0.4).people
    named = [(person or f"nobody {index}", age) for index, (person, age) in enumerate(records)]
    members = defaultdict(set)
    for person, age in named:
        members[age].add(person)
    fewest = {who: min(len(members[age]) for person, age in named if person == who) for who, _ in named}
    assert found is not None
    assert found.columns == ("pid",)
    assert (found.people, found.k) == (len(fewest), min(map(len, members.values())))
    assert found.alone == sum(each == 1 for each in fewest.values())
    assert found.above_threshold == sum(each < 3 for each in fewest.values())
    assert found.highest == 1 / min(fewest.values())
    assert found.average == pytest.approx(sum(1 / each for each in fewest.values()) / len(fewest))


def test_a_table_that_does_not_tell_who_a_record_is_about_has_no_risk_of_people(tmp_path: Path) -> None:
    data = write_visits(tmp_path / "visits.csv")
    assert shoal.risk(data, policy_of_visits()).people is None
    counted = shoal.risk(data, policy_of_visits("subject_id"))
    assert counted.people is not None
    assert counted.people.people == len({row[0] for row in visits()})
    release = shoal.anonymize(data, policy_of_visits("subject_id"))
    assert shoal.risk(release.data, policy_of_visits("subject_id")).people is None
