"""Full-domain searches over linked records, compared with a naive reading of the definition on every node."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import linked_oracle as oracle
from shoal import Policy
from shoal.encode.pseudonyms import pseudonym
from shoal.errors import InfeasibleError
from shoal.pipeline.run import make_release

COLUMNS = ("id", "q", "r", "s")
KEY = "0123456789abcdef0123456789abcdef"
TREE = {"A": ["a", "b"], "B": ["c", "d"]}
LEVELS = {"a": ("a", "A", "*"), "b": ("b", "A", "*"), "c": ("c", "B", "*"), "d": ("d", "B", "*")}
MODELS: list[list[dict[str, Any]]] = [
    [{"model": "k-anonymity", "k": 2}],
    [{"model": "k-anonymity", "k": 3}, {"model": "p-sensitive", "p": 2, "sensitive": "s"}],
    [{"model": "k-anonymity", "k": 2}, {"model": "alpha-k-anonymity", "alpha": 0.6, "sensitive": "s"}],
    [{"model": "entropy-l-diversity", "l": 1.8, "sensitive": "s"}],
    [{"model": "k-anonymity", "k": 2}, {"model": "t-closeness", "t": 0.4, "distance": "equal", "sensitive": "s"}],
]
EVENTS = st.lists(
    st.tuples(st.sampled_from("uvwxyz"), st.sampled_from("abcd"), st.sampled_from("cd"), st.sampled_from("FHC")),
    min_size=2,
    max_size=14,
)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_PSEUDONYM_KEY", KEY)


def policy_of(models: list[dict[str, Any]], algorithm: str, suppression: float) -> Policy:
    tree = {"role": "quasi", "hierarchy": {"tree": TREE}}
    columns = {"id": {"role": "pseudonym"}, "q": tree, "r": tree, "s": {"role": "sensitive"}}
    content = {"columns": columns, "person": "id", "privacy": models, "algorithm": algorithm}
    return Policy.model_validate({**content, "suppression": suppression})


def table_of(events: list[tuple[str, str, str, str]]) -> pa.Table:
    return pa.table(dict(zip(COLUMNS, map(list, zip(*events, strict=True)), strict=True)))


def recode(labels: tuple[str, ...], node: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(LEVELS[label][level] for label, level in zip(labels, node, strict=True))


@pytest.mark.parametrize("models", MODELS, ids=lambda models: "+".join(each["model"] for each in models))
@pytest.mark.parametrize("suppression", [0, 0.4])
@settings(max_examples=25, deadline=None)
@given(events=EVENTS)
def test_searches_find_what_the_definition_allows(models: Any, suppression: float, events: Any) -> None:
    records = [(person, (q, r), s) for person, q, r, s in events]
    budget = int(suppression * len(events))
    allowed = oracle.satisfying_nodes(models, records, (2, 2), recode, budget)
    for algorithm in ("incognito", "optimal", "greedy-lattice"):
        policy = policy_of(models, algorithm, suppression)
        try:
            result = make_release(table_of(events), policy)
        except InfeasibleError:
            assert not allowed or algorithm == "greedy-lattice"
            continue
        node = tuple((result.recoding.levels or {}).values())
        released = result.table.to_pydict()
        people = {pseudonym([person], KEY.encode()): person for person, _, _ in records}
        cells = zip(*(released[name] for name in COLUMNS), strict=True)
        shown = [(people[code], (q, r), secret) for code, q, r, secret in cells]
        kept = {person for person, _, _ in shown}
        assert kept == oracle.released_people(models, shown), "what is released holds"
        whole = [(person, recode(labels, node), secret) for person, labels, secret in records if person in kept]
        assert sorted(shown) == sorted(whole), "people go as a whole"
        if algorithm != "greedy-lattice":
            assert _shown(records, node) in [_shown(records, each) for each in allowed]
        if algorithm == "incognito":
            found = {_shown(records, tuple(each.values())) for each in result.search["minimal_nodes"]}
            assert found == {_shown(records, each) for each in oracle.minimal(allowed)}


def _shown(records: Any, node: tuple[int, ...]) -> tuple[Any, ...]:
    """What a node releases: nodes of values that the data lacks may release the same."""
    return tuple(recode(labels, node) for _, labels, _ in records)


def test_a_visit_that_gives_a_value_away_is_not_hidden_by_the_others() -> None:
    """Both people have two values over all, and the same one under `a`."""
    events = [("u", "a", "c", "F"), ("u", "c", "c", "H"), ("v", "a", "c", "F"), ("v", "c", "c", "C")]
    models = [{"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 2, "sensitive": "s"}]
    released = make_release(table_of(events), policy_of(models, "optimal", 0)).recoding.levels
    assert released == {"q": 2, "r": 0}


def test_what_people_have_over_all_is_not_hidden_by_single_visits() -> None:
    """One of two has the flu under each label, but both have it: only the whole shows that."""
    events = [("u", "a", "c", "F"), ("u", "c", "c", "H"), ("v", "a", "c", "H"), ("v", "c", "c", "F")]
    models = [{"model": "alpha-k-anonymity", "alpha": 0.5, "sensitive": "s"}]
    with pytest.raises(InfeasibleError):
        make_release(table_of(events), policy_of(models, "optimal", 0))
