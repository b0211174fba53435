"""What checks of a release against its evidence say, made from their facts."""

import json
from collections.abc import Mapping
from typing import Any

from shoal.formatting import listing, pluralize

_LISTED = 3  # problems that are named
_LONGEST = 60  # characters of a fact that are shown
_NOT_COMPARED = {
    "bound-but-reached": "the bound (except the loss reached)",
    "messages": "messages of checks, since another version made them",
    "column-figures": "heights, values and NCP of columns",
    "data-columns": "columns of the data",
    "unknown-values": "unknown values of columns",
    "weakest-classes": "the weakest classes of models",
    "all-of-applied": "everything except counts and the models of all records together",
    "all-of-unverified": "everything except counts, models and checks, since the release fails its verification",
}
"""The codes of facts that were not compared, where they do not speak for themselves."""


def audit_message(name: str, passed: bool, facts: Mapping[str, Any]) -> str:
    """What a check found."""
    if name in {"evidence-seal", "hash"}:
        what, of = ("the seal", "evidence") if name == "evidence-seal" else ("the hash in the evidence", "release")
        return f"{what} {'matches' if passed else 'does not match'} the {of}"
    if name == "evidence-verdict":
        follows = "follows" if passed else f"does not follow ({facts['found']} does)"
        return f"the recorded verdict ({facts['claimed']}) {follows} from what the evidence records"
    if name == "evidence-policy":
        if not passed:
            return f"the evidence was made under a policy with different content in {listing(facts['differing'])}"
        other_file = ", from another file" if facts["claimed"] != facts["found"] else ""
        other_algorithm = f", by another algorithm ({facts['algorithm']})" if facts["differing"] else ""
        return f"the release was made under this policy{other_file or other_algorithm}"
    if not passed:
        problems = facts["problems"]
        more = f"; and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
        return "; ".join(_problem(facts, each) for each in problems[:_LISTED]) + more
    if name == "evidence":
        return f"{facts['file']} is evidence of version 1"
    if name == "evidence-attacks":
        return f"{pluralize(facts['compared'], 'attack')} repeated, with the recorded results"
    left = ", ".join(_NOT_COMPARED.get(code, code) for code in facts["not_compared"])
    return f"the evidence agrees with what the file shows; not compared: {left}"


def _problem(facts: Mapping[str, Any], problem: Mapping[str, Any]) -> str:
    if "code" in problem:
        what = "cannot be read" if problem["code"] == "unreadable" else "is not evidence"
        return f"{facts['file']} {what}: {problem['detail']}"
    shown, recorded = (json.dumps(problem[key], ensure_ascii=False)[:_LONGEST] for key in ("shown", "recorded"))
    return f"{problem['fact']} is {shown}, recorded as {recorded}"
