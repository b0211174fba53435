"""What the pages say, word for word, in golden files: ``pytest --update-golden`` writes them again."""

from __future__ import annotations

from typing import Any

from page_reader import lines, read_page, section
from report_evidence import LINKED, LINKED_BY_WARD, UNPROTECTED, attack, group, hospital, quasi, weakest
from test_comparison_page import content
from test_task_section import task

from shoal.attacks.battery import ATTACKS
from shoal.evidence.evidence import Evidence
from shoal.present.attacks import declared, verdict_sentence
from shoal.present.comparison import write_comparison
from shoal.present.report.page import write_report
from support.golden_files import check_golden


def test_the_report_of_a_release(update_golden: bool) -> None:
    check_golden(
        "report_hospital.txt", "\n".join(lines(read_page(write_report(hospital())))) + "\n", update=update_golden
    )


def timed() -> dict[str, Any]:
    return hospital()["search"] | {"refined": hospital()["search"]["refined"] | {"ended": "time"}}


def columns(**changed: Any) -> dict[str, Any]:
    return hospital()["columns"] | changed


HALF = [{"name": "truthfulness", "passed": False, "message": "3 records differ", "facts": {}}]
ONE_MODEL = [hospital()["models"][0] | {"reached": {"k": 5}, "weakest": {"k": weakest(5, classes_at_limit=1)}}]
MISSED = [{"model": "t-closeness", "sensitive": "income", "asked": {"t": 0.2}, "reached": {"t": 0.2000000004},
           "holds": False, "weakest": {}}]  # fmt: skip
UNKNOWN = [{"model": "m-invariance", "sensitive": None, "asked": {"m": 3}, "reached": {"m": None}, "holds": True}]
BOUNDARY = {"suppression": 0, "suppressed": "star", "columns": {"education": {"boundary": 2}, "age": {"boundary": 1}}}
COMPOSITION = {
    "earlier": [{"name": "2026-01-31-clinic", "date": "2026-01-31", "release_sha256": "0" * 64}],
    "notes": [
        {"code": "column-not-in-data", "release": "a", "column": "shoe"},
        {"code": "hierarchy-changed", "release": "a", "column": "work", "kind": "tree"},
        {"code": "categories-changed", "release": "a", "column": "illness"},
    ],
    "results": [],
}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing suppressed": ("summary", {"suppressed": 0, "released": 30_162}),
    "suppressed records as rows of stars": ("summary", {"policy": BOUNDARY}),
    "not verified": ("summary", {"verified": False}),
    "in doubt": ("summary", {"checks": HALF, "models": MISSED}),
    "no leak": ("summary", {"attacks": [attack("homogeneity", "condition", details=UNPROTECTED)]}),
    "no bound": ("summary", {"bound": None}),
    "a limit missed by little": ("requirements", {"models": MISSED}),
    "a model without words": ("requirements", {"models": UNKNOWN}),
    "a local recoding": ("losses", {"levels": None, "search": timed()}),
    "a boundary": ("losses", {"policy": BOUNDARY, "columns": columns(education=quasi(4, 16, 3, 0.62))}),
    "a bound of nothing": ("losses", {"bound": hospital()["bound"] | {"ncp": 0.0, "ratio": None, "gap": None}}),
    "an exact bound": ("losses", {"bound": hospital()["bound"] | {"estimated": False, "gap": 0.0002}}),
    "a proven bound": ("summary", {"bound": hospital()["bound"] | {"estimated": False, "gap": 0.118}}),
    "small shares": (
        "losses",
        {
            "columns": columns(
                age=hospital()["columns"]["age"]
                | {"distribution": {"level": 0, "least_hidden": 2, "groups": [group("b", 1, 0, 0.04)]}}
            )
        },
    ),
    "no attacks": ("attackers", {"attacks": []}),
    "earlier releases": ("attackers", {"composition": COMPOSITION}),
    "missing values match anything": (
        "class-sizes",
        {"class_sizes": hospital()["class_sizes"] | {"smallest_if_missing_matches_anything": 4}},
    ),
    "no classes": ("class-sizes", {"class_sizes": {}}),
    "advice on limits and boundaries": ("advice", {"models": ONE_MODEL, "policy": BOUNDARY}),
    "a sensitive column without a model": ("limitations", {"models": ONE_MODEL, "not_named": []}),
    "a time limit": ("provenance", {"search": timed(), "not_done": {"utility": "records lie in a cluster."}}),
    "not written yet": ("provenance", {"release_sha256": None, "engine": {"name": "spark"}, "checks": HALF}),
    "a task": ("task", {"utility": task()}),
}


