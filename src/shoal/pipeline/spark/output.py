"""Where a release goes that Spark writes, and how it appears all at once or not at all.

Files are written to a hidden folder beside the target, verified there, and the folder is renamed. Tables of a catalog,
Delta and Iceberg have commits of their own: the rows are verified before they are written and again afterwards.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pyarrow import ArrowException, fs

from shoal.errors import DataError, OutputError
from shoal.io.spark.cluster import Named
from shoal.io.staging import FORCE
from shoal.pipeline.spark.input import NO_TEXT, place_of
from shoal.policy import Policy
from shoal.policy.spark_location import Place, read, write

_FILES = frozenset({"csv", "parquet", "orc"})
"""Formats whose tables are folders of files, which a rename moves."""
_TEXT = {
    "header": "true",
    "quote": '"',
    "escape": '"',
    "nullValue": "",
    "emptyValue": '""',
    "lineSep": "\n",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
_READ_BACK = {
    **{key: value for key, value in _TEXT.items() if key != "lineSep"},
    "nullValue": NO_TEXT,  # a cell without anything is missing, and "" an empty text
    "emptyValue": "",
    "mode": "FAILFAST",
    "multiLine": "true",
    "inferSchema": "false",
}


@dataclass(frozen=True)
class Target:
    """Where a release goes."""

    place: Place
    force: bool

    @classmethod
    def of(cls, policy: Policy, out: str | Path | None, *, force: bool) -> Target:
        """The output given, or that of the policy; checked before any work."""
        if out is None and policy.output is None:
            raise OutputError("the policy names no output and none was given. Set output: in the policy or pass --out.")
        text = str(out) if out is not None else str(policy.output)
        try:
            place = place_of(text, policy if out is None else None, "output")
        except DataError as error:
            raise OutputError(str(error)) from None
        target = cls(place, force)
        if target.is_files:
            target.check()
        return target

    @property
    def is_files(self) -> bool:
        """Whether it is a folder of files."""
        return self.place.format in _FILES and self.place.path is not None

    @property
    def as_text(self) -> bool:
        """Whether all values are written in their canonical text."""
        return self.place.format == "csv"

    @property
    def folder(self) -> Path | None:
        """The local folder that it lies in; None where it lies elsewhere."""
        path = self.place.path
        return Path(path.removeprefix("file:")).parent if path and self._is_local(path) else None

    @property
    def stem(self) -> str:
        """How evidence and report beside it are called."""
        return PurePosixPath(self.place.path or str(self.place.table)).name.removesuffix(f".{self.place.format}")

    def check(self) -> None:
        """Raise `OutputError` where the folder cannot be written."""
        system, path = self._system()
        above = system.get_file_info(str(PurePosixPath(path).parent))
        if above.type != fs.FileType.Directory:
            raise OutputError(
                f"The folder {above.path} for {PurePosixPath(path).name} does not exist. Create it first."
            )
        if system.get_file_info(path).type != fs.FileType.NotFound and not self.force:
            raise OutputError(f"{self.place} exists already. Choose another output, or {FORCE}.")

    def read(self, session: Any, place: Place) -> Any:
        """What was written."""
        return read(session, place, _READ_BACK if self.as_text else None)

    def write(self, released: Named, place: Place) -> None:
        """Write a release."""
        write(released.public(), place, _TEXT if self.as_text else None, replace=self.force)

    @contextmanager
    def hidden(self) -> Iterator[Place]:
        """A place beside the target for the while; whatever lies there at the end is removed."""
        system, path = self._system()
        aside = _beside(path)
        try:
            yield replace(self.place, path=self._before(path) + aside)
        finally:
            with suppress(OSError, ArrowException):
                if system.get_file_info(aside).type != fs.FileType.NotFound:
                    system.delete_dir(aside)

    def put(self, hidden: Place) -> None:
        """Give the hidden folder its name; an old one is kept until the new one is there."""
        system, path = self._system()
        new, old = str(hidden.path).removeprefix(self._before(path)), _beside(path)
        replaced = system.get_file_info(path).type != fs.FileType.NotFound
        if replaced and not self.force:
            raise OutputError(f"{self.place} has come into being meanwhile. Choose another output, or {FORCE}.")
        try:
            if replaced:
                system.move(path, old)
            try:
                system.move(new, path)
            except BaseException:
                if replaced:
                    system.move(old, path)
                raise
        except (OSError, ArrowException) as error:
            raise OutputError(f"{self.place} cannot be put in place: {error}. Nothing was changed.") from error
        if replaced:
            _remove(system, old)

    def _system(self) -> tuple[Any, str]:
        try:
            system, path = fs.FileSystem.from_uri(str(self.place.path))
            return system, str(path)
        except (OSError, ArrowException) as error:
            raise OutputError(
                f"{self.place} cannot be reached from here: {error}. Write a table of a catalog, Delta or Iceberg."
            ) from None

    def _before(self, path: str) -> str:
        """What an address has before the path within its system: ``hdfs://namenode``."""
        return str(self.place.path).removesuffix(path)

    @staticmethod
    def _is_local(path: str) -> bool:
        return ":/" not in path or path.startswith("file:")


def _beside(path: str) -> str:
    whole = PurePosixPath(path)
    return str(whole.with_name(f".shoal-{secrets.token_hex(8)}{whole.suffix}"))


def _remove(system: Any, path: str) -> None:
    if system.get_file_info(path).type == fs.FileType.Directory:
        system.delete_dir(path)
    else:
        system.delete_file(path)
