"""Runs at the same time with one registry, runs that are killed, and releases that are published again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import shoal
from shoal.attacks.registry.folder import Registry
from shoal.attacks.registry.pending import PendingRelease
from shoal.errors import ExposureError
from shoal.io import sha256_of
from support.cli import Cli

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PEOPLE = "home,work,illness\na1,a1,HIV\na1,b1,flu\na2,a1,cold\na2,b1,gout\n"
TREE = "{tree: {A: [a1, a2], B: [b1, b2]}}"
POLICY = f"""data: people.csv
columns:
  home:    {{role: quasi, hierarchy: {TREE}}}
  work:    {{role: quasi, hierarchy: {TREE}}}
  illness: {{role: sensitive}}
privacy:
  - {{model: k-anonymity, k: 2}}
  - {{model: p-sensitive, p: 2, sensitive: illness}}
algorithm: {{name: incognito, node: {{home: HOME, work: WORK}}}}
output: NAME.csv
registry: releases
"""


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """Four people, and two policies: by home, and by work. Each is 2-diverse; both together reveal everybody."""
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    for name, home, work in (("january", 0, 2), ("february", 1, 0)):
        text = POLICY.replace("HOME", str(home)).replace("WORK", str(work)).replace("NAME", name)
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def current(folder: Path) -> list[str]:
    return [entry.name for entry in Registry.open(folder / "releases").current]


def test_a_run_that_waits_is_compared_with_what_was_published_meanwhile(town: Path) -> None:
    shoal.publish(town / "january.yaml", registry=town / "other", as_of="2026-01-31")
    (january,) = Registry.open(town / "other").entries
    waits, ended = threading.Event(), list[BaseException]()

    def progress(stage: str, _: float) -> None:
        if stage.startswith("waiting"):
            waits.set()

    def publish() -> None:
        try:
            shoal.publish(town / "february.yaml", fail_on=["composition>0"], progress=progress)
        except ExposureError as error:
            ended.append(error)

    with Registry.locked(town / "releases") as registry:
        second = threading.Thread(target=publish)
        second.start()
        assert waits.wait(120)
        with registry.adding(january):
            pass
    second.join()
    assert len(ended) == 1
    assert not (town / "february.csv").exists()
    assert current(town) == ["2026-01-31-january"]


def test_a_release_in_memory_is_compared_again_when_it_is_written(town: Path) -> None:
    release = shoal.anonymize(None, town / "february.yaml")
    assert release.evidence["composition"]["earlier"] == []
    shoal.publish(town / "january.yaml", as_of="2026-01-31")
    paths = release.write(town / "february.csv", as_of="2026-02-28")
    evidence = json.loads(Path(paths["evidence"]).read_text(encoding="utf-8"))
    assert [each["name"] for each in evidence["composition"]["earlier"]] == ["2026-01-31-january"]
    (attack,) = (each for each in evidence["attacks"] if each["name"] == "composition")
    assert attack["records"] == 4


def test_new_records_are_compared_again_when_they_are_written(town: Path) -> None:
    shoal.publish(town / "january.yaml", registry=town / "other", recoding=True)
    applied = shoal.apply(
        town / "january.recoding.json", town / "people.csv", registry=town / "releases", fail_on=["composition>0"]
    )
    shoal.publish(town / "february.yaml", as_of="2026-02-28")
    with pytest.raises(ExposureError):
        applied.write(town / "more.csv")
    assert not (town / "more.csv").exists()
    assert current(town) == ["2026-02-28-february"]


def test_a_withdrawn_release_that_is_published_again_is_compared_again(cli: Cli, town: Path) -> None:
    january = ("anonymize", town / "january.yaml", "--force", "--as-of")
    february = ("anonymize", town / "february.yaml", "--force", "--as-of")
    assert cli(*january, "2026-01-31").code == 0
    assert cli(*february, "2026-02-28", "--replaces", "2026-01-31-january", "--fail-on", "composition>0").code == 0
    stopped = cli(*january, "2026-03-31", "--fail-on", "composition>0")
    assert (stopped.code, stopped.error) == (1, "exposed")
    assert cli(*january, "2026-03-31").code == 0
    assert current(town) == ["2026-02-28-february", "2026-03-31-january"]
    stopped = cli(*february, "2026-04-30", "--fail-on", "composition>0")
    assert (stopped.code, stopped.error) == (1, "exposed")


def test_a_release_whose_run_was_killed_counts_and_the_next_run_says_so(cli: Cli, town: Path) -> None:
    shoal.publish(town / "january.yaml", registry=town / "other", as_of="2026-01-31")
    (january,) = Registry.open(town / "other").entries
    (town / "releases").mkdir()
    PendingRelease(january, (town / ".shoal-0.csv",)).write(town / "releases")
    assert cli("anonymize", town / "february.yaml", "--as-of", "2026-02-28").code == 0
    evidence = json.loads((town / "february.evidence.json").read_text(encoding="utf-8"))
    assert evidence["composition"]["notes"] == [{"code": "entry-completed", "release": "2026-01-31-january"}]
    assert current(town) == ["2026-01-31-january", "2026-02-28-february"]


KILLED = """
import importlib, os, pkgutil, sys
from pathlib import Path
import shoal
for package in ("policy", "encode", "search", "verification", "attacks", "evidence", "present", "pipeline"):
    found = importlib.import_module(f"shoal.{package}")
    for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):  # so that no process has to
        importlib.import_module(module.name)
def dying(real, last):
    calls = 0
    def call(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == last:
            os._exit(9)
        return real(*args, **kwargs)
    return call
town = Path(sys.argv[1])
for moment, most in (("replace", 7), ("fsync", 12), ("unlink", 4)):
    for last in range(1, most + 1):
        if os.fork() == 0:
            (town / f"{moment}-{last}").mkdir()
            setattr(os, moment, dying(getattr(os, moment), last))
            folder = town / f"{moment}-{last}"
            shoal.publish(town / "january.yaml", out=folder / "january.csv", registry=folder / "releases")
            os._exit(0)
        os.wait()
"""
"""Publishes to folders of their own, in processes that die at the n-th rename, flush or removal."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_run_killed_at_any_moment_leaves_a_release_with_an_entry_or_neither(town: Path) -> None:
    program = [sys.executable, "-W", "ignore", "-c", KILLED, str(town)]
    ran = subprocess.run(program, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found, completed = set(), 0
    for folder in (each for each in town.iterdir() if each.is_dir()):
        before = {entry.release_sha256 for entry in Registry.open(folder / "releases").entries}
        with Registry.locked(folder / "releases", wait=0) as registry:
            entries = {entry.release_sha256 for entry in registry.entries}
            completed += len(registry.completed)
        release = folder / "january.csv"
        assert entries == ({sha256_of(release)} if release.exists() else set()), folder.name
        assert before == entries, folder.name  # also for readers, who take no lock
        found.add(release.exists())
    assert found == {True, False}  # some died before, some after
    assert completed > 0


def test_simultaneous_runs_pass_no_limit_and_leave_no_release_without_an_entry() -> None:
    program = [sys.executable, "-W", "ignore", str(ROOT / "benchmarks" / "races.py"), "--rounds", "5"]
    ran = subprocess.run(program, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    figures = dict(re.findall(r"^\| (.+) \| (\d+) \|$", ran.stdout, re.MULTILINE))
    for never in ("releases without entry", "entries without release", "limit exceeded but passed", "crashes"):
        assert figures[never] == "0"
    assert int(figures["passed"]) >= 2  # in each of the two rounds without a kill, one kind of release passes
    assert int(figures["refused"]) >= 2  # and the other does not
