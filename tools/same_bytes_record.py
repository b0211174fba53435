"""Run the cases of ``same_bytes.py`` and store what came out."""

from __future__ import annotations

import concurrent.futures
import contextlib
import csv
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from same_bytes_cases import Case, local_cases, postgres, spark
from same_bytes_inputs import INPUTS, people

VOLATILE = {
    "seconds",
    "seconds_by_stage",
    "peak_memory_bytes",
    "evidence_sha256",
    "versions",
    "version",
    "took",
}
"""Keys that differ from run to run, or that follow from every other value."""
DATABASE = "postgresql://owner@/postgres"
"""Where the server is, PGHOST says: an address with its temporary folder would be another one in every recording."""
TEXT_SUFFIXES = (".html", ".svg", ".txt", ".md")
_SECONDS = 300.0
_AMOUNT = r"\d+(\.\d+)?( |&nbsp;)?(s|ms|seconds?|min|minutes?|[kMG]i?B)\b"
_TIMES = re.compile(rf"\b(under )?{_AMOUNT}( {_AMOUNT})*")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def record(
    command: Path,
    out: Path,
    *,
    wanted: Callable[[str], bool],
    jobs: int,
    only_names: bool,
    spark_command: Path | None,
    with_postgres: bool,
    fresh: bool,
) -> int:
    """Run all cases whose names are wanted; 0 unless a command broke down or took too long."""
    if spark_command is not None:
        python = _interpreter(spark_command)
        if subprocess.run([python, "-c", "import pyspark"], capture_output=True, check=False).returncode:  # noqa: S603
            raise SystemExit(f"{spark_command} has no PySpark: name one that has with --spark SHOAL")
    with contextlib.ExitStack() as stack:
        cases = local_cases() + (list(spark()) if spark_command else [])
        server = None
        os.environ.pop("PGHOST", None)
        if with_postgres:
            server = stack.enter_context(_running_server())
            cases += postgres(DATABASE)
        cases = [case for case in cases if wanted(case.name)]
        if only_names:
            print(*sorted(case.name for case in cases), sep="\n")
            return 0
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        inputs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="same-bytes-")))
        for name in sorted({name for case in cases for name in case.inputs}):
            INPUTS[name](inputs / name)
        begun = time.monotonic()
        workers = max(1, min(jobs, len(cases)))
        runner = _Runner(command.absolute(), spark_command, out, inputs, server, workers, fresh)
        stack.callback(runner.stop)
        with concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
            broken = [name for names in pool.map(runner.run, cases) for name in names]
    times = "".join(f"{seconds:7.1f} s  {line}\n" for seconds, line in sorted(runner.times, reverse=True))
    (out / "times.txt").write_text(times, encoding="utf-8")
    codes: dict[int, int] = {}
    for path in out.glob("*/record.json"):
        for each in json.loads(path.read_text(encoding="utf-8"))["commands"]:
            codes[each["exit"]] = codes.get(each["exit"], 0) + 1
    commands = ", ".join(f"{count} with {code}" for code, count in sorted(codes.items()))
    print(f"{len(cases)} cases in {time.monotonic() - begun:.0f} s; commands that ended: {commands}")
    for name in broken:
        print(f"BROKEN: {name}")
    return 1 if broken else 0


class _Worker:
    """A process that runs one command after another; see ``same_bytes_worker.py``."""

    def __init__(self, command: Path) -> None:
        script = Path(__file__).parent / "same_bytes_worker.py"
        self._process = subprocess.Popen(  # noqa: S603  # the interpreter of the command under test
            [_interpreter(command), str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(),
        )

    def run(self, argv: Sequence[str], folder: Path, stdout: Path, stderr: Path) -> int:
        request = {"argv": list(argv), "folder": str(folder), "stdout": str(stdout), "stderr": str(stderr)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**request, "seconds": _SECONDS}) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _interpreter(command: Path) -> str:
    """The Python of a console script, from its first line."""
    first = command.read_text(encoding="utf-8").partition("\n")[0]
    if not first.startswith("#!"):
        raise SystemExit(f"{command} is no console script: its first line names no interpreter")
    return first[2:].strip()


