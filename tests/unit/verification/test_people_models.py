"""Every model judged in people by the verifier, against the naive reading of its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import model_oracles as records
from oracles import person_class_oracle as oracle
from shoal.encode.resolve import resolve
from shoal.io import in_order_of_cells
from shoal.models import MODELS
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.table.distinct_rows import DistinctRows
from shoal.table.people import people_histogram
from shoal.verification import Claim
from shoal.verification.people import UNITS, people_with_values
from shoal.verification.stated_policy import stated
from shoal.verification.value_order import in_order

CATEGORIES = {"top": ["1"], "mid": ["2", "10"], "low": ["30"]}
PATHS = {value: ["*", category, value] for category, values in CATEGORIES.items() for value in values}
DISTANCES = {
    "equal": lambda _: records.equal_distance,
    "ordered": records.ordered_distance,
    "hierarchical": lambda shown: records.hierarchical_distance({value: PATHS[value] for value in shown}),
}
SMALL = st.sampled_from([1, 2, 3])
SHARE = st.sampled_from([0.25, 0.34, 0.5, 0.6, 0.75, 1])
SPECS: dict[str, Any] = {
    "k-anonymity": {"k": SMALL},
    "p-sensitive": {"p": SMALL},
    "distinct-l-diversity": {"l": SMALL},
    "p-alpha-sensitive": {"p": SMALL, "alpha": st.sampled_from([0.25, 0.5, 1, 1.5])},
    "p-plus-alpha-sensitive": {"p": SMALL, "alpha": st.sampled_from([0.25, 0.5, 1, 1.5])},
    "group-leakage": {
        "p": SMALL,
        "alpha": st.sampled_from([{"top": 0.25, "mid": 0.5}, {"top": 0.34}, {"top": 0.5, "mid": 0.6}]),
    },
    "alpha-k-anonymity": {"alpha": SHARE},
    "alp-dif": {"limits": st.fixed_dictionaries({"1": st.fixed_dictionaries({"alp": SHARE, "dif": SHARE})})},
    "entropy-l-diversity": {"l": st.sampled_from([1.5, 2, 3])},
    "recursive-cl-diversity": {"c": st.sampled_from([0.5, 1, 2.5]), "l": SMALL},
    "t-closeness": {"t": st.sampled_from([0, 0.1, 0.25, 0.4]), "distance": st.sampled_from(sorted(DISTANCES))},
    "k-e": {"k": SMALL, "e": st.sampled_from([1, 9, 28])},
    "epsilon-m": {"epsilon": st.sampled_from([1, 8]), "m": SMALL, "relative": st.booleans()},
}
EVENT = st.tuples(
    st.sampled_from("uvwxyz"), st.sampled_from(["a1", "a2", "b1", "b2", "c1"]), st.sampled_from([*sorted(PATHS), None])
)


ON_VALUES = {"k-e", "epsilon-m", "alp-dif", "t-closeness"}  # in these tests: they name values, or need numbers


def policy_of(spec: dict[str, Any], publish: str) -> Policy:
    model = spec if spec["model"] == "k-anonymity" else {**spec, "sensitive": "dx"}
    columns = {
        "id": {"role": "identifier"},
        "cell": {"role": "quasi", "hierarchy": {"tree": {"A": ["a1", "a2"], "B": ["b1", "b2"], "C": ["c1"]}}},
        "dx": {"role": "sensitive", "categories": CATEGORIES, "publish": publish},
    }
    return Policy(columns=columns, privacy=[model], person="id", suppression=1)


def test_every_model_is_here():
    assert set(SPECS) == set(MODELS)


@pytest.mark.parametrize("model", SPECS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_verifier_judges_people_as_the_definition_does(model, data):
    spec = {"model": model, **data.draw(st.fixed_dictionaries(SPECS[model]))}
    events = data.draw(st.lists(EVENT, min_size=1, max_size=10))
    released = data.draw(st.sets(st.sampled_from("ABC"), min_size=1)) & {cell[0].upper() for _, cell, _ in events}
    publish = data.draw(st.sampled_from(["values"] if model in ON_VALUES else ["values", "categories", "both"]))
    policy, categories, published = policy_of(spec, publish), CATEGORIES, {value: value for value in (*PATHS, None)}
    if publish == "categories":
        published = {None: None} | {value: name for name, values in CATEGORIES.items() for value in values}
        categories = {name: [name] for name in CATEGORIES}
    shown = [
        (cell[0].upper(), published[dx], PATHS[dx][1] if dx else None)
        for _, cell, dx in events
        if cell[0].upper() in released
    ]
    if not shown:
        return
    names = ("cell", "dx", "dx_category") if publish == "both" else ("cell", "dx")
    release = pa.table(dict(zip(names, zip(*shown, strict=True), strict=False)))
    release = in_order_of_cells(release)
    original = pa.table(dict(zip(("id", "cell", "dx"), zip(*events, strict=True), strict=True)))
    labels = sorted(released)
    of = np.array([labels.index(cell[0].upper()) if cell[0].upper() in released else -1 for _, cell, _ in events])
    claim = Claim(original, np.ones(len(events), dtype=np.int64), of, pa.table({"cell": labels}))
    classes = [[(who, published[dx]) for who, cell, dx in events if cell[0].upper() == label] for label in labels]
    expected = oracle.holds(spec, classes, categories, DISTANCES)
    by_claim = verify(release, policy, original, claim=claim)
    (check,) = [each for each in by_claim.checks if each.name.startswith(model)]
    assert (check.passed, check.facts["counted"]) == (expected, "people"), check.message
    assert by_claim.passed == expected
    alone = verify(release, policy, original)
    assert [each.to_dict() for each in alone.checks] == [each.to_dict() for each in by_claim.checks]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 40)), min_size=1, max_size=150))
def test_both_divide_a_person_alike_over_any_number_of_values(rows):
    group, person, value = (np.array(each, dtype=np.int64) for each in zip(*rows, strict=True))
    known = np.ones(41, dtype=np.bool_)
    made = people_histogram(group, person.astype(np.int32), value.astype(np.int32), 3, known)
    of, values, people, weights = people_with_values(group, person, value)
    assert of.tolist() == made.class_of.tolist()
    assert values.tolist() == made.values.tolist()
    assert people.tolist() == made.counts.tolist()
    assert weights.tolist() == made.weights.tolist()
    for each in set(group.tolist()):
        assert weights[of == each].sum() == UNITS * len({who for g, who, _ in rows if g == each})


ORDERS: dict[str, tuple[dict[str, Any], list[str | None]]] = {
    "texts": ({}, ["b", "a", "10", "9", None]),
    "numbers": ({}, ["10", "9", "-3", "2.5", None]),
    "dates": ({}, ["2020-05-01", "2019-12-31"]),
    "tree": ({"hierarchy": {"tree": {"Z": ["b", "a"], "A": {"q": ["d", "c"]}, "u": None}}}, ["a", "b", "c", "d", "u"]),
    "placed missing": ({"hierarchy": {"tree": {"Z": ["b", None, "a"], "A": ["c"]}}}, ["a", "b", "c", None]),
    "order": ({"hierarchy": {"order": ["low", "mid", "high"]}}, ["high", "low", "mid", None]),
    "intervals": ({"hierarchy": {"intervals": [10, 20]}}, ["31", "5", "100", None]),
    "written dates": (
        {"hierarchy": {"dates": {"units": ["month"], "format": "%d.%m.%Y"}}},
        ["01.05.2020", "31.12.2019"],
    ),
    "mask": ({"hierarchy": {"mask": "right"}}, ["021", "020", "9"]),
    "categories": ({"categories": {"top": ["x", "b"], "low": ["a"]}}, ["a", "b", "x"]),
    "published categories": ({"categories": {"top": ["x"], "low": ["a"]}, "publish": "categories"}, ["a", "x"]),
    "bins": ({"bins": 10}, ["31", "5", "100", None]),
}


@pytest.mark.parametrize("name", ORDERS)
def test_what_division_leaves_over_goes_by_the_same_order_of_values(name):
    spec, values = ORDERS[name]
    columns = {"q": {"role": "quasi"}, "s": {"role": "sensitive", **spec}}
    policy = Policy(columns=columns, privacy=[{"model": "distinct-l-diversity", "l": 1, "sensitive": "s"}])
    secret = resolve(policy, DistinctRows.of(pa.table({"q": ["a"] * len(values), "s": values}))).sensitive["s"]
    made = [secret.domain.values[code] for code in np.unique(secret.codes)]
    assert list(in_order(sorted(made, key=str), stated(policy), "s")) == made
