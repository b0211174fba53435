"""`refine:` after any local algorithm: less loss, told before and after, the same whatever order the rows come in."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import PolicyError
from support.cli import Cli

pytestmark = pytest.mark.slow

LOCAL = ["top-down", "mondrian", "greedy-clustering"]


def people(seed: int = 3, records: int = 400) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "age": [min(90, int(draw.gauss(45, 18)) % 95) for _ in range(records)],
            "town": [f"{draw.choice('AB')}{draw.choice('123')}{draw.choice('xyz')}" for _ in range(records)],
            "condition": [draw.choice(["flu", "cancer", "asthma", "hiv", "none"]) for _ in range(records)],
        }
    )


def policy(algorithm: dict[str, Any]) -> shoal.Policy:
    return shoal.Policy(
        columns={
            "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20, 40]}},
            "town": {"role": "quasi", "hierarchy": {"mask": "right"}},
            "condition": {"role": "sensitive"},
        },
        privacy=[{"model": "k-anonymity", "k": 4}, {"model": "p-sensitive", "p": 3}],
        algorithm=algorithm,
    )


@pytest.mark.parametrize("name", LOCAL)
def test_refining_loses_less_and_says_before_and_after(name: str) -> None:
    plain = shoal.anonymize(people(), policy({"name": name, "faithful": True} if name == LOCAL[2] else {"name": name}))
    refined = shoal.anonymize(people(), policy({"name": name, "refine": 60}))
    told = refined.evidence["search"]["refined"]
    assert told["measure"] == "loss"
    assert told["after"] == pytest.approx(refined.evidence["measures"]["loss"])
    assert told["after"] < told["before"]
    assert refined.evidence["measures"]["loss"] < plain.evidence["measures"]["loss"]
    assert told["ended"] == "nothing improves"
    assert set(told["steps"]) <= {"move", "swap", "dissolve", "split", "gather"}
    assert sum(told["steps"].values()) > 0


@pytest.mark.parametrize("name", LOCAL)
def test_a_refined_release_does_not_depend_on_the_order_of_the_rows(name: str) -> None:
    table = people()
    order = list(range(table.num_rows))
    random.Random(1).shuffle(order)
    one, other = (shoal.anonymize(each, policy({"name": name, "refine": 60})) for each in (table, table.take(order)))
    assert one.table.equals(other.table)
    assert one.evidence["search"] == other.evidence["search"]


def test_no_seconds_change_nothing_and_a_refined_release_says_so() -> None:
    plain = shoal.anonymize(people(), policy({"name": "top-down"}))
    none = shoal.anonymize(people(), policy({"name": "top-down", "refine": 0}))
    assert none.table.equals(plain.table)
    assert none.evidence["search"]["refined"]["ended"] == "time"
    assert "refined" not in plain.evidence["search"]


def test_refining_tells_its_progress() -> None:
    told: list[tuple[str, float]] = []
    shoal.anonymize(people(), policy({"name": "mondrian", "refine": 60}), progress=lambda *each: told.append(each))
    shares = [share for stage, share in told if stage == "refining"]
    assert shares[0] == 0.0
    assert shares == sorted(shares)
    assert len(shares) > 1


def test_a_full_domain_search_cannot_be_refined() -> None:
    with pytest.raises(PolicyError, match="refine"):
        policy({"name": "optimal", "refine": 5})


def test_the_evidence_tells_how_far_a_release_is_from_the_least_possible_loss() -> None:
    for name in ("optimal", *LOCAL):
        evidence = shoal.anonymize(people(), policy({"name": name})).evidence
        bound = evidence["bound"]
        assert bound["reached"] == evidence["measures"]["ncp"]
        assert 1 <= bound["ratio"] == pytest.approx(bound["reached"] / bound["ncp"])
        assert bound["records"] == 400
        assert not bound["estimated"]


def test_another_algorithm_keeps_the_options_that_it_takes_and_names_the_others(cli: Cli, clinic: Path) -> None:
    policy = clinic / "policy.yaml"
    asked = "algorithm: {name: greedy-clustering, metric: ncp, ranges: [age], faithful: true, seed: 7}\n"
    policy.write_text(policy.read_text().replace("algorithm: optimal\n", asked))
    ran = cli("anonymize", policy, "--algorithm", "mondrian", "--json")
    assert ran.code == 0
    kept = json.loads(ran.out)["policy"]["algorithm"]
    assert kept == {"name": "mondrian", "metric": "ncp", "ranges": ["age"], "seed": 7}
    assert "the policy's faithful" in ran.err
