"""A finished run as the desk answers about it: what it was made from, what it became, and the table beside it."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.result import release_columns
from shoal.errors import InputError
from shoal.hierarchies.hierarchy import Label
from shoal.io import encode
from shoal.policy import Policy
from shoal.search.problem import Problem
from shoal.table.recoding import Recoding
from shoal.ui.desk.desk import Desk
from shoal.ui.server.runs import OUT, SAVED, STATUS
from shoal.ui.server.workspace import read_json

Ints = NDArray[np.int64]
_HELD = 2  # runs that are held at once: more would only take memory


@dataclass(frozen=True, eq=False)
class SavedRun:
    """One finished release run."""

    number: str
    policy: Policy
    problem: Problem  # what was searched, a row per record of the file
    recoding: Recoding
    table: pa.Table  # the released table
    original: pa.Table  # every column of the file, in its own order
    evidence: Mapping[str, Any]
    started: float | None  # when it was started: numbers may be given again
    cache: dict[str, Any] = field(default_factory=dict)  # what answers about this run keep for the next time

    @cached_property
    def record_class(self) -> Ints:
        """Class of each record of the file, -1 for one that was left out."""
        return self.recoding.row_class.astype(np.int64)

    @property
    def released_columns(self) -> list[str]:
        """The columns of the file that are in the release."""
        return release_columns(self.policy, self.original.column_names)

    def values(self, name: str) -> tuple[list[Label], Ints]:
        """The distinct texts of a column of the file, and which of them each record has."""
        known = self.cache.setdefault("values", {})
        if name not in known:
            labels, codes = encode(self.original.column(name))
            known[name] = (labels, codes.astype(np.int64))
        found: tuple[list[Label], Ints] = known[name]
        return found

    def leaf_codes(self, column: int) -> Ints:
        """Leaf of each record in the hierarchy of a quasi-identifier."""
        return np.asarray(self.problem.table.codes[column][self.problem.table.row_tuple], dtype=np.int64)

    def labels_of(self, at: int) -> dict[str, Label]:
        """What a class shows in the release."""
        cells = zip(self.recoding.quasi, self.recoding.hierarchies, self.recoding.nodes[at].tolist(), strict=True)
        return {name: hierarchy.labels[node] for name, hierarchy, node in cells}


def saved_run(desk: Desk, query: Mapping[str, Any]) -> SavedRun:
    """The finished run that a question names; read once, and held until others are asked about."""
    number = str(query.get("run", ""))
    folder = desk.workspace.run(number)
    held: dict[str, SavedRun] = desk.cache.setdefault("saved runs", {})
    path = folder / OUT / SAVED
    if not path.is_file():
        held.pop(number, None)
        message = f"Run {number} has no release: it is not finished, it failed, or it drew a lattice."
        raise InputError(message, code="no-release")
    begun = read_json(folder / STATUS).get("started")
    if number in held and held[number].started != begun:  # a number that was given again
        del held[number]
    if number not in held:
        found = pickle.loads(path.read_bytes())  # noqa: S301 - our own file, in a folder that only its owner may write
        evidence = read_json(folder / OUT / "evidence.json")
        spec = desk.data_spec(found["policy"].to_dict())  # which need not be how the policy reads the file now
        original = desk.table() if spec == desk.data_spec() else desk.read(desk.workspace.table(), spec)
        held[number] = SavedRun(number, original=original, evidence=evidence, started=begun, **found)
        while len(held) > _HELD:
            del held[next(iter(held))]
    return held[number]
