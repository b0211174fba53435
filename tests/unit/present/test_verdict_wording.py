"""A verdict in words: every decision, reason, caveat and advice."""

from __future__ import annotations

from typing import Any

from report_evidence import BY_WARD, RULED_OUT, hospital, leak, verdict

from shoal.attacks.verdict.verdict import Verdict
from shoal.evidence.evidence import Evidence
from shoal.present.terminal import decision_lines
from support.golden_files import check_golden

GIVES = leak("homogeneity-insensitive", "score", columns=["decile", "day"], records=29_950, certain=29_950)
HOMOGENEOUS = leak("homogeneity", "income", records=1, of=29_950, certain=1)
LINKED = leak("linkage", records=12)
ABOUT = {"attack": "inversion", "sensitive": None, "by": []}


def change(code: str, *edits: dict[str, Any], columns: tuple[str, ...] = (), **others: Any) -> dict[str, Any]:
    return {"code": code, **ABOUT, "columns": list(columns), "edits": list(edits), **others}


def removed(*path: str) -> dict[str, Any]:
    return {"path": list(path)}


CASES: dict[str, dict[str, Any]] = {
    "nothing": verdict("publish", leaking=0, worst=None, caveats=[], accepted=[], advice=[]),
    "hospital": verdict(),
    "grave": verdict(
        "do-not-publish",
        worst=GIVES,
        reasons=[
            {"code": "certain", "leak": GIVES},
            {"code": "certain", "leak": BY_WARD},
            {"code": "certain", "leak": HOMOGENEOUS},
            {"code": "promise-broken", "leak": LINKED},
        ],
        advice=[],
        caveats=[],
    ),
    "failed": verdict(
        "do-not-publish",
        models_hold=False,
        tried=0,
        leaking=0,
        worst=None,
        reasons=[{"code": "not-verified", "failed": ["k-anonymity", "order"]}],
        caveats=[{"code": "not-attacked"}],
        advice=[],
    ),
    "caveats": verdict(
        models_hold=None,
        leaking=1,
        worst=LINKED,
        caveats=[
            {"code": "models-not-judged"},
            {"code": "narrowed", "leak": BY_WARD},
            {"code": "not-tried", "attack": "linkage", "what": "needs-original"},
            {"code": "not-tried", "attack": "downcoding", "what": "needs-original"},
            {"code": "not-tried", "attack": "composition", "what": "unreadable-labels"},
            {"code": "warning", "what": "several-records-per-person"},
            {"code": "warning", "what": "made-up"},
            {"code": "not-done", "what": "utility"},
        ],
        unused_accepts=[
            {"attack": "linkage", "column": None, "reason": "x"},
            {"attack": "homogeneity", "column": "income", "reason": "y"},
        ],
        advice=[],
    ),
    "advice": verdict(
        worst=RULED_OUT,
        caveats=[],
        advice=[
            change("omit-columns", removed("columns", "ward"), removed("columns", "bed"), columns=("ward", "bed")),
            change("make-quasi", {"path": ["columns", "ward", "role"], "value": "quasi"}, columns=("ward",)),
            change(
                "strengthen-model",
                {"path": ["privacy", 0, "t"], "value": 0.1, "sensitive": "income"},
                columns=("income",),
                model="t-closeness",
            ),
            change("full-domain", {"path": ["algorithm"], "value": {"name": "optimal"}}, option="optimal"),
            change("switch-option", {"path": ["algorithm", "safe"], "value": True}, option="safe"),
            change("widen-bins", {"path": ["columns", "income", "bins"], "value": 500}, columns=("income",)),
            change("know-events", {"path": ["person", "events"], "value": 3}),
            change("withdraw-earlier"),
        ],
    ),
}


def test_every_verdict_in_words(update_golden: bool) -> None:
    said = []
    for name, content in CASES.items():
        found = Evidence.read(hospital() | {"verdict": content}).verdict
        assert isinstance(found, Verdict)
        said += [f"=== {name}", *decision_lines(found)]
    check_golden("verdict.txt", "\n".join(said) + "\n", update=update_golden)
