"""The desk's questions about the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.policy import Policy
from shoal.ui.desk import INTERNAL, NEWEST, QUICK
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.main import ANSWERS
from shoal.ui.desk.table import column, histogram, open_example, open_upload, reread, rows
from shoal.ui.server.workspace import Workspace
from support.ui_desk import refused


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    workspace = Workspace.of(tmp_path, "one")
    workspace.create()
    return Desk(workspace, max_rows=5000)


def given_file(desk: Desk, name: str, content: str | bytes) -> dict[str, str]:
    folder = desk.workspace.folder / "incoming"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return {"name": name}


PEOPLE = "age,sex,disease\n" + "".join(f"{20 + n % 7},{'FM'[n % 2]},{'flu' if n % 3 else ''}\n" for n in range(40))


def test_every_rule_about_questions_is_about_one_that_there_is() -> None:
    assert set(ANSWERS) >= NEWEST | QUICK | INTERNAL


def test_the_example_opens_with_its_policy(desk: Desk) -> None:
    opened = open_example(desk, {})
    assert opened["table"]["records"] == 1200
    assert Policy.load(desk.workspace.policy).names("sensitive") == ["condition"]
    assert desk.workspace.table() is not None


def test_an_upload_is_drafted_and_described(desk: Desk) -> None:
    opened = open_upload(desk, given_file(desk, "people.csv", PEOPLE))
    told = {each["name"]: each for each in opened["table"]["columns"]}
    assert told["age"]["kind"] == "whole numbers"
    assert told["age"]["role"] == "quasi"
    assert told["age"]["why"]
    assert told["disease"]["missing"] == 14
    assert opened["policy"]["data"]["path"] == "people.csv"
    assert not list((desk.workspace.folder / "incoming").iterdir())


@pytest.mark.parametrize("content", [b"", b"age,age\n1,2\n", b"age\n", b"\x00\xff\xfe" * 50])
def test_a_file_that_cannot_be_read_changes_nothing(desk: Desk, content: bytes) -> None:
    open_example(desk, {})
    policy = desk.workspace.policy.read_bytes()
    with pytest.raises(InputError):
        open_upload(desk, given_file(desk, "bad.csv", content))
    assert desk.workspace.table().name == "hospital.csv"
    assert desk.workspace.policy.read_bytes() == policy


def test_more_records_than_are_taken_is_an_error(desk: Desk) -> None:
    with refused("too-many-records"):
        open_upload(desk, given_file(desk, "many.csv", "age\n" + "1\n" * 5001))
    with refused("no-table"):
        desk.workspace.table()


def test_another_table_takes_the_runs_of_the_one_before_with_it(desk: Desk) -> None:
    open_example(desk, {})
    (desk.workspace.runs / "001").mkdir()
    open_upload(desk, given_file(desk, "people.csv", PEOPLE))
    assert not list(desk.workspace.runs.iterdir())
    assert [path.name for path in desk.workspace.data.iterdir()] == ["people.csv"]


def test_rows_come_in_pages_with_missing_values_as_null(desk: Desk) -> None:
    open_upload(desk, given_file(desk, "people.csv", PEOPLE))
    page = rows(desk, {"offset": 38, "limit": 25})
    assert page["rows"] == [["23", "F", "flu"], ["24", "M", None]]
    assert page["records"] == 40
    assert len(rows(desk, {"limit": 10**9})["rows"]) <= 200


def test_a_column_tells_its_values_and_those_that_hold_a_text(desk: Desk) -> None:
    open_upload(desk, given_file(desk, "people.csv", PEOPLE))
    told = column(desk, {"name": "disease"})
    assert told["values"] == [["flu", 26]]
    assert column(desk, {"name": "sex", "search": "m"})["values"] == [["M", 20]]
    assert sum(column(desk, {"name": "age"})["histogram"]["counts"]) == 40
    with refused("unknown-column"):
        column(desk, {"name": "none"})


def test_a_file_may_be_read_in_another_way(desk: Desk) -> None:
    open_upload(desk, given_file(desk, "people.csv", PEOPLE.replace(",", ";")))
    again = reread(desk, {"options": {"separator": ","}})
    assert len(again["table"]["columns"]) == 1
    assert again["policy"]["data"]["separator"] == ","


def test_a_histogram_of_one_number_is_one_bar() -> None:
    from decimal import Decimal

    told = histogram([(Decimal(5), 3)])
    assert told["counts"] == [3]
