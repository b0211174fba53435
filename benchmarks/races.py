"""Runs at the same time with one registry, some of them killed: does every release have an entry, and every limit hold?

Run: python benchmarks/races.py [--rounds 200] [--seed 1]

Each round has a new registry and two or three processes that publish the same people at the same moment with
``--fail-on "composition>0"``: by age, by zip code, and by age once more to another file. Releases by age and by zip
code together expose people, so that only one kind may pass. In two of three rounds a process is killed (SIGKILL): any
one at any time, the one that has the lock, or the one that is putting its release in place. What it left behind is met
by the others and by one more run by zip code. A process is a fork of this one that calls `shoal.publish`, as the
command line does: the whole path from the data to the entry, without the time to start Python.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import pkgutil
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import shoal
from shoal.attacks.registry.folder import Registry
from shoal.attacks.registry.pending import PENDING
from shoal.errors import ExposureError
from shoal.io import sha256_of
from shoal.io.folder_lock import LOCK

PANEL = """age,zipcode,condition
21,14248,HIV
23,13051,Flu
26,14203,Flu
28,13077,Cancer
41,14206,Cancer
44,13053,Asthma
47,14249,Asthma
48,13074,HIV
"""
AGE, ZIP = "age", "zipcode"  # the column that a release keeps in detail
RUNS = {"a.csv": AGE, "b.csv": ZIP, "c.csv": AGE}
PASSED, REFUSED, CRASHED = 0, 1, 3
LOCKED_SECONDS, PENDING_SECONDS = 0.2, 0.02  # within which the owner of the lock is killed
FOUND = ("releases without entry", "entries without release", "limit exceeded but passed", "crashes")


def policy_of(detailed: str, data: Path) -> shoal.Policy:
    """A policy for the panel that keeps a column in detail."""
    columns: dict[str, dict[str, object]] = {
        AGE: {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
        ZIP: {"role": "quasi", "hierarchy": {"mask": "right"}},
        "condition": {"role": "sensitive"},
    }
    columns[detailed]["boundary"] = 1
    privacy = [{"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 2}]
    return shoal.Policy(columns=columns, privacy=privacy, data=str(data))


def start(folder: Path, out: str, detailed: str, begin: float) -> int:
    """Publish in a process of its own, from a moment on; its number."""
    pid = os.fork()
    if pid:
        return pid
    code = CRASHED
    try:
        policy = policy_of(detailed, folder.parent / "panel.csv")
        time.sleep(max(begin - time.monotonic(), 0))
        shoal.publish(policy, out=folder / out, registry=folder / "registry", fail_on=["composition>0"])
        code = PASSED
    except ExposureError:
        code = REFUSED
    except BaseException as error:
        print(f"{folder.name}/{out}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def kill_one(
    draw: random.Random, folder: Path, processes: dict[str, int], usual: float, begin: float, found: Counter[str]
) -> str:
    """Kill any process at any time, or the one that has the lock: after a while, or while it puts its release in place.

    The output of the process.
    """
    out, lock, pending = draw.choice(sorted(processes)), folder / "registry" / LOCK, folder / "registry" / PENDING
    awaited, within = draw.choice([(None, usual), (lock, LOCKED_SECONDS), (pending, PENDING_SECONDS)])
    if awaited is None:
        time.sleep(max(begin - time.monotonic(), 0))
    end = begin + 10 * usual
    while awaited is not None and not awaited.exists() and time.monotonic() < end:
        time.sleep(0.0002)
    owner = None if awaited is None else owner_of(lock)
    time.sleep(draw.uniform(0, within))
    out = next((each for each, pid in processes.items() if pid == owner), out)
    with contextlib.suppress(ProcessLookupError):
        os.kill(processes[out], signal.SIGKILL)
    if owner_of(lock) == processes[out]:
        found["killed with the lock"] += 1
        found["killed while its release was put in place"] += (folder / "registry" / PENDING).exists()
    return out


def owner_of(lock: Path) -> int | None:
    """The number of the process that has a lock."""
    with contextlib.suppress(OSError, ValueError):
        return int(json.loads(lock.read_text(encoding="utf-8"))["pid"])
    return None


def check(folder: Path, found: Counter[str]) -> None:
    """Compare the releases that are there with the entries, and count what must not be."""
    with Registry.locked(folder / "registry") as registry:
        entries = {entry.release_sha256 for entry in registry.current}
    releases = {path.name: sha256_of(path) for path in folder.glob("[!.]*.csv")}
    found["releases without entry"] += sum(digest not in entries for digest in releases.values())
    found["entries without release"] += len(entries - set(releases.values()))
    found["limit exceeded but passed"] += len({RUNS.get(name, ZIP) for name in releases}) > 1


def race(folder: Path, draw: random.Random, usual: float, found: Counter[str], *, kill: bool) -> None:
    """One round; what happened is counted in ``found``."""
    begin = time.monotonic() + 0.02
    names = sorted(RUNS)[: draw.choice([2, 3])]
    processes = {out: start(folder, out, RUNS[out], begin) for out in names}
    killed = kill_one(draw, folder, processes, usual, begin, found) if kill else None
    for out, pid in processes.items():
        count(found, os.waitpid(pid, 0)[1], may_be_killed=out == killed)
    if kill:
        count(found, os.waitpid(start(folder, "d.csv", ZIP, begin), 0)[1])
    check(folder, found)


def count(found: Counter[str], status: int, *, may_be_killed: bool = False) -> None:
    """Count how a process ended."""
    code = os.waitstatus_to_exitcode(status)
    killed = may_be_killed and code == -signal.SIGKILL
    known = {PASSED: "passed", REFUSED: "refused"}
    found["killed" if killed else known.get(code, "crashes")] += 1


def races(folder: Path, rounds: int, seed: int) -> Counter[str]:
    """Run some rounds in a folder; how often each thing happened."""
    (folder / "panel.csv").write_text(PANEL, encoding="utf-8")
    draw, found = random.Random(seed), Counter[str]()  # noqa: S311 - nothing secret is drawn
    load_modules()
    usual = 0.0
    for number in range(-1, rounds):  # one alone, which says how long a run takes
        own = folder / f"round {number}"
        own.mkdir()
        if number < 0:
            begin = time.monotonic()
            os.waitpid(start(own, "a.csv", AGE, begin), 0)
            usual = time.monotonic() - begin
            continue
        race(own, draw, usual, found, kill=number % 3 > 0)
    return found


def load_modules() -> None:
    """Import every module of Shoal, so that forks need not; no thread is started that they would lack."""
    for module in pkgutil.walk_packages(shoal.__path__, "shoal."):
        if not module.name.startswith(("shoal.ui", "shoal.io.spark", "shoal.io.postgres", "shoal.__main__")):
            importlib.import_module(module.name)


def main() -> int:
    """Print what happened as Markdown; 1 where anything happened that must not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        begin = time.monotonic()
        found = races(Path(name), asked.rounds, asked.seed)
    print(f"{asked.rounds} rounds, seed {asked.seed}, {time.monotonic() - begin:.0f} s\n\n| | number |\n|---|---:|")
    others = [each for each in sorted(found) if each not in FOUND]
    for each in (*others, *FOUND):
        print(f"| {each} | {found[each]} |")
    return int(any(found[each] for each in FOUND))


if __name__ == "__main__":
    sys.exit(main())
