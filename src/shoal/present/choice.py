"""Which algorithm a search chose among several, in words, made from the facts of the search."""

from collections.abc import Iterator, Mapping
from typing import Any

_REASONS = {
    "one-level": "each column must have one level",
    "equal-labels": "records with equal quasi-identifiers must have equal labels, since batches are recoded one by one",
    "no-single-records": "the memory allowed is too little for a row per record",
    "time": "it is expected to take longer than the time that was left",
    "nodes": "the lattice has too many nodes",
    "conceals": "a search that conceals tries one algorithm",
    "nothing-lost": "nothing was lost",
    "not-measured": "it does not declare how long it takes",
}


def choice_line(search: Mapping[str, Any]) -> str | None:
    """What was chosen, in one line; None for a search that chose among none."""
    if "chosen" not in search:
        return None
    others = [each["algorithm"] for each in search.get("tried", ()) if each["algorithm"] != search["chosen"]["name"]]
    beside = f" (also tried: {', '.join(others)})" if others else ""
    return f"algorithm chosen: {search['chosen']['name']}{beside}"


def tried_phrases(search: Mapping[str, Any]) -> Iterator[str]:
    """What each algorithm made of it that was tried."""
    for each in search.get("tried", ()):
        found = "no release" if each["cost"] is None else f"cost {each['cost']:.4f}"
        yield f"{each['algorithm']}: {found}"


def left_out_phrases(search: Mapping[str, Any]) -> Iterator[str]:
    """Why others were not."""
    for each in search.get("left_out", ()):
        yield f"{each['algorithm']}: {_REASONS.get(each['reason'], each['reason'])}"
