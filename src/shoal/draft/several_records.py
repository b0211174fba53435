"""Whether people seem to have several records although the models of a policy count records."""

from collections.abc import Sequence

import numpy as np

from shoal.draft.roles import tells_people_apart
from shoal.evidence.people import SeveralRecords
from shoal.policy import Policy
from shoal.table.distinct_rows import DistinctRows


def person_candidates(policy: Policy) -> list[str]:
    """The identifiers of a policy that say by their names who a record is about; none where the policy says it."""
    return [] if policy.person_columns else [name for name in policy.names("identifier") if tells_people_apart(name)]


def several_records(columns: Sequence[str], rows: DistinctRows | None) -> tuple[SeveralRecords, ...]:
    """The first of some columns with a value that several records have, as a warning; nothing where none has."""
    if rows is None:
        return ()
    for name in columns:
        column = rows.columns.get(name)
        if column is None:
            continue
        known = np.array([label is not None for label in column.labels], dtype=np.bool_)
        records = np.bincount(column.codes, weights=rows.counts, minlength=len(known))[known].astype(np.int64)
        records = records[records > 0]
        if (records > 1).any():
            several, figures = int(np.count_nonzero(records > 1)), (len(records), int(records.sum()))
            return (SeveralRecords("several-records-per-person", name, *figures, several, int(records.max())),)
    return ()
