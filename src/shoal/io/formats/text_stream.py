"""The bytes of a text file as UTF-8, decoded on the way, with an end that shows a quote which was never closed."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from shoal.errors import DataError
from shoal.io.formats.unpacked_size import unpacked_limit, unpacks_too_large
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import COMPRESSIONS

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STAND_IN: Final = "\x1f"  # stands for a separator outside ASCII while Arrow parses, which knows single bytes only


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
            packing = COMPRESSIONS.get(source.path.suffix.lower())
            self._raw = pa.input_stream(self._file, compression=packing)
            self._limit = None if packing is None else unpacked_limit(source)
        except BaseException:
            self._file.close()
            raise
        self._decoder = codecs.getincrementaldecoder(source.encoding)()
        self._as_it_is = codecs.lookup(source.encoding).name == "utf-8" and source.separator.isascii()
        self._end = end
        self._lines = 0
        self._unpacked = 0
        self._started = False
        self._broken_line = False
        self._done = False
        self._spare = b""

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

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer, all of it unless the text ends.

        Never ends between the two bytes of a line break: Arrow drops the second one when they come in two blocks.
        """
        view = memoryview(buffer)
        while not self._done and len(self._spare) < len(view):
            self._spare += self._next(len(view))
        size = min(len(view), len(self._spare))
        at_end = self._done and len(self._spare) == size
        if 1 < size == len(view) and self._spare[size - 1 : size] == b"\r" and not at_end:
            size -= 1
        view[:size], self._spare = self._spare[:size], self._spare[size:]
        return size

    def _next(self, size: int) -> bytes:
        raw = self._raw.read(max(size, len(codecs.BOM_UTF8)))  # a mark never comes in pieces
        self._done = not raw
        self._unpacked += len(raw)
        if self._limit is not None and self._unpacked > self._limit:
            raise unpacks_too_large(self._source, self._limit)
        try:
            text = self._decoder.decode(raw, final=self._done)
        except UnicodeDecodeError as error:
            raise self._not_in_encoding(error) from None
        if self._as_it_is and not self._done:  # checked, and given on as it was read
            chunk: bytes = raw if self._started else raw.removeprefix(codecs.BOM_UTF8)
            self._started = True
            self._broken_line = chunk[-1:] not in (b"\r", b"\n")
            self._lines += chunk.count(b"\n")
            return chunk
        if text and not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        if text:
            self._broken_line = text[-1] not in "\r\n"
            self._lines += text.count("\n")
        if not self._source.separator.isascii():
            if STAND_IN in text:
                both = f"the separator {self._source.separator!r} and the control character {STAND_IN!r}"
                fix = "the two cannot be distinguished. Use an ASCII separator."
                raise DataError(f"{self._source.path} has {both} in its text; {fix}", code="separator")
            text = text.replace(self._source.separator, STAND_IN)
        if self._done and self._end:
            text += ("\n" if self._broken_line else "") + self._end + "\n"
        return text.encode("utf-8", "surrogatepass")

    def _not_in_encoding(self, error: UnicodeDecodeError) -> DataError:
        before = error.object[: error.start].decode(self._source.encoding, "ignore")
        line = self._lines + before.count("\n") + 1
        if error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and line == 1:
            guess = "encoding: utf-16"
        elif codecs.lookup(self._source.encoding).name.startswith("utf"):
            guess = "encoding: latin-1 (or cp1252)"
        else:
            guess = "encoding: utf-8"
        byte, fix = error.object[error.start], f"State the file's own encoding in the policy, for example {guess}."
        found = f"line {line} has bytes that are not text in the encoding {self._source.encoding} (0x{byte:02x})."
        return DataError(f"{self._source.path}: {found} {fix}", code="wrong-encoding")
