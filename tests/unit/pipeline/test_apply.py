"""`shoal.apply`: new records join what is published only where everything that was promised goes on to hold."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from contract.test_releases_pass_the_verifier import MODELS, RUNS, policy_of, tables
from shoal.errors import (
    DataError,
    InfeasibleError,
    InputError,
    OutputError,
    PolicyError,
    VerificationError,
    WithheldError,
)
from shoal.evidence.evidence import evidence_problems
from shoal.pipeline.verify import verify
from shoal.search import ALGORITHMS
from support.cli import snapshot

LOCAL = ("mondrian", "greedy-clustering", "top-down")


def applied(release: Any, new: Any, **options: Any) -> shoal.Applied | None:
    try:
        return shoal.apply(release, new, **options)
    except WithheldError:
        return None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::shoal.errors.DisclosureWarning")
@pytest.mark.parametrize("run", ["optimal", "mondrian", "greedy-clustering in ranges", "mondrian in runs", "range"])
@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=4, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_every_model_holds_on_the_new_records_and_on_everything(run: str, model: str, data: st.DataObject) -> None:
    policy = policy_of(model, RUNS[run], data.draw)
    try:
        release = shoal.anonymize(data.draw(tables()), policy)
    except InfeasibleError:
        return
    new = data.draw(tables())
    for replaces in (False, True):
        done = applied(release, new, replaces=replaces)
        if done is None:
            continue
        verify(done.union, policy).raise_if_failed()
        alone = verify(done.table, policy, original=new)
        asked = {"truthfulness", "labels", "boundaries"} if replaces else {check.name for check in alone.checks}
        assert not [check for check in alone.failures if check.name in asked - {"suppression", "range-ends"}]
        assert done.evidence["released"] + sum(each["records"] for each in done.withheld) == new.num_rows
        assert done.table.num_rows == done.evidence["released"]
        assert done.union.num_rows == release.table.num_rows + done.table.num_rows
        assert [reason is not None for reason in done.reasons].count(True) == done.evidence["suppressed"]
        assert evidence_problems(done.evidence) == []


TREE = {"America": ["USA", "Canada"], "Asia": ["China", "Japan", "India"]}
COLUMNS: dict[str, Any] = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 40]}},
    "country": {"role": "quasi", "hierarchy": {"tree": TREE}},
    "ward": {"role": "insensitive"},
    "condition": {"role": "sensitive"},
}


def policy(*models: Any, **changes: Any) -> shoal.Policy:
    asked = list(models) or [{"model": "k-anonymity", "k": 3}, {"model": "p-sensitive", "p": 2}]
    content = {"columns": COLUMNS, "privacy": asked, "algorithm": "optimal", "suppression": 0.2, **changes}
    return shoal.Policy(**content)


def records(count: int, seed: int = 0, **fixed: Any) -> pa.Table:
    dice = random.Random(seed)
    rows = [
        {
            "name": f"P{seed}-{place}",
            "age": str(dice.randint(20, 79)),
            "country": dice.choice(["USA", "Canada", "China", "Japan"]),
            "ward": dice.choice(["East", "West"]),
            "condition": dice.choice(["flu", "gout", "HIV"]),
            **fixed,
        }
        for place in range(count)
    ]
    return pa.Table.from_pylist(rows)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=str)


@pytest.mark.parametrize("algorithm", ["optimal", *LOCAL])
def test_which_records_are_released_does_not_depend_on_their_order(algorithm: str) -> None:
    """A limited share: of records that only their ward and their age tell apart some are withheld, always the same."""
    limited = {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.4}}
    release = shoal.anonymize(records(80), policy({"model": "k-anonymity", "k": 3}, limited, algorithm=algorithm))
    new = pa.concat_tables([records(40, 1), records(40, 4, condition="HIV")])
    first = shoal.apply(release, new)
    assert any(each.get("model") == "alpha-k-anonymity" for each in first.withheld)
    order = list(range(80))
    random.Random(5).shuffle(order)
    second = shoal.apply(release, new.take(pa.array(order)))
    assert first.table.equals(second.table)
    assert [first.reasons[place] for place in order] == list(second.reasons)
    assert first.evidence["applied"] == second.evidence["applied"]


def at_levels(record: dict[str, Any], levels: Any) -> tuple[str, str]:
    """What the policy's hierarchies make of a record, by hand."""
    age, country = int(record["age"]), record["country"]
    decade, forty = age // 10 * 10, age // 40 * 40
    ages = [record["age"], f"[{decade}, {decade + 10})", f"[{forty}, {forty + 40})", "*"]
    countries = [country, next(group for group, members in TREE.items() if country in members), "*"]
    return ages[levels["age"]], countries[levels["country"]]


