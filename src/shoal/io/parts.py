"""A table in several files: a folder, or a pattern such as ``claims/*.parquet``, stands for all files that it names.

Files are taken in the order of their names; the order decides nothing about a release. All must have the same columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from shoal.errors import DataError
from shoal.io.kinds import readable_suffixes
from shoal.io.source import DataSource

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
        raise DataError(f"The {what} {path} names no file that can be read. Known suffixes: {', '.join(known)}.")
    return files


def would_be_read(path: Path, data: Path) -> bool:
    """Whether a new file would be one of those that a folder or pattern stands for, the next time it is read."""
    if not is_many(data) or path.name.startswith((".", "_")):
        return False
    inside = data if data.is_dir() else None
    here = path.absolute()
    return here.parent == inside.absolute() if inside is not None else here.match(str(data.absolute()))


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
        words = [
            f"{word} {', '.join(map(repr, found))}" for word, found in (("lacks", lacking), ("adds", more)) if found
        ]
        raise DataError(f"{other} {' and '.join(words)} beside {first}: all files of one table need the same columns.")


@dataclass(frozen=True)
class Fingerprint:
    """What the file system says of the files of a source: whether they have changed since."""

    files: tuple[tuple[Path, int, int, int], ...]
    """Path, size, time of change and number of each file."""

    @staticmethod
    def of(source: DataSource) -> Fingerprint:
        """Look at the files; a table of a database has none."""
        if source.database is not None:
            return Fingerprint(())
        return Fingerprint(tuple(_looked_at(path) for path in data_files(source.path)))

    @property
    def nbytes(self) -> int:
        """Bytes of all files."""
        return sum(size for _, size, _, _ in self.files)

    def check(self, source: DataSource) -> None:
        """Raise `DataError` where a file has changed, gone or come since."""
        now = Fingerprint.of(source)
        changed = [str(path) for path, *_ in {*self.files} ^ {*now.files}]
        if changed:
            named = ", ".join(sorted(set(changed)))
            raise DataError(f"{named} has changed while it was read. Start again when nobody writes to the data.")


def _looked_at(path: Path) -> tuple[Path, int, int, int]:
    try:
        stat = path.stat()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    return path, stat.st_size, stat.st_mtime_ns, stat.st_ino