def test_sections_of_other_releases(update_golden: bool) -> None:
    """Only the lines that the report of the hospital does not have."""
    known = set(lines(read_page(write_report(hospital()))))
    said = []
    for title, (anchor, changes) in VARIANTS.items():
        page = write_report(hospital() | changes)
        said += [f"=== {title}", *(line for line in lines(section(page, anchor)) if line not in known)]
    check_golden("report_variants.txt", "\n".join(said) + "\n", update=update_golden)


MIXED = UNPROTECTED | {"records_in_mixed_classes": 3, "expected_by_chance": 1.24}
GAIN = {"value": "HIV", "posterior": 0.9, "prior": 0.121}
NARROW: dict[str, Any] = {"narrow_share": 0.05, "narrowest": {"records": 4, "from": "3000", "to": "3020"}}


NARROWED = {"ward": {"records": 300}, "bed": {"records": 12}, "meal": {"records": 2}}
NOBODY_BY_ONE: dict[str, Any] = {"linked_by": [], "by_all_columns": 7, "insensitive_columns": 3}
TESTED: dict[str, Any] = {"columns_tested": 3, "columns_paired": []}
GUESSED: dict[str, Any] = {"guessed": "values", "known_by": "values", "certain_by_chance": 0.31}
MORE_COLUMNS: dict[str, Any] = {"guessed": "categories", "further_columns": [["a"], ["b", "c"]]}


def _singled_out(*people: int, fewest: int) -> list[dict[str, int]]:
    return [{"singled_out": each, "fewest": fewest, "people_looked_at": 500} for each in people]


