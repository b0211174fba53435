"""A table in several files: a folder, or a pattern such as ``claims/*.parquet``, stands for all files that it names."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
    shown = [each for each in found if each.is_file() and not each.name.startswith((".", "_"))]
    files = [each for each in shown if each.name.lower().endswith(known)]
    if not files:
        what = "folder" if path.is_dir() else "pattern"
        message = f"The {what} {path} has no file that can be read. Known suffixes: {', '.join(known)}."
        raise DataError(message, code="no-files")
    _check_different(files)
    return files


def _check_different(files: Sequence[Path]) -> None:
    """Raise `DataError` where two names stand for the same records: everybody in them would count twice."""
    by_inode: dict[tuple[int, int], Path] = {}
    by_name: dict[Path, Path] = {}
    for path in files:
        found = FileState.of(path)
        other = by_inode.setdefault((found.device, found.number), path)
        if other is not path:
            message = f"{other} and {path} are one file: its records would count twice. Remove one of the names."
            raise DataError(message, code="file-twice")
        unpacked = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
        other = by_name.setdefault(unpacked, path)
        if other is not path:
            message = f"{other} and {path} differ only in compression:"
            same = "if they have the same records, these would count twice."
            fix = "Remove one, or rename it if its records are different."
            raise DataError(f"{message} {same} {fix}", code="file-twice")


def would_be_read(path: Path, data: Path) -> bool:
    """Whether a new file would be one of those that a folder or pattern stands for, the next time it is read."""
    if not is_many(data) or path.name.startswith((".", "_")):
        return False
    if data.is_dir():
        folders, found = [data], list(data.iterdir())
    else:
        folders = _matching(data.parent) if _PATTERN & set(str(data.parent)) else [data.parent]
        folders, found = folders if Path(path.name).match(data.name) else [], _matching(data)
    own, target = os.path.realpath(path.parent), os.path.realpath(path)
    inside = any(each.is_dir() and os.path.realpath(each) == own for each in folders)
    return inside or any(each.is_symlink() and os.path.realpath(each) == target for each in found)  # or is linked to


def _matching(pattern: Path) -> list[Path]:
    """The files that a pattern names; folders of it may be patterns too."""
    fixed = next(each for each in pattern.parents if not _PATTERN & set(str(each)))
    return sorted(fixed.glob(str(pattern.relative_to(fixed))))


def parts_of(source: DataSource) -> list[DataSource]:
    """The source of each file, all read in the same manner."""
    return [replace(source, path=path) for path in data_files(source.path)]


@dataclass(frozen=True)
class FileState:
    """A file as the file system knows it."""

    path: Path
    size: int
    modified: int  # when its bytes were changed, which whoever changes them may set back
    changed: int  # when anything about it was changed, which nobody can set
    device: int
    number: int

    @staticmethod
    def of(path: Path) -> FileState:
        """Look at a file."""
        try:
            stat = path.stat()
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}.", code="not-readable") from None
        return FileState(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_dev, stat.st_ino)


@dataclass(frozen=True)
class Fingerprint:
    """What the file system says of the files of a source: whether they have changed since."""

    files: tuple[FileState, ...]

    @staticmethod
    def of(source: DataSource) -> Fingerprint:
        """Look at the files; a table of a database has none."""
        return Fingerprint(() if source.database else tuple(FileState.of(path) for path in data_files(source.path)))

    def check(self, source: DataSource) -> None:
        """Raise `DataError` where a file has changed, gone or come since."""
        changed = sorted({str(each.path) for each in {*self.files} ^ {*Fingerprint.of(source).files}})
        if changed:
            message = f"{listing(changed)} changed while it was read. Start again when nobody writes to it."
            raise DataError(message, code="data-changed")
