"""Every algorithm with every model on a table in which some secrets are unknown."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from contract.test_releases_pass_the_verifier import CATEGORIES, MODELS, RUNS, policy_of, tables
from oracles import model_oracles as oracle
from shoal.errors import InfeasibleError
from shoal.models import MODELS as DECLARED

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::shoal.errors.DisclosureWarning")]

ON_VALUES = sorted(name for name in MODELS if DECLARED[name].reads_sensitive() and not DECLARED[name].needs_numbers)
"""The models on the column of which values are unknown here; those on numbers have tests of their own."""
LAST = "~"  # sorts after every other value, as the missing one does


def released(table: pa.Table, policy: shoal.Policy) -> shoal.Release | None:
    try:
        return shoal.anonymize(table, policy)
    except InfeasibleError:
        return None


def with_column(policy: shoal.Policy, **changes: Any) -> shoal.Policy:
    columns = policy.to_dict()["columns"]
    columns["condition"] |= {"publish": "values", **changes}
    return policy.changed(columns=columns, suppressed="drop")


def replaced(table: pa.Table, become: dict[str | None, str | None]) -> pa.Table:
    cells = [become.get(value, value) for value in table.column("condition").to_pylist()]
    return table.set_column(table.column_names.index("condition"), "condition", pa.array(cells, pa.string()))


def known_classes(release: shoal.Release, unknown: set[str | None]) -> list[list[str | None]]:
    found = defaultdict(list)
    quasi = release.policy.names("quasi")
    for row in release.table.to_pylist():
        found[tuple(row[name] for name in quasi)].append(row["condition"])
    return [[value for value in each if value not in unknown] for each in found.values()]


def naive(model: str, spec: dict[str, Any], classes: list[list[str | None]]) -> bool:
    """The model on the released values, by its definition."""
    blocks, everything = list(CATEGORIES.values()), [value for each in classes for value in each]
    values = [value for values in CATEGORIES.values() for value in values if value in everything]
    paths = {value: ("*", category, value) for category, each in CATEGORIES.items() for value in each}
    distance = {
        "equal": lambda: oracle.equal_distance,
        "hierarchical": lambda: oracle.hierarchical_distance({value: paths[value] for value in values}),
    }
    holds = {
        "p-sensitive": lambda: oracle.p_holds(classes, spec["p"]),
        "distinct-l-diversity": lambda: oracle.p_holds(classes, spec["l"]),
        "p-alpha-sensitive": lambda: oracle.p_alpha_holds(classes, spec["p"], spec["alpha"], blocks),
        "p-plus-alpha-sensitive": lambda: oracle.p_plus_alpha_holds(classes, spec["p"], spec["alpha"], blocks),
        "group-leakage": lambda: oracle.group_leakage_holds(classes, spec["p"], spec["alpha"], CATEGORIES),
        "alp-dif": lambda: [*oracle.alp_dif_holds(classes, spec["limits"]), oracle.alp_holds(classes, spec["limits"])],
        "entropy-l-diversity": lambda: oracle.entropy_l_holds(classes, spec["l"]),
        "recursive-cl-diversity": lambda: oracle.recursive_holds(classes, spec["c"], spec["l"]),
        "alpha-k-anonymity": lambda: oracle.alpha_k_holds(classes, spec["alpha"]),
        "t-closeness": lambda: oracle.t_holds(classes, spec["t"], distance[spec["distance"]]()),
    }
    return all(holds[model]())


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("model", ON_VALUES)
@settings(max_examples=3)
@given(data=st.data())
def test_the_known_values_of_every_release_satisfy_the_model(run: str, model: str, data: st.DataObject) -> None:
    table, policy = data.draw(tables()), policy_of(model, RUNS[run], data.draw)
    also = data.draw(st.sampled_from([[], ["Flu"], ["Asthma", "Flu"]]))
    policy = with_column(policy, **({"unknown": also} if also else {}))
    (spec,) = (each.model_dump() for each in policy.privacy if each.model == model)
    release = released(table, policy)
    if release is None or spec.get("distance") == "ordered":
        return
    assert naive(model, spec, known_classes(release, {None, *also}))
    assert shoal.verify(release.table, policy, original=table).passed


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=2)
@given(data=st.data())
def test_a_missing_value_that_counts_is_a_value_like_any_other(run: str, model: str, data: st.DataObject) -> None:
    table, policy = data.draw(tables()), policy_of(model, RUNS[run], data.draw)
    counting = with_column(policy, unknown_counts=True)
    categories = {name: [value or LAST for value in values] for name, values in CATEGORIES.items()}
    named = with_column(policy, categories=categories)
    if any(each.model_dump().get("distance") == "ordered" for each in policy.privacy):
        return  # a text has no place in the order
    one, other = released(table, counting), released(replaced(table, {None: LAST}), named)
    if one is None or other is None:
        assert one is other
        return
    assert replaced(one.table, {None: LAST}) == other.table
    for key in ("levels", "measures", "classes", "suppressed", "exposure"):
        assert one.evidence[key] == other.evidence[key], key
    assert [each["reached"] for each in one.evidence["models"]] == [
        each["reached"] for each in other.evidence["models"]
    ]
