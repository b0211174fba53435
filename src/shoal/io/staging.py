"""Outputs that appear all together or not at all.

A release is only worth something beside its evidence and report. They are written under hidden names in their own
folders and renamed when all are complete: the old release is moved away first and the new one put in place last, so
that at no moment - not even after a crash - a release lies beside evidence that is not its own.
"""

import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from shoal.errors import OutputError

MAY_BE_COMMITTED = "not-committed"  # the code of an error that leaves open whether an output is in place
FORCE = "replace with --force (force=True in Python)"  # how an output that exists may be replaced

PRIVATE = 0o600  # the permissions of what tells more than the release does
_HIDDEN = ".shoal-"  # begins the names of files on their way


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Errors of the file system while a file is written become `OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.", code="not-writable") from None


def check_outputs(outputs: Sequence[Path], inputs: Sequence[Path] = (), *, force: bool = False) -> None:
    """Raise one `OutputError` with everything that stands in the way of writing the outputs."""
    problems: list[str] = []
    there: list[str] = []
    folders: set[Path] = set()  # those with a problem, which is said once, however many outputs go there
    for index, output in enumerate(outputs):
        try:
            if any(_same(output, other) for other in outputs[:index]):
                problems.append(f"{output} is named for two outputs. Give each its own name.")
            elif any(_same(output, given) for given in inputs):
                problems.append(f"{output} is an input as well and would be overwritten. Choose another output.")
            elif output.is_dir():
                problems.append(f"{output} is a folder. Name a file inside it.")
            elif output.parent in folders:
                continue
            elif problem := _folder_problem(output):
                problems.append(problem)
                folders.add(output.parent)
            elif os.path.lexists(output) and not force:
                there.append(str(output))
        except OSError as error:
            problems.append(f"{output} cannot be written: {error.strerror}.")
    if there:
        verb = "exist" if len(there) > 1 else "exists"
        problems.append(f"{', '.join(there)} {verb} already. Choose another output, or {FORCE}.")
    if problems:
        raise OutputError(" ".join(problems), code="output-blocked")


def _folder_problem(output: Path) -> str:
    if not output.parent.exists():
        return f"The folder {output.parent} for {output.name} does not exist. Create it first."
    if not output.parent.is_dir():
        return f"{output.parent} is a file, so {output.name} cannot be written inside it. Choose another output."
    if not os.access(output.parent, os.W_OK | os.X_OK):
        return f"The folder {output.parent} is not writable. Change its permissions, or choose another output."
    return ""


def _same(first: Path, second: Path) -> bool:
    """Whether two paths are one file, by whatever names and links."""
    try:
        return first.samefile(second)
    except OSError:
        return os.path.realpath(first) == os.path.realpath(second)


class Staged:
    """Hidden files instead of the outputs, renamed together by `commit` and removed when there is none.

    ``outputs`` starts with the release. ``private`` ones are for their owner only; all others get the permissions of
    any new file. ``force`` allows to replace files that exist; they stay untouched until `commit`. Every output must be
    written before `commit`: one that was not becomes an empty file.
    """

    def __init__(
        self,
        outputs: Sequence[Path],
        *,
        private: Sequence[Path] = (),
        inputs: Sequence[Path] = (),
        force: bool = False,
    ) -> None:
        self._outputs = tuple(outputs)
        self._private = frozenset(private)
        self._inputs = tuple(inputs)
        self._force = force
        self._hidden: dict[Path, Path] = {}  # the hidden file of each output
        self._modes: dict[Path, int] = {}  # the permissions that each gets when it is renamed

    def __enter__(self) -> Self:
        check_outputs(self._outputs, self._inputs, force=self._force)
        try:
            for output in self._outputs:
                self._hidden[output] = _hidden_name(output)  # known before it is there: a signal may come any time
                with writing(output):
                    usual = _create_private(self._hidden[output])
                self._modes[output] = PRIVATE if output in self._private else usual
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for hidden in self._hidden.values():
            hidden.unlink(missing_ok=True)
        self._hidden.clear()

    def path(self, output: Path) -> Path:
        """Where to write an output for now: a hidden file in its folder, with its suffix."""
        return self._hidden[output]

    def write_text(self, output: Path, text: str) -> None:
        """Write one of the outputs as text."""
        with writing(output):
            self.path(output).write_text(text, encoding="utf-8", newline="\n")

    def commit(self, confirm: Callable[[], None] | None = None) -> None:
        """Put all outputs in place, the release last, then call ``confirm``; all is as before where any of it fails."""
        release, *rest = self._outputs
        moved: dict[Path, Path] = {}
        renamed: list[Path] = []
        try:
            for output, hidden in self._hidden.items():  # a rename may outlive a crash that the bytes do not
                _sync(hidden, os.O_RDWR)
                hidden.chmod(self._modes[output])
            for output in (release, *rest):  # the old release goes first
                if os.path.lexists(output):
                    if not self._force:
                        message = f"{output} was created in the meantime. Choose another output, or {FORCE}."
                        raise OutputError(message, code="output-exists")
                    moved[output] = _hidden_name(output)
                    output.replace(moved[output])
            for output in (*rest, release):  # and the new one comes last
                renamed.append(output)
                self._hidden[output].replace(output)
            if confirm is not None:
                confirm()
        except BaseException as error:
            _undo(moved, renamed)
            if isinstance(error, OSError):
                message = f"The outputs cannot be put in place: {error}. Nothing was changed."
                raise OutputError(message, code="not-placed") from error
            raise
        for aside in moved.values():
            aside.unlink(missing_ok=True)
        for folder in {output.parent for output in self._outputs}:
            _sync_folder(folder)
        self._hidden.clear()


def write_durably(path: Path, raw: bytes) -> None:
    """Write a file that is there whole or not at all, also after the machine stops; an old one is replaced."""
    hidden = _hidden_name(path)
    try:
        hidden.write_bytes(raw)
        _sync(hidden, os.O_RDWR)
        hidden.replace(path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def write_private(path: Path, text: str) -> None:
    """Write a text that only its owner may read, by a rename; an old one is replaced."""
    hidden = _hidden_name(path)
    with writing(path):
        try:
            _create_private(hidden)
            hidden.write_text(text, encoding="utf-8", newline="\n")
            hidden.replace(path)
        except BaseException:
            hidden.unlink(missing_ok=True)
            raise


def remove_leftovers(folder: Path) -> None:
    """Remove the hidden files of killed runs from a folder that no other run writes to."""
    for hidden in folder.glob(f"{_HIDDEN}*"):
        hidden.unlink(missing_ok=True)


def _hidden_name(output: Path) -> Path:
    return output.with_name(f"{_HIDDEN}{secrets.token_hex(8)}{output.suffix}")


def _create_private(path: Path) -> int:
    """Create an empty file that only its owner may read; the permissions that any new file has."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        mode = stat.S_IMODE(os.fstat(handle).st_mode)
    finally:
        os.close(handle)
    path.chmod(0o600)
    return mode


def _sync_folder(folder: Path) -> None:
    if hasattr(os, "O_DIRECTORY"):  # Windows keeps no handle of a folder
        _sync(folder, os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _undo(moved: Mapping[Path, Path], renamed: Sequence[Path]) -> None:
    """Take the new files away, the release first, and bring the old ones back, the release last."""
    for output in reversed(renamed):
        output.unlink(missing_ok=True)
    for output, aside in reversed(list(moved.items())):
        if not os.path.lexists(aside):
            continue  # the move itself is what failed
        try:
            aside.replace(output)
        except OSError as error:
            message = f"The outputs cannot be put in place, and the old {output} could not be brought back ({error}):"
            raise OutputError(f"{message} it is kept as {aside}.", code="not-restored") from error
