"""`verify`: read the policy and the original, and hand both to the independent check as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal import verification
from shoal.io import DatabaseTable, read_batches, to_arrow
from shoal.policy import Policy
from shoal.policy.location import place
from shoal.policy.spec import DataSpec
from shoal.verification import CountedTable, Verification, stated
from shoal.verification.read import Original


def verify(
    release: Any, policy: Policy | Mapping[str, Any] | str | Path, original: Any = None, *, apart: Sequence[str] = ()
) -> Verification:
    """Check a release against its policy and, where it is at hand, against the original.

    ``release`` is the path of a CSV or Parquet file, or a pandas, polars or Arrow table; ``policy`` a `Policy`, its
    content or its path; ``original`` a path, read as the policy's ``data`` says, or a table. Raises `PolicyError` for a
    policy that is wrong and `DataError` for a release or an original that cannot be read at all; everything else that
    is wrong is a failing check. ``apart`` is explained at `shoal.verification.verify`.
    """
    if isinstance(policy, Mapping):
        policy = Policy.model_validate(policy)
    elif not isinstance(policy, Policy):
        policy = Policy.load(policy)
    baggage: list[str] = []
    if not isinstance(release, str | Path | pa.Table | CountedTable):
        baggage = frame_baggage(release)
        release = to_arrow(release)[0]
    return verification.verify(release, stated(policy), _readable(original, policy), apart=apart, baggage=baggage)


def _readable(original: Any, policy: Policy) -> Original | None:
    """The original as the verifier takes it."""
    if original is None or isinstance(original, CountedTable):
        return original
    data = policy.data or DataSpec(path="")
    if isinstance(original, str | Path | DatabaseTable):
        source = data.source(place(original))
        return lambda names: read_batches(source, names)
    return lambda names: to_arrow(original, names, missing=data.missing)[0]


def frame_baggage(frame: Any) -> list[str]:
    """What a DataFrame carries besides its cells: row labels other than a count from 0, names, attrs, categories."""
    found = []
    for name, kind in _categoricals(frame):
        held = len(frame[name].dropna().unique())
        if held < len(kind.categories):
            unused = len(kind.categories) - held
            found.append(f"the categorical column {name!r} lists {unused:,} values that no record holds")
    index: Any = getattr(frame, "index", None)
    columns: Any = getattr(frame, "columns", None)
    if not hasattr(index, "nlevels") or not hasattr(columns, "nlevels"):
        return found
    if index.nlevels > 1 or index.tolist() != list(range(len(index))):
        found.append("its index holds values: row labels go with it; call reset_index(drop=True)")
    if named := [name for name in (*index.names, *columns.names) if name is not None]:
        found.append(f"its index or the list of its columns has a name ({', '.join(map(str, named))})")
    if attrs := getattr(frame, "attrs", None):
        found.append(f"it carries attrs ({', '.join(sorted(map(str, attrs)))})")
    return found


def _categoricals(frame: Any) -> list[tuple[str, Any]]:
    """The columns of a DataFrame that carry a list of categories, told by what they have."""
    dtypes = getattr(frame, "dtypes", None)
    if dtypes is None or not hasattr(dtypes, "items"):
        return []
    return [(name, kind) for name, kind in dtypes.items() if hasattr(kind, "categories") and hasattr(kind, "ordered")]
