"""Questions about a run as a whole: what the report says of it, why a record came out so, and its files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError
from shoal.evidence import Evidence
from shoal.hierarchies.decimals import parse_decimal
from shoal.io import canonical_text, sha256_of
from shoal.pipeline.why.explain import Why, explain
from shoal.pipeline.why.words import lines
from shoal.present.report.attackers import attackers_section
from shoal.present.report.class_sizes import class_sizes_section
from shoal.present.report.limitations import limitations_section
from shoal.present.report.summary import summary_section
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.titles import remedies, titled
from shoal.ui.server.runs import OUT
from shoal.ui.server.saved_runs import Kept, kept_run

_SECTIONS = {
    "verdict": summary_section,
    "attackers": attackers_section,
    "sizes": class_sizes_section,
    "told": limitations_section,
}
_FORMULA = ("=", "+", "-", "@")
"""What makes a spreadsheet take a text for a formula."""


def about_run(desk: Desk, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Some sections of the report of a run, in the report's own markup; with the attackers what helps against them."""
    kept = kept_run(desk, asked)
    wanted = [name for name in asked.get("sections", _SECTIONS) if name in _SECTIONS]
    evidence = Evidence.read(kept.evidence)
    told: dict[str, Any] = {name: "".join(_SECTIONS[name](evidence)) for name in wanted}
    return told | ({"remedies": remedies(evidence)} if "attackers" in wanted else {})


def why(desk: Desk, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Why a record (``record``) or a class (``class``) was generalized so far, in words and column by column."""
    kept = kept_run(desk, asked)
    given = {"record": asked.get("record"), "in_class": asked.get("class")}
    answer = explain(kept.origin, kept.recoding, kept.policy.algorithm.name, **given)
    assert isinstance(answer, Why), "only values can fit several records"
    told = _parted(titled(answer))
    return {**told, "record": answer.record, "class": answer.number, "size": answer.size}


def _parted(answer: Why) -> dict[str, Any]:
    """The lines of an answer as a page shows them: the head, what is said of it, and a list for each column."""
    head: list[str] = []
    said: list[str] = []
    columns: list[dict[str, Any]] = []
    for line in lines(answer):
        begun = len(columns) < len(answer.columns) and line.startswith(f"- {answer.columns[len(columns)].column}: ")
        if begun:
            column = answer.columns[len(columns)]
            columns.append({"column": column.column, "verdict": column.verdict, "title": line[2:], "lines": []})
        elif columns:
            columns[-1]["lines"].append(line.strip())
        elif line.startswith("  "):
            said.append(line.strip())
        elif not line.endswith("column by column:"):
            head.append(line)
    return {"head": head, "said": said, "columns": columns}


def run_files(desk: Desk, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The files of a run to take away, the commands that make and check the same, and cells that look like formulas."""
    kept = kept_run(desk, asked)
    if "files" not in kept.notes:
        folder = desk.workspace.run(kept.number) / OUT
        forms = json.loads((folder / "files.json").read_text(encoding="utf-8"))
        kept.notes["files"] = {
            "forms": [_form(desk, kept, folder / form, form, names) for form, names in forms.items()],
            "data": desk.path().name,
            "formulas": _formulas(kept.table),
        }
    found: dict[str, Any] = kept.notes["files"]
    return found


def _form(desk: Desk, kept: Kept, folder: Path, form: str, names: Mapping[str, str]) -> dict[str, Any]:
    data = desk.path().name
    given = kept.policy.data is not None and kept.policy.data.path == data
    make = ["shoal", "anonymize", names["policy"], *([] if given else ["--data", data]), "--out", names["release"]]
    check = ["shoal", "verify", names["release"], "--policy", names["policy"], "--original", data]
    return {
        "form": form,
        "files": [{"what": what, **_file(folder / name)} for what, name in names.items()],
        "make": shlex.join(make),
        "check": shlex.join(check),
    }


def _file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputError(f"the file {path.name} of this run is gone. Run it again.")
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": sha256_of(path)}


def _formulas(table: pa.Table) -> list[dict[str, Any]]:
    """For each released column the cells that a spreadsheet may take for a formula; plain numbers are none."""
    found = []
    for name in table.column_names:
        counted = canonical_text(table.column(name)).value_counts()
        texts, counts = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
        cells = {text: count for text, count in zip(texts, counts, strict=True) if _is_formula(text)}
        if cells or _is_formula(name):
            first = min(cells, default=name)
            found.append({"column": name, "cells": sum(cells.values()), "example": first})
    return found


def _is_formula(text: str | None) -> bool:
    return text is not None and text.startswith(_FORMULA) and parse_decimal(text) is None
