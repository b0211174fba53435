"""Mahesh & Meyyappan: ranges inside masked groups, from Table 1 to Table T*; the paper has no other experiment."""

import warnings
from typing import Any

from shoal.errors import DisclosureWarning
from shoal.pipeline import Release, anonymize
from shoal.pipeline.attack import attack
from shoal.policy import Policy
from shoal.reproduce.masked import Masked, rows_of, same_rows
from shoal.reproduce.paper import Section, Setting, Sheet, Task
from shoal.reproduce.tables import MAHESH, MAHESH_1, MAHESH_2, MAHESH_COLUMNS, MAHESH_T_STAR

NAMES = MAHESH_COLUMNS[1:]  # all columns but the serial numbers, which the paper counts anew in each table


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


def _released(chosen: Policy) -> Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisclosureWarning)  # the section says it in words
        return anonymize(MAHESH_1.arrow(), chosen)


def worked(_: Setting) -> Section:
    """Table 2 and Table T* made from Table 1, and what T* is worth."""
    release, short, safe = map(_released, (policy(), policy(salary="insensitive"), policy(k=3, safe=True)))
    k, safe_k = (str(each.evidence["class_sizes"]["smallest"]) for each in (release, safe))
    originals, originals_short = (str(each.evidence["search"]["ambiguity"]["(k,k)"]) for each in (release, short))
    attacks = attack(release.table, policy(), original=MAHESH_1.arrow()).attacks
    inverted = next(each for each in attacks if each.name == "inversion")
    trees = MAHESH.content["trees"]
    masked = Masked("mahesh-table-2", MAHESH_1, MAHESH_2, trees, ("Disease", "Disease"), key="Salary")
    found = {
        "2-cells": masked.equal_cells(),
        "t-rows": same_rows(release.table, MAHESH_T_STAR, NAMES, case=False),
        "t-k": k,
        "t-k-short": str(min(map(len, MAHESH_T_STAR.classes(["Zipcode", "Age"], "Disease").values()))),
        "t-originals": originals,
        "t-originals-short": originals_short,
        "safe-k": safe_k,
    }
    figures = {"inverted": inverted.records, "of": inverted.of}
    released = Sheet("mahesh-table-t-star", NAMES, tuple(rows_of(release.table, NAMES)))
    return MAHESH.section("worked", figures, sheets=[masked.sheet(), released], found=found)


TASKS = (Task(MAHESH.name, "worked tables of Mahesh and Meyyappan", lambda setting: [worked(setting)]),)
