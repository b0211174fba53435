"""A table that is read and encoded once while its policy changes under a person's hands.

What takes long is reading the file and turning its values into codes. Both depend only on the columns of a policy (and
on what is published of sensitive ones); models, algorithm and suppression are put in place of the earlier ones at
once. Files of hierarchies are read when columns are encoded: an edit to such a file needs a new `prepare`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.encode.resolve import resolve, resolve_again, used_columns
from shoal.errors import DataError
from shoal.io import DatabaseTable, column_names, frame_names, is_frame
from shoal.pipeline.run import Clock, Loaded, Prepared, data_source, needs_order, prepare, read_columns
from shoal.policy import Policy
from shoal.utility import check_task


def load_all(data: Any, policy: Policy) -> Loaded:
    """Read every column of the input, so that any of them may become part of the policy later."""
    if is_frame(data):
        names = frame_names(data)
    elif data is None or isinstance(data, (str, Path, DatabaseTable)):
        names = column_names(data_source(policy, data))
    else:
        names = []
    return read_columns(data, policy, names)[0]


def prepare_again(before: Prepared | Loaded, policy: Policy) -> Prepared:
    """The same table under a changed policy; encoded anew only where its columns are others.

    To look at, not to run: `ready_to_run` makes it fit for that. Raises `PolicyError` like `resolve`, and `DataError`
    where the policy needs the table to be read again.
    """
    loaded = before if isinstance(before, Loaded) else before.loaded
    unread = [name for name in used_columns(policy) if name in loaded.names and name not in loaded.table.column_names]
    if unread:
        raise DataError(f"the columns {', '.join(map(repr, unread))} have not been read. Read the table again.")
    if isinstance(before, Loaded):
        return Prepared(loaded, resolve(policy, loaded.table), policy)
    if before.policy.data != policy.data:
        raise DataError("data: has changed, so the table that was read is not the one meant. Read it again.")
    if same_columns(before.policy, policy):
        return Prepared(loaded, resolve_again(policy, before.resolved), policy)
    return Prepared(loaded, resolve(policy, loaded.table), policy)


def same_columns(one: Policy, other: Policy) -> bool:
    """Whether two policies encode a table alike: same columns in the same order, same folder, same values published."""
    if one is other:
        return True
    names = used_columns(one)
    if names != used_columns(other) or one.path(".") != other.path("."):
        return False
    return all(one.columns[name] == other.columns[name] for name in names) and all(
        one.published(name) == other.published(name) for name in one.names("sensitive")
    )


def ready_to_run(prepared: Prepared) -> Prepared:
    """What a run needs beside the codes: only the policy's columns, and rows in the order that its algorithm asks."""
    policy, loaded = prepared.policy, prepared.loaded
    used = set(used_columns(policy))
    narrow = replace(loaded, table=loaded.table.select([name for name in loaded.table.column_names if name in used]))
    if needs_order(policy):
        return prepare(narrow, policy, Clock())
    check_task(policy, narrow.table, prepared.resolved)
    return Prepared(narrow, prepared.resolved, policy)
