"""Every worked table of the papers comes out as printed, or differs just where the print is known to be wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from shoal.reproduce import campan, mahesh, man, sun, wang
from shoal.reproduce.masked import Masked, same_rows, view_of
from shoal.reproduce.paper import EQUAL, FAILED, SILENT, SLIP, PaperTable, Section, Setting, Statement
from shoal.reproduce.tables import SUN_1, SUN_5, WANG_1

WORKED: dict[str, Callable[[Setting], Section]] = {
    "sun": sun.worked,
    "man": man.worked,
    "mahesh": mahesh.worked,
    "wang": wang.worked,
    "campan": campan.worked,
}
SLIPS = {
    "sun": {"Table 6: cells", "Table 6: records", "Table 7: cells", "Table 7: records", "Table 8: α"},
    "man": {"Table 3: cells", "Table 3: records", "Table 3: p", "Table 3: values"},
    "mahesh": {"Table 2: cells"},
    "wang": {"Table III: ages"},
    "campan": set(),
}
"""Where each paper is known to differ from itself."""


@pytest.mark.parametrize("paper", WORKED)
def test_every_statement_of_a_worked_table_comes_out(paper: str) -> None:
    statements = WORKED[paper](Setting()).statements
    assert [each for each in statements if each.verdict == FAILED] == []
    assert sum(each.verdict == EQUAL for each in statements) >= 1
    slips = [each for each in statements if each.verdict == SLIP]
    assert len(slips) == len(SLIPS[paper])
    assert all(any(each.about.startswith(known) for known in SLIPS[paper]) for each in slips)
    assert all(each.why for each in slips)


@pytest.mark.parametrize("paper", WORKED)
def test_every_worked_table_is_a_sheet_of_its_own(paper: str) -> None:
    sheets = WORKED[paper](Setting()).sheets
    names = [sheet.name for sheet in sheets]
    assert len(set(names)) == len(names)
    assert names[-1] == f"{paper}-statements"
    assert all(name.startswith(f"{paper}-") for name in names)


def test_only_the_cells_that_the_print_has_otherwise_are_named() -> None:
    instead = {
        (sheet.name, str(row[-1]))
        for paper in ("sun", "man", "campan")
        for sheet in WORKED[paper](Setting()).sheets
        if sheet.header[-1] == "printed instead"
        for row in sheet.rows
        if row[-1]
    }
    assert instead == {
        ("sun-table-6", "Zip Code 1420*"),
        ("sun-table-7", "Disease Obesity"),
        ("man-table-3", "Disease Pulmonary tuberculosis"),
    }


def changed(table: PaperTable, row: int, column: str, cell: str) -> PaperTable:
    rows = [list(each) for each in table.rows]
    rows[row][table.columns.index(column)] = cell
    return replace(table, rows=tuple(tuple(each) for each in rows))


@pytest.mark.parametrize(("column", "cell"), [("Zip Code", "130**"), ("Country", "Asia"), ("Health Condition", "Flu")])
def test_a_cell_that_does_not_come_out_of_the_original_is_found(column: str, cell: str) -> None:
    sound = sun.MASKED[5]
    assert (sound.equal_cells(), sound.without_original()) == ("48 of 48", 0)
    wrong = replace(sound, printed=changed(SUN_5, 0, column, cell))
    assert (wrong.equal_cells(), wrong.without_original()) == ("47 of 48", 1)


def test_a_printed_star_is_a_label_like_any_other() -> None:
    table = PaperTable("stars", ("a", "secret"), (("*", "x"), ("*", "y"), ("1", "x")))
    assert sorted(view_of(table, ["a"], "secret").sizes) == [1, 2]


def test_rows_are_compared_as_often_as_they_occur() -> None:
    printed = PaperTable("rows", ("a",), (("1",), ("1",), ("2",)))
    assert same_rows(printed.arrow(), printed, ["a"]) == "3 of 3"
    assert same_rows(changed(printed, 1, "a", "2").arrow(), printed, ["a"]) == "2 of 3"


def test_a_view_without_keys_needs_as_many_rows_as_its_original() -> None:
    short = replace(WANG_1, rows=WANG_1.rows[:3])
    with pytest.raises(ValueError, match="zip"):
        Masked("x", SUN_1, short, {}, ("Health Condition", "Illness")).pairs()


def test_a_statement_holds_by_the_papers_word_or_by_its_known_correction() -> None:
    assert Statement("k", "2", "2").verdict == EQUAL
    assert Statement("k", "2", "3").verdict == FAILED
    assert Statement("k", "2", "3", "3", "a slip").verdict == SLIP
    assert Statement("k", "2", "2", "3", "a slip that is gone").verdict == FAILED
    assert Statement("k", "", "3", "3").verdict == SILENT
