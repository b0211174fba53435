"""Damaged and hostile files of every format that Shoal reads, and a reader that survives them.

Each file is read in a process of its own, which is forked from this one after everything is imported, with a limit on
its memory and its time. Reading must end with a table or with an error of Shoal's: never with an abort, another
exception, a hang, or more memory than allowed.
"""

from __future__ import annotations

import gzip
import io
import os
import random
import resource
import signal
import struct
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from shoal.errors import ShoalError
from shoal.io import DataSource, column_names, read_batches, read_table
from shoal.pipeline.audit.audit import audit
from shoal.pipeline.recoding_file import read_recoding
from shoal.pipeline.release import publish
from shoal.policy import Policy
from support.table_files import (
    write_csv,
    write_dta,
    write_ods,
    write_por,
    write_sas7bdat_of_patients,
    write_sav,
    write_xls,
    write_xlsx,
    write_xpt,
)

ROWS: list[list[Any]] = [["q", "s"], *([f"{'abc'[n % 3]}{n}", "xyz"[n % 3]] for n in range(40))]
POLICY = """\
data: data.csv
columns:
  q: {role: quasi, hierarchy: {mask: right}}
  s: {role: sensitive}
privacy: [{model: k-anonymity, k: 2}]
recoding: true
output: release.csv
"""
MEMORY = 1_500_000_000  # bytes of address space beyond what the process has before it reads
SECONDS = 60
_WORDS = (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\x00\x00\x00\x00", b"\xff" * 8)


@dataclass(frozen=True)
class Outcome:
    """What became of a file."""

    kind: str  # "read", "refused", "error", "aborted", "timeout" or "memory"
    detail: str
    peak: int  # bytes of memory that were resident at most
    seconds: float

    @property
    def fine(self) -> bool:
        return self.kind in {"read", "refused"}


def read_data(path: Path) -> None:
    """A table: its names, as a whole, and in batches."""
    source = DataSource(path)
    names = column_names(source)
    read_table(source)
    for _ in read_batches(source, names):
        pass


def read_evidence(path: Path) -> None:
    """Evidence beside the release that it may be of."""
    audit(path.parent / "release.csv", Policy.load(path.parent / "policy.yaml"), evidence=path)


READERS: dict[str, Callable[[Path], object]] = {
    ".yaml": Policy.load,
    ".evidence.json": read_evidence,
    ".recoding.json": read_recoding,
}
"""How files are read that are no tables."""


def sound_files(folder: Path) -> dict[str, bytes]:
    """A sound file of each format, by its suffix."""
    writers: dict[str, Callable[[Path], None]] = {
        ".csv": lambda path: write_csv(path, ROWS),
        ".xlsx": lambda path: write_xlsx(path, ROWS),
        ".xls": lambda path: write_xls(path, ROWS),
        ".ods": lambda path: write_ods(path, ROWS),
        ".sav": lambda path: write_sav(path, ROWS),
        ".zsav": lambda path: write_sav(path, ROWS),
        ".por": lambda path: write_por(path, ROWS),
        ".dta": lambda path: write_dta(path, ROWS),
        ".xpt": lambda path: write_xpt(path, ROWS),
        ".sas7bdat": write_sas7bdat_of_patients,
    }
    found = {}
    for suffix, write in writers.items():
        write(folder / f"sound{suffix}")
        found[suffix] = (folder / f"sound{suffix}").read_bytes()
    found[".csv.gz"] = gzip.compress(found[".csv"], mtime=0)
    table = pa.table({name: [row[j] for row in ROWS[1:]] for j, name in enumerate(ROWS[0])})
    parquet.write_table(table, folder / "sound.parquet")
    found[".parquet"] = (folder / "sound.parquet").read_bytes()
    write_csv(folder / "data.csv", ROWS)
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    paths = publish(Policy.load(folder / "policy.yaml"), force=True).paths
    found[".yaml"] = POLICY.encode()
    for what in ("evidence", "recoding"):
        found[f".{what}.json"] = Path(paths[what]).read_bytes()
    return found


def damaged(content: bytes, draw: random.Random) -> bytes:
    """A file with some of its bytes changed, doubled, removed or made as large as can be."""
    changed = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 8])):
        at = draw.randrange(max(len(changed), 1))
        how = draw.randrange(6)
        if how == 0:
            changed[at : at + 1] = bytes([draw.randrange(256)])
        elif how == 1:
            del changed[at:]
        elif how == 2:
            word = draw.choice(_WORDS)
            changed[at : at + len(word)] = word
        elif how == 3:
            end = at + draw.randrange(1, 64)
            changed[end:end] = changed[at:end] * draw.choice([1, 3, 50])
        elif how == 4:
            del changed[at : at + draw.randrange(1, 32)]
        else:
            changed[at : at + 16] = bytes(draw.randrange(256) for _ in range(16))
    return bytes(changed)