KNOWN = {
    "k": 3,
    "known": _singled_out(0, 0, 0, fewest=4),
    "before": _singled_out(3, 8, 8, fewest=1),
    "people_before": 9,
}
DOWN: dict[str, Any] = {"by_column": {}, "records_with_branches_without_people": 0, "columns_left_out_for_ranges": []}
FINER = {"cells": 30, "narrowed": 0, "placed": 0, "placed_by_labels": 0}
REFINED: dict[str, Any] = {"by_column": {"zip": FINER}, "cells": 30, "guesses": {"cells": 0}}
EXPLAINED: dict[str, Any] = {"method": "exact", "suppressed_exposed": 0, "largest_rise": 0.0}
REGISTRY = {"values_required": 2, "categories_required": 0, "by_earlier_release": {"r": 1}}
GONE = [
    {"code": "hierarchy-gone", "column": "q", "kind": "tree", "release": "r"},
    {"code": "labels-gone", "column": "q", "kind": "tree", "labels": ["Far", "South"], "release": "r"},
    {"code": "categories-gone", "column": "illness", "labels": ["Grave"]},
]
BELIEF = {"mean_belief": 0.31, "mean_belief_by_chance": 0.24}
LEAK: dict[str, Any] = {"records": 3, "classes": 2, "leak": True, "rate": 0.057, "baseline": 0.0}
SAMPLE = {"interval": [0.1, 0.2], "rate": 0.15}
RESULTS = [
    attack("homogeneity", "illness", details=UNPROTECTED),
    attack("homogeneity", "illness", details=UNPROTECTED | {"records_unprotected": 2}),
    attack("homogeneity", "illness", outcome="explained", records=7, details=UNPROTECTED),
    attack("homogeneity", "illness", **LEAK, details=UNPROTECTED),
    attack("homogeneity", "illness", **LEAK | {"records": 1, "classes": 1}, details=UNPROTECTED),
    attack(
        "homogeneity-insensitive", "illness", outcome="explained", records=2, details=MIXED, columns=["ward", "room"]
    ),
    attack("homogeneity-insensitive", "illness", **LEAK, details=MIXED, columns=["ward", "room"]),
    attack("similarity", "illness", details={"by_category": {}}),
    attack("similarity", "illness", outcome="explained", records=4, details={"by_category": {"Grave": 4}}),
    attack("similarity", "illness", **LEAK, details={"by_category": {"Grave": 2, "Light": 1}}),
    attack("skewness", "illness", details={"largest_gains": [], "beyond_chance": False}),
    attack("skewness", "illness", details={"largest_gains": [], "beyond_chance": True, "meaningful_gain": 0.01}),
    attack("skewness", "illness", **LEAK, details={"largest_gains": [GAIN]}),
    attack("skewness", "illness", **LEAK | {"classes": 0}, details={"largest_gains": [], **BELIEF}),
    attack("proximity", "salary", details=NARROW | {"narrowest": None}),
    attack("proximity", "salary", outcome="explained", records=7, baseline=1.0, details=NARROW),
    attack("proximity", "salary", outcome="explained", records=7, classes=2, baseline=0.0, details=NARROW),
    attack("proximity", "salary", **LEAK, details=NARROW),
    attack("events", details=KNOWN, people=0, of_people=9),
    attack("events", **LEAK, people=4, of_people=9, details=KNOWN | {"known": _singled_out(0, 1, 4, fewest=1)}),
    attack(
        "events", outcome="explained", people=1, of_people=9, details=KNOWN | {"known": _singled_out(0, 0, 1, fewest=1)}
    ),
    attack(
        "events",
        **LEAK,
        people=4,
        of_people=9,
        interval=(0.1, 0.2),
        details=KNOWN | {"known": _singled_out(0, 1, 4, fewest=1)},
    ),
    attack("background", "illness", details={"by_values_ruled_out": {1: 0, 2: 0}}),
    attack(
        "background", "illness", outcome="explained", records=4, baseline=1, details={"by_values_ruled_out": {1: 4}}
    ),
    attack(
        "background", "illness", outcome="explained", records=4, baseline=0, details={"by_values_ruled_out": {1: 4}}
    ),
    attack("background", "illness", **LEAK, details={"by_values_ruled_out": {1: 0, 2: 1, 3: 3}}),
    attack(
        "informed", "illness", **LEAK, certain=3, details=EXPLAINED | {"suppressed_exposed": 2, "largest_rise": 0.5}
    ),
    attack(
        "informed", "illness", **LEAK, certain=0, details=EXPLAINED | {"method": "decisions", "largest_rise": 0.204}
    ),
    attack("informed", "illness", certain=0, details=EXPLAINED),
    attack("informed", "illness", certain=0, details=EXPLAINED | {"method": "decisions"}),
    attack("informed", "illness", certain=0, details=EXPLAINED | {"unfollowed": 0.01, "keys": 8}),
    attack(
        "informed",
        "illness",
        certain=0,
        details=EXPLAINED | {"method": "witnesses", "looked_at": 14, "open": 12, "open_interval": (0.6, 0.96)},
    ),
    attack("inversion", **LEAK, details={"by_column": {"age": 3}, "safe": False}),
    attack("inversion", details={"by_column": {"age": 0, "income": 0}, "safe": True}),
    attack("inversion", details={"by_column": {"age": 0}, "safe": False}),
    attack("downcoding", details=DOWN),
    attack("downcoding", **LEAK, details=DOWN | {"by_column": {"zip": {"records": 3, "labels": 1}}}),
    attack(
        "downcoding", details=DOWN | {"records_with_branches_without_people": 1, "columns_left_out_for_ranges": ["a"]}
    ),
    attack("refinement", details=REFINED),
    attack("refinement", details=REFINED | {"by_column": {"zip": FINER | {"placed": 4, "placed_by_labels": 4}}}),
    attack("refinement", **LEAK, details=REFINED | {"by_column": {"zip": FINER | {"narrowed": 6}}}),
    attack(
        "refinement",
        **LEAK,
        details={
            "by_column": {"zip": FINER | {"narrowed": 6, "placed": 3, "placed_by_labels": 2}},
            "cells": 30,
            "guesses": {"cells": 6, "right_at_least": 0.5, "right_at_most": 0.8},
        },
    ),
    attack("linkage", details=LINKED | {"fewest_candidates": 0}),
    attack("linkage", rate=0.041, details=LINKED),
    attack("linkage", **SAMPLE, details=LINKED | {"people_looked_up": 20_000}),
    attack("linkage", **LEAK, details=LINKED | {"matching_all_at_once": "too many pairs"}),
    attack(
        "linkage-insensitive", **LEAK, details=LINKED | LINKED_BY_WARD | {"linked_with_certainty": 1}, columns=["ward"]
    ),
    attack(
        "linkage-insensitive",
        outcome="explained",
        records=300,
        rate=0.2,
        details=LINKED | LINKED_BY_WARD | {"by_column": NARROWED, "by_all_columns": 900, "insensitive_columns": 4},
        columns=["ward", "bed", "meal", "hall"],
    ),
    attack("linkage-insensitive", rate=0.041, details=LINKED | NOBODY_BY_ONE, columns=[]),
    attack("inference", "illness", rate=0.3, baseline=0.29, details={"base_rate": 0.25}),
    attack("inference", "illness", rate=0.2, baseline=0.25, details={"base_rate": 0.25}),
    attack("inference", "illness", **LEAK | {"rate": 0.57}, details={"base_rate": 0.25}),
    attack("columns", "illness", details=TESTED | {"columns_tested": 1}),
    attack("columns", "illness", details=TESTED),
    attack("columns", "illness", **LEAK, certain=3, columns=["score"], details=TESTED | GUESSED),
    attack("columns", "illness", **LEAK, certain=0, columns=["ward", "bed"], details=TESTED | GUESSED | MORE_COLUMNS),
    attack("columns", "pay", **LEAK, certain=0, columns=["rent"], details=TESTED | GUESSED | {"guessed": "tenths"}),
    attack("undone", details=TESTED | {"hidden_columns": ["age", "illness"]}),
    attack("undone", **LEAK, certain=3, columns=["exact_age"], details=TESTED | GUESSED | {"hidden": "age"}),
    attack("identifying-secret", "number", details={}),
    attack("identifying-secret", "number", outcome="explained", records=1, of=40, details={}),
    attack("identifying-secret", "number", **LEAK | {"records": 38}, of=40, columns=["number"], certain=38, details={}),
    attack("composition", "illness", of=0, details={"earlier_releases": 1}),
    attack("composition", "illness", of=4, details={"earlier_releases": 2}),
    attack("composition", "illness", **LEAK, details={"earlier_releases": 1}),
    attack("composition", "illness", **LEAK, details={"at_least": 2, "at_most": 1_234}),
    attack("composition", "illness", **LEAK | {"of": 40}, details=REGISTRY | {"categories_required": 2}),
    attack("composition", "illness", of=1, details=REGISTRY),
    attack("third-party", **LEAK),
    *(
        attack("similarity", "illness", status="not applicable", outcome=outcome, details=details)
        for outcome, details in {
            "needs-original": {},
            "columns-not-compared": {},
            "no-earlier-release": {},
            "unreadable-labels": {"unreadable": GONE},
            "no-sensitive-column": {},
            "no-insensitive-column": {},
            "no-other-column": {},
            "nothing-hidden": {},
            "no-categories": {},
            "one-value": {},
            "secrets-not-read": {},
            "records-linked": {},
            "too-large-to-run-again": {},
            "key-unknown": {},
            "too-many-beliefs": {},
            "not-reproduced": {},
            "unexplained": {},
            "not-range-method": {},
            "labels-chosen-earlier": {},
            "nothing-chosen": {},
            "choices-not-declared": {},
            "maybe-coarsened": {},
            "nothing-generalized": {},
            "only-ranges": {},
            "not-published-earlier": {},
            "no-shared-columns": {},
            "made-up-reason": {},
        }.items()
    ),
]


def test_every_outcome_of_every_attack_in_words(update_golden: bool) -> None:
    results = Evidence.read(hospital() | {"attacks": RESULTS}).attacks
    said = [f"{each.name} {each.outcome}: {verdict_sentence(each)}" for each in results]
    shown = {each.name: each for each in results if each.name in ATTACKS}
    for name in ATTACKS:
        words = (declared(shown[name], "attacker"), declared(shown[name], "attempt"))
        said.append(f"{name}: {' '.join(words)}")
    check_golden("attack_sentences.txt", "\n".join(said) + "\n", update=update_golden)


def test_the_page_of_a_comparison(update_golden: bool) -> None:
    check_golden(
        "comparison.txt", "\n".join(lines(read_page(write_comparison(content())))) + "\n", update=update_golden
    )
