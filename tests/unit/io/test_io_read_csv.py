from __future__ import annotations

import bz2
import csv
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.io import DataSource, column_names, read_table, separator_hint
from shoal.io.formats import csv_file as csvfile
from support.raises import raises

Write = Callable[..., DataSource]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(text: str | bytes, name: str = "people.csv", **options: Any) -> DataSource:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return DataSource(path, **options)

    return put


def rows(source: DataSource, columns: list[str] | None = None) -> list[tuple[str | None, ...]]:
    return [tuple(row.values()) for row in read_table(source, columns).to_pylist()]


def refusal(source: DataSource, code: str) -> str:
    with raises(DataError, code) as caught:
        read_table(source)
    message = str(caught.value)
    assert str(source.path) in message
    assert "\n" not in message
    return message


def test_every_cell_stays_the_text_it_is(write: Write) -> None:
    table = read_table(write("zip,when,n,yes\n01234,2020-01-05,1e3,true\n 7 ,,NaN,NA\n"))
    assert set(table.schema.types) == {pa.string()}
    assert table.to_pylist() == [
        {"zip": "01234", "when": "2020-01-05", "n": "1e3", "yes": "true"},
        {"zip": " 7 ", "when": None, "n": "NaN", "yes": "NA"},
    ]


def test_only_the_columns_asked_for_are_read_and_in_that_order(write: Write) -> None:
    source = write("a,b,c\n1,2,3\n")
    assert read_table(source, ["c", "a"]).column_names == ["c", "a"]
    assert rows(source, ["c", "a"]) == [("3", "1")]


def test_no_columns_asked_for_still_counts_the_rows(write: Write) -> None:
    table = read_table(write("a,b\n1,2\n3,4\n"), [])
    assert (table.num_columns, table.num_rows) == (0, 2)


def test_an_unknown_column_is_named_beside_those_there_are(write: Write) -> None:
    with raises(DataError, "unknown-column", "'agee'", "'age'"):
        read_table(write("age,zip\n1,2\n"), ["agee"])


@pytest.mark.parametrize("separator", [";", "\t", "|", " ", "\x1f", "§", "→"])
def test_any_single_character_separates(write: Write, separator: str) -> None:
    text = f'a{separator}b\n1{separator}"x{separator}y"\n'
    source = write(text, separator=separator)
    assert column_names(source) == ["a", "b"]
    assert rows(source) == [("1", f"x{separator}y")]


def test_a_separator_outside_ascii_is_not_confused_with_its_stand_in(write: Write) -> None:
    refusal(write("a§b\n1§2\x1f\n", separator="§"), "separator")


def test_the_stand_in_is_an_ordinary_character_beside_an_ascii_separator(write: Write) -> None:
    source = write("a\x1f,b\n1\x1f2,3\n")
    assert column_names(source) == ["a\x1f", "b"]
    assert rows(source) == [("1\x1f2", "3")]


def test_quoted_cells_hold_separators_quotes_and_line_breaks(write: Write) -> None:
    assert rows(write('a,b\n"x,y","say ""hi"""\n"two\nlines","cr\r\nlf"\n')) == [
        ("x,y", 'say "hi"'),
        ("two\nlines", "cr\r\nlf"),
    ]


def test_another_quote_and_no_quote(write: Write) -> None:
    assert rows(write("a,b\n'x,y',\"2\"\n", quote="'")) == [("x,y", '"2"')]
    assert rows(write('a,b\n"1,2"\n', quote="")) == [('"1', '2"')]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_of_every_system_are_read(write: Write, newline: str, last: bool) -> None:
    text = newline.join(["a,b", "1,2", "3,4"]) + (newline if last else "")
    assert rows(write(text)) == [("1", "2"), ("3", "4")]


def test_missing_marks_are_null_quoted_or_not_and_nothing_else_is(write: Write) -> None:
    text = 'a,b\n?,"?"\n"",\nx,??\n'
    assert rows(write(text, missing=("?", ""))) == [(None, None), (None, None), ("x", "??")]
    assert rows(write(text, missing=("?",))) == [(None, None), ("", ""), ("x", "??")]
    assert rows(write(text, missing=())) == [("?", "?"), ("", ""), ("x", "??")]


def test_a_quoted_cell_can_be_declared_never_missing(write: Write) -> None:
    assert rows(write('a,b\n"",\n', quoted_missing=False)) == [("", None)]


def test_an_empty_line_is_a_missing_value_where_there_is_one_column(write: Write) -> None:
    assert rows(write("a\n1\n\n3\n\n")) == [("1",), (None,), ("3",), (None,)]


def test_empty_lines_between_records_of_several_columns_are_no_records(write: Write) -> None:
    assert rows(write("\n\na,b\n\n1,2\n\n\n3,4\n\n")) == [("1", "2"), ("3", "4")]


@pytest.mark.parametrize("text", ["a,b", "a,b\n", "a,b\r\n", "\ufeffa,b\n"])
def test_a_header_alone_is_a_table_of_no_rows(write: Write, text: str) -> None:
    table = read_table(write(text))
    assert (table.num_rows, table.column_names) == (0, ["a", "b"])
    assert set(table.schema.types) == {pa.string()}


