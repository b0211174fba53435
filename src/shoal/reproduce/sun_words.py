"""What is said of the experiments of Sun et al. 2008; every figure in it comes from the run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Words = tuple[str, str, str]
"""What the paper reports, what is measured, why they differ."""


@dataclass(frozen=True)
class Attack:
    """The minimal nodes of one model, one draw and one share of suppression."""

    model: str
    suppression: float
    draw: int
    nodes: int
    vulnerable: int
    exposed: int
    ratio: float


@dataclass(frozen=True)
class Point:
    """One point of Figures 2 and 3: Incognito, and the top-down local recoding."""

    seconds: float
    ratio: float
    checks: int
    local_seconds: float
    local_ratio: float


Points = Mapping[tuple[str, float, str], Point]
_PLAIN, _ALPHA, _PLUS = "p-sensitive", "p-alpha-sensitive", "p-plus-alpha-sensitive"


def similarity_words(found: Sequence[Attack], records: int) -> Words:
    """The similarity attack on minimal nodes."""
    told = []
    for share in sorted({each.suppression for each in found}):
        parts = []
        for model in (_PLAIN, _ALPHA, _PLUS):
            runs = [each for each in found if each.model == model and each.suppression == share]
            nodes, open_ = (sum(getattr(each, name) for each in runs) for name in ("nodes", "vulnerable"))
            parts.append(f"{open_:,} of {nodes:,}")
        worst = max(each.exposed for each in found if each.suppression == share)
        limit = f"with at most {100 * share:g} % suppressed" if share else "without suppression"
        told.append(f"{limit} {', '.join(parts)} are open, at worst {worst:,} records of one table")
    draws = len({each.draw for each in found})
    many = f"over {draws} draws of the health condition" if draws > 1 else "for one draw of the health condition"
    expected, spread = _most_exposed(_PAPER_RECORDS)
    return (
        "At p = 2, k = 4, α = 2: 21 minimal tables are p-sensitive, of which 13 suffer from the similarity attack (916 "
        "records in one of them), 30 are (p, α)-sensitive, of which 7 suffer, and 28 (p⁺, α)-sensitive, of which 3.",
        f"Minimal nodes under p-sensitive, (p, α) and (p⁺, α), {many}, {records:,} records: {'; '.join(told)}.",
        "By Definition 5 every class has two categories or more, so no (p⁺, α)-sensitive table can have a class in "
        f"one: the paper's 3 of 28 contradict its own definition. {_order(found)} The number of nodes depends on "
        "the hierarchies, which are ours with the heights of Table 9, and on suppression, of which the paper does "
        "not speak; a height of 2 for two genders is only possible with a level that says nothing more. With "
        f"values drawn uniformly, as the paper draws them, about {expected:,.0f} ± {spread:,.0f} of "
        f"{_PAPER_RECORDS:,} records are expected in classes of one category even if every class has just {_K} "
        f"records, and fewer in larger ones: {_PAPER_EXPOSED} lie {(_PAPER_EXPOSED - expected) / spread:.0f} "
        "standard deviations above, so that table cannot have come from such a draw.",
    )


def _order(found: Sequence[Attack]) -> str:
    """Whether (p, α) leaves fewer nodes open than p-sensitivity, as in the paper."""
    most = max(each.suppression for each in found)
    plain, alpha = (
        statistics.fmean(each.vulnerable / each.nodes for each in found
                         if each.model == model and each.suppression == most)
        for model in (_PLAIN, _ALPHA)
    )  # fmt: skip
    if plain == alpha:
        return "The other two do not differ here."
    return f"The order of the other two is {'the' if alpha < plain else 'not the'} paper's."


_K = 4
_PAPER_RECORDS, _PAPER_EXPOSED = 45_222, 916


def _most_exposed(records: int) -> tuple[float, float]:
    """Records in p-sensitive classes of one category where all classes have k = 4: mean and standard deviation.

    Of four values drawn from eight in four pairs, all lie in one pair and not all are equal with probability
    4 · ((1/4)⁴ - 2 · (1/8)⁴); the class is p-sensitive (p = 2) with 1 - 8 · (1/8)⁴. Larger classes are open less often.
    """
    chance = 4 * ((1 / 4) ** _K - 2 * (1 / 8) ** _K) / (1 - 8 * (1 / 8) ** _K)
    classes = records / _K
    return records * chance, _K * math.sqrt(classes * chance * (1 - chance))


def _values(found: Points, axis: str) -> list[float]:
    return sorted({x for name, x, _ in found if name == axis})


def time_words(found: Points) -> Words:
    """Figures 2(a) and 2(b)."""
    sizes, alphas = _values(found, "quasi-identifiers"), _values(found, "alpha")
    first, last = ([found["quasi-identifiers", x, model].seconds for model in (_PLAIN, _ALPHA, _PLUS)]
                   for x in (sizes[0], sizes[-1]))  # fmt: skip
    total = {
        model: sum(found["quasi-identifiers", x, model].seconds for x in sizes) for model in (_PLAIN, _ALPHA, _PLUS)
    }
    slower = [total[model] / total[_PLAIN] for model in (_ALPHA, _PLUS)]
    ends = [[found["alpha", x, model] for model in (_ALPHA, _PLUS)] for x in (alphas[0], alphas[-1])]
    local = [found["quasi-identifiers", sizes[-1], model].local_seconds for model in (_PLAIN, _ALPHA, _PLUS)]
    return (
        "Running times grow with the number of quasi-identifiers (2 to 7, p = 4, k = 4, α = 2); p-sensitive runs "
        "faster than the other two, and the difference grows with α. The curves are lost with the figures.",
        f"Incognito takes {_listed(first, 4)} s with {sizes[0]:g} quasi-identifiers and {_listed(last, 2)} s with "
        f"{sizes[-1]:g}, for p-sensitive, (p, α) and (p⁺, α): over all sizes {slower[0]:.2f} and {slower[1]:.2f} "
        f"times as long as p-sensitive. From α = {alphas[0]:g} to {alphas[-1]:g} the nodes checked go from "
        f"{', '.join(f'{e.checks:,}' for e in ends[0])} to {', '.join(f'{e.checks:,}' for e in ends[1])} and the "
        f"time from {_listed([e.seconds for e in ends[0]], 2)} s to {_listed([e.seconds for e in ends[1]], 2)} s. "
        f"The top-down recoding of all {sizes[-1]:g} takes {_listed(local, 2)} s.",
        "The searches differ in nothing but the test of a node, and a test of categories and weights costs little "
        "more than one of distinct values; a larger α rules out nodes earlier, so it need not take longer. The "
        "paper ran Java on a Pentium 4 in 2008; times of this machine depend on what else it did.",
    )


def distortion_words(found: Points) -> Words:
    """Figures 3(a) and 3(b)."""
    sizes, alphas = _values(found, "quasi-identifiers"), _values(found, "alpha")
    whole = {model: [found["quasi-identifiers", x, model].ratio for x in sizes] for model in (_PLAIN, _ALPHA, _PLUS)}
    local = {model: [found["quasi-identifiers", x, model].local_ratio for x in sizes] for model in whole}
    relative = [statistics.fmean(a / b for a, b in zip(whole[model], whole[_PLAIN], strict=True))
                for model in (_ALPHA, _PLUS)]  # fmt: skip
    ends = [[found["alpha", x, model].ratio for model in (_ALPHA, _PLUS)] for x in (alphas[0], alphas[-1])]
    top_down = [[found["alpha", x, model].local_ratio for model in (_ALPHA, _PLUS)] for x in (alphas[0], alphas[-1])]
    return (
        "The distortion ratio grows with the number of quasi-identifiers; that of p-sensitive is on average almost "
        "three times as large as that of (p, α) and (p⁺, α); it decreases when α increases.",
        f"The best minimal node distorts {whole[_PLAIN][0]:.3f} with {sizes[0]:g} quasi-identifiers and "
        f"{whole[_PLAIN][-1]:.3f} with {sizes[-1]:g} under p-sensitive; (p, α) and (p⁺, α) on average "
        f"{relative[0]:.2f} and {relative[1]:.2f} times as much. From α = {alphas[0]:g} to {alphas[-1]:g} it goes "
        f"from {_listed(ends[0], 3)} to {_listed(ends[1], 3)}. The top-down recoding distorts "
        f"{_listed([each[-1] for each in local.values()], 3)} under the three models, and from α = {alphas[0]:g} to "
        f"{alphas[-1]:g} it goes from {_listed(top_down[0], 3)} to {_listed(top_down[1], 3)}.",
        "Both claims about the models contradict the paper's definitions. A (p, α)-sensitive table is p-sensitive, "
        "and each (p⁺, α)-sensitive one (p, α)-sensitive, so the least distortion under a stronger model is never "
        "less; it is equal or larger here at every point. Definitions 4 and 5 ask for a total weight of at least "
        "α, so a larger α asks for more, not for less as section 6 says. Growth with the number of "
        "quasi-identifiers is not a law of the ratio, whose denominator grows too.",
    )


def _listed(values: Sequence[float], places: int) -> str:
    return ", ".join(f"{value:.{places}f}" for value in values[:-1]) + f" and {values[-1]:.{places}f}"