def test_a_full_domain_recoding_gives_new_records_the_published_levels() -> None:
    release = shoal.anonymize(records(80), policy())
    new = records(60, 1)
    done = shoal.apply(release, new)
    levels = release.evidence["levels"]
    assert done.evidence["levels"] == levels
    kept = [record for record, reason in zip(new.to_pylist(), done.reasons, strict=True) if reason is None]
    expected = sorted((*at_levels(each, levels), each["ward"], each["condition"]) for each in kept)
    assert (
        sorted(done.table.select(["age", "country", "ward", "condition"]).to_pandas().itertuples(index=False))
        == expected
    )


def test_a_new_combination_is_published_only_where_it_holds_by_itself() -> None:
    release = shoal.anonymize(records(60, country="USA"), policy())
    few = [*records(30, 1, country="USA").to_pylist(), *records(2, 2, country="Japan", age="25").to_pylist()]
    done = shoal.apply(release, pa.Table.from_pylist(few))
    assert done.evidence["applied"]["classes_added"] == 0
    more = [*few, *records(12, 3, country="Japan", age="25").to_pylist()]
    done = shoal.apply(release, pa.Table.from_pylist(more))
    assert done.evidence["applied"]["classes_added"] == 1


def test_a_local_recoding_publishes_no_class_that_is_not_there_already() -> None:
    release = shoal.anonymize(records(60, country="USA"), policy(algorithm="mondrian"))
    strangers = pa.Table.from_pylist(
        [*records(30, 1, country="USA").to_pylist(), *records(9, 2, country="Japan").to_pylist()]
    )
    done = shoal.apply(release, strangers)
    shown = set(zip(release.table.column("age").to_pylist(), release.table.column("country").to_pylist(), strict=True))
    assert (
        set(zip(done.table.column("age").to_pylist(), done.table.column("country").to_pylist(), strict=True)) <= shown
    )
    (gone,) = [each for each in done.withheld if each["reason"] == "no class"]
    assert gone["records"] == 9


def test_values_that_cannot_be_read_are_counted_by_column_and_never_told() -> None:
    categories = {"grave": ["HIV"], "light": ["flu", "gout"]}
    columns = COLUMNS | {"condition": {"role": "sensitive", "categories": categories, "publish": "both"}}
    release = shoal.anonymize(records(80), policy(columns=columns))
    odd = records(40, 1).to_pylist()
    odd[3]["country"], odd[4]["country"], odd[5]["age"], odd[6]["condition"] = "Atlantis", "Utopia", "old", "Zombie"
    odd[3]["condition"] = "Zombie"  # counted once, for the first of its columns
    done = shoal.apply(release, pa.Table.from_pylist(odd))
    values = [each for each in done.withheld if each["reason"] == "value"]
    told = {(each["column"], each["what"]): (each["records"], each["values"]) for each in values}
    assert told == {
        ("country", "not in the hierarchy"): (2, 2),
        ("age", "not in the hierarchy"): (1, 1),
        ("condition", "in no category"): (1, 1),
    }
    assert [place for place in (3, 4, 5, 6) if done.reasons[place] is not None] == [3, 4, 5, 6]
    text = json.dumps(done.evidence)
    for value in ("Atlantis", "Utopia", "Zombie", '"old"'):
        assert value not in text


def test_an_unknown_column_of_the_data_is_an_error_and_identifiers_are_not_needed() -> None:
    release = shoal.anonymize(records(60), policy())
    with pytest.raises(PolicyError, match=r"columns\.ward: the data has no such column"):
        shoal.apply(release, records(40, 1).drop_columns(["ward"]))
    done = shoal.apply(release, records(40, 1).drop_columns(["name"]))
    assert "name" not in done.table.column_names
    with pytest.raises(DataError, match="no records"):
        shoal.apply(release, records(40, 1).slice(0, 0))


def test_when_nothing_can_be_released_the_reasons_are_told() -> None:
    release = shoal.anonymize(records(60), policy())
    with pytest.raises(WithheldError, match="none of the 2 new records can be released") as caught:
        shoal.apply(release, records(2, 1))
    facts = caught.value.to_dict()
    assert facts["exit_code"] == 1
    assert sum(each["records"] for each in facts["withheld"]) == 2
    assert {each["model"] for each in facts["withheld"]} == {"k-anonymity"}
    with pytest.raises(WithheldError):
        shoal.apply(release, records(5, 1, country="Atlantis"))


