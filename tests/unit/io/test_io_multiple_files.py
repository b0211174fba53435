"""Several files as one table: which they are, none of them twice, and no release among them."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from shoal.errors import DataError
from shoal.io import DataSource
from shoal.io.multiple_files import Fingerprint, data_files, would_be_read
from support.raises import raises


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Files at two depths, and a link to a folder elsewhere."""
    (tmp_path / "d" / "x" / "y").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "d" / "x" / "a.csv").write_text("age\n1\n")
    (tmp_path / "d" / "link").symlink_to(tmp_path / "elsewhere")
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "release"),
    [
        ("d/**/*.csv", "d/x/y/o.csv"),
        ("d/**/*.csv", "d/o.csv"),
        ("d/**/*.csv", "d/x/../o.csv"),
        ("d/*/*.csv", "d/x/o.csv"),
        ("d/*/*.csv", "elsewhere/o.csv"),
        ("d/link", "elsewhere/o.csv"),
        ("elsewhere", "d/link/o.csv"),
        ("d/link/*.csv", "elsewhere/o.csv"),
    ],
)
def test_a_release_that_the_data_would_name_is_known_by_any_path(data: Path, pattern: str, release: str) -> None:
    assert would_be_read(data / release, data / pattern)
    (data / release).write_text("age\n1\n")
    assert (data / release).resolve() in [each.resolve() for each in data_files(data / pattern)]


@pytest.mark.parametrize(
    ("pattern", "release"),
    [
        ("d/x", "d/o.csv"),
        ("d/x", "d/x/y/o.csv"),
        ("d/x/*.csv", "d/x/y/o.csv"),
        ("d/*/a*.csv", "d/x/o.csv"),
        ("d/**/*.csv", "o.csv"),
        ("d/**/*.csv", "d/x/_o.csv"),
        ("d/x/a.csv", "d/x/o.csv"),
    ],
)
def test_a_release_beside_the_data_is_none_of_it(data: Path, pattern: str, release: str) -> None:
    assert not would_be_read(data / release, data / pattern)


def test_a_link_in_the_data_makes_a_release_elsewhere_a_part_of_it(data: Path) -> None:
    (data / "d" / "x" / "b.csv").symlink_to(data / "later.csv")
    for pattern in ("d/x", "d/x/*.csv"):
        assert would_be_read(data / "later.csv", data / pattern)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_one_file_under_two_names_is_refused(data: Path, link: object) -> None:
    first, second = data / "d" / "x" / "a.csv", data / "d" / "x" / "b.csv"
    assert callable(link)
    link(first, second)
    for many in (data / "d" / "x", data / "d" / "x" / "*.csv"):
        with raises(DataError, "file-twice", "a.csv", "b.csv"):
            data_files(many)


def test_a_file_beside_its_packed_copy_is_refused(data: Path) -> None:
    (data / "d" / "x" / "a.csv.gz").write_bytes(gzip.compress(b"age\n1\n"))
    with raises(DataError, "file-twice", "a.csv.gz"):
        data_files(data / "d" / "x")
    (data / "d" / "x" / "a.csv.gz").rename(data / "d" / "x" / "b.csv.gz")
    assert len(data_files(data / "d" / "x")) == 2


def test_a_change_is_seen_even_where_the_time_of_the_file_is_set_back(data: Path) -> None:
    path = data / "d" / "x" / "a.csv"
    source = DataSource(path)
    before = Fingerprint.of(source)
    known = path.stat()
    path.write_text("age\n2\n")
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))
    with raises(DataError, "data-changed"):
        before.check(source)
