"""A table in several files: a folder, or a pattern such as ``claims/*.parquet``, stands for all files that it names.

Files are read in the order of their names; the order has no influence on a release. All must have the same columns.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shoal.errors import DataError
from shoal.formatting import listing
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import COMPRESSIONS, readable_suffixes

_PATTERN = frozenset("*?[")


def is_many(path: Path) -> bool:
    """Whether a path stands for several files: a folder, or a pattern that is not the name of a file."""
    return path.is_dir() or (bool(_PATTERN & set(str(path))) and not path.exists())


def data_files(path: Path) -> list[Path]:
    """The files that a path stands for: itself, or those of a folder or pattern, by name; hidden ones are left out."""
    if not is_many(path):
        return [path]
    found = sorted(path.iterdir()) if path.is_dir() else _matching(path)
    known = tuple(readable_suffixes())
    files = [
        each
        for each in found
        if each.is_file() and not each.name.startswith((".", "_")) and each.name.lower().endswith(known)
    ]
    if not files:
        what = "folder" if path.is_dir() else "pattern"
        raise DataError(
            f"The {what} {path} has no file that can be read. Known suffixes: {', '.join(known)}.", code="no-files"
        )
    _check_different(files)
    return files


def _check_different(files: Sequence[Path]) -> None:
    """Raise `DataError` where two names stand for the same records: everybody in them would count twice."""
    by_inode: dict[tuple[int, int], Path] = {}
    by_name: dict[Path, Path] = {}
    for path in files:
        found = _state_of(path)
        other = by_inode.setdefault((found.device, found.number), path)
        if other is not path:
            message = f"{other} and {path} are one file: its records would count twice. Remove one of the names."
            raise DataError(message, code="file-twice")
        unpacked = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
        other = by_name.setdefault(unpacked, path)
        if other is not path:
            raise DataError(
                f"{other} and {path} differ only in compression: if they have the same records, these would count "
                "twice. Remove one, or rename it if its records are different.",
                code="file-twice",
            )


def would_be_read(path: Path, data: Path) -> bool:
    """Whether a new file would be one of those that a folder or pattern stands for, the next time it is read."""
    if not is_many(data) or path.name.startswith((".", "_")):
        return False
    if data.is_dir():
        return _same_folder(path.parent, data) or _leads_to(data.iterdir(), path)
    folders = _matching(data.parent) if _PATTERN & set(str(data.parent)) else [data.parent]
    here = Path(path.name).match(data.name) and any(_same_folder(path.parent, each) for each in folders)
    return here or _leads_to(_matching(data), path)


def _same_folder(first: Path, second: Path) -> bool:
    """Whether two paths are one folder, by whatever links."""
    return second.is_dir() and os.path.realpath(first) == os.path.realpath(second)


def _leads_to(found: Iterable[Path], path: Path) -> bool:
    """Whether one of the names is a link to a file, which need not be there yet."""
    target = os.path.realpath(path)
    return any(each.is_symlink() and os.path.realpath(each) == target for each in found)


def _matching(pattern: Path) -> list[Path]:
    """The files that a pattern names; folders of it may be patterns too."""
    fixed = next(each for each in pattern.parents if not _PATTERN & set(str(each)))
    return sorted(fixed.glob(str(pattern.relative_to(fixed))))


def parts_of(source: DataSource) -> list[DataSource]:
    """The source of each file, all read in the same manner."""
    return [replace(source, path=path) for path in data_files(source.path)]


def check_same_columns(first: Path, names: list[str], other: Path, others: list[str]) -> None:
    """Raise `DataError` unless two files of one table have the same columns."""
    lacking, more = sorted(set(names) - set(others)), sorted(set(others) - set(names))
    if lacking or more:
        differences = [
            f"{verb} {listing([repr(name) for name in names])}"
            for verb, names in (("lacks", lacking), ("adds", more))
            if names
        ]
        raise DataError(
            f"{other} {' and '.join(differences)} compared with {first}: all files of a table need the same columns.",
            code="columns-differ",
        )


@dataclass(frozen=True)
class FileState:
    """A file as the file system knows it."""

    path: Path
    size: int
    modified: int  # when its bytes were changed, which whoever changes them may set back
    changed: int  # when anything about it was changed, which nobody can set
    device: int
    number: int


@dataclass(frozen=True)
class Fingerprint:
    """What the file system says of the files of a source: whether they have changed since."""

    files: tuple[FileState, ...]

    @staticmethod
    def of(source: DataSource) -> Fingerprint:
        """Look at the files; a table of a database has none."""
        if source.database is not None:
            return Fingerprint(())
        return Fingerprint(tuple(_state_of(path) for path in data_files(source.path)))

    @property
    def nbytes(self) -> int:
        """Bytes of all files."""
        return sum(each.size for each in self.files)

    def check(self, source: DataSource) -> None:
        """Raise `DataError` where a file has changed, gone or come since."""
        now = Fingerprint.of(source)
        changed = [str(each.path) for each in {*self.files} ^ {*now.files}]
        if changed:
            message = (
                f"{listing(sorted(set(changed)))} changed while it was read. Start again when nobody writes to it."
            )
            raise DataError(message, code="data-changed")


def _state_of(path: Path) -> FileState:
    try:
        stat = path.stat()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.", code="not-readable") from None
    return FileState(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_dev, stat.st_ino)
