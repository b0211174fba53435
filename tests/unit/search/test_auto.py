"""`auto` releases the best of what it tries, and says what that was."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import InfeasibleError
from shoal.pipeline.audit.audit import audit
from shoal.pipeline.release import publish
from shoal.policy import Policy

LOCAL = ("mondrian", "top-down", "greedy-clustering")


def people(count: int = 120, seed: int = 3) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "age": [str(draw.randint(20, 69)) for _ in range(count)],
            "zip": [f"{draw.choice(['11', '12', '21'])}{draw.randint(0, 9)}" for _ in range(count)],
            "condition": [draw.choice(["HIV", "Cancer", "Flu", "Cold"]) for _ in range(count)],
        }
    )


def policy(algorithm: Any = "auto", **changes: Any) -> Policy:
    return Policy.model_validate(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
                "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
                "condition": {"role": "sensitive"},
            },
            "privacy": [
                {"model": "k-anonymity", "k": 3},
                {"model": "distinct-l-diversity", "l": 2, "sensitive": "condition"},
            ],
            "algorithm": algorithm,
        }
        | changes
    )


@pytest.mark.parametrize("metric", ["ncp", "loss", "discernibility"])
def test_the_best_of_all_that_is_tried_is_released(metric: str) -> None:
    data = people()
    release = shoal.anonymize(data, policy({"name": "auto", "metric": metric}))
    alone = {
        name: shoal.anonymize(data, policy({"name": name, "metric": metric})).evidence["measures"][metric]
        for name in LOCAL
    }
    search = release.evidence["search"]
    assert {each["algorithm"]: each["cost"] for each in search["tried"]} == pytest.approx(alone)
    assert release.evidence["measures"][metric] == pytest.approx(min(alone.values()))
    assert alone[search["chosen"]["name"]] == pytest.approx(min(alone.values()))


@pytest.mark.parametrize("options", [{}, {"ranges": ["age"]}, {"scope": "full-domain"}, {"seconds": 0}])
def test_what_was_chosen_makes_the_same_release(options: dict[str, Any]) -> None:
    release = shoal.anonymize(people(), policy({"name": "auto", **options}))
    again = shoal.anonymize(people(), policy(release.evidence["search"]["chosen"]))
    assert again.data.equals(release.data)
    assert release.evidence["algorithm"] == "auto"
    assert again.evidence["attacks"] == release.evidence["attacks"]


def test_one_level_per_column_is_the_best_node() -> None:
    release = shoal.anonymize(people(), policy({"name": "auto", "scope": "full-domain"}))
    assert release.data.equals(shoal.anonymize(people(), policy("optimal")).data)
    assert release.evidence["levels"] is not None
    assert [each["algorithm"] for each in release.evidence["search"]["tried"]] == ["optimal"]


def test_without_time_the_quickest_is_tried() -> None:
    search = shoal.anonymize(people(), policy({"name": "auto", "seconds": 0})).evidence["search"]
    assert [each["algorithm"] for each in search["tried"]] == ["mondrian"]


def test_a_search_that_conceals_tries_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_CONCEAL_KEY", "a secret of at least thirty-two characters")
    release = shoal.anonymize(people(), policy({"name": "auto", "conceal": True}))
    search = release.evidence["search"]
    assert search["chosen"]["name"] == "mondrian"
    assert "tried" not in search
    again = shoal.anonymize(people(), policy(search["chosen"]))
    assert again.data.equals(release.data)


def test_where_nothing_satisfies_the_diagnosis_is_that_of_a_search() -> None:
    with pytest.raises(InfeasibleError) as caught:
        shoal.anonymize(people(5), policy(privacy=[{"model": "k-anonymity", "k": 6}]))
    assert caught.value.diagnosis.blockers


def test_the_audit_attacks_as_the_run_did(tmp_path: Path) -> None:
    asked = policy(data=str(tmp_path / "data.csv"), output=str(tmp_path / "release.csv"))
    rows = zip(*people().to_pydict().values(), strict=True)
    text = "\n".join(["age,zip,condition", *map(",".join, rows)]) + "\n"
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    publish(asked)
    found = audit(tmp_path / "release.csv", asked, tmp_path / "data.csv").verification
    assert found.passed, str(found)
    evidence = json.loads((tmp_path / "release.evidence.json").read_text(encoding="utf-8"))
    assert evidence["search"]["chosen"]["name"] in LOCAL