def test_a_byte_order_mark_is_not_part_of_the_first_name(write: Write) -> None:
    assert column_names(write("\ufeffa,b\n1,2\n")) == ["a", "b"]
    assert rows(write("\ufeffa,b\n1,2\n"), ["a"]) == [("1",)]


def test_a_byte_order_mark_inside_a_cell_stays(write: Write) -> None:
    assert rows(write("a,b\n\ufeff1,2\n")) == [("\ufeff1", "2")]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-be", "utf-8-sig", "utf-32"])
def test_the_stated_encoding_is_used(write: Write, encoding: str) -> None:
    source = write("name,b\nJosé,Zoë\n".encode(encoding), encoding=encoding)
    assert column_names(source) == ["name", "b"]
    assert rows(source) == [("José", "Zoë")]


def test_multibyte_text_survives_the_edges_of_blocks(write: Write) -> None:
    names = [("日本" * (number % 7) or "x") for number in range(200_000)]
    source = write(("a,b\n" + "".join(f"{name},1\n" for name in names)).encode("shift_jis"), encoding="shift_jis")
    assert read_table(source)["a"].to_pylist() == names


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)])
def test_compressed_files_are_read(write: Write, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    assert rows(write(pack(b"a,b\n1,2\n"), f"p.csv.{suffix}")) == [("1", "2")]
    assert rows(write(pack(b"a,b\n1,2\n"), f"P.CSV.{suffix.upper()}")) == [("1", "2")]


def test_zstandard_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv.zst"
    with pa.output_stream(str(path), compression="zstd") as out:
        out.write(b"a\tb\n1\t2\n")
    assert rows(DataSource(path, separator="\t")) == [("1", "2")]


def test_a_broken_archive_is_an_error_of_the_data(write: Write) -> None:
    refusal(write(b"a,b\n1,2\n", "p.csv.gz"), "not-readable")
    refusal(write(gzip.compress(os.urandom(5000))[:2000], "p.csv.gz"), "not-readable")


def test_a_cell_may_be_larger_than_a_block(write: Write) -> None:
    long = "x,\n" * 1_000_000
    assert rows(write(f'a,b\n1,"{long}"\n2,3\n')) == [("1", long), ("2", "3")]


def test_a_nul_inside_a_cell_stays(write: Write) -> None:
    assert rows(write(b"a,b\n1\x002,3\n")) == [("1\x002", "3")]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    refusal(DataSource(tmp_path / "none.csv"), "no-such-file")


def test_a_folder_without_tables_is_no_data(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    refusal(DataSource(tmp_path / "folder.csv"), "no-files")


def test_a_file_that_may_not_be_read_says_so(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    source = write("a\n1\n")
    monkeypatch.setattr(pa, "input_stream", refuse)  # a superuser may read every file, so it is acted
    refusal(source, "no-permission")


def test_a_path_through_a_file_is_an_error_of_the_data(write: Write) -> None:
    refusal(DataSource(write("a\n").path / "inner.csv"), "no-such-file")


@pytest.mark.parametrize("text", [b"", b"\xef\xbb\xbf", b"\n\n\r\n"])
def test_an_empty_file_has_no_header(write: Write, text: bytes) -> None:
    refusal(write(text), "empty-file")


def test_names_that_repeat_are_listed(write: Write) -> None:
    assert "'age' (3 times) and 'zip' (2 times)" in refusal(
        write("age,zip,age,zip,sex,age\n1,2,3,4,5,6\n"), "column-name-twice"
    )


@pytest.mark.parametrize("header", ["a,,c", "a, ,c", 'a,"",c'])
def test_a_column_without_a_name_is_placed(write: Write, header: str) -> None:
    assert "column 2" in refusal(write(f"{header}\n1,2,3\n"), "unnamed-column")


@pytest.mark.parametrize(("line", "found"), [("1,2,3", "3 fields"), ("1", "1 field "), ("  ", "1 field ")])
def test_a_ragged_row_is_named_with_its_fields(write: Write, line: str, found: str) -> None:
    message = refusal(write(f'a,b\n1,2\n"two\nlines",2\n{line}\n3,4\n'), "uneven-rows")
    assert "row 4 " in message
    assert found in message
    assert "more rows" not in message


def test_a_ragged_row_far_down_is_found_and_others_are_counted(write: Write) -> None:
    message = refusal(write("a,b\n" + "11111,22222\n" * 300_000 + "1\n1\n1\n"), "uneven-rows")
    assert "row 300002 " in message
    assert "2 more rows" in message


@pytest.mark.parametrize(
    "tail", ['3,"4\n5,6\n', '"3,4\n5,6\n', '3,"4', '3,"', '3,"4""\n', '3,"4\n' + "5,6\n" * 400_000]
)
def test_a_quote_that_is_never_closed_is_named_with_its_row(write: Write, tail: str) -> None:
    assert "row 3 " in refusal(write("a,b\n1,2\n" + tail), "unclosed-quote")


def test_a_quote_that_is_never_closed_is_found_whatever_columns_are_read(write: Write) -> None:
    with raises(DataError, "unclosed-quote", "row 2"):
        read_table(write('a,b\n3,"4\n5,6\n'), ["a"])


def test_a_quote_that_is_never_closed_in_the_header_is_an_error(write: Write) -> None:
    refusal(write('a,"b\n1,2\n'), "header-unreadable")


def test_messages_do_not_quote_cells(write: Write) -> None:
    assert "secret" not in refusal(write("a,b\n1,2\nsecret\n"), "uneven-rows")


def test_bytes_outside_the_encoding_are_placed_and_the_fix_is_named(write: Write) -> None:
    message = refusal(write(b"a,b\n" + b"1,2\n" * 300_000 + b"caf\xe9,3\n"), "wrong-encoding")
    assert "line 300002 " in message
    assert "0xe9" in message
    assert "encoding: latin-1" in message


def test_bytes_outside_the_encoding_are_found_in_columns_that_are_not_read(write: Write) -> None:
    with raises(DataError, "wrong-encoding", "line 40001 "):
        read_table(write(b"a,b\n" + b"1,2\n" * 39_999 + b"1,\xe9\n"), ["a"])


def test_utf_16_taken_for_utf_8_is_recognized(write: Write) -> None:
    assert "encoding: utf-16" in refusal(write("a,b\n1,2\n".encode("utf-16")), "wrong-encoding")
    assert "encoding: utf-16-le" in refusal(write("a,b\n1,2\n".encode("utf-16-le")), "wrong-encoding")


def test_text_that_stops_inside_a_character_is_an_error(write: Write) -> None:
    refusal(write("a,b\n1,2\n".encode("utf-16")[:-1], encoding="utf-16"), "wrong-encoding")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"encoding": "klingon"}, "unknown-encoding"),
        ({"encoding": "hex"}, "unknown-encoding"),
        ({"separator": ""}, "invalid-separator"),
        ({"separator": "::"}, "invalid-separator"),
        ({"separator": "\n"}, "invalid-separator"),
        ({"quote": "''"}, "invalid-quote"),
        ({"quote": ","}, "invalid-quote"),
    ],
)
def test_a_source_that_cannot_be_is_refused_when_stated(options: dict[str, Any], code: str) -> None:
    with raises(DataError, code):
        DataSource(Path("people.csv"), **options)


