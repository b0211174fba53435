"""Which kind of file a path names, by its suffix alone."""

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from shoal.errors import DataError

COMPRESSIONS: Final = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


class FileKind(Enum):
    """How a table is stored in a file."""

    TEXT = "text"
    PARQUET = "Parquet"
    EXCEL = "workbook"
    SPSS = "SPSS"
    SAS = "SAS"
    STATA = "Stata"


SUFFIXES: Final[Mapping[FileKind, tuple[str, ...]]] = {
    FileKind.TEXT: (".csv", ".tsv", ".txt"),
    FileKind.PARQUET: (".parquet", ".pq"),
    FileKind.EXCEL: (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    FileKind.SPSS: (".sav", ".zsav", ".por"),
    FileKind.SAS: (".sas7bdat", ".xpt"),
    FileKind.STATA: (".dta",),
}
"""The suffixes of the files that can be read; those of text may be followed by one of a compression."""


def sniff_kind(path: str | Path) -> FileKind:
    """The kind of file that a path names; `DataError` with the known suffixes where it names none."""
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    last = suffixes[-1] if suffixes else ""
    for kind, known in SUFFIXES.items():
        if last in known:
            return kind
    if last in COMPRESSIONS and suffixes[0] in SUFFIXES[FileKind.TEXT]:
        return FileKind.TEXT
    raise DataError(f"{path} has the unknown suffix {path.suffix!r}. Known: {known_suffixes()}.", code="unknown-suffix")


def readable_suffixes() -> tuple[str, ...]:
    """Every suffix of a file that can be read, ``.csv.gz`` and its like included: for messages and upload forms."""
    packed = (text + packing for text in SUFFIXES[FileKind.TEXT] for packing in COMPRESSIONS)
    return (*(suffix for known in SUFFIXES.values() for suffix in known), *packed)


def known_suffixes() -> str:
    """The readable suffixes in words."""
    text = SUFFIXES[FileKind.TEXT]
    others = [suffix for kind, known in SUFFIXES.items() if kind is not FileKind.TEXT for suffix in known]
    return f"{', '.join(text)} (also followed by {', '.join(COMPRESSIONS)}), {', '.join(others)}"


def base_name(path: Path) -> str:
    """The name of a data file without the suffixes that say how it is stored: ``daten.2019`` for daten.2019.csv.gz."""
    name = path.name
    for known in (tuple(COMPRESSIONS), tuple(suffix for each in SUFFIXES.values() for suffix in each)):
        suffix = next((each for each in known if name.lower().endswith(each)), "")
        name = name[: len(name) - len(suffix)]
    return name or "data"
