from __future__ import annotations

import os
from pathlib import Path

import pytest
from hierarchy_checks import built, leaves, refused, rows

from shoal.hierarchies import HierarchyError, Levels, read_levels

HERE = Path(__file__).resolve()
FOLDER = Path(os.environ.get("SHOAL_DATA") or HERE.parents[4] / "shared" / "data") / "adult_hierarchies"
ADULT = {
    "age": (100, 4),
    "education": (16, 3),
    "marital-status": (7, 2),
    "native-country": (41, 2),
    "occupation": (14, 2),
    "race": (5, 1),
    "salary-class": (2, 1),
    "sex": (2, 1),
    "workclass": (8, 2),
}


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "levels.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def unreadable(path: Path, code: str, *parts: str, separator: str | None = None) -> None:
    with pytest.raises(HierarchyError) as caught:
        read_levels(path, separator, where="columns.x.hierarchy")
    assert {(problem.where, problem.code) for problem in caught.value.problems} == {("columns.x.hierarchy", code)}
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("name", ADULT)
def test_the_adult_hierarchies_are_read_as_they_stand(name: str) -> None:
    if not FOLDER.is_dir():
        pytest.skip("set SHOAL_DATA to the folder that has adult_hierarchies")
    lines = (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    result = built(read_levels(FOLDER / f"{name}.csv"), [lines[0].split(";")[0]])
    assert (result.hierarchy.n_leaves, result.hierarchy.height) == ADULT[name]
    assert rows(result) == {line.split(";")[0]: line.split(";")[1:] for line in lines}


def test_a_label_that_repeats_up_the_path_is_one_node_and_keeps_its_level() -> None:
    result = built(Levels([["White", "White", "*"], ["Thai", "Asian", "*"], ["Lao", "Asian", "*"]]), ["White"])
    assert result.hierarchy.labels == ("White", "Thai", "Lao", "Asian", "*")
    assert result.hierarchy.height == 2
    assert rows(result)["White"] == ["White", "*"]


def test_a_unary_group_with_a_label_of_its_own_is_a_node() -> None:
    result = built(Levels([["a", "A", "A", "*"], ["b", "B", "C", "*"]]), ["a"])
    assert rows(result) == {"a": ["A", "A", "*"], "b": ["B", "C", "*"]}
    assert result.hierarchy.labels == ("a", "b", "A", "B", "C", "*")


def test_lines_are_reordered_only_as_far_as_groups_need() -> None:
    table = [["d", "D"], ["a", "A"], ["e", "D"], ["b", "A"], ["c", "C"]]
    assert leaves(built(Levels(table), ["a"])) == ["d", "e", "a", "b", "c"]


def test_a_root_is_added_above_several_labels() -> None:
    assert rows(built(Levels([["a", "A"], ["b", "B"]]), ["a"])) == {"a": ["A", "*"], "b": ["B", "*"]}
    assert rows(built(Levels([["a", "All"], ["b", "All"]]), ["a"])) == {"a": ["All"], "b": ["All"]}


def test_an_empty_first_field_is_the_missing_value(tmp_path: Path) -> None:
    result = built(read_levels(written(tmp_path, "a;A;*\n;none;*\n")), ["a", None])
    assert rows(result) == {"a": ["A", "*"], None: ["none", "*"]}
    stays = built(read_levels(written(tmp_path, "a;A;*\n;;*\n")), ["a"])
    assert rows(stays)[None] == [None, "*"]
    assert rows(built(Levels([["a", "A", "*"]]), ["a", None]))[None] == [None, "*"]


@pytest.mark.parametrize(
    "text",
    [
        "1;[0, 5);*\n6;[5, 10);*\n",
        '1,"[0, 5)",*\n6,"[5, 10)",*\n',
        "1\t[0, 5)\t*\n6\t[5, 10)\t*",
        "\ufeff1;[0, 5);*\r\n\r\n6;[5, 10);*\r\n",
        '"1";"[0, 5)";"*"\n6;[5, 10);*\n',
    ],
)
def test_separator_quotes_byte_order_mark_and_line_ends_are_understood(tmp_path: Path, text: str) -> None:
    assert read_levels(written(tmp_path, text)).rows == (("1", "[0, 5)", "*"), ("6", "[5, 10)", "*"))


def test_a_given_separator_is_used_and_no_other(tmp_path: Path) -> None:
    assert read_levels(written(tmp_path, "a;b|*\nc;d|*\n"), "|").rows == (("a;b", "*"), ("c;d", "*"))
    unreadable(written(tmp_path, "a;*\nb;*\n"), "levels-one-field", "a comma", separator=",")
    unreadable(written(tmp_path, "a;*\nb;*\n"), "separator", separator=";;")


def test_a_quoted_label_may_hold_separators_quotes_and_line_ends(tmp_path: Path) -> None:
    path = written(tmp_path, '"a;""b""";"x\ny";*\nc;d;*\n')
    assert read_levels(path).rows == (('a;"b"', "x\ny", "*"), ("c", "d", "*"))


def test_lines_of_another_width_are_named(tmp_path: Path) -> None:
    unreadable(written(tmp_path, 'a;"A\nB";*\nb;A;*\n\nc;*\nd;A;*\n'), "levels-uneven", "line 5")
    refused(Levels([["a", "A", "*"], ["b", "*"]]), ["a"], "levels-uneven", "row 2")


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    unreadable(tmp_path / "absent.csv", "file-unreadable", "absent.csv")
    unreadable(tmp_path, "file-unreadable")
    unreadable(written(tmp_path, "\n\n"), "levels-empty")
    unreadable(written(tmp_path, ""), "levels-empty")
    unreadable(written(tmp_path, "a\nb\n"), "levels-one-field")
    unreadable(written(tmp_path, b"M\xfcnchen;*\n"), "file-encoding", "byte 1")
    unreadable(written(tmp_path, 'a;"A;*\nb;A;*\n'), "levels-malformed")


def test_a_value_with_two_different_lines_is_refused() -> None:
    refused(Levels([["a", "A", "*"], ["a", "B", "*"], ["b", "B", "*"]]), ["a"], "two-parents", "'a'", "'A'", "'B'")
    built(Levels([["a", "A", "*"], ["a", "A", "*"]]), ["a"])


def test_a_level_that_splits_a_group_is_refused() -> None:
    table = [["a", "G", "X", "*"], ["b", "G", "Y", "*"], ["c", "H", "Y", "*"]]
    refused(Levels(table), ["a"], "two-parents", "'G' (level 1)", "'X' and 'Y' (level 2)")


def test_many_split_groups_are_counted() -> None:
    table = [[f"{group}{side}", f"G{group}", side] for group in range(15) for side in "XY"]
    refused(Levels(table), ["0X"], "two-parents", "'G0'", "5 more")


def test_a_label_that_is_a_value_elsewhere_is_refused() -> None:
    refused(Levels([["a", "b", "*"], ["b", "c", "*"]]), ["a"], "label-used-twice", "'b'", "{'b'}", "{'a'}")


def test_rows_that_are_no_rows_are_refused() -> None:
    refused(Levels([]), ["a"], "levels-empty")
    refused(Levels([["a"], ["b"]]), ["a"], "levels-uneven", "row 1")
    refused(Levels(["ab", "cd"]), ["a"], "levels-uneven", "'ab'")
    refused(Levels([["a", {}]]), ["a"], "levels-uneven", "{}")
    refused(Levels([["a", None, "*"]]), ["a"], "levels-uneven", "row 1 ('a')")


def test_values_that_the_table_lacks_are_listed() -> None:
    refused(
        Levels([["Male", "*"], ["Female", "*"]]),
        ["male", "Male"],
        "values-not-in-hierarchy",
        "'male' (7 records; nearest known: 'Male')",
        counts=[7, 1],
    )


def test_numbers_in_rows_are_canonical_text() -> None:
    assert leaves(built(Levels([[1, "low"], [2.0, "low"], [True, "x"]]), ["2"])) == ["1", "2", "true"]
