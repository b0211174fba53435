"""The bytes of a text file as UTF-8, decoded on the way, with an end that shows a quote which was never closed."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from shoal.errors import DataError
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import COMPRESSIONS

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STAND_IN: Final = "\x1f"
"""Stands for a separator outside ASCII while the CSV parser, which knows single bytes only, is at work."""


class TextStream(io.RawIOBase):
    """A readable stream of UTF-8 bytes, whatever the file's compression and encoding.

    A quote that is never closed swallows ``end``, a record appended after the last one; a byte order mark is dropped.
    """

    def __init__(self, source: DataSource, end: str = "") -> None:
        super().__init__()
        self._source = source
        self._file = source.path.open("rb")
        try:
            self._size = max(source.path.stat().st_size, 1)
            self._raw = pa.input_stream(self._file, compression=COMPRESSIONS.get(source.path.suffix.lower()))
        except BaseException:
            self._file.close()
            raise
        self._decoder = codecs.getincrementaldecoder(source.encoding)()
        self._as_it_is = codecs.lookup(source.encoding).name == "utf-8" and source.separator.isascii()
        self._end = end
        self._lines = 0
        self._started = False
        self._broken_line = False
        self._done = False
        self._spare = b""
        self._held = b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def close(self) -> None:
        """Close the file as well."""
        if not self.closed:
            self._raw.close()
            self._file.close()
        super().close()

    def share(self) -> float:
        """How much of the file's bytes has been read, from 0 to 1."""
        return 1.0 if self._file.closed else min(self._file.tell() / self._size, 1.0)

    def read(self, size: int = -1, /) -> bytes:
        """At most ``size`` bytes (all when negative); none at the end.

        Never ends between the two bytes of a line break: Arrow drops the second one when they come in two blocks.
        """
        while not self._done and (size < 0 or len(self._spare) < size):
            self._spare += self._next(1 << 20 if size < 0 else size)
        if size < 0:
            size = len(self._spare)
        at_end = self._done and len(self._spare) == size
        if 1 < size <= len(self._spare) and self._spare[size - 1 : size] == b"\r" and not at_end:
            size -= 1
        chunk, self._spare = self._spare[:size], self._spare[size:]
        return chunk

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer."""
        view = memoryview(buffer)
        chunk = self.read(len(view))
        view[: len(chunk)] = chunk
        return len(chunk)

    def _next(self, size: int) -> bytes:
        raw = self._raw.read(size)
        self._done = not raw
        try:
            text = self._decoder.decode(raw, final=self._done)
        except UnicodeDecodeError as error:
            raise self._not_in_encoding(error) from None
        if self._as_it_is and not self._done:  # checked, and given on as it was read
            return self._unchanged(raw, begun=bool(text))
        if text and not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        if text:
            self._broken_line = text[-1] not in "\r\n"
            self._lines += text.count("\n")
        if not self._source.separator.isascii():
            text = self._with_stand_in(text)
        if self._done and self._end:
            text += ("\n" if self._broken_line else "") + self._end + "\n"
        return text.encode("utf-8", "surrogatepass")

    def _unchanged(self, raw: bytes, *, begun: bool) -> bytes:
        """Bytes of a file in UTF-8, without the mark before the first character; it may come in pieces."""
        if not self._started:
            self._held += raw
            if not begun:
                return b""
            self._started = True
            raw = self._held.removeprefix(codecs.BOM_UTF8)
        self._broken_line = raw[-1:] not in (b"\r", b"\n")
        self._lines += raw.count(b"\n")
        return raw

    def _with_stand_in(self, text: str) -> str:
        if STAND_IN in text:
            raise DataError(
                f"{self._source.path} has the separator {self._source.separator!r} and the control character "
                f"{STAND_IN!r} in its text; the two cannot be distinguished. Use an ASCII separator.",
                code="separator",
            )
        return text.replace(self._source.separator, STAND_IN)

    def _not_in_encoding(self, error: UnicodeDecodeError) -> DataError:
        before = error.object[: error.start].decode(self._source.encoding, "ignore")
        line = self._lines + before.count("\n") + 1
        if error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and line == 1:
            guess = "encoding: utf-16"
        elif codecs.lookup(self._source.encoding).name.startswith("utf"):
            guess = "encoding: latin-1 (or cp1252)"
        else:
            guess = "encoding: utf-8"
        return DataError(
            f"{self._source.path}: line {line} has bytes that are not text in the encoding {self._source.encoding} "
            f"(0x{error.object[error.start]:02x}). State the file's own encoding in the policy, for example {guess}.",
            code="wrong-encoding",
        )
