"""`reproduce`: every worked table and experiment of the papers, and the folder of sheets, plots and report."""

from __future__ import annotations

import csv
import io
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.datasets import load_adult
from shoal.errors import InputError, OutputError, did_you_mean
from shoal.formatting import pluralize
from shoal.io import Staged, in_order_of_content
from shoal.present.terminal import NOTHING, aligned
from shoal.reproduce import campan, mahesh, man, sun, wang
from shoal.reproduce.paper import FAILED, SLIP, VERDICTS, Paper, Section, Setting, Sheet, Statement, Task
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


REPORT = "REPORT.md"
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_|<>[]"})


@dataclass(frozen=True)
class RunFacts:
    """What a run was."""

    papers: tuple[str, ...]
    records: int | None
    """Records of Adult without unknown values; None where none was needed."""
    quick: bool
    seconds: float


def texts_of(sections: Sequence[Section], facts: RunFacts) -> dict[str, str]:
    """The files by name, the report first."""
    texts = {REPORT: report(sections, facts)}
    for section in sections:
        texts |= {f"{sheet.name}.csv": _csv(sheet) for sheet in section.sheets}
        texts |= {f"{drawing.name}.svg": drawing.svg for drawing in section.drawings}
    return texts


def write_folder(folder: Path, texts: Mapping[str, str], *, force: bool) -> None:
    """Put all files in place together; a folder that was made for them goes again where that fails."""
    paths = {folder / name: text for name, text in texts.items()}
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Staged(list(paths), force=force) as stage:
            for path, text in paths.items():
                stage.path(path).write_text(text, encoding="utf-8", newline="")
            stage.commit()
        made = False
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror or error}.", code="not-writable") from None
    finally:
        if made and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _csv(sheet: Sheet) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(sheet.header)
    writer.writerows(sheet.rows)
    return text.getvalue()


def report(sections: Sequence[Section], facts: RunFacts) -> str:
    """The report in Markdown."""
    lines = ["# The papers, reproduced", "", _run(facts), "", *_summary(sections, facts), *_slips(sections)]
    for paper in facts.papers:
        lines += [f"## {Paper(paper).title}", ""]
        for section in sections:
            if section.paper == paper:
                lines += _section(section)
    return "\n".join(lines)


def _run(facts: RunFacts) -> str:
    if facts.records is None:
        data = "Worked tables only; no data was needed."
    else:
        data = f"Experiments on Adult, {facts.records:,} records without unknown values."
        if facts.quick:
            data += (
                " **A quick run**: on seeded samples with fewer points; its figures are not those of the papers' scale."
            )
    return (
        f"{data} Made by Shoal {version('shoal')} on Python {platform.python_version()}, {os.cpu_count()} cores, in "
        f"{facts.seconds:,.0f} seconds. Times are of this machine and of what else it did meanwhile; everything else "
        "repeats. Statements about worked tables are asserted: a figure that does not come out is marked NOT "
        "REPRODUCED."
    )


def _summary(sections: Sequence[Section], facts: RunFacts) -> list[str]:
    """One line a paper: how its statements came out."""
    lines = [f"| paper | statements | {' | '.join(VERDICTS)} |", f"|---|---:|{'---:|' * len(VERDICTS)}"]
    for paper in facts.papers:
        said = [each for section in sections if section.paper == paper for each in section.statements]
        counts = [sum(each.verdict == verdict for each in said) for verdict in VERDICTS]
        lines.append(f"| {_authors(paper)} | {len(said)} | {' | '.join(map(str, counts))} |")
    return [*lines, ""]


def _authors(paper: str) -> str:
    return Paper(paper).title.partition(":")[0]


def _slips(sections: Sequence[Section]) -> list[str]:
    """Every place where a paper differs from its own tables or definitions, and every failure of ours."""
    shown: list[tuple[str, Statement]] = [
        (section.paper, each) for section in sections for each in section.statements if each.verdict in {SLIP, FAILED}
    ]
    if not shown:
        return []
    lines = ["## Where a paper contradicts itself", ""]
    for paper, each in shown:
        failed = f"**{FAILED}** " if not each.holds else ""
        lines.append(
            f"- {failed}{_authors(paper)}, {_plain(each.about)}: the paper has "
            f"{_plain(each.paper) or 'nothing'}, "
            f"computed is {_plain(each.found)}. {_plain(each.why)}".rstrip()
        )
    return [*lines, ""]


def _section(section: Section) -> list[str]:
    lines = [f"### {_plain(section.title)}", "", f"*{_plain(section.source)}*", ""]
    for drawing in section.drawings:
        lines += [f"![{_plain(drawing.caption)}]({drawing.name}.svg)", "", f"*{_plain(drawing.caption)}*", ""]
    lines += [
        f"**The paper reports.** {_plain(section.reports)} **We measure.** {_plain(section.measured)} "
        f"**Why they differ.** {_plain(section.differs)}",
        "",
        f"Data: {', '.join(f'[{sheet.name}.csv]({sheet.name}.csv)' for sheet in section.sheets)}",
        "",
    ]
    return lines


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return text.translate(_SPECIAL)


def summary_lines(result: Reproduction) -> Iterator[str]:
    """What the command line shows: one line per section, what failed, and where the report is."""
    rows = [["paper", "section", "equal", "slips", "silent", "failed"]]
    for section in result.sections:
        verdicts = [each.verdict for each in section.statements]
        counts = [str(verdicts.count(name)) if verdicts else NOTHING for name in VERDICTS]
        rows.append([section.paper, section.title, *counts])
    yield from aligned(rows)
    for each in result.failures:
        yield f"{FAILED}: {each.about}: expected {each.expected or each.paper}, computed {each.found}."
    facts = result.facts
    records = f" on {pluralize(facts.records, 'record')} of Adult" if facts.records is not None else ""
    quick = " (quick: seeded samples)" if facts.quick and records else ""
    yield ""
    yield f"{pluralize(len(result.sections), 'section')}{records}{quick} in {facts.seconds:.0f} s."
    yield f"  report {result.paths[0]}, with {pluralize(len(result.paths) - 1, 'more file')}"