def test_a_withdrawn_release_lets_single_records_join() -> None:
    release = shoal.anonymize(records(60), policy())
    one = records(1, 1)
    with pytest.raises(WithheldError):
        shoal.apply(release, one)
    done = shoal.apply(release, one, replaces=True)
    assert done.evidence["released"] == 1
    assert done.evidence["applied"]["replaces"] is True
    assert done.evidence["class_sizes"]["smallest"] >= 3
    assert all(model["holds"] for model in done.evidence["models"])


def test_boundaries_bind_new_records_too() -> None:
    bounded = COLUMNS | {"country": {**COLUMNS["country"], "boundary": ["America", "Asia"]}}
    for algorithm in ("optimal", *LOCAL):
        release = shoal.anonymize(records(80), policy(columns=bounded, algorithm=algorithm))
        done = shoal.apply(release, records(60, 1))
        assert "*" not in done.table.column("country").to_pylist()
        assert done.evidence["measures"]["constraint_violations"] == 0


def test_boundaries_may_name_groups_that_the_new_records_do_not_have() -> None:
    columns = COLUMNS | {"age": {**COLUMNS["age"], "boundary": ["[0, 40)", "[40, 80)"]}}
    release = shoal.anonymize(records(80), policy(columns=columns))
    done = shoal.apply(release, records(30, 1, age="25"))
    assert set(done.table.column("age").to_pylist()) <= {"25", "[20, 30)", "[0, 40)"}


def test_a_published_root_is_the_root_for_longer_codes_as_well() -> None:
    columns = COLUMNS | {"country": {"role": "quasi", "hierarchy": {"mask": "right"}}}
    old, new = records(60), records(60, 1)
    two = policy({"model": "k-anonymity", "k": 30}, columns=columns, suppression=0)
    release = shoal.anonymize(old, two)
    assert set(release.table.column("country").to_pylist()) == {"*"}
    longer = new.set_column(2, "country", pa.array(["Montenegro"] * 30 + ["USA"] * 30))
    done = shoal.apply(release, longer)
    assert set(done.table.column("country").to_pylist()) == {"*"}


def test_frames_come_back_as_they_came_and_types_leave_no_trace() -> None:
    release = shoal.anonymize(records(60), policy())
    plain = records(40, 1)
    frame = plain.to_pandas().assign(age=lambda table: table["age"].astype(int))
    assert isinstance(shoal.apply(release, frame).data, pd.DataFrame)
    assert isinstance(shoal.apply(release, pl.from_arrow(plain)).data, pl.DataFrame)
    assert rows_of(shoal.apply(release, frame).table) == rows_of(shoal.apply(release, plain).table)


@pytest.mark.parametrize("publish", ["values", "categories", "both"])
def test_sensitive_columns_are_published_as_before(publish: str) -> None:
    categories = {"grave": ["HIV"], "light": ["flu", "gout", "2020-01-05"]}
    columns = COLUMNS | {"condition": {"role": "sensitive", "categories": categories, "publish": publish}}
    release = shoal.anonymize(records(80), policy({"model": "k-anonymity", "k": 3}, columns=columns))
    done = shoal.apply(release, records(60, 1))
    assert done.table.column_names == release.table.column_names
    assert set(done.table.column("condition").to_pylist()) <= set(release.table.column("condition").to_pylist())


def test_a_sensitive_column_with_a_hierarchy_is_written_in_its_own_way() -> None:
    columns = COLUMNS | {
        "condition": {"role": "sensitive", "hierarchy": {"dates": {"units": ["year"], "format": "%d.%m.%Y"}}}
    }
    days = ["05.01.2020", "06.01.2020", "07.03.2021"]

    def dated(count: int, seed: int) -> pa.Table:
        table = records(count, seed)
        return table.set_column(4, "condition", pa.array([days[(place + seed) % 3] for place in range(count)]))

    close = {"model": "t-closeness", "t": 0.5, "distance": "ordered"}
    release = shoal.anonymize(dated(90, 0), policy({"model": "k-anonymity", "k": 3}, close, columns=columns))
    done = shoal.apply(release, dated(60, 1))
    assert set(done.table.column("condition").to_pylist()) <= {"2020-01-05", "2020-01-06", "2021-03-07"}