@pytest.mark.parametrize("name", ["people.xml", "people", "people.gz", "people.parquet.gz", "people.json"])
def test_an_unknown_suffix_lists_the_known_ones(write: Write, name: str) -> None:
    message = refusal(write("a\n1\n", name), "unknown-suffix")
    assert ".csv, .tsv, .txt (also followed by .gz, .bz2, .zst), .parquet, .pq" in message


def test_a_header_that_another_separator_would_split_gives_a_hint(write: Write) -> None:
    source = write("a;b;c,d\n", separator="|")
    names = column_names(source)
    assert names == ["a;b;c,d"]
    assert separator_hint(source, names) == "the file's only column is 'a;b;c,d': is the separator ';'?"


def test_there_is_no_hint_where_the_separator_may_be_right(write: Write) -> None:
    assert separator_hint(write("a,b\n"), ["a", "b;c"]) == ""
    assert separator_hint(write("age\n"), ["age"]) == ""
    assert separator_hint(write("a;b\n", separator=";"), ["a;b"]) == ""


def test_names_need_no_more_than_the_first_block(write: Write) -> None:
    source = write(b"a,b\n" + b"1,2\n" * 100_000 + b"\xff\n")
    assert column_names(source) == ["a", "b"]


def test_a_line_break_in_a_cell_stays_whole_at_the_edge_of_a_block(write: Write) -> None:
    for padding in range(64):
        source = write(b"a,b\r\n" + b"x" * padding + b',"y\r\nz"\r\n1,2\r\n')
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csvfile, "BLOCKS", (32, *csvfile.BLOCKS))
            assert rows(source)[0] == ("x" * padding or None, "y\r\nz")


cells = st.text(alphabet=st.sampled_from('a é,;"\n\r\t\x1e日'), max_size=6)


@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), max_size=12)))
def test_what_the_standard_library_writes_is_read_the_same(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[str]]
) -> None:
    width = len(table[0]) if table else 2
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list("xyz"[:width]), *table])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvfile, "BLOCKS", (64, *csvfile.BLOCKS))  # so that records meet the edges of blocks
        read = rows(DataSource(path, missing=()))
    assert read == [tuple(row) for row in table]


lines = st.text(alphabet=st.sampled_from('ab"",,\n'), max_size=40)


@given(lines)
def test_what_is_read_of_a_broken_file_is_what_the_standard_library_reads(
    tmp_path_factory: pytest.TempPathFactory, body: str
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_text("x,y\n" + body, encoding="utf-8")
    try:
        read = rows(DataSource(path, missing=()))
    except DataError:
        return
    with path.open(newline="", encoding="utf-8") as file:
        assert read == [tuple(row) for row in list(csv.reader(file))[1:] if row]
