"""Adult comes from a folder, from SHOAL_DATA, from the cache - and from its address only when that is asked for."""

from __future__ import annotations

import hashlib
import threading
import urllib.request
from collections.abc import Iterator
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal.datasets import ADULT_COLUMNS, adult, load_adult
from shoal.datasets.adult import RemoteFile
from shoal.errors import DataError
from support.adult_cases import made_up, real_folder, write_csv

ROWS = made_up(60)


def write_parts(folder: Path, rows: list[dict[str, str]] = ROWS) -> Path:
    """The records as UCI ships them."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [", ".join(row.values()) for row in rows]
    (folder / "adult.data").write_text("\n".join(lines[:40]) + "\n\n", encoding="utf-8")
    test = ["|1x3 Cross validator", *(f"{line}." for line in lines[40:])]
    (folder / "adult.test").write_text("\n".join(test) + "\n\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the table, on which every connection is a failure of the test."""
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a connection was opened that nobody asked for")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)


def test_numbers_are_numbers_and_unknown_values_are_missing(tmp_path: Path) -> None:
    table = load_adult(write_csv(tmp_path / "here", ROWS))
    assert table.column_names == list(ADULT_COLUMNS)
    assert table.schema.field("age").type == pa.int64()
    assert table.column("age").to_pylist() == [int(row["age"]) for row in ROWS]
    unknown = [row["workclass"] == "?" for row in ROWS]
    assert any(unknown)
    assert [value is None for value in table.column("workclass").to_pylist()] == unknown


def test_complete_leaves_out_records_with_an_unknown_value(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "here", ROWS)
    known = [row for row in ROWS if "?" not in row.values()]
    table = load_adult(folder, complete=True)
    assert table.column("fnlwgt").to_pylist() == [int(row["fnlwgt"]) for row in known]
    assert len(known) < len(ROWS)


def test_the_two_files_of_uci_are_the_same_table(tmp_path: Path) -> None:
    assert load_adult(write_parts(tmp_path / "parts")).equals(load_adult(write_csv(tmp_path / "whole", ROWS)))


def test_a_named_folder_comes_before_shoal_data_and_that_before_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_parts(tmp_path / "cache" / "shoal" / "datasets" / "adult")
    assert load_adult().num_rows == 60
    monkeypatch.setenv("SHOAL_DATA", str(write_csv(tmp_path / "named", ROWS[:50])))
    assert load_adult().num_rows == 50
    assert load_adult(write_csv(tmp_path / "given", ROWS[:20])).num_rows == 20


def test_where_it_is_nowhere_the_message_names_the_places_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path / "gone"))
    with pytest.raises(DataError) as caught:
        load_adult()
    for word in (str(tmp_path / "gone"), str(tmp_path / "cache"), "adult.csv", "--download", "archive.ics.uci.edu"):
        assert word in str(caught.value)
    assert caught.value.code == "adult-not-found"
    with pytest.raises(DataError) as caught:
        load_adult(tmp_path)
    assert caught.value.code == "adult-not-found"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("native-country", "nation"), "native-country"),
        (lambda text: text.replace("\n", "\nold,", 1).replace("old,", "old", 1), "column age"),
    ],
)
def test_another_table_is_not_taken_for_adult(tmp_path: Path, change: object, message: str) -> None:
    folder = write_csv(tmp_path / "here", ROWS)
    path = folder / "adult.csv"
    path.write_text(change(path.read_text()))  # type: ignore[operator]
    with pytest.raises(DataError, match=message):
        load_adult(folder)


def test_a_line_that_is_cut_off_is_named(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts")
    (folder / "adult.test").write_text("|1x3 Cross validator\n25, Private\n")
    with pytest.raises(DataError, match=r"adult\.test, line 2: 2 cells"):
        load_adult(folder)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The two files on the loopback interface, with their checksums known; gives the folder they are served from."""
    monkeypatch.undo()  # connections are allowed here
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    folder = write_parts(tmp_path / "served")
    with HTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(adult, "_ADDRESS", f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setattr(adult, "_REMOTE", tuple(remote(folder / name) for name in ("adult.data", "adult.test")))
        yield folder
        server.shutdown()
        thread.join()


def remote(path: Path) -> RemoteFile:
    content = path.read_bytes()
    return RemoteFile(path.name, len(content), hashlib.sha256(content).hexdigest())


def test_download_fetches_once_and_keeps_both_files(address: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError):
        load_adult()
    fetched = load_adult(download=True)
    assert fetched.equals(load_adult(address))
    for path in address.iterdir():
        path.unlink()
    assert load_adult().equals(fetched)
    assert {path.name for path in (tmp_path / "cache/shoal/datasets/adult").iterdir()} == {"adult.data", "adult.test"}


@pytest.mark.parametrize("wrong", ["", "39, Private\n", "longer"])
def test_a_file_with_another_checksum_is_not_kept(address: Path, tmp_path: Path, wrong: str) -> None:
    path = address / "adult.test"
    path.write_text(path.read_text() * 2 if wrong == "longer" else wrong)
    with pytest.raises(DataError, match=r"adult\.test") as caught:
        load_adult(download=True)
    assert caught.value.code == "wrong-checksum"
    assert not (tmp_path / "cache").exists()


def test_a_file_that_is_not_there_is_named_with_its_address(address: Path, tmp_path: Path) -> None:
    (address / "adult.data").unlink()
    with pytest.raises(DataError, match=r"http://127\.0\.0\.1:\d+/adult\.data cannot be reached: File not found"):
        load_adult(download=True)
    assert not (tmp_path / "cache").exists()


def test_the_checksums_are_those_of_the_real_table() -> None:
    rows = (real_folder() / "adult.csv").read_text(encoding="utf-8").splitlines()[1:]
    spaced = [", ".join(row.split(",")) for row in rows]
    parts = {
        "adult.data": "\n".join([*spaced[:32_561], "", ""]),
        "adult.test": "\n".join(["|1x3 Cross validator", *(f"{row}." for row in spaced[32_561:]), "", ""]),
    }
    for each in adult._REMOTE:
        content = parts[each.name].encode()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (each.size, each.sha256)


def test_the_real_table_has_the_records_that_the_papers_name() -> None:
    folder = real_folder()
    assert load_adult(folder).num_rows == 48_842
    assert load_adult(folder, complete=True).num_rows == 45_222


def test_datasets_are_part_of_the_package() -> None:
    assert shoal.datasets.load_adult is load_adult
