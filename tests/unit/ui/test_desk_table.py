"""What the page is told about a table: how it was read, what stands out, and how it changes with the reading."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.policy.yaml_text import dump_yaml, parse_yaml
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.table import about_table, column, open_upload, reread, rows
from shoal.ui.server.workspace import Workspace, read_json
from support.table_files import write_xlsx
from support.ui_desk import refused


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    workspace = Workspace.of(tmp_path, "one")
    workspace.create()
    (workspace.folder / "incoming").mkdir()
    return Desk(workspace, max_rows=5000)


def opened(desk: Desk, name: str, content: str) -> dict[str, dict[str, object]]:
    (desk.workspace.folder / "incoming" / name).write_text(content, encoding="utf-8")
    return columns_of(open_upload(desk, {"name": name}))


def columns_of(answer: dict[str, object]) -> dict[str, dict[str, object]]:
    table = answer["table"]
    assert isinstance(table, dict)
    return {each["name"]: each for each in table["columns"]}


def with_marks(desk: Desk, *marks: str) -> None:
    """The policy with other marks of a missing value, as the page writes it."""
    content = parse_yaml(desk.workspace.policy.read_text(encoding="utf-8"), "the policy")
    content["data"]["missing"] = list(marks)
    desk.workspace.policy.write_text(dump_yaml(content), encoding="utf-8")


AGES = "age,town\n" + "".join(f"{'over 90' if n == 7 else 20 + n % 40},{'ABC'[n % 3]}\n" for n in range(100))


def test_the_value_that_keeps_a_column_from_being_numbers_is_named(desk: Desk) -> None:
    told = opened(desk, "ages.csv", AGES)
    assert told["age"]["kind"] == "text"
    assert told["age"]["odd"] == ["over 90"]
    assert told["town"]["odd"] == []


def test_a_column_of_texts_with_some_numbers_has_no_odd_values(desk: Desk) -> None:
    told = opened(desk, "codes.csv", "code\n" + "".join(f"{n if n % 2 else f'x{n}'}\n" for n in range(100)))
    assert told["code"]["odd"] == []


def test_another_mark_of_a_missing_value_changes_what_is_told(desk: Desk) -> None:
    opened(desk, "ages.csv", AGES)
    assert column(desk, {"name": "age"})["missing"] == 0
    with_marks(desk, "", "over 90")
    told = columns_of(about_table(desk, {}))
    assert (told["age"]["kind"], told["age"]["missing"], told["age"]["odd"]) == ("whole numbers", 1, [])
    assert "intervals" in told["age"]["suited"]  # type: ignore[operator]
    assert column(desk, {"name": "age"})["missing"] == 1
    assert rows(desk, {"offset": 7, "limit": 1})["rows"] == [[None, "B"]]
    assert read_json(desk.workspace.table_notes)["columns"][0]["missing"] == 1


def test_unique_records_are_counted_with_the_marks_as_they_stand(desk: Desk) -> None:
    content = "age,sex\n" + "".join(f"{age},{sex}\n" for age in (30, 40, 50) for sex in "FM" * 3) + "x,F\ny,F\n"
    (desk.workspace.folder / "incoming" / "few.csv").write_text(content, encoding="utf-8")
    assert open_upload(desk, {"name": "few.csv"})["table"]["unique"] == 2
    with_marks(desk, "", "x", "y")
    assert about_table(desk, {})["table"]["unique"] == 0


def test_a_hierarchy_that_suits_the_values_waits_for_every_column(desk: Desk) -> None:
    told = opened(desk, "ages.csv", "name,age,disease\n" + "".join(f"n{n},{20 + n % 40},flu\n" for n in range(100)))
    assert "intervals" in told["age"]["suited"]  # type: ignore[operator]
    assert all(isinstance(each["suited"], dict) and len(each["suited"]) == 1 for each in told.values())


def test_a_sheet_of_a_workbook_can_be_chosen(desk: Desk) -> None:
    people = [["age", "sex"], *([str(20 + n % 7), "FM"[n % 2]] for n in range(40))]
    path = desk.workspace.folder / "incoming" / "book.xlsx"
    write_xlsx(path, [["note"], ["a cover"]], sheet="Cover", others={"2020": people})
    first = open_upload(desk, {"name": "book.xlsx"})
    assert first["table"]["reading"] == {"sheet": "Cover", "sheets": ["Cover", "2020"]}
    second = reread(desk, {"options": {"sheet": "2020"}})
    assert second["table"]["records"] == 40
    assert second["policy"]["data"]["sheet"] == "2020"
    assert second["table"]["reading"]["sheet"] == "2020"


@pytest.mark.parametrize("data", ["5", "[1]", "{path: ages.csv, separator: 7}"])
def test_a_policy_that_says_wrongly_how_the_file_is_read_is_told(desk: Desk, data: str) -> None:
    opened(desk, "ages.csv", AGES)
    desk.workspace.policy.write_text(f"data: {data}\ncolumns: {{}}\n", encoding="utf-8")
    with refused("data-unreadable"):
        rows(desk, {})
