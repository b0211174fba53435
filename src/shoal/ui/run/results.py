"""Questions about a run as a whole: what the report says of it, why a record was generalized, and its files."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.attacks.attack import AttackResult
from shoal.encode.result import with_chosen
from shoal.errors import InputError
from shoal.evidence.evidence import Evidence
from shoal.evidence.formulas import is_formula
from shoal.io import canonical_text, sha256_of
from shoal.models import model_title
from shoal.pipeline.why.explain import Why, explain
from shoal.present.attacks import by_severity
from shoal.present.report.attackers import attackers_section
from shoal.present.report.class_sizes import class_sizes_section
from shoal.present.report.limitations import limitations_section
from shoal.present.report.summary import summary_section
from shoal.present.verdict import advice_sentence
from shoal.present.why import explanation
from shoal.ui.desk.desk import Desk
from shoal.ui.run.saved_run import SavedRun, saved_run
from shoal.ui.server.workspace import OUT, read_json

_SECTIONS = {
    "verdict": summary_section,
    "attackers": attackers_section,
    "sizes": class_sizes_section,
    "limitations": limitations_section,
}


def about_run(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Some sections of the report of a run, in the report's own markup. With the attackers comes what helps against
    each attack that leaks: its index in the report, and the changes to the policy with their edits.
    """
    evidence = Evidence.read(saved_run(desk, query).evidence)
    wanted = [name for name in query.get("sections", _SECTIONS) if name in _SECTIONS]
    answer: dict[str, Any] = {name: "".join(_SECTIONS[name](evidence)) for name in wanted}
    if "attackers" in wanted:
        leaks = ((index, each) for index, each in enumerate(by_severity(evidence.attacks)) if each.leak)
        answer["remedies"] = [{"index": index, "changes": _changes(evidence, each)} for index, each in leaks]
    return answer


def _changes(evidence: Evidence, attack: AttackResult) -> list[dict[str, Any]]:
    """The changes that would stop a leak, as buttons; those without edits are sentences."""
    advice = () if evidence.verdict is None else evidence.verdict.advice
    return [
        {
            "label": advice_sentence(each),
            "code": each.code,
            "edits": [edit.to_dict() for edit in each.edits],
            "model": each.model,
        }
        for each in advice
        if (each.attack, each.sensitive, each.by) == (attack.name, attack.sensitive, attack.columns or ())
    ]


def why(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Why a record (``record``) or a class (``class``) was generalized so far, in words and column by column."""
    run = saved_run(desk, query)
    given = {"record": query.get("record"), "in_class": query.get("class")}
    answer = explain(run.problem, run.recoding, with_chosen(run.policy, run.evidence["search"]).algorithm.name, **given)
    assert isinstance(answer, Why), "only values can fit several records"
    facts = {"record": answer.record, "class": answer.number, "size": answer.size}
    return {**explanation(answer, model_title), **facts}


def run_files(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The files of a run to download, the commands that make and check the same, and cells that look like formulas."""
    run, data = saved_run(desk, query), desk.workspace.table().name
    folder = desk.workspace.run(run.number) / OUT
    forms = read_json(folder / "files.json").items()
    return {
        "forms": run.cache.once(
            "forms", lambda: [_form(run, data, folder / form, form, names) for form, names in forms]
        ),
        "data": data,
        "formulas": run.cache.once("formulas", lambda: _formulas(run.table)),
    }


def _form(run: SavedRun, data: str, folder: Path, form: str, names: Mapping[str, str]) -> dict[str, Any]:
    given = run.policy.data is not None and run.policy.data.path == data
    make = ["shoal", "anonymize", names["policy"], *([] if given else ["--data", data]), "--out", names["release"]]
    check = ["shoal", "verify", names["release"], "--policy", names["policy"], "--original", data]
    files = []
    for what, name in names.items():
        path = folder / name
        if not path.is_file():
            raise InputError(f"The file {name} of this run is gone. Run it again.", code="file-gone")
        files.append({"what": what, "name": name, "bytes": path.stat().st_size, "sha256": sha256_of(path)})
    return {"form": form, "files": files, "make": shlex.join(make), "check": shlex.join(check)}


def _formulas(table: pa.Table) -> list[dict[str, Any]]:
    """For each released column the cells that a spreadsheet may take for a formula; plain numbers are none."""
    found = []
    for name in table.column_names:
        counted = canonical_text(table.column(name)).value_counts()
        texts, counts = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
        cells = {text: count for text, count in zip(texts, counts, strict=True) if is_formula(text)}
        if cells or is_formula(name):
            found.append({"column": name, "cells": sum(cells.values()), "example": min(cells, default=name)})
    return found