def test_values_that_were_never_published_may_join() -> None:
    release = shoal.anonymize(records(60), policy())
    new = records(40, 1)
    mumps = new.set_column(4, "condition", pa.array(["mumps", *new.column("condition").to_pylist()[1:]]))
    done = shoal.apply(release, mumps, replaces=True)
    assert "mumps" in done.table.column("condition").to_pylist()


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A release on disk with its recoding, and new records beside."""
    from shoal.io import write_table

    write_table(records(90), tmp_path / "old.csv")
    write_table(records(60, 1), tmp_path / "new.csv")
    write_table(records(60, 2), tmp_path / "newer.csv")
    made = policy(data="old.csv", output="release.csv", recoding=True)
    (tmp_path / "policy.yaml").write_text(made.to_yaml(), encoding="utf-8")
    shoal.publish(tmp_path / "policy.yaml")
    return tmp_path


def test_a_recoding_file_a_release_file_and_a_release_say_the_same(published: Path) -> None:
    new = published / "new.csv"
    by_file = shoal.apply(published / "release.recoding.json", new)
    by_release = shoal.apply(published / "release.csv", new, policy=published / "policy.yaml")
    in_memory = shoal.apply(shoal.anonymize(published / "old.csv", published / "policy.yaml"), new)
    assert by_file.table.equals(by_release.table)
    assert by_file.table.equals(in_memory.table)


def test_parts_are_remembered_so_that_the_next_ones_count_them(published: Path) -> None:
    first = shoal.apply(published / "release.recoding.json", published / "new.csv")
    paths = first.write(published / "part.csv")
    assert set(paths) == {"release", "evidence", "report", "recoding"}
    files = json.loads(paths["recoding"].read_text())["published"]
    assert [each["file"] for each in files] == ["release.csv", "part.csv"]
    second = shoal.apply(paths["recoding"], published / "newer.csv")
    before = second.evidence["applied"]["records_before"]
    assert before == len((published / "release.csv").read_text().splitlines()) + first.table.num_rows - 1
    shoal.verify(published / "part.csv", published / "policy.yaml", published / "new.csv")
    union = second.write(published / "all.csv", union=True)
    assert [each["file"] for each in json.loads(union["recoding"].read_text())["published"]] == ["all.csv"]
    shoal.verify(published / "all.csv", published / "policy.yaml").raise_if_failed()
    assert len((published / "all.csv").read_text().splitlines()) - 1 == before + second.table.num_rows


def test_the_written_evidence_is_whole_and_names_the_file(published: Path) -> None:
    paths = shoal.apply(published / "release.recoding.json", published / "new.csv").write(published / "part.csv")
    evidence = json.loads(paths["evidence"].read_text())
    assert evidence_problems(evidence) == []
    assert evidence["applied"]["to"] == [each["sha256"] for each in json.loads(
        (published / "release.recoding.json").read_text())["published"]]  # fmt: skip
    assert str(published) not in paths["evidence"].read_text()
    assert str(published) not in paths["recoding"].read_text()


def test_parquet_keeps_the_types_of_the_data_and_a_union_of_unlike_types_is_text(published: Path) -> None:
    shoal.publish(published / "policy.yaml", out=published / "typed.parquet", recoding=True)
    typed = records(60, 1).set_column(3, "ward", pa.array([1, 2] * 30))
    done = shoal.apply(published / "typed.recoding.json", typed)
    assert done.table.schema.field("ward").type == pa.int64()
    done.write(published / "all.parquet", union=True)
    shoal.verify(published / "all.parquet", published / "policy.yaml").raise_if_failed()


def damaged(folder: Path, what: str) -> tuple[Path, dict[str, Any]]:
    """A recoding that something is wrong with."""
    recoding = folder / "release.recoding.json"
    if what == "edited release":
        with (folder / "release.csv").open("a") as file:
            file.write("x\n")
    elif what == "no release":
        (folder / "release.csv").unlink()
    elif what == "not JSON":
        recoding.write_text("{", encoding="utf-8")
    elif what == "foreign JSON":
        recoding.write_text('{"format": "other"}', encoding="utf-8")
    elif what == "half JSON":
        recoding.write_text('{"format": "shoal recoding", "version": 1}', encoding="utf-8")
    elif what == "nowhere":
        return folder / "nowhere.recoding.json", {}
    elif what == "another policy":
        weaker = policy({"model": "k-anonymity", "k": 2}, data="old.csv")
        (folder / "weaker.yaml").write_text(weaker.to_yaml(), encoding="utf-8")
        return recoding, {"policy": folder / "weaker.yaml"}
    elif what == "release without policy":
        return folder / "release.csv", {}
    elif what == "release without evidence":
        (folder / "release.evidence.json").unlink()
        return folder / "release.csv", {"policy": folder / "policy.yaml"}
    elif what == "foreign evidence":
        (folder / "release.evidence.json").write_text("{}", encoding="utf-8")
        return folder / "release.csv", {"policy": folder / "policy.yaml"}
    return recoding, {}


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("edited release", "published-file-changed"),
        ("no release", "not-readable"),
        ("not JSON", "not-a-recoding"),
        ("foreign JSON", "not-a-recoding"),
        ("half JSON", "not-a-recoding"),
        ("nowhere", "not-readable"),
        ("another policy", "another-policy"),
        ("release without policy", "no-policy"),
        ("release without evidence", "no-evidence"),
        ("foreign evidence", "not-evidence"),
    ],
)
def test_a_recoding_that_is_not_what_it_was_is_refused_and_nothing_changes(
    published: Path, what: str, code: str
) -> None:
    recoding, options = damaged(published, what)
    before = snapshot(published)
    with pytest.raises(InputError) as caught:
        shoal.apply(recoding, published / "new.csv", **options)
    assert caught.value.code == code
    assert snapshot(published) == before


def test_a_recoding_of_a_policy_in_python_asks_for_it(tmp_path: Path) -> None:
    made = policy(recoding=True)
    shoal.anonymize(records(60), made).write(tmp_path / "release.csv")
    with pytest.raises(InputError, match="names no policy"):
        shoal.apply(tmp_path / "release.recoding.json", records(40, 1))
    assert shoal.apply(tmp_path / "release.recoding.json", records(40, 1), policy=made).table.num_rows


def test_a_release_with_another_policy_is_refused(published: Path) -> None:
    weaker = policy({"model": "k-anonymity", "k": 2})
    with pytest.raises(InputError, match="differ in privacy"):
        shoal.apply(published / "release.csv", published / "new.csv", policy=weaker)
    with pytest.raises(InputError, match="differ in privacy"):
        shoal.apply(shoal.anonymize(records(60), policy()), records(40, 1), policy=weaker)


def test_a_published_release_that_does_not_hold_is_not_added_to(tmp_path: Path) -> None:
    """Somebody took records out of the release and made its recoding agree: the check of everything sees it."""
    old = pa.Table.from_pylist([*records(40, country="USA").to_pylist(), *records(40, 3, country="Japan").to_pylist()])
    bounded = COLUMNS | {"country": {**COLUMNS["country"], "boundary": ["America", "Asia"]}}
    made = policy(columns=bounded, recoding=True)
    shoal.anonymize(old, made).write(tmp_path / "release.csv")
    lines = (tmp_path / "release.csv").read_text(encoding="utf-8").splitlines()
    japan = [line for line in lines if "Japan" in line or "Asia" in line]
    left = [line for line in lines if line not in japan]
    (tmp_path / "release.csv").write_text("\n".join([*left, japan[0]]) + "\n", encoding="utf-8")
    recoding = json.loads((tmp_path / "release.recoding.json").read_text())
    recoding["published"][0]["sha256"] = hashlib.sha256((tmp_path / "release.csv").read_bytes()).hexdigest()
    (tmp_path / "release.recoding.json").write_text(json.dumps(recoding))
    before = snapshot(tmp_path)
    with pytest.raises(VerificationError, match="k-anonymity"):
        shoal.apply(tmp_path / "release.recoding.json", records(60, 1, country="USA"), policy=made)
    assert snapshot(tmp_path) == before


def test_outputs_are_not_overwritten_and_inputs_never(published: Path) -> None:
    done = shoal.apply(published / "release.recoding.json", published / "new.csv")
    before = snapshot(published)
    for name in ("release.csv", "new.csv"):
        with pytest.raises(OutputError, match="is an input as well"):
            done.write(published / name, force=True)
    with pytest.raises(OutputError, match=r"part\.txt"):
        done.write(published / "part.txt")
    assert snapshot(published) == before
    done.write(published / "part.csv")
    with pytest.raises(OutputError, match="exist"):
        done.write(published / "part.csv")
    in_memory = shoal.apply(shoal.anonymize(records(60), policy()), records(40, 1))
    with pytest.raises(OutputError, match="Write it first"):
        in_memory.write(published / "other.csv")
    in_memory.write(published / "other.csv", union=True)


def test_every_algorithm_makes_a_recoding_that_can_be_applied() -> None:
    assert {*LOCAL, "auto", "optimal", "incognito", "greedy-lattice", "range"} == set(ALGORITHMS)
    for name in ("incognito", "greedy-lattice"):
        release = shoal.anonymize(records(80), policy(algorithm=name))
        assert shoal.apply(release, records(60, 1)).evidence["levels"] == release.evidence["levels"]
