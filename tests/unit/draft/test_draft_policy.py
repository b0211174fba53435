"""A draft loads, runs, says why, and errs on the safe side."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.draft import base_name, draft_facts, policy_text
from shoal.draft.roles import MOST_NODES
from shoal.encode.resolve import Resolved, used_columns
from shoal.errors import DataError
from shoal.io import DataSource, read_table
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.engine import LocalEngine
from support.resolved import resolve

Rows = list[list[str]]


def draft_policy(data: Path, **options: Any) -> str:
    return policy_text(draft_facts(data, **options))


def written(path: Path, header: list[str], rows: Rows, *, separator: str = ",", encoding: str = "utf-8") -> Path:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([header, *rows])
    path.write_bytes(out.getvalue().encode(encoding))
    return path


def loaded(data: Path, text: str | None = None) -> Policy:
    """The drafted policy, read from a file that stands beside the data."""
    file = data.parent / "policy.yaml"
    file.write_text(draft_policy(data) if text is None else text, encoding="utf-8")
    return Policy.load(file)


def run(policy: Policy) -> Resolved:
    """Read the data as the policy says, and resolve."""
    given = policy.data
    assert given is not None
    source = DataSource(
        policy.path(given.path),
        separator=given.separator or ",",
        encoding=given.encoding,
        quote=given.quote,
        missing=tuple(given.missing),
    )
    return resolve(policy, read_table(source, used_columns(policy)))


def roles(policy: Policy) -> dict[str, str]:
    return {name: column.role for name, column in policy.columns.items()}


def people(count: int) -> tuple[list[str], Rows]:
    rng = random.Random(11)
    header = ["name", "e-mail", "Age", "sex", "zip", "city", "birth_date", "diagnosis", "salary", "remarks", "site"]
    rows = []
    for number in range(count):
        remark = f"seen on day {rng.randrange(10**6)} by the doctor of unit {rng.randrange(10**6)}"
        day = f"{rng.randrange(1930, 2005)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
        rows.append([
            f"Fake Person {number}", f"f{number}@example.org", str(rng.randrange(18, 90)), rng.choice("FM"),
            f"{rng.randrange(1000, 99999):05d}", rng.choice(["Aville", "Btown", "Cburg", "Dham", "Eford", "Fton"]), day,
            rng.choice(["HIV", "Flu", "Asthma"]), str(rng.randrange(20000, 90000)), remark, rng.choice(["a", "b"]),
        ])  # fmt: skip
    return header, rows


def test_each_column_gets_the_role_that_its_name_and_values_suggest(tmp_path: Path) -> None:
    policy = loaded(written(tmp_path / "people.csv", *people(200)))
    assert roles(policy) == {
        "name": "identifier",
        "e-mail": "identifier",
        "Age": "quasi",
        "sex": "quasi",
        "zip": "quasi",
        "city": "quasi",
        "birth_date": "quasi",
        "diagnosis": "sensitive",
        "salary": "sensitive",
        "remarks": "identifier",
        "site": "quasi",
    }


def test_each_hierarchy_suits_its_values(tmp_path: Path) -> None:
    policy = loaded(written(tmp_path / "people.csv", *people(200)))
    kinds = {name: spec.hierarchy for name, spec in policy.columns.items() if spec.hierarchy is not None}
    assert kinds["Age"].intervals is not None
    assert kinds["Age"].intervals.widths == [5, 10, 20]
    assert kinds["zip"].mask is not None
    assert (kinds["zip"].mask.side, kinds["zip"].mask.alphabet) == ("right", None)
    assert kinds["birth_date"].dates is not None
    assert kinds["birth_date"].dates.units == ["month", "year", "decade"]
    assert kinds["sex"].flat
    assert isinstance(kinds["city"].tree, dict)
    (values,) = kinds["city"].tree.values()
    assert sorted(values) == ["Aville", "Btown", "Cburg", "Dham", "Eford", "Fton"]


def test_the_drafted_privacy_is_five_records_and_two_values_of_each_secret(tmp_path: Path) -> None:
    policy = loaded(written(tmp_path / "people.csv", *people(200)))
    asked = [
        (model.name, getattr(model, "k", None), getattr(model, "p", None), model.column) for model in policy.models()
    ]
    assert asked == [
        ("k-anonymity", 5, None, None),
        ("p-sensitive", None, 2, "diagnosis"),
        ("p-sensitive", None, 2, "salary"),
    ]
    assert (policy.suppression, policy.algorithm.name, policy.output) == (0.05, "auto", "people-release.csv")


def test_the_draft_says_how_many_records_are_unique(tmp_path: Path) -> None:
    rows = [["30", "F"], ["30", "F"], ["30", "M"], ["?", "M"], ["NA", "M"]]
    text = draft_policy(written(tmp_path / "t.csv", ["age", "sex"], rows))
    assert "1 of 5 records (20%)" in text


def test_a_draft_runs_to_a_release_as_it_is(tmp_path: Path) -> None:
    problem = run(loaded(written(tmp_path / "people.csv", *people(200)))).problem
    outcome = ALGORITHMS["optimal"].run(problem, LocalEngine(problem.table, problem.ladders, problem.domains))
    assert outcome.recoding.suppressed <= 10
    assert min(outcome.recoding.sizes) >= 5


def test_a_number_of_people_that_repeats_is_the_person_of_the_draft_and_says_why(tmp_path: Path) -> None:
    rows = [[f"P{number % 4}", str(30 + number)] for number in range(12)]
    text = draft_policy(written(tmp_path / "t.csv", ["pid", "age"], rows))
    assert Policy.model_validate(yaml.safe_load(text)).person_columns == ("pid",)
    assert "4 different values in 12 records" in text.partition("person: pid")[0].rpartition("\n\n")[2]
    assert "at least 5 people" in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pid", lambda number: f"P{number}"),  # nobody has two records
        ("visit_id", lambda number: f"V{number % 4}"),  # numbers events, not people
        ("surname", lambda number: f"N{number % 4}"),  # different people share it
        ("pid", lambda number: "" if number == 3 else f"P{number % 4}"),  # somebody is nobody
    ],
)
def test_where_no_column_tells_people_apart_the_draft_names_no_person_and_says_that_records_are_counted(
    tmp_path: Path, name: str, value: Callable[[int], str]
) -> None:
    rows = [[value(number), str(30 + number)] for number in range(12)]
    text = draft_policy(written(tmp_path / "t.csv", [name, "age"], rows))
    assert "person" not in yaml.safe_load(text)
    assert "at least 5 records" in text


def test_the_person_is_the_first_number_of_people_and_no_number_of_events(tmp_path: Path) -> None:
    rows = [[f"E{number // 2}", f"P{number % 4}", f"C{number % 3}", str(30 + number)] for number in range(12)]
    text = draft_policy(written(tmp_path / "t.csv", ["case_no", "patient_id", "insurance_no", "age"], rows))
    assert yaml.safe_load(text)["person"] == "patient_id"


@pytest.mark.parametrize(
    ("file", "base"),
    [
        ("daten.2019.csv", "daten.2019"),
        ("daten.2019.CSV.gz", "daten.2019"),
        ("a.b.parquet", "a.b"),
        ("a.pq", "a"),
        ("a.txt.zst", "a"),
        ("a.tsv", "a"),
        (".csv", "data"),
        ("table", "table"),
    ],
)
def test_only_suffixes_that_say_how_a_file_is_stored_are_cut(file: str, base: str) -> None:
    assert base_name(Path(file)) == base


def test_every_column_has_its_reason_above_its_role(tmp_path: Path) -> None:
    lines = draft_policy(written(tmp_path / "people.csv", *people(50))).splitlines()
    for number, line in enumerate(lines):
        if line.startswith("    role: "):
            assert lines[number - 1].startswith("    # ")


def test_a_draft_does_not_depend_on_the_order_of_the_records(tmp_path: Path) -> None:
    header, rows = people(80)
    one = draft_policy(written(tmp_path / "t.csv", header, rows))
    assert draft_policy(written(tmp_path / "t.csv", header, rows[::-1])) == one


def test_no_value_of_an_identifier_stands_in_the_draft(tmp_path: Path) -> None:
    header, rows = people(60)
    text = draft_policy(written(tmp_path / "people.csv", header, rows))
    for place in (0, 1, 9):
        assert not any(row[place] in text for row in rows)


def test_the_skeleton_of_categories_is_a_valid_policy_when_it_is_made_active(tmp_path: Path) -> None:
    rows = [[str(age), value] for age, value in enumerate(["HIV", "a: b # c", "no", "012", "", "line\nbreak"] * 3)]
    data = written(tmp_path / "t.csv", ["age", "diagnosis"], rows)
    text = draft_policy(data)
    start = text.index("    # categories:")
    end = text.index("\n\n", start)
    active = text[:start] + text[start:end].replace("    # ", "    ") + text[end:]
    column = loaded(data, active.replace("model: p-sensitive, p: 2", "model: p-plus-alpha-sensitive, p: 2, alpha: 1"))
    values = [value for each in column.columns["diagnosis"].category_values.values() for value in each]
    assert sorted(map(str, values)) == sorted(["HIV", "a: b # c", "no", "012", "line\nbreak"])
    run(column)


def test_marks_of_missing_values_are_listed_with_their_counts(tmp_path: Path) -> None:
    rows = [["1", "?", " ?"], ["NA", "x", "y"], ["3", "?", "*"]]
    data = written(tmp_path / "t.csv", ["age", "sex", "city"], rows)
    policy = loaded(data)
    assert policy.data is not None
    assert policy.data.missing == ["", " ?", "*", "?", "NA"]
    assert '"?" is in 2 cells (sex)' in draft_policy(data)
    run(policy)


@pytest.mark.parametrize(("header", "values", "mark"), [("rhesus", "+-", "-"), ("country", ["NA", "DE", "FR"], "NA")])
def test_a_mark_that_may_be_a_value_stays_one(tmp_path: Path, header: str, values: list[str], mark: str) -> None:
    data = written(tmp_path / "t.csv", ["age", header], [["30", value] for value in values])
    policy = loaded(data)
    assert policy.data is not None
    assert mark not in policy.data.missing
    assert "not on the list" in draft_policy(data)
    run(policy)


def test_separator_and_encoding_are_found_and_written_down(tmp_path: Path) -> None:
    rows = [["Köln", "1,5", "F"], ["Bonn", "2,5", "M"]]
    data = written(tmp_path / "t.csv", ["city", "größe", "sex"], rows, separator=";", encoding="latin-1")
    policy = loaded(data)
    assert policy.data is not None
    assert (policy.data.separator, policy.data.encoding) == (";", "latin-1")
    assert list(policy.columns) == ["city", "größe", "sex"]
    run(policy)


def test_what_is_given_is_not_guessed(tmp_path: Path) -> None:
    data = written(tmp_path / "t.csv", ["age", "sex;gender"], [["1", "F;F"], ["2", "M;M"]])
    policy = loaded(data, draft_policy(data, separator=",", encoding="cp1252"))
    assert policy.data is not None
    assert (policy.data.separator, policy.data.encoding) == (",", "cp1252")
    assert list(policy.columns) == ["age", "sex;gender"]


def test_the_path_of_the_data_is_relative_to_the_policy(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "policies").mkdir()
    data = written(tmp_path / "in" / "t.csv", ["age"], [["1"], ["2"]])
    file = tmp_path / "policies" / "t.yaml"
    file.write_text(draft_policy(data, folder=file.parent), encoding="utf-8")
    policy = Policy.load(file)
    assert policy.data is not None
    assert policy.data.path == "../in/t.csv"
    run(policy)


def test_parquet_keeps_its_types_and_columns_without_text_are_told(tmp_path: Path) -> None:
    table = pa.table({
        "age": pa.array([30, 41, None, 55] * 5),
        "sex": pa.array(["F", "M", "F", ""] * 5).dictionary_encode(),
        "tags": pa.array([["a"], [], ["b"], None] * 5),
        "visit": pa.array([10, 20, 30, 400] * 5, pa.date32()),
        "hiv": pa.array([True, False, None, True] * 5),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "t.parquet")
    text = draft_policy(tmp_path / "t.parquet")
    policy = loaded(tmp_path / "t.parquet", text)
    assert "separator" not in text
    assert "tags is not listed" in text
    assert roles(policy) == {"age": "quasi", "sex": "quasi", "visit": "quasi", "hiv": "sensitive"}
    assert policy.output == "t-release.csv"
    run(policy)


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (["age"], [["30"]]),
        (["name"], [["Nobody"]]),
        (["diagnosis"], [["Flu"], ["HIV"]]),
        (["name", "diagnosis"], [["A", "Flu"], ["B", "HIV"]]),
        (["age", "sex", "diagnosis"], [["30", "F", "Flu"]]),
        (["x"], [["same"]] * 3),
    ],
)
def test_the_smallest_tables_still_give_a_policy_that_runs(tmp_path: Path, header: list[str], rows: Rows) -> None:
    run(loaded(written(tmp_path / "t.csv", header, rows)))


def test_a_header_without_records_is_drafted_from_the_names(tmp_path: Path) -> None:
    data = written(tmp_path / "t.csv", ["name", "age", "diagnosis", "xyz"], [])
    assert roles(loaded(data)) == {"name": "identifier", "age": "quasi", "diagnosis": "sensitive", "xyz": "identifier"}
    assert "no records" in draft_policy(data)


def test_a_column_without_any_value_is_left_out(tmp_path: Path) -> None:
    rows = [[str(age), "", "NA"] for age in range(20)]
    policy = loaded(written(tmp_path / "t.csv", ["age", "sex", "diagnosis"], rows))
    assert roles(policy) == {"age": "quasi", "sex": "identifier", "diagnosis": "identifier"}
    run(policy)


def test_five_hundred_columns_keep_only_the_likely_quasi_identifiers(tmp_path: Path) -> None:
    rng = random.Random(5)
    header = ["age", "sex", *(f"item{number}" for number in range(498))]
    rows = [[str(rng.randrange(20, 80)), rng.choice("FM"), *(rng.choice("abc") for _ in range(498))] for _ in range(60)]
    data = written(tmp_path / "wide.csv", header, rows)
    policy = loaded(data)
    assert policy.names("quasi") == ["age", "sex"]
    assert policy.names("insensitive") == []
    assert "498 more columns" in draft_policy(data)
    run(policy)


def test_a_column_that_is_left_out_is_released_by_its_role_and_the_hierarchy_beside_it(tmp_path: Path) -> None:
    rng = random.Random(5)
    header = ["age", *(f"item{number}" for number in range(60))]
    rows = [[str(rng.randrange(20, 80)), *(str(rng.randrange(12)) for _ in range(60))] for _ in range(60)]
    data = written(tmp_path / "wide.csv", header, rows)
    text = draft_policy(data)
    assert loaded(data, text).names("quasi") == ["age"]
    every = loaded(data, text.replace("role: identifier", "role: quasi").replace("# hierarchy:", "hierarchy:"))
    assert every.names("quasi") == header
    hierarchies = [every.to_dict()["columns"][name]["hierarchy"] for name in header[1:]]
    assert hierarchies == [{"intervals": {"widths": [2]}}] * 60
    run(every)


@pytest.mark.parametrize("name", ["column", "zip"])
def test_the_lattice_of_a_draft_can_be_searched(tmp_path: Path, name: str) -> None:
    rng = random.Random(6)
    header = [f"{name}_{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    rows = [[f"{rng.randrange(100):05d}" for _ in header] for _ in range(200)]
    problem = run(loaded(written(tmp_path / "t.csv", header, rows))).problem
    nodes = 1
    for levels in problem.shape:
        nodes *= levels
    assert len(problem.shape) > 3
    assert nodes <= MOST_NODES


def test_columns_that_find_no_place_among_the_quasi_identifiers_are_not_released(tmp_path: Path) -> None:
    rows = [[f"{number % 7:05d}"] * 26 for number in range(50)]
    header = [f"zip_{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    found = roles(loaded(written(tmp_path / "t.csv", header, rows)))
    assert set(found.values()) == {"quasi", "identifier"}


def test_errors_of_reading_come_through(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file"):
        draft_policy(tmp_path / "nothing.csv")
    (tmp_path / "t.docx").write_bytes(b"PK")
    with pytest.raises(DataError, match="suffix"):
        draft_policy(tmp_path / "t.docx")
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(DataError, match="empty"):
        draft_policy(tmp_path / "empty.csv")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n1,2,3\n1,2\n")
    with pytest.raises(DataError, match="3 fields"):
        draft_policy(tmp_path / "t.csv")
    (tmp_path / "t.csv.gz").write_bytes(b"no gzip")
    with pytest.raises(DataError):
        draft_policy(tmp_path / "t.csv.gz")
    (tmp_path / "t.parquet").write_bytes(b"no parquet")
    with pytest.raises(DataError, match="Parquet"):
        draft_policy(tmp_path / "t.parquet")


TRICKY = ["no", "null", "~", "012", "1e5", "1_000", "0x1f", "12:30", "a: b", "# c", "- d", "{e}", "[f", "'g", '"h', "*",
          "&i", "!j", "%k", "@l", "`m", "?", "|", ">", "true", "Yes", "=", "<<", " n ", "o\np", "\u2028", "\x85", "é",
          "😀", "\x07", "2020-01-02", "1.5", "-3", "any", "x" * 1500, "1e399", "-1e-399", "3e300", "1/2/2020",
          "13/2/2020", "a\tb", "\ufeff"]  # fmt: skip
texts = st.one_of(st.sampled_from(TRICKY), st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
names = texts.filter(lambda name: bool(name.strip()) and "\0" not in name)  # such a header is refused
prefixes = st.sampled_from(["", "", "age", "zip ", "date ", "diagnosis ", "name ", "id "])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], Rows]:
    header = draw(st.lists(st.builds(str.__add__, prefixes, names), min_size=1, max_size=4, unique=True))
    pools = [draw(st.lists(texts, min_size=1, max_size=9)) for _ in header]
    rows = draw(st.lists(st.tuples(*(st.sampled_from(pool) for pool in pools)), min_size=1, max_size=25))
    return header, [list(row) for row in rows]


@pytest.mark.slow
@settings(max_examples=250)
@example((["diagnosis no"], [["no"], ["\x1b"]]))  # the one column is sensitive, and has to be the quasi-identifier
@given(tables())
def test_any_header_and_any_value_reads_back(
    tmp_path_factory: pytest.TempPathFactory, table: tuple[list[str], Rows]
) -> None:
    header, rows = table
    data = written(tmp_path_factory.mktemp("any") / "t.csv", header, rows)
    policy = loaded(data, draft_policy(data, separator=",", encoding="utf-8"))
    assert list(policy.columns) == header
    assert policy.data is not None
    missing = policy.data.missing
    if any(cell not in missing for row in rows for cell in row):
        resolved = run(policy)
        assert set(resolved.quasi) == set(policy.names("quasi"))
        for name in policy.names("quasi"):
            spec = policy.columns[name].hierarchy
            if spec is not None and isinstance(spec.tree, dict):
                (values,) = spec.tree.values()
                place = header.index(name)
                assert set(values) == {row[place] for row in rows} - set(missing)