def damaged_inside(content: bytes, suffix: str, draw: random.Random) -> bytes:
    """A compressed file with damage under its compression, so that its checksums are right."""
    if suffix == ".csv.gz":
        return gzip.compress(damaged(gzip.decompress(content), draw), mtime=0)
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as after:
        names = before.namelist()
        chosen = draw.choice(names)
        for name in names:
            part = before.read(name)
            after.writestr(zipfile.ZipInfo(name), damaged(part, draw) if name == chosen else part)
    return target.getvalue()


def hostile_files(sound: dict[str, bytes]) -> Iterator[tuple[str, str, bytes]]:
    """Files that are made to take all memory or time: their suffix, a name, and their content."""
    endless = gzip.compress(b'q,s\n"' + b"a" * 400_000_000, mtime=0)
    yield ".csv.gz", "one endless cell", endless
    yield ".csv.gz", "many equal lines", gzip.compress(b"q,s\n" + b"a,b\n" * 100_000_000, mtime=0)
    yield ".csv.gz", "blanks only", gzip.compress(b"\n" * 400_000_000, mtime=0)
    yield ".csv", "many columns", b",".join(b"c%d" % n for n in range(20_000)) + b"\n"
    yield ".csv", "an open quote", b'q,s\n"a,b\n' + b"x,y\n" * 1_000_000
    for name, cells in (("far.xlsx", "XFD1048576"), ("row", "A1048576"), ("column", "XFD2")):
        yield ".xlsx", f"a cell at {name}", with_cell(sound[".xlsx"], cells)
    yield ".xlsx", "a part of zeros", _with_part(sound[".xlsx"], "xl/sharedStrings.xml", b" " * 400_000_000)
    repeated = b'<table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="1"/>'
    yield ".ods", "cells repeated", with_repeated_rows(sound[".ods"], repeated, rows=1_048_576)
    one = b'<table:table-cell office:value-type="float" office:value="1"/>'
    yield ".ods", "rows repeated", with_repeated_rows(sound[".ods"], one, rows=2_000_000_000)
    yield ".ods", "entities", _entities(sound[".ods"])
    yield ".yaml", "aliases of aliases", _alias_bomb(40)
    yield ".yaml", "nested lists", b"[" * 100_000
    yield ".yaml", "a long text in aliases", b"a: &a " + b"x" * 500_000 + b"\nb: [" + b", ".join([b"*a"] * 999) + b"]\n"
    yield ".evidence.json", "nested lists", b"[" * 200_000
    yield ".evidence.json", "a long number", b'{"records": ' + b"9" * 100_000 + b"}"
    yield ".recoding.json", "nested lists", b'{"a":' * 200_000
    dta = bytearray(sound[".dta"])
    at = sound[".dta"].find(b"<N>")
    if at >= 0:
        dta[at + 3 : at + 11] = struct.pack("<Q", 1 << 40)
    yield ".dta", "many records declared", bytes(dta)
    sav = bytearray(sound[".sav"])
    sav[80:84] = struct.pack("<i", 2**31 - 1)
    yield ".sav", "many records declared", bytes(sav)


