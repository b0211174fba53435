"""Evidence as the pipeline writes it, by hand: a hospital table with most of what a page can show."""

from __future__ import annotations

from typing import Any


def weakest(strength: float, *, classes: int = 1, classes_at_limit: int = 0) -> dict[str, Any]:
    """The weakest class of a parameter."""
    labels = {"age": "[20, 30)", "zipcode": "142**", "country": None, "education": "*"}
    return {"strength": strength, "size": 6, "labels": labels, "classes": classes, "classes_at_limit": classes_at_limit}


def group(label: str | None, before: int, within: int, after: float, kind: str = "label") -> dict[str, Any]:
    """Some values of a column."""
    return {"kind": kind, "label": label, "distinct_values": 10, "before": before, "within": within, "after": after}


def distribution() -> dict[str, Any]:
    """A column before and after."""
    groups = [
        group("[20, 30)", 12_000, 4_000, 9_500.5),
        group("[30, 40)", 9_000, 0, 9_450.0),
        group(None, 950, 950, 950.0, "missing"),
        group(None, 8_000, 0, 10_049.5, "others"),
    ]
    return {"level": 2, "least_hidden": 5, "groups": groups}


def attack(name: str, sensitive: str | None = None, **changes: Any) -> dict[str, Any]:
    """What an attack found: nothing, unless said otherwise."""
    found = {
        "name": name,
        "sensitive": sensitive,
        "status": "tried",
        "outcome": "nothing",
        "records": 0,
        "of": 29_950,
        "classes": None,
        "rate": 0.0,
        "baseline": 0.0,
        "interval": None,
        "leak": False,
        "details": {},
    } | changes
    if found["leak"]:
        found["outcome"] = "leak"
    if found["status"] != "tried":
        found |= dict.fromkeys(("records", "of", "rate", "baseline"))
    return found


def leak(attack: str, sensitive: str | None = None, **changes: Any) -> dict[str, Any]:
    """A leak as a verdict has it."""
    figures = {"columns": [], "records": 186, "of": 29_950, "rate": 0.157, "certain": 0}
    return {"attack": attack, "sensitive": sensitive, **figures, **changes}


BY_WARD = leak("linkage-insensitive", columns=["ward"], certain=15)
RULED_OUT = leak("background", "condition", records=2_995, rate=0.1)


def verdict(decision: str = "publish-with-caveats", **changes: Any) -> dict[str, Any]:
    """A verdict: what is accepted and what else is to be known, and what would help."""
    edits = [{"path": ["privacy", 1], "value": {"model": "p-sensitive", "p": 5, "sensitive": "condition"}}]
    about = {"attack": "background", "sensitive": "condition", "by": []}
    reason = "Nobody outside knows the ward"
    return {
        "decision": decision,
        "models_hold": True,
        "tried": 4,
        "leaking": 2,
        "worst": RULED_OUT,
        "reasons": [],
        "caveats": [{"code": "leak", "leak": RULED_OUT}, {"code": "accepted", "leak": BY_WARD, "reasons": [reason]}],
        "accepted": [{"leak": BY_WARD, "reasons": [reason]}],
        "unused_accepts": [],
        "advice": [{"code": "add-model", **about, "columns": ["condition"], "edits": edits, "model": "p-sensitive"}],
    } | changes


LINKED = {
    "k": 5,
    "people_looked_up": 29_950,
    "matching_all_at_once": "not needed",
    "expected_right_links": 312,
    "fewest_candidates": 6,
    "linked_with_certainty": 0,
}
LINKED_BY_WARD: dict[str, Any] = {"linked_by": ["ward"], "expected_by_chance": 104.3}
UNPROTECTED: dict[str, Any] = {"by_value": {}, "records_unprotected": 0, "by_value_unprotected": {}}


def quasi(height: int, values: int, labels: int, ncp: float) -> dict[str, Any]:
    """A quasi-identifier without a distribution."""
    return {
        "role": "quasi",
        "height": height,
        "hierarchy_values": values,
        "labels_released": labels,
        "ncp": ncp,
        "distribution": None,
    }


