"""The worked tables of Wang, Xu & Qu 2011: Tables I to III."""

from __future__ import annotations

from typing import Any

from shoal.attacks.exposure import homogeneity
from shoal.models import AlpDif, KAnonymity, PSensitive
from shoal.reproduce.section import Section, Setting, Statement, figure, statement_sheet
from shoal.reproduce.tables import WANG_1, WANG_2, WANG_3, WANG_QUASI
from shoal.reproduce.worked import Masked, view_of

PAPER = "wang"
TREES: dict[str, Any] = {
    "Age": {"(20, 50]": ["[20, 30)", "[30, 40]", "(40, 50]"]},
    "Education": {"tertiary education": ["Dr.", "Master"], "secondary education": ["Secondary education"]},
    "Sex": {"person": ["M", "F"]},
}
"""Table I is the finest that is printed; the single root of Education is *."""
_AGES = "Records 3 and 4 are [30, 40] in Table I and (40, 50] in Table III: no generalization makes one the other."
_CAPITALS = "Tables I and II write illnesses in small letters, Table III in capitals."


def _illness(value: str) -> str:
    return value if value == "HIV" else value.lower()


def worked(_: Setting) -> Section:
    """What Tables I to III are said to be."""
    first, second, third = (view_of(table, WANG_QUASI, "Illness") for table in (WANG_1, WANG_2, WANG_3))
    masked = {
        "II": Masked("wang-table-2", WANG_1, WANG_2, TREES, ("Illness", "Illness")),
        "III": Masked("wang-table-3", WANG_1, WANG_3, TREES, ("Illness", "Illness")),
    }
    rows = zip(masked["III"].computed(), WANG_3.records(), strict=True)
    ages = sum(computed["Age"] != printed["Age"] for computed, printed in rows)
    small = [_illness(value) for value in WANG_3.column("Illness")]
    open_ = homogeneity(first)
    assert open_ is not None, "every class has a size"
    hiv = AlpDif({"HIV": {"alp": 0.5, "dif": 0}}, sensitive="Illness")
    sensitive = PSensitive(2, sensitive="Illness")
    statements = (
        Statement("Table I: k", "2", figure(KAnonymity(2).reached(first)["k"])),
        Statement("Table I: classes open to the homogeneity attack", "", str(open_.classes), "2",
                  "The text speaks of HIV; the third class, fever alone, is open too."),
        Statement("Table II: 2-sensitive", "yes", "yes" if sensitive.holds(second).all() else "no"),
        Statement("Table II: classes", "1", str(len(second.sizes))),
        Statement("Table II: precision left (11)", "", figure(masked["II"].measure("precision")), "0",
                  "Every cell is the root of its hierarchy."),
        Statement("Table II: cells that come out of Table I", "24 of 24", masked["II"].equal_cells()),
        Statement("Table III: k", "2", figure(KAnonymity(2).reached(third)["k"])),
        Statement("Table III: average leakage of HIV", "", figure(hiv.reached(third)["alp[HIV]"]), "0.5",
                  "It was 1 in Table I."),
        Statement("Table III: p", "", figure(sensitive.reached(third)["p"]), "1",
                  "Fever is left free, as the text says."),
        Statement("Table III: ages that do not come out of Table I", "0", str(ages), "2", _AGES),
        Statement("Table III: illnesses that are those of Table I", "6 of 6",
                  f"{sum(one == other for one, other in zip(small, WANG_1.column('Illness'), strict=True))} of 6",
                  why=_CAPITALS),
    )  # fmt: skip
    return Section(
        PAPER,
        "Worked tables",
        "Wang et al. 2011, Tables I-III",
        reports="Table I is 2-anonymous and gives HIV away; Table II is 2-sensitive in one class; Table III "
        "protects HIV, leaves fever alone and loses less than Table II.",
        measured=f"Table I has {open_.classes} classes of one illness; Table II has {len(second.sizes)} class and a "
        f"precision of {figure(masked['II'].measure('precision'))}; in Table III the average leakage of HIV is "
        f"{figure(hiv.reached(third)['alp[HIV]'])}.",
        differs="Table III prints the ages of records 3 and 4 as (40, 50] where Table I has [30, 40]: that is no "
        "generalization of Table I, so the class that protects HIV exists only with a wider range of ages. Theorem 2 "
        "gives the range of ALP as open; both ends are reached, by one class and by classes of one value.",
        sheets=(*(each.sheet() for each in masked.values()), statement_sheet("wang-statements", statements)),
        statements=statements,
    )
