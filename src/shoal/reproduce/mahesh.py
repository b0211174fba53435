"""Mahesh & Meyyappan: ranges inside masked groups, from Table 1 to Table T*; the paper has no other experiment."""

from __future__ import annotations

import warnings
from typing import Any

from shoal.errors import DisclosureWarning
from shoal.pipeline import Release, anonymize
from shoal.pipeline.attack import attack
from shoal.policy import Policy
from shoal.reproduce.section import Section, Setting, Sheet, Statement, Task, statement_sheet
from shoal.reproduce.tables import MAHESH_1, MAHESH_2, MAHESH_COLUMNS, MAHESH_T_STAR
from shoal.reproduce.worked import Masked, rows_of, same_rows

PAPER = "mahesh"
NAMES = MAHESH_COLUMNS[1:]
"""All columns but the serial numbers, which the paper counts anew in each table."""
ZIPS = {
    "4760*": ["47602", "47605", "47607"], "4767*": ["47673", "47677", "47678"], "4790*": ["47905", "47906", "47909"],
}  # fmt: skip


def policy(*, salary: str = "quasi", k: int = 1, **algorithm: Any) -> Policy:
    """The range method on the paper's table: groups by the zip code without its last digit, ranges of the age."""
    columns: dict[str, Any] = {
        "Sno": {"role": "identifier"},
        "Zipcode": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "Age": {"role": "quasi", "hierarchy": {"intervals": [10, 50]}},
        "Salary": {"role": "quasi", "hierarchy": {"intervals": [5000]}} if salary == "quasi" else {"role": salary},
        "Disease": {"role": "sensitive"},
    }
    method = {"name": "range", "group": {"Zipcode": 1}, "ranges": ["Age"], **algorithm}
    return Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": k}], algorithm=method)


def _released(asked: Policy) -> Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisclosureWarning)  # the section says it in words
        return anonymize(MAHESH_1.arrow(), asked)


def worked(_: Setting) -> Section:
    """Table 2 and Table T* made from Table 1, and what T* is worth."""
    release = _released(policy())
    ambiguity = release.evidence["search"]["ambiguity"]
    without = _released(policy(salary="insensitive")).evidence["search"]["ambiguity"]
    safe = _released(policy(k=3, safe=True))
    inverted = next(each for each in attack(release.table, policy(), original=MAHESH_1.arrow()).attacks
                    if each.name == "inversion")  # fmt: skip
    spelled = "Diseases change their capitals from table to table; compared without."
    masked = Masked("mahesh-table-2", MAHESH_1, MAHESH_2, {"Zipcode": ZIPS}, ("Disease", "Disease"), key="Salary")
    statements = (
        Statement("Table 2: cells that come out of Table 1", "18 of 18", masked.equal_cells(), "17 of 18",
                  "Table 1 prints stomach cancer, Table 2 once Stomach cancer."),
        Statement("Table T*: rows that come out, all columns", "9 of 9",
                  same_rows(release.table, MAHESH_T_STAR, NAMES, case=False), why=spelled),
        Statement("Table T*: k on zip code, age and salary", "", str(release.evidence["class_sizes"]["smallest"]), "1",
                  "The paper claims protection from identity disclosure; every record is a class of its own."),
        Statement("Table T*: k on zip code and age alone", "",
                  str(min(len(rows) for rows in MAHESH_T_STAR.classes(["Zipcode", "Age"], "Disease").values())), "1",
                  "Every range of ages occurs once in its group."),
        Statement("Table T*: originals that fit a released record, the least", "", str(ambiguity["(k,k)"]), "1",
                  "The salary is released as it is and gives everyone away."),
        Statement("the same without the salary", "", str(without["(k,k)"]), "2",
                  "The ends of the ranges are ages of neighbours in the group."),
        Statement("one range a group (safe: true): k", "", str(safe.evidence["class_sizes"]["smallest"]), "3",
                  "The variant that Shoal offers beside the paper's."),
    )  # fmt: skip
    told = tuple((*row,) for row in rows_of(release.table, NAMES))
    return Section(
        PAPER,
        "Worked example: ranges inside masked groups",
        "Mahesh & Meyyappan, Tables 1, 2 and T*",
        reports="Table T* is made from Table 1 by masking a digit of the zip code and writing each age as a range "
        "between its neighbours in the group; the paper says that this protects from identity and attribute "
        "disclosure.",
        measured=f"T* comes out in {same_rows(release.table, MAHESH_T_STAR, NAMES, case=False)} rows. Its smallest "
        f"class has {release.evidence['class_sizes']['smallest']} record; an attacker who knows the method finds "
        f"the exact age of {inverted.records} of {inverted.of} records; with one range a group (safe: true) the "
        f"smallest class has {safe.evidence['class_sizes']['smallest']} records.",
        differs="The table agrees; the claim does not. Every record of T* is unique on zip code and age, the salary, a "
        "quasi-identifier by the paper's own word, stays exact, and each record keeps its own disease. Steps 4 to 6 of "
        "the printed procedure set both ends to the value itself; the tables follow the words, next smaller and next "
        "larger value of the group.",
        sheets=(
            masked.sheet(),
            Sheet("mahesh-table-t-star", NAMES, told),
            statement_sheet("mahesh-statements", statements),
        ),
        statements=statements,
    )


TASKS = (Task(PAPER, "worked tables of Mahesh and Meyyappan", lambda setting: [worked(setting)]),)
