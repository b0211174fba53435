"""`apply`: new records recoded with a recoding that is already published, without weakening it.

The union of everything published by the recoding must satisfy the policy, and so must the new records alone, because
whoever has the earlier release can take it away from the later one. Only when the owner says that the earlier release
is withdrawn (``replaces``) is the union all that counts. Records that cannot be released are withheld and counted by
reason.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.attacks.registry.people import NewRelease
from shoal.attacks.registry.signature import signature_of
from shoal.attacks.scene_setup import rows_of_release
from shoal.encode.released_table import build_table
from shoal.encode.resolve import unknown_columns, used_columns
from shoal.errors import PolicyError, WithheldError
from shoal.evidence import Evidence
from shoal.io import Kind, from_arrow, in_order_of_cells
from shoal.pipeline.apply.applied_evidence import applied_evidence
from shoal.pipeline.apply.encode_new import NewRecords, encode_new
from shoal.pipeline.apply.fitting_classes import Fitting, fitting
from shoal.pipeline.apply.published import Base, read_base, together
from shoal.pipeline.apply.verify_applied import verified
from shoal.pipeline.apply.withheld import Withheld, row_reasons, withheld_reasons
from shoal.pipeline.registry_options import Keeping, with_composition
from shoal.pipeline.run import Clock, Loaded, Unverified, composed_with, read_columns
from shoal.pipeline.write import policy_files
from shoal.policy import Policy
from shoal.search.extension.extend import Extended, Extension
from shoal.search.extension.published_classes import Before
from shoal.search.problem import Progress, no_progress
from shoal.table.classes import Histogram
from shoal.table.recoding import SUPPRESSED, Recoding

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Applied:
    """New records that may be released, verified, and why others may not."""

    policy: Policy
    table: pa.Table
    """The new records as released, as Arrow."""
    base: Base = field(repr=False)
    made: Unverified = field(repr=False)
    evidence: Evidence = field(repr=False)
    withheld: tuple[Withheld, ...]
    """Every reason for which records are withheld, with their number."""
    reasons: tuple[str | None, ...] = field(repr=False)
    """For each new record, in the order of the data, why it is withheld; None for one that is released."""
    keeping: Keeping = field(repr=False)
    replaces: bool = False
    kind: Kind = Kind.ARROW
    inputs: tuple[Path, ...] = field(default=(), repr=False)
    """The files that were read; an output must never replace one."""

    def __repr__(self) -> str:
        """The counts in one line."""
        facts = self.evidence
        return (
            f"<Applied: {facts['released']} of {facts['records']} new records in {facts['classes']} "
            f"class{'' if facts['classes'] == 1 else 'es'}, {facts['suppressed']} withheld>"
        )

    @property
    def data(self) -> Any:
        """The new records as released, in the kind that came in: pandas, polars or Arrow."""
        return from_arrow(self.table, self.kind)

    @property
    def original(self) -> pa.Table:
        """The new records as they came in: the columns that the policy names, in the order of the data."""
        order = self.made.loaded.order
        assert order is not None
        return self.made.loaded.table.take(pa.array(np.argsort(order)))

    @property
    def union(self) -> pa.Table:
        """Everything published by the recoding, the new records included, sorted by its cells."""
        return in_order_of_cells(together([self.base.table, self.table]))

    def write(self, path: str | Path, *, union: bool = False, force: bool = False) -> Mapping[str, Path]:
        """Write the new records (or the union) with evidence, report and recoding; returns their paths.

        Where the earlier release is withdrawn the union is written: it is what takes its place.
        """
        from shoal.pipeline.apply.write_applied import write_applied  # noqa: PLC0415 - it builds on this file

        return write_applied(self, Path(path), union=union, force=force)


def apply(
    recoding: Any,
    data: Any,
    *,
    policy: Policy | str | Path | None = None,
    replaces: bool = False,
    registry: str | Path | None = None,
    as_of: str | datetime.date | None = None,
    fail_on: Sequence[str] = (),
    progress: Progress = no_progress,
) -> Applied:
    """Recode new records with a recoding that is already published.

    ``recoding`` is the path of a ``*.recoding.json``, the path of a release with its ``policy`` given and its evidence
    beside it, or a `Release`. ``data`` is a path, read as the policy's ``data`` says, or a table. With ``replaces`` the
    earlier release counts as withdrawn. ``registry``, ``as_of`` and ``fail_on`` are as for `publish`.

    Raises `WithheldError` when no record can be released, and `InputError` for input that is wrong.
    """
    clock = Clock()
    progress("reading", 0.0)
    with clock.stage("read"):
        base = read_base(recoding, policy)
        keeping = _keeping(base, Keeping.of(base.policy, registry=registry, as_of=as_of, fail_on=fail_on), replaces)
        loaded = _load(data, base.policy)
    with clock.stage("encode"):
        new = encode_new(loaded, base)
        fits = fitting(new, base)
    progress("recoding", 0.0)
    with clock.stage("recode"):
        extension = _extension(new, base, len(fits.nodes), alone=not replaces)
        extended = extension.extend(fits.candidates)
        withheld = withheld_reasons(new, extension, extended)
        if not (extended.row_class >= 0).any():
            raise _nothing(len(extended.row_class), withheld)
        made = _made(new, base, fits, extended)
    progress("verifying", 0.0)
    with clock.stage("verify"):
        verification = verified(made, base, replaces=replaces)
        verification.raise_if_failed()
    composed = _composed(made, base, keeping, clock, progress, replaces=replaces)
    evidence = applied_evidence(
        made, base, extension, extended, withheld, verification, clock, progress, replaces=replaces
    )
    evidence = with_composition(evidence, composed)
    keeping.refuse(evidence["attacks"])
    keeping.refuse(evidence["attacks"])
    reasons = _reasons(new, extended, withheld)
    inputs = [Path(each) for each in (recoding, data) if isinstance(each, (str, Path))]
    return Applied(
        policy=base.policy,
        table=made.table,
        base=base,
        made=made,
        evidence=evidence,
        withheld=withheld,
        reasons=reasons,
        keeping=keeping,
        replaces=replaces,
        kind=loaded.kind,
        inputs=(*inputs, *policy_files(base.policy), *(file.path for file in base.files)),
    )


def _keeping(base: Base, keeping: Keeping, replaces: bool) -> Keeping:
    """Where the earlier release is withdrawn, its entries are replaced by that of the union."""
    if keeping.registry is None or not replaces:
        return keeping
    known = [keeping.registry.of_release(file.sha256) for file in base.files]
    return replace(keeping, replaces=tuple(entry for entry in known if entry is not None))


def _composed(
    made: Unverified, base: Base, keeping: Keeping, clock: Clock, progress: Progress, *, replaces: bool
) -> dict[str, Any]:
    """What the new records tell beside earlier releases: in the union where that takes their place, else alone."""

    def new() -> NewRelease:
        if not replaces:
            return made.as_new()
        rows = rows_of_release(together([base.table, made.table]), base.policy)
        shown = signature_of(base.policy, rows)
        return NewRelease(made.policy, made.loaded.table, made.resolved.problem, made.recoding, shown)

    return composed_with(keeping, new, clock, progress)


def _load(data: Any, policy: Policy) -> Loaded:
    """The new records; identifiers need not be there."""
    wanted = used_columns(policy)
    loaded, hint = read_columns(data, policy, wanted)
    lacking = unknown_columns({name: policy.columns[name] for name in wanted}, loaded.names, hint)
    if lacking:
        raise PolicyError(lacking, policy.source)
    return loaded


def _extension(new: NewRecords, base: Base, n_classes: int, *, alone: bool) -> Extension:
    """The published classes beside the new records."""
    problem, rows = new.resolved.problem, base.rows
    sizes = np.bincount(rows.owner, weights=rows.weights, minlength=n_classes).astype(np.int64)
    entries = {}
    for name in problem.sensitive_columns:
        values, codes = rows.sensitive[name]
        place = {value: code for code, value in enumerate(problem.domains[name].values)}
        number = np.array([place[value] for value in values], dtype=np.int32)
        held = Histogram.of(rows.owner, number[codes], n_classes, len(place), rows.weights)
        entries[name] = (held.class_of, held.values, held.counts)
    secrets = {name: problem.table.row_sensitive[name] for name in problem.sensitive_columns}
    return Extension(problem.models, problem.domains, Before(sizes, entries), secrets, alone)


def _made(new: NewRecords, base: Base, fits: Fitting, extended: Extended) -> Unverified:
    """The recoding of the new records, classes in the order of their nodes, and the table that is released."""
    used = np.unique(extended.row_class[extended.row_class >= 0])
    nodes = fits.nodes[used]
    order = np.lexsort(nodes.T[::-1])
    number = np.full(len(fits.nodes) + 1, SUPPRESSED, dtype=np.int32)
    number[used[order]] = np.arange(len(used), dtype=np.int32)
    recoding = Recoding(
        tuple(new.resolved.quasi), fits.hierarchies, number[extended.row_class], nodes[order], base.levels
    )
    dropped = base.policy.changed(suppressed="drop")  # what is withheld leaves no row
    built = build_table(dropped, new.loaded.table, new.resolved, recoding)
    table = in_order_of_cells(built.select(base.table.column_names))
    search = {"applied_to": [file.sha256 for file in base.files]}
    return Unverified(base.policy, new.loaded, new.resolved, recoding, table, search, None)


def _nothing(records: int, withheld: tuple[Withheld, ...]) -> WithheldError:
    told = "; ".join(f"{each.records:,}: {each}" for each in withheld)
    return WithheldError(
        f"none of the {records:,} new records can be released without weakening what is published ({told}). Gather "
        "more records first, or make a new release with `shoal anonymize`.",
        [each.to_dict() for each in withheld],
    )


def _reasons(new: NewRecords, extended: Extended, withheld: tuple[Withheld, ...]) -> tuple[str | None, ...]:
    """Each record's reason in words, in the order of the data."""
    numbers = row_reasons(new, extended)
    words = dict(zip(np.unique(numbers[numbers >= 0]).tolist(), map(str, withheld), strict=True))
    found: list[str | None] = [None] * len(numbers)
    assert new.loaded.order is not None
    for row, number in zip(new.loaded.order.tolist(), numbers.tolist(), strict=True):
        found[row] = words.get(number)
    return tuple(found)