def _environment() -> dict[str, str]:
    """What commands are run with: a fixed width of lines, no colours, and no randomness from hashing."""
    fixed = {"COLUMNS": "110", "NO_COLOR": "1", "TERM": "dumb", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    return {**os.environ, **fixed, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONWARNINGS": ""}


@dataclass
class _Runner:
    """Runs cases, as many at a time as there are workers."""

    command: Path
    spark_command: Path | None
    out: Path
    inputs: Path
    server: Any
    jobs: int
    fresh: bool

    def __post_init__(self) -> None:
        self.times: list[tuple[float, str]] = []
        self._workers: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for _ in range(self.jobs):
            self._workers.put(_Worker(self.command))

    def stop(self) -> None:
        for _ in range(self.jobs):
            self._workers.get().stop()

    def run(self, case: Case) -> list[str]:
        """Run one case and store it; the commands that broke down."""
        target = self.out / case.name
        target.mkdir()
        with tempfile.TemporaryDirectory(prefix="same-bytes-") as temporary:
            folder = Path(temporary) / "case"
            folder.mkdir()
            self._prepare(case, folder)
            given = {path.relative_to(folder): _hash(path) for path in _files(folder)}
            commands, broken = [], []
            for place, argv in enumerate(case.commands):
                if argv[0] == "@replace":
                    _replace(folder / argv[1], *argv[2:])
                    continue
                stdout, stderr = target / f"{place}.stdout.txt", target / f"{place}.stderr.txt"
                begun = time.monotonic()
                code = self._run_command(case, argv, folder, stdout, stderr)
                self.times.append((time.monotonic() - begun, f"{case.name}: {' '.join(argv)}"))
                document = _from_json(stdout)
                if document is not None:
                    stdout.unlink()
                shown = {temporary: "FOLDER", **self._addresses()}
                errors = [_tidy(path, shown) for path in (stdout, stderr) if path.exists()][-1]
                commands.append({"argv": list(argv), "exit": code, "json": _steady(document)})
                if code not in (0, 1, 2) or "Traceback (most recent call last)" in errors:
                    broken.append(f"{case.name}: shoal {' '.join(argv)} ended with {code}, see {stderr}")
            result: dict[str, Any] = {"commands": commands, **_outputs(folder, given, target)}
            if self.server is not None:
                for table in case.tables:
                    result["sha256"][f"table {table}"] = _table_hash(self.server, table)
        text = json.dumps(result, indent=1, ensure_ascii=False, sort_keys=True)
        (target / "record.json").write_text(text + "\n", encoding="utf-8")
        return broken

    def _prepare(self, case: Case, folder: Path) -> None:
        for name in case.inputs:
            source = self.inputs / name
            if source.is_dir():
                shutil.copytree(source, folder / name)
            else:
                shutil.copyfile(source, folder / name)
        for name, content in case.policies.items():
            text = json.dumps(content, ensure_ascii=False, indent=1)  # JSON is YAML
            (folder / name).write_text(text + "\n", encoding="utf-8")

    def _run_command(self, case: Case, argv: Sequence[str], folder: Path, stdout: Path, stderr: Path) -> int:
        if not (self.fresh or case.fresh):
            worker = self._workers.get()
            try:
                return worker.run(argv, folder, stdout, stderr)
            finally:
                self._workers.put(worker)
        command = (self.spark_command or self.command) if case.group == "spark" else self.command
        environment = {**_environment(), "PYSPARK_PYTHON": _interpreter(command)}
        with stdout.open("wb") as out, stderr.open("wb") as err:
            try:
                done = subprocess.run(  # noqa: S603  # the command under test
                    [str(command.absolute()), *argv],
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env=environment,
                    timeout=_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return 124
        return done.returncode

    def _addresses(self) -> dict[str, str]:
        return {} if self.server is None else {str(self.server.folder): "SERVER"}


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise SystemExit(f"{path.name} has no {old!r} to be replaced")
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def _from_json(path: Path) -> Any:
    """The JSON document that a file is, or None."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None


def _steady(document: Any) -> Any:
    """A document without what differs from run to run."""
    if isinstance(document, dict):
        if document.get("name") == "evidence-seal":  # its facts are hashes of the evidence
            document = {**document, "facts": None}
        return {key: _steady(value) for key, value in document.items() if key not in VOLATILE}
    if isinstance(document, list):
        return [_steady(value) for value in document]
    return document


def _tidy(path: Path, replaced: dict[str, str]) -> str:
    """Take times, amounts of memory and folders out of a text file; the text."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for old, new in replaced.items():
        text = text.replace(old, new)
    text = _TIMES.sub("TIME", text)
    path.write_text(text, encoding="utf-8")
    return text


def _outputs(folder: Path, given: dict[Path, str], target: Path) -> dict[str, dict[str, Any]]:
    """What was written or changed in a folder: documents, hashes of other files, and names of texts."""
    documents: dict[str, Any] = {}
    hashes: dict[str, str] = {}
    texts: dict[str, str] = {}
    for path in _files(folder):
        written = path.relative_to(folder)
        if given.get(written) == _hash(path) or path.suffix == ".crc":
            continue
        name = Path(_UUID.sub("UUID", str(written)))  # Spark names its files so
        kept = target / "files" / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        if path.stat().st_size < 1_000_000:
            shutil.copyfile(path, kept)
        if path.suffix == ".json":
            documents[name.as_posix()] = _steady(_from_json(path))
        elif path.name == "comparison.csv":
            documents[name.as_posix()] = _steady(list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())))
        elif path.suffix in TEXT_SUFFIXES:
            texts[name.as_posix()] = hashlib.sha256(_tidy(kept, {}).encode()).hexdigest()
        elif path.suffix in (".yaml", ".yml"):
            documents[name.as_posix()] = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)  # noqa: S506
            texts[name.as_posix()] = _hash(path)
        else:
            hashes[name.as_posix()] = _hash(path)
    return {"documents": documents, "sha256": hashes, "texts": texts}


@contextlib.contextmanager
def _running_server() -> Iterator[Any]:
    """A PostgreSQL server with the table ``people``."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from support.postgres import Server  # noqa: PLC0415  # the tests' own, which needs pytest

    with Server.start() as server:
        header, *records = people()
        types = ", ".join(f"{name} {'integer' if name == 'age' else 'text'}" for name in header)
        rows = ", ".join("(" + ", ".join(f"'{cell}'" for cell in record) + ")" for record in records)
        os.environ["PGHOST"] = str(server.folder)
        server.run(f"CREATE TABLE people ({types})", f"INSERT INTO people VALUES {rows}")  # noqa: S608
        yield server


def _table_hash(server: Any, table: str) -> str:
    """The hash of a table's rows in the order in which they were written."""
    rows = server.run(f"SELECT t::text FROM {table} t")  # noqa: S608
    return hashlib.sha256("\n".join(row for (row,) in rows).encode()).hexdigest()
