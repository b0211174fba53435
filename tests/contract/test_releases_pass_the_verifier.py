"""Every algorithm with every model, from table to release, before the independent verifier.

A release is verified with the original, as a run verifies its own, and alone, as a reader of it would, after a trip
through a file. Attacks and evidence are no part of this.
"""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError
from shoal.pipeline.run import make_release
from shoal.search import ALGORITHMS

pytestmark = pytest.mark.slow

CATEGORIES = {"grave": ["HIV", "Cancer"], "bad": ["Asthma", None], "light": ["Flu"]}
VALUES = [value for values in CATEGORIES.values() for value in values]
TREE = {"North": {"Far": ["a", "b"], "c": None}, "South": ["d", "e"]}
MODELS: dict[str, dict[str, Any]] = {
    "k-anonymity": {},
    "p-sensitive": {"p": 2},
    "p-alpha-sensitive": {"p": 2, "alpha": 1},
    "p-plus-alpha-sensitive": {"p": 2, "alpha": 0.5},
    "group-leakage": {"p": 1, "alpha": {"grave": 0.5, "bad": 0.7}},
    "alp-dif": {"limits": {"HIV": {"alp": 0.6, "dif": 0.3}}},
    "distinct-l-diversity": {"l": 2},
    "entropy-l-diversity": {"l": 1.5},
    "recursive-cl-diversity": {"l": 2, "c": 2},
    "alpha-k-anonymity": {"alpha": 0.7},
    "t-closeness": {"t": 0.4},
    "k-e": {"k": 2, "e": 2},
    "epsilon-m": {"epsilon": 1, "m": 2},
}
NEEDED: dict[str, dict[str, Any]] = {"range": {"group": {"region": 2}, "ranges": ["age"], "safe": True}}
"""What an algorithm cannot do without."""
RANGED = [
    name for name, entry in ALGORITHMS.items() if "ranges" in entry.option_names and not entry.needs and name != "auto"
]
"""The algorithms that can release ranges; `auto` has those that it tries release them."""
RUNS: dict[str, dict[str, Any]] = {
    **{name: {"name": name, **NEEDED.get(name, {})} for name in ALGORITHMS},
    "greedy-clustering, faithful": {"name": "greedy-clustering", "faithful": True},
    **{f"{name} in ranges": {"name": name, "ranges": ["age"]} for name in RANGED},
    **{
        f"{name} in runs": {"name": name, "ranges": {"age": {"step": step}}}
        for name, step in zip(RANGED, cycle([5, 7, 2.5]), strict=False)
    },
    "range in runs": {"name": "range", **NEEDED["range"], "ranges": {"age": {"step": 7}}},
    "greedy-clustering, faithful in ranges": {"name": "greedy-clustering", "faithful": True, "ranges": ["age"]},
    **{
        f"{name}, refined": {"name": name, "refine": 5}
        for name, entry in ALGORITHMS.items()
        if "refine" in entry.option_names
    },
    "mondrian in ranges, refined": {"name": "mondrian", "refine": 5, "ranges": ["age"]},
}
"""Every algorithm; those that can release ranges also with the ages in ranges and in runs of base
intervals, those that can refine also refined."""
DISTANCES = ("equal", "ordered", "hierarchical")


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    size = draw(st.integers(4, 40))

    def column(values: list[Any]) -> list[Any]:
        drawn = draw(st.lists(st.sampled_from(values), min_size=size - 1, max_size=size - 1))
        return [values[0], *drawn]  # a column without any value is refused

    return pa.table(
        {
            "age": pa.array(column([20, 23, 31, 38, 44, None]), pa.int64()),
            "region": pa.array(column(["a", "b", "c", "d", "e"]), pa.string()),
            "condition": pa.array(column(VALUES), pa.string()),
            "stay": pa.array(column([1, 2, 3, 5, 8]), pa.int64()),
        }
    )


def policy_of(model: str, algorithm: dict[str, Any], draw: st.DrawFn) -> shoal.Policy:
    """A policy with the model, k-anonymity, and the rest drawn."""
    asked = {"model": model, **MODELS[model]}
    column = "condition"
    if model == "t-closeness":
        asked["distance"] = draw(st.sampled_from(DISTANCES))
        column = "stay" if asked["distance"] == "ordered" else "condition"
    bins = draw(st.sampled_from([{}, {"bins": 2}, {"bins": [2, 4.5]}]))
    if model in {"k-e", "epsilon-m"}:
        column, bins = "stay", {}
    privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": draw(st.integers(2, 3))}]
    if model != "k-anonymity":
        privacy.append({**asked, "sensitive": column})
    on_values = model == "alp-dif" or asked.get("distance") == "hierarchical"
    publish = ["values", "both"] if on_values else ["values", "both", "categories"]
    return shoal.Policy(
        columns={
            "age": {
                "role": "quasi",
                "hierarchy": {"intervals": [5, 10, 20]},
                "boundary": draw(st.sampled_from([None, 2, 3])),
            },
            "region": {
                "role": "quasi",
                "hierarchy": {"tree": TREE},
                "boundary": draw(st.sampled_from([None, ["North", "South"], ["Far"]])),
            },
            "condition": {"role": "sensitive", "categories": CATEGORIES, "publish": draw(st.sampled_from(publish))},
            "stay": {"role": "sensitive", **bins},
        },
        privacy=privacy,
        algorithm=algorithm,
        suppression=draw(st.sampled_from([0.0, 0.1, 0.5])),
        suppressed=draw(st.sampled_from(["drop", "star"])),
    )


@pytest.mark.filterwarnings("ignore::shoal.errors.DisclosureWarning")
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_an_algorithm_releases_passes_the_verifier(
    run: str, model: str, data: st.DataObject, tmp_path: Path
) -> None:
    table = data.draw(tables())
    policy = policy_of(model, RUNS[run], data.draw)
    try:
        result = make_release(table, policy)
    except InfeasibleError:
        return
    pyarrow.csv.write_csv(result.table, tmp_path / "release.csv")
    shoal.verify(tmp_path / "release.csv", policy).raise_if_failed()
    shoal.verify(tmp_path / "release.csv", policy, original=table).raise_if_failed()
