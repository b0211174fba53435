"""The files of a reproduction: sheets as CSV, plots as SVG, and a report that says what they show."""

from __future__ import annotations

import csv
import io
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import OutputError
from shoal.formatting import pluralize
from shoal.io import Staged
from shoal.present.terminal import NOTHING, aligned
from shoal.reproduce.paper import FAILED, SLIP, VERDICTS, Paper, Section, Sheet, Statement

if TYPE_CHECKING:
    from shoal.reproduce.run import Reproduction

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
