"""Identifying secret: a sensitive column that is different in nearly every record is a key to the records.

A sensitive column is published because it may not be traced back to people; its models see to that as long as it has
values that several people share. A record number, an exact time or an exact amount has not: whoever knows it of a
person - from a bill, a log, another table - picks out the record and reads everything else in it. Classes do not
matter, since the value alone tells the record.

A success is a record whose value no other released record has. A column is a key if nine of ten of its known values are
such, in twenty records or more; in fewer records, values that are ordinary are often unique. Nothing is left to chance
here: values that are unique identify, however they came about.
"""

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, tried

KEY = 0.9
"""The share of unique values from which a sensitive column is a key."""
LEAST = 20
"""Records with known values from which on a column may be a key."""


class IdentifyingSecret(Attack):
    """Looks for sensitive values that occur once."""

    name = "identifying-secret"
    title = "A sensitive column identifies records"
    attacker = "Somebody who knows a person's exact sensitive value, for example from a bill or a log."
    attempt = (
        "Looks for the value in the whole release. A success is a record whose value no other record has. It is a leak "
        "if nine of ten values are unique."
    )
    baseline = "none, since the value is looked up in the release"
    position = 130
    on_sensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Records whose value of the column is unique in the release."""
        totals, of = scene.released.stats.view(column).totals, scene.released.known(column)
        unique = int(np.count_nonzero(totals == 1))
        leak = of >= LEAST and unique >= KEY * of
        return tried(
            records=unique,
            of=of,
            leak=leak,
            columns=(column,) if leak else None,
            different_values=int(np.count_nonzero(totals)),
            key_share=KEY,
            least_records=LEAST,
        )