def hospital() -> dict[str, Any]:
    """The evidence of a verified release of 30,162 records; a new copy each time."""
    return {
        "evidence_version": 1,
        "verified": True,
        "records": 30_162,
        "released": 29_950,
        "suppressed": 212,
        "classes": 312,
        "levels": {"age": 2, "zipcode": 3, "country": 0, "education": 4},
        "measures": {
            "ncp": 0.284131,
            "loss": 0.262719,
            "ntil": 0.31,
            "distortion_ratio": 0.402118,
            "precision": 0.612345,
            "wang_loss": 0.2712,
            "discernibility": 9_412_733.0,
            "average_class_size": 95.99359,
            "suppressed": 212.0,
            "constraint_violations": 0.0,
        },
        "bound": {
            "ncp": 0.1671,
            "ncp_interval": [0.16, 0.1742],
            "records": 2_000,
            "estimated": True,
            "reached": 0.284131,
            "ratio": 1.7003,
            "gap": 0.7003,
            "method": "neighbours",
            "checked": False,
            "unchecked": "neighbours",
        },
        "models": [
            {
                "model": "k-anonymity",
                "sensitive": None,
                "asked": {"k": 5},
                "reached": {"k": 6},
                "holds": True,
                "weakest": {"k": weakest(6, classes=41)},
            },
            {
                "model": "p-plus-alpha-sensitive",
                "sensitive": "condition",
                "asked": {"p": 2, "alpha": 2.0},
                "reached": {"p": 2, "alpha": 2.333333333333},
                "holds": True,
                "weakest": {"p": weakest(2, classes=3, classes_at_limit=3), "alpha": weakest(2.333333333333)},
            },
            {
                "model": "group-leakage",
                "sensitive": "condition",
                "asked": {"p": 2, "alpha": {"Top Secret": 0.5, "Secret": 0.6}},
                "reached": {"p": 2, "alpha[Top Secret]": 0.5, "alpha[Secret]": 0.571428571429},
                "holds": True,
                "weakest": {},
            },
            {
                "model": "alp-dif",
                "sensitive": "condition",
                "asked": {"limits": {"HIV": {"alp": 0.43, "dif": 0.27}, "": {"alp": 0.5, "dif": 0.5}}},
                "reached": {"alp[HIV]": 0.31, "dif[HIV]": 0.19, "alp[(missing)]": 0.1, "dif[(missing)]": 0.4},
                "holds": True,
                "weakest": {},
            },
            {
                "model": "t-closeness",
                "sensitive": "income",
                "asked": {"t": 0.2, "distance": "equal"},
                "reached": {"t": 0.183204},
                "holds": True,
                "weakest": {},
            },
        ],
        "algorithm": "incognito",
        "seed": 0,
        "search": {
            "nodes": 12_960,
            "checked": 412,
            "metric": "loss",
            "minimal_nodes": [{"age": 2, "zipcode": 3}, {"age": 3, "zipcode": 2}],
            "refined": {
                "measure": "loss",
                "before": 0.2811,
                "after": 0.262719,
                "steps": {"move": 12, "swap": 3},
                "rounds": 4,
                "ended": "nothing improves",
            },
        },
        "columns": {
            "name": {"role": "identifier"},
            "age": {
                "role": "quasi",
                "height": 5,
                "hierarchy_values": 74,
                "labels_released": 9,
                "ncp": 0.131507,
                "distribution": distribution(),
            },
            "zipcode": quasi(5, 1_843, 17, 0.0004),
            "country": quasi(2, 41, 41, 0.0),
            "education": quasi(4, 16, 1, 1.0),
            "condition": {"role": "sensitive", "published": "categories"},
            "income": {"role": "sensitive", "published": "values"},
            "ward": {"role": "insensitive"},
        },
        "not_released": ["doctor", "insurance number", "name"],
        "not_named": ["doctor", "insurance number"],
        "class_sizes": {
            "smallest": 6,
            "smallest_if_missing_matches_anything": 6,
            "largest": 2_405,
            "mean": 95.99359,
            "quartiles": [11.0, 27.5, 84.0],
            "classes_by_size": {"6": 41, "7": 33, "9": 20, "14": 61, "27": 1, "28": 52, "84": 70, "310": 33, "2405": 1},
        },
        "exposure": {
            "condition": {"homogeneity": {"classes": 0, "records": 0}, "similarity": {"classes": 0, "records": 0}},
            "income": {"homogeneity": {"classes": 2, "records": 12}},
        },
        "attacks": [
            attack("homogeneity", "condition", details=UNPROTECTED),
            attack(
                "linkage-insensitive",
                records=186,
                rate=0.157,
                baseline=0.041,
                leak=True,
                details=LINKED | LINKED_BY_WARD | {"fewest_candidates": 1, "linked_with_certainty": 15},
                columns=["ward"],
            ),
            attack("inference", "income", rate=0.31, baseline=0.3, interval=[0.29, 0.33], details={"base_rate": 0.25}),
            attack(
                "background",
                "condition",
                records=2_995,
                rate=0.1,
                baseline=0.0,
                leak=True,
                details={"by_values_ruled_out": {"1": 0, "2": 800, "3": 2_995}},
            ),
            attack("composition", status="not tried", outcome="no-earlier-release"),
        ],
        "attack_seed": 0,
        "verdict": verdict(),
        "checks": [
            {"name": "columns", "passed": True, "message": "7 columns, as the policy says.", "facts": {"columns": 7}},
            {"name": "k-anonymity", "passed": True, "message": "312 classes, the smallest of 6.", "facts": {"k": 6}},
        ],
        "policy": {
            "data": {"path": "patients.csv"},
            "columns": {
                "name": {"role": "identifier"},
                "age": {"role": "quasi", "hierarchy": {"intervals": {"widths": [5.0, 10.0, 20.0]}}},
                "condition": {"role": "sensitive", "categories": {"Top Secret": ["HIV", "Cancer"], "Rest": ["Flu"]}},
            },
            "privacy": [{"model": "k-anonymity", "k": 5}],
            "suppression": 0.05,
        },
        "policy_sha256": "ab" * 32,
        "release_sha256": "3f" * 32,
        "evidence_sha256": "5c" * 32,
        "versions": {"python": "3.11.9", "shoal": "0.1.0", "numpy": "2.3.0"},
        "seconds": 3.24,
        "seconds_by_stage": {"read": 0.41, "encode": 0.2, "search": 2.1, "recode": 0.03, "write": 0.1, "verify": 0.4},
        "peak_memory_bytes": 312_000_000,
    }
