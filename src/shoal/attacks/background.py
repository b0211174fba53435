"""Background knowledge: an attacker who can rule out some values for a person is certain of what is left.

Machanavajjhala et al. 2006, section 2.2; D. Martin, D. Kifer, A. Machanavajjhala, J. Gehrke, J. Halpern, "Worst-case
background knowledge for privacy-preserving data publishing", 2007: knowledge is counted in pieces. Here a piece rules
out one value for one person ("he does not have diabetes"). Against m such pieces, the worst ones for that person, a
secret is certain exactly in the classes with at most m + 1 values; p distinct values withstand p - 2 pieces.
"""

from __future__ import annotations

from shoal.attacks.certainty import certain
from shoal.attacks.estimate import Estimate, counted
from shoal.attacks.scene import Released

NAME = "background"


def background(released: Released, column: str, ruled_out: int) -> Estimate:
    """Records that become certain when up to ``ruled_out`` values are ruled out for each person."""
    steps = {m: certain(released, column, m) for m in range(1, ruled_out + 1)}
    of = released.records
    worst = max(steps, key=lambda m: (steps[m].records - steps[m].without_classes, m))  # what the classes add
    last, shown = steps[ruled_out], steps[worst]
    leak = shown.records > shown.without_classes
    if not last.records:
        values = counted(ruled_out, "value")
        verdict = f"Nobody's {column} is certain, even after ruling out {values} for each person."
    elif not leak:
        verdict = f"{column} has so few values that ruling some out is enough without any release."
    else:
        some = {m: counted(found.records, "record") for m, found in steps.items() if found.records}
        told = [f"{records} after ruling out {m}" for m, records in some.items()]
        verdict = f"{column} is certain for {', for '.join(told)}{' value' if ruled_out == 1 else ' values'}."
    return Estimate(
        name=NAME,
        status="tried",
        sensitive=column,
        attacker=f"A friend who knows a person's quasi-identifiers and up to {ruled_out} values of {column} that the "
        "person does not have.",
        tried=f"Ruled out 1 to {ruled_out} values in each class; a success is a record of which one value is left. The "
        f"figures are those for {counted(worst, 'value')}, where the classes add most to what is known without them.",
        records=shown.records,
        of=of,
        classes=shown.classes,
        rate=shown.records / of,
        baseline=shown.without_classes / of,
        baseline_is="the same knowledge and the overall frequencies alone",
        leak=leak,
        verdict=verdict,
        details={
            "values_ruled_out": worst,
            "by_values_ruled_out": {str(m): found.records for m, found in steps.items()},
            "without_classes": {str(m): found.without_classes for m, found in steps.items()},
            "values_left_free": last.free,
        },
    )
