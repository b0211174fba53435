"""What is said of the experiments of Wang et al. 2011; every figure in it comes from the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Words = tuple[str, str, str]
"""What the paper reports, what is measured, why they differ."""


@dataclass(frozen=True)
class Run:
    """One point of a figure, averaged over the draws."""

    records: int
    k: int
    model: str
    homogeneous: float
    """Records in classes of one value only."""
    protected: float
    """Those of them whose value has a limit."""
    alp: float
    """Average leakage of Divorced (ALP)."""
    suppressed: float
    precision: float
    seconds: float


def _of(runs: Sequence[Run], model: str) -> list[Run]:
    return [run for run in runs if run.model == model]


def _ends(runs: Sequence[Run], name: str, places: int) -> str:
    """A measure at the smallest and at the largest k (or number of records)."""
    first, last = getattr(runs[0], name), getattr(runs[-1], name)
    return f"{first:,.{places}f} to {last:,.{places}f}"


def compared_words(runs: Sequence[Run], population: int, draws: int) -> Words:
    """Figures 4, 5 and 6."""
    plain, limited = _of(runs, "k-anonymity"), _of(runs, "(alp, dif)")
    ks = f"k = {plain[0].k} to {plain[-1].k}"
    rises = sum(after.precision > before.precision + 1e-9 for before, after in pairwise(limited))
    steps = "step" if rises == 1 else "steps"
    return (
        "Records open to the homogeneity attack become fewer as k grows, and evidently fewer with (alp, dif); time "
        "grows moderately and precision falls with k and with (alp, dif). The curves are lost with the figures.",
        f"{plain[0].records:,} records, {draws} draw{'s' if draws > 1 else ''}, {ks}: open to the attack are "
        f"{_ends(plain, 'homogeneous', 0)} records under k-anonymity and {_ends(limited, 'homogeneous', 0)} with "
        f"(alp, dif), of which {_ends(plain, 'protected', 1)} and {_ends(limited, 'protected', 1)} have a protected "
        f"value. The search takes {_ends(plain, 'seconds', 4)} s and {_ends(limited, 'seconds', 4)} s, and "
        f"{_ends(plain, 'precision', 3)} and {_ends(limited, 'precision', 3)} of the precision are left.",
        f"The paper selects 21,411 records; the four values of marital status occur in {population:,} records "
        "without unknown values, from which we draw. It does not say how many records may be suppressed; here at "
        "most 5 %. The model protects the values that are listed: classes of Married-civ-spouse alone stay open, "
        "and so may those of Separated, whose limits (0.5 and 0.6) let a class leak everything where the average "
        "is 0.4 or more; no class of Divorced or Widowed alone can remain. Against the text, precision under (alp, "
        f"dif) rises with k in {rises} {steps} of {len(limited) - 1}: phase 2 starts where k was reached, small "
        "classes of a rare value drive it far up, and Theorem 3 does not make DIF fall everywhere, since merging "
        "classes lowers the average that untouched ones are held against.",
    )


def alp_words(runs: Sequence[Run]) -> Words:
    """Figures 7, 8 and 9."""
    names = list(dict.fromkeys(run.model for run in runs))
    loose, strict = (_of(runs, name) for name in names)
    highest = max(run.alp for run in runs)
    decided = "so alp decides nothing" if highest <= 0.41 else "so alp decides where dif alone would not"
    same = sum(
        abs(one.precision - other.precision) < 1e-9 and one.homogeneous == other.homogeneous
        for one, other in zip(loose, strict, strict=True)
    )
    return (
        "For Divorced with dif 0.3, a smaller alp (0.41 against 0.43) takes longer, leaves less precision and "
        "fewer records open to the homogeneity attack.",
        f"From k = {loose[0].k} to {loose[-1].k}, with {names[0]} and {names[1]}: {_ends(loose, 'seconds', 4)} s "
        f"and {_ends(strict, 'seconds', 4)} s, precision {_ends(loose, 'precision', 3)} and "
        f"{_ends(strict, 'precision', 3)}, {_ends(loose, 'homogeneous', 0)} and {_ends(strict, 'homogeneous', 0)} "
        f"homogeneous records, none of them Divorced. At {same} of {len(loose)} values of k the two releases are "
        "alike.",
        f"In these releases the average leakage of Divorced is {min(run.alp for run in runs):.3f} to {highest:.3f}, "
        f"{decided}: generalizing until dif holds in every class brings the average down with it. No class of Divorced "
        "alone can be left, since 1 exceeds an average of at most 0.43 by more than 0.3; so what Figure 9 counts are "
        "classes of other values, which these limits do not protect.",
    )


def growth_words(runs: Sequence[Run]) -> Words:
    """Figure 10."""
    names = list(dict.fromkeys(run.model for run in runs))
    first, second = (_of(runs, name) for name in names)
    factor = first[-1].records / first[0].records
    grown = [of[-1].seconds / of[0].seconds for of in (first, second)]
    return (
        "With alp 0.4 and dif 0.3, time grows with the number of records, ever faster from 1,000 to 6,000, and is "
        "longer for k = 3 than for k = 2.",
        f"From {first[0].records:,} to {first[-1].records:,} records the search takes {_ends(first, 'seconds', 4)} "
        f"s for {names[0]} and {_ends(second, 'seconds', 4)} s for {names[1]}: {grown[0]:.1f} and {grown[1]:.1f} "
        f"times as long for {factor:.0f} times the records.",
        "The search works on distinct combinations, whose number grows more slowly than that of records, and a "
        "step up the lattice is a matter of milliseconds; a larger k starts phase 2 higher up and can be done "
        "sooner.",
    )
