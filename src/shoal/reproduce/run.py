"""`reproduce`: every worked table and experiment of the papers, and the folder of sheets, plots and report."""

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
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_|<>[]"})


@dataclass(frozen=True)
class Reproduction:
    """The sections and where their files are."""

    papers: tuple[str, ...]
    records: int | None  # records of Adult without unknown values; None where none was needed
    quick: bool
    seconds: float
    sections: tuple[Section, ...]
    paths: tuple[Path, ...] = ()  # the report first, then sheets and plots

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
            "papers": list(self.papers),
            "records": self.records,
            "quick": self.quick,
            "seconds": round(self.seconds, 3),
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
    named = [papers] if isinstance(papers, str) else list(papers)
    for name in named:
        if name not in {*PAPERS, ALL}:
            raise InputError(f"Unknown paper {name!r}. {did_you_mean(name, [*PAPERS, ALL])}", code="unknown-paper")
    if not named:
        raise InputError(f"Name a paper: {', '.join([*PAPERS, ALL])}.", code="no-paper")
    names = [name for name in PAPERS if name in named or ALL in named]
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
    result = Reproduction(tuple(names), records, quick, time.perf_counter() - started, tuple(sections))
    texts = {"REPORT.md": report(result)}
    for section in sections:
        texts |= {f"{sheet.name}.csv": _csv(sheet) for sheet in section.sheets}
        texts |= {f"{drawing.name}.svg": drawing.svg for drawing in section.drawings}
    write_folder(folder, texts, force=force)
    return replace(result, paths=tuple(folder / name for name in texts))


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

        def report_progress(stage: str, share: float, task: Task = task, before: float = before) -> None:
            progress(f"{task.paper}: {stage}", (before + task.seconds * share) / total)

        report_progress(task.title, 0.0)
        sections += task.make(replace(setting, progress=report_progress))
        before += task.seconds
    return sections


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


def report(result: Reproduction) -> str:
    """The report in Markdown: how statements came out, where papers contradict themselves, and every section."""
    lines = ["# The papers, reproduced", "", _run(result), ""]
    lines += [f"| paper | statements | {' | '.join(VERDICTS)} |", f"|---|---:|{'---:|' * len(VERDICTS)}"]
    slips, below = [], []
    for paper in result.papers:
        title = Paper(paper).title
        authors, sections = title.partition(":")[0], [each for each in result.sections if each.paper == paper]
        said = [each for section in sections for each in section.statements]
        counts = [sum(each.verdict == verdict for each in said) for verdict in VERDICTS]
        lines.append(f"| {authors} | {len(said)} | {' | '.join(map(str, counts))} |")
        for each in said:
            if each.verdict in {SLIP, FAILED}:
                about, printed, found, why = map(_plain, (each.about, each.paper, each.found, each.why))
                head = f"- {'' if each.holds else f'**{FAILED}** '}{authors}, {about}: "
                slips.append(f"{head}the paper has {printed or 'nothing'}, computed is {found}. {why}".rstrip())
        below += [f"## {title}", "", *(line for section in sections for line in _section(section))]
    contradictions = ["## Where a paper contradicts itself", "", *slips, ""] if slips else []
    return "\n".join([*lines, "", *contradictions, *below])


def _run(result: Reproduction) -> str:
    if result.records is None:
        data = "Worked tables only; no data was needed."
    else:
        data = f"Experiments on Adult, {result.records:,} records without unknown values."
        quick = " **A quick run**: on seeded samples with fewer points; its figures are not those of the papers' scale."
        data += quick if result.quick else ""
    return (
        f"{data} Made by Shoal {version('shoal')} on Python {platform.python_version()}, {os.cpu_count()} cores, in "
        f"{result.seconds:,.0f} seconds. Times depend on the machine and its load; everything else is the same in "
        "every run. Statements about worked tables are asserted: a figure that does not come out is marked NOT "
        "REPRODUCED."
    )


def _section(section: Section) -> list[str]:
    lines = [f"### {_plain(section.title)}", "", f"*{_plain(section.source)}*", ""]
    for drawing in section.drawings:
        lines += [f"![{_plain(drawing.caption)}]({drawing.name}.svg)", "", f"*{_plain(drawing.caption)}*", ""]
    reports, measured, differs = map(_plain, (section.reports, section.measured, section.differs))
    said = f"**The paper reports.** {reports} **We measure.** {measured} **Why they differ.** {differs}"
    files = ", ".join(f"[{sheet.name}.csv]({sheet.name}.csv)" for sheet in section.sheets)
    return [*lines, said, "", f"Data: {files}", ""]


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
    records = f" on {pluralize(result.records, 'record')} of Adult" if result.records is not None else ""
    quick = " (quick: seeded samples)" if result.quick and records else ""
    yield ""
    yield f"{pluralize(len(result.sections), 'section')}{records}{quick} in {result.seconds:.0f} s."
    yield f"  report {result.paths[0]}, with {pluralize(len(result.paths) - 1, 'more file')}"
