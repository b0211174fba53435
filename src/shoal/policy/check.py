"""Every problem of a policy at once, as far as it can be told without the data.

The parts are read one by one and kept as far as they are right, so that a slip in one place hides nothing that is
wrong in another, and causes no further complaint.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import did_you_mean
from shoal.hierarchies.hierarchy import is_scalar, scalar_text
from shoal.models import MODELS
from shoal.policy.algorithm_spec import read_algorithm
from shoal.policy.check_columns import check_column, usable
from shoal.policy.check_models import ModelEntry, check_model, read_model, usable_models
from shoal.policy.data_source import COMMON_ENCODINGS, is_encoding
from shoal.policy.draft import Draft, PartialSpec, read_part, read_value
from shoal.policy.engine_spec import check_engine
from shoal.policy.fields import Flag, Output, PathText, Share, Suppressed
from shoal.policy.file_kinds import SUFFIXES, FileKind
from shoal.policy.spec import ColumnSpec, DataSpec
from shoal.policy.utility_spec import read_utility
from shoal.policy.validation_problems import policy_text

__all__ = ["Draft", "check"]

_SETTINGS = {"suppression": Share, "suppressed": Suppressed, "output": Output, "registry": PathText, "recoding": Flag}


def check(raw: Mapping[Any, Any], known_keys: list[str]) -> Draft:
    """Read the parts of a policy and note every problem."""
    draft = Draft()
    for key in raw:
        if key not in known_keys:
            name = "null" if key is None else str(key)
            draft.add(name, "policies have no such key.", did_you_mean(name, known_keys), code="unknown-key")
    _read_data(raw.get("data"), draft)
    columns = _read_columns(raw.get("columns"), draft)
    asked = _read_models(raw.get("privacy"), draft)
    algorithm = read_algorithm(raw.get("algorithm"), columns, draft)
    read_utility(raw.get("utility"), columns, draft)
    check_engine(raw, draft)
    for key, kind in _SETTINGS.items():
        if key in raw:
            read_value(kind, raw[key], key, draft)
    for name, column in columns.items():
        columns[name] = check_column(name, column, draft)
    roles = {name: column.role for name, column in columns.items()}
    if columns and not {"quasi", None} & set(roles.values()):
        draft.add("columns", "no column has the role quasi, so there is nothing to generalize.",
                  "Give the role quasi to the columns that others may know.", code="no-quasi-identifier")  # fmt: skip
    for each in asked:
        check_model(each, asked, columns, roles, draft)
    draft.algorithm = algorithm.whole
    draft.columns = {name: usable(column) for name, column in columns.items()}
    draft.models = usable_models(asked, columns, roles)
    return draft


def _read_data(raw: Any, draft: Draft) -> None:
    if raw is None:
        draft.data = DataSpec(path="")
        return
    draft.data = read_part(DataSpec, raw, "data", draft).whole
    if draft.data is None:
        return
    if not is_encoding(draft.data.encoding):
        where, name = "data.encoding", draft.data.encoding
        draft.add(where, f"there is no text encoding {name!r}.", COMMON_ENCODINGS, code="unknown-encoding")
        draft.data = None
    elif draft.data.sheet is not None and Path(draft.data.path).suffix.lower() not in SUFFIXES[FileKind.EXCEL]:
        draft.add("data.sheet", f"{draft.data.path} is not a workbook, so it has no sheets.",
                  f"Leave sheet out; workbooks are {', '.join(SUFFIXES[FileKind.EXCEL])}.",
                  code="not-a-workbook")  # fmt: skip


def _read_columns(raw: Any, draft: Draft) -> dict[str, PartialSpec[ColumnSpec]]:
    if not isinstance(raw, Mapping) or not raw:
        draft.add("columns", f"must be a mapping from column to {{role: …}} with at least one column{_given(raw)}.",
                  "Write columns: {age: {role: quasi}}.", code="wrong-type")  # fmt: skip
        return {}
    columns: dict[str, PartialSpec[ColumnSpec]] = {}
    for given, content in raw.items():
        if given is None or not is_scalar(given):
            draft.add(f"columns.{policy_text(given)}", "a column's name is text.", code="wrong-type")
            continue
        name = str(scalar_text(given))
        if name in columns:
            draft.add(
                f"columns.{name}", "is listed twice.", "A column has one role: keep one of them.", code="listed-twice"
            )
            continue
        columns[name] = read_part(ColumnSpec, content, f"columns.{name}", draft, stand_ins={"role": "insensitive"})
    return columns


def _given(raw: Any) -> str:
    return "" if raw is None else f" (given: {policy_text(raw)})"


def _read_models(raw: Any, draft: Draft) -> list[ModelEntry]:
    if not isinstance(raw, (list, tuple)) or not raw:
        draft.add("privacy", f"must be a list with at least one model{_given(raw)}.",
                  f"Write privacy: [{next(iter(MODELS.values())).example}].", code="wrong-type")  # fmt: skip
        return []
    read = [read_model(content, f"privacy[{place}]", draft) for place, content in enumerate(raw)]
    return [each for each in read if each is not None]
