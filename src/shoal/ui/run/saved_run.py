"""A finished run as the desk answers about it: what it was made from, what it became, and the table beside it."""

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
from shoal.policy import Policy
from shoal.search.problem import Problem
from shoal.table.recoding import Recoding
from shoal.ui.desk.desk import Cache, Desk
from shoal.ui.server.workspace import OUT, SAVED, STATUS, read_json

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
    cache: Cache = field(default_factory=Cache)

    @cached_property
    def record_class(self) -> Ints:
        """Class of each record of the file, -1 for one that was suppressed."""
        return self.recoding.row_class.astype(np.int64)

    @property
    def released_columns(self) -> list[str]:
        """The columns of the file that are in the release."""
        return release_columns(self.policy, self.original.column_names)

    def leaf_codes(self, column: int) -> Ints:
        """Leaf of each record in the hierarchy of a quasi-identifier."""
        return np.asarray(self.problem.table.codes[column][self.problem.table.row_tuple], dtype=np.int64)


def saved_run(desk: Desk, query: Mapping[str, Any]) -> SavedRun:
    """The finished run that a question names; read once, and held until others are asked about."""
    number = str(query.get("run", ""))
    folder = desk.workspace.run(number)
    held: dict[str, SavedRun] = desk.cache.once("saved runs", dict)
    if not (folder / OUT / SAVED).is_file():
        held.pop(number, None)
        message = f"Run {number} has no release: it is not finished, it failed, or it drew a lattice."
        raise InputError(message, code="no-release")
    started = read_json(folder / STATUS).get("started")
    if number not in held or held[number].started != started:  # a number may be given again
        found = pickle.loads((folder / OUT / SAVED).read_bytes())  # noqa: S301 - our own file, in a folder that only its owner may write
        evidence = read_json(folder / OUT / "evidence.json")
        spec = desk.data_spec(found["policy"].to_dict())  # which need not be how the policy reads the file now
        original = desk.table() if spec == desk.data_spec() else desk.read(desk.workspace.table(), spec)
        held.pop(number, None)
        held[number] = SavedRun(number, original=original, evidence=evidence, started=started, **found)
        while len(held) > _HELD:
            del held[next(iter(held))]
    return held[number]
