"""How much a compressed file may unpack to: a small file must not take all memory before anything is known of it.

Text and workbooks shrink by a factor of 5 to 30, files made to exhaust memory by up to 1,000 and more. So a file may
unpack to `RATIO` times its size, or to a fixed amount if that is more, unless its source allows more. What a file says
of its own size may be wrong, so bytes are counted as they are unpacked; nothing is held meanwhile.
"""

import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from shoal.errors import DataError
from shoal.formatting import data_size
from shoal.policy.data_source import DataSource

RATIO: Final = 100
TEXT: Final = 256_000_000  # bytes that text and workbooks may unpack to in any case
COLUMNS: Final = 1_000_000_000  # the same for Parquet, in which a column of equal values takes next to nothing
_AT_ONCE: Final = 1 << 20
_HEADER: Final = 30  # bytes of the header before a member of an archive, its name and extra field not counted


def unpacked_limit(source: DataSource, least: int = TEXT) -> int:
    """The bytes that a file may unpack to."""
    if source.unpacked is not None:
        return source.unpacked
    return max(RATIO * source.path.stat().st_size, least)


def unpacks_too_large(source: DataSource, limit: int) -> DataError:
    """The error for a file that unpacks to more."""
    size = source.path.stat().st_size
    return DataError(
        f"{source.path} has {data_size(size)} and unpacks to more than {data_size(limit)}, which is more than expected "
        "of a table. If the file is right, allow more: data: {path: …, unpacked: 8GB} in the policy, or --unpacked 8GB "
        "with shoal init.",
        code="unpacks-too-large",
    )


def check_archive(source: DataSource) -> None:
    """Refuse a zipped file whose members unpack to too much together."""
    limit, total = unpacked_limit(source), 0
    with zipfile.ZipFile(source.path) as archive:
        for member in archive.infolist():
            for size in _piece_sizes(archive, member):
                total += size
                if total > limit:
                    raise unpacks_too_large(source, limit)


def _piece_sizes(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[int]:
    """The sizes of the pieces of a member as they are unpacked, whatever size the archive says that it has."""
    if member.compress_type != zipfile.ZIP_DEFLATED:
        yield max(member.file_size, member.compress_size)
        return
    file = archive.fp
    assert file is not None, "the archive is open"
    file.seek(member.header_offset)
    header = file.read(_HEADER)
    names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    file.seek(names, 1)
    unpacker, left = zlib.decompressobj(-zlib.MAX_WBITS), member.compress_size
    while left > 0 and not unpacker.eof:
        packed = file.read(min(_AT_ONCE, left))
        if not packed:
            return
        left -= len(packed)
        while packed and not unpacker.eof:
            yield len(unpacker.decompress(packed, _AT_ONCE))
            packed = unpacker.unconsumed_tail