def _with_part(book: bytes, name: str, content: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as before, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as after:
        for each in before.namelist():
            if each != name:
                after.writestr(zipfile.ZipInfo(each), before.read(each), zipfile.ZIP_DEFLATED)
        after.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def with_cell(book: bytes, reference: str) -> bytes:
    part = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        sheet = archive.read(part)
    row = "".join(filter(str.isdigit, reference))
    cell = f'<row r="{row}"><c r="{reference}"><v>1</v></c></row></sheetData>'
    return _with_part(book, part, sheet.replace(b"</sheetData>", cell.encode()))


def with_repeated_rows(book: bytes, cell: bytes, *, rows: int) -> bytes:
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        content = archive.read("content.xml")
    row = b'<table:table-row table:number-rows-repeated="%d">' % rows + cell + b"</table:table-row></table:table>"
    return _with_part(book, "content.xml", content.replace(b"</table:table>", row))


def _entities(book: bytes) -> bytes:
    lines = [b'<!ENTITY e0 "' + b"x" * 100 + b'">']
    lines += [b'<!ENTITY e%d "' % n + b"&e%d;" % (n - 1) * 10 + b'">' for n in range(1, 12)]
    content = b"<?xml version='1.0'?><!DOCTYPE a [" + b"".join(lines) + b"]><a>&e11;</a>"
    return _with_part(book, "content.xml", content)


def _alias_bomb(levels: int) -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines).encode()


def read_in_a_child(path: Path, *, memory: int = MEMORY, seconds: float = SECONDS) -> Outcome:
    """Read one file in a process that is forked for it."""
    suffix = "".join(path.suffixes[-2:]) if path.name.endswith(".json") else ""
    read = READERS.get(suffix) or READERS.get(path.suffix) or read_data
    start, (receive, send) = time.monotonic(), os.pipe()
    child = os.fork()
    if not child:
        os.close(receive)
        _read_and_exit(read, path, memory, send)
    os.close(send)
    status = usage = None
    while status is None:
        ended, code, used = os.wait4(child, os.WNOHANG)
        if ended:
            status, usage = code, used
        elif time.monotonic() - start > seconds:
            os.kill(child, signal.SIGKILL)
            os.wait4(child, 0)
            os.close(receive)
            return Outcome("timeout", f"after {seconds} s", 0, seconds)
        else:
            time.sleep(0.002)
    with os.fdopen(receive, "rb") as answer:
        told = answer.read().decode()
    assert usage is not None, "the process has ended"
    kind, _, detail = told.partition("\n")
    if os.WIFSIGNALED(status) or not told:
        kind, detail = "aborted", f"status {status}"
    return Outcome(kind, detail, usage.ru_maxrss * 1024, time.monotonic() - start)


def _read_and_exit(read: Callable[[Path], object], path: Path, memory: int, send: int) -> None:
    """What the process does; it never returns."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    has = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (has + memory, has + memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        read(path)
        told = "read\n"
    except ShoalError as error:
        told = f"refused\n{error.code} {error}" if error.exit_code in {1, 2} else f"error\n{error!r}"
    except MemoryError as error:
        told = f"memory\n{error!r}"
    except BaseException as error:
        told = f"error\n{type(error).__name__}: {error}"
    os.write(send, told[:2000].encode("utf-8", "replace"))
    os._exit(0)


def cases(sound: dict[str, bytes], suffix: str, number: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Damaged files of a format, and the hostile ones, each with a name."""
    draw = random.Random(f"{seed} {suffix}")
    packed = suffix in {".csv.gz", ".xlsx", ".ods"}
    for index in range(number):
        inside = packed and index % 2 == 1
        content = damaged_inside(sound[suffix], suffix, draw) if inside else damaged(sound[suffix], draw)
        yield f"damaged {index}", content


def write_case(folder: Path, suffix: str, content: bytes) -> Path:
    path = folder / f"case{suffix}"
    path.write_bytes(content)
    return path
