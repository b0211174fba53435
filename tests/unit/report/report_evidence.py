"""Evidence as the pipeline writes it, by hand: a hospital table with most of what a page can show."""

from __future__ import annotations

from typing import Any


def hospital() -> dict[str, Any]:
    """The evidence of a verified release of 30,162 records; a new copy each time."""
    return {
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
        "models": [
            {"model": "k-anonymity", "sensitive": None, "asked": {"k": 5}, "reached": {"k": 6}, "holds": True},
            {
                "model": "p-plus-alpha-sensitive",
                "sensitive": "condition",
                "asked": {"p": 2, "alpha": 2.0},
                "reached": {"p": 2, "alpha": 2.333333333333},
                "holds": True,
            },
            {
                "model": "group-leakage",
                "sensitive": "condition",
                "asked": {"p": 2, "alpha": {"Top Secret": 0.5, "Secret": 0.6}},
                "reached": {"p": 2, "alpha[Top Secret]": 0.5, "alpha[Secret]": 0.571428571429},
                "holds": True,
            },
            {
                "model": "alp-dif",
                "sensitive": "condition",
                "asked": {"limits": {"HIV": {"alp": 0.43, "dif": 0.27}, "": {"alp": 0.5, "dif": 0.5}}},
                "reached": {"alp[HIV]": 0.31, "dif[HIV]": 0.19, "alp[(missing)]": 0.1, "dif[(missing)]": 0.4},
                "holds": True,
            },
            {
                "model": "t-closeness",
                "sensitive": "income",
                "asked": {"t": 0.2, "distance": "equal"},
                "reached": {"t": 0.183204},
                "holds": True,
            },
        ],
        "algorithm": "incognito",
        "seed": 0,
        "search": {
            "nodes": 12_960,
            "checked": 412,
            "metric": "loss",
            "minimal_nodes": [{"age": 2, "zipcode": 3}, {"age": 3, "zipcode": 2}],
        },
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "height": 5, "values": 74, "labels_released": 9, "ncp": 0.131507},
            "zipcode": {"role": "quasi", "height": 5, "values": 1_843, "labels_released": 17, "ncp": 0.0004},
            "country": {"role": "quasi", "height": 2, "values": 41, "labels_released": 41, "ncp": 0.0},
            "education": {"role": "quasi", "height": 4, "values": 16, "labels_released": 1, "ncp": 1.0},
            "condition": {"role": "sensitive", "published": "categories"},
            "income": {"role": "sensitive", "published": "values"},
            "ward": {"role": "insensitive"},
        },
        "not_released": ["doctor", "insurance number", "name"],
        "not_named": ["doctor", "insurance number"],
        "class_sizes": {
            "smallest": 6,
            "largest": 2_405,
            "mean": 95.99359,
            "quartiles": [11.0, 27.5, 84.0],
            "classes_by_size": {"6": 41, "7": 33, "9": 20, "14": 61, "27": 1, "28": 52, "84": 70, "310": 33, "2405": 1},
        },
        "exposure": {
            "condition": {
                "homogeneity": {"classes": 0, "records": 0},
                "similarity": {"classes": 0, "records": 0},
            },
            "income": {"homogeneity": {"classes": 2, "records": 12}},
        },
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
        "versions": {"python": "3.11.9", "shoal": "0.1.0", "numpy": "2.3.0"},
        "seconds": 3.24,
        "seconds_by_stage": {"read": 0.41, "encode": 0.2, "search": 2.1, "recode": 0.03, "write": 0.1, "verify": 0.4},
        "peak_memory_bytes": 312_000_000,
    }
