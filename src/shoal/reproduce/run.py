"""`reproduce`: every worked table and experiment of the papers, written to a folder that appears when all is done."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.datasets import load_adult
from shoal.errors import InputError, OutputError, did_you_mean
from shoal.io import in_order_of_content
from shoal.reproduce import campan, mahesh, man, sun, wang
from shoal.reproduce.paper import Section, Setting, Statement, Task
from shoal.reproduce.report import RunFacts, texts_of, write_folder
from shoal.search.problem import Progress, no_progress

PAPERS = {"sun": sun.TASKS, "man": man.TASKS, "mahesh": mahesh.TASKS, "wang": wang.TASKS, "campan": campan.TASKS}
"""The papers by their first author, each with its tasks."""
ALL = "all"


@dataclass(frozen=True)
class Reproduction:
    """The sections and where their files are."""

    sections: tuple[Section, ...]
    facts: RunFacts
    paths: tuple[Path, ...]
    """The report first, then sheets and plots."""

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything that was asserted."""
        return tuple(each for section in self.sections for each in section.statements)

    @property
    def failures(self) -> tuple[Statement, ...]:
        """Statements that did not come out as they must."""
        return tuple(each for each in self.statements if not each.holds)

    def to_dict(self) -> dict[str, Any]:
        """The reproduction as plain data, ready for JSON."""
        return {
            "papers": list(self.facts.papers),
            "records": self.facts.records,
            "quick": self.facts.quick,
            "seconds": round(self.facts.seconds, 3),
            "reproduced": not self.failures,
            "sections": [section.to_dict() for section in self.sections],
            "paths": [str(path) for path in self.paths],
        }


def reproduce(
    papers: str | Sequence[str] = ALL,
    *,
    out: str | Path,
    data: str | Path | None = None,
    quick: bool = False,
    download: bool = False,
    force: bool = False,
    progress: Progress = no_progress,
) -> Reproduction:
    """Reproduce the worked tables and experiments of one paper, several, or all.

    ``out`` is a folder that does not exist or is empty, unless ``force``; it gets ``REPORT.md``, sheets (CSV) and plots
    (SVG), all together at the end. ``data`` and ``download`` say where Adult comes from, as for `load_adult`; worked
    tables need no data. ``quick`` runs the experiments on seeded samples with fewer points.
    """
    names = _papers(papers)
    folder = Path(out)
    _check_folder(folder, force=force)
    tasks = [task for name in names for task in PAPERS[name]]
    started = time.perf_counter()
    setting = Setting(quick=quick)
    if any(task.needs_adult for task in tasks):
        progress("reading Adult", 0.0)
        # drawn samples and columns must not depend on the order of the file
        setting = replace(setting, adult=in_order_of_content(load_adult(data, complete=True, download=download)))
    sections = _make(tasks, setting, progress)
    records = None if setting.adult is None else setting.adult.num_rows
    facts = RunFacts(tuple(names), records, quick, time.perf_counter() - started)
    texts = texts_of(sections, facts)
    write_folder(folder, texts, force=force)
    return Reproduction(tuple(sections), facts, tuple(folder / name for name in texts))


def _papers(asked: str | Sequence[str]) -> list[str]:
    named = [asked] if isinstance(asked, str) else list(asked)
    for name in named:
        if name not in {*PAPERS, ALL}:
            raise InputError(f"Unknown paper {name!r}. {did_you_mean(name, [*PAPERS, ALL])}", code="unknown-paper")
    if not named:
        raise InputError(f"Name a paper: {', '.join([*PAPERS, ALL])}.", code="no-paper")
    return [name for name in PAPERS if name in named or ALL in named]


def _check_folder(folder: Path, *, force: bool) -> None:
    """Report what prevents writing before the work, not after it."""
    try:
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder} is a file. Name a folder with --out.", code="not-a-folder")
        if folder.is_dir() and any(folder.iterdir()) and not force:
            message = f"{folder} is not empty. Choose another folder, or use --force (force=True in Python)."
            raise OutputError(message, code="not-empty")
        existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
            message = f"{folder} cannot be created: {existing} is not a folder that can be written to."
            raise OutputError(message, code="not-writable")
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror or error}.", code="not-writable") from None


def _make(tasks: Sequence[Task], setting: Setting, progress: Progress) -> list[Section]:
    total, before = sum(task.seconds for task in tasks), 0.0
    sections: list[Section] = []
    for task in tasks:

        def tell(stage: str, share: float, task: Task = task, before: float = before) -> None:
            progress(f"{task.paper}: {stage}", (before + task.seconds * share) / total)

        tell(task.title, 0.0)
        sections += task.make(replace(setting, progress=tell))
        before += task.seconds
    return sections
