"""With `person:`, every model × algorithm × boundary × suppression: people recounted naively on the written release."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from contract.test_releases_pass_the_verifier import CATEGORIES, MODELS, RUNS, TREE, VALUES
from oracles import people_oracle as oracle
from oracles.lattice_oracle import Secret
from shoal.errors import InfeasibleError
from shoal.io.write import write_table
from shoal.pipeline.run import make_release
from shoal.table.recoding import Recoding

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::shoal.errors.DisclosureWarning")]

Cells = tuple[str, ...]
Classes = dict[Cells, list[tuple[str, dict[str, Any]]]]
AGES = (20, 23, 31, 38, 44, None)


def event_table(random: Random, people: int, events: int) -> pa.Table:
    """Events of a few people each of whom lives somewhere, and moves at times; some have nearly all of the events."""
    homes = {person: (random.choice(AGES), random.choice("abcde")) for person in range(people)}
    busy = random.random() < 0.5
    rows = []
    for number in range(events):
        person = random.randrange(max(people // 3, 1)) if busy and random.random() < 0.6 else random.randrange(people)
        age, region = homes[person] if random.random() < 0.8 else (random.choice(AGES), random.choice("abcde"))
        rows.append(
            (f"p{person}", 20 if not number else age, region, random.choice(VALUES), random.choice([1, 2, 3, 5]))
        )
    who, age, region, condition, stay = zip(*rows, strict=True)
    return pa.table(
        {
            "who": pa.array(who, pa.string()),
            "age": pa.array(age, pa.int64()),
            "region": pa.array(region, pa.string()),
            "condition": pa.array(condition, pa.string()),
            "stay": pa.array(stay, pa.int64()),
        }
    )


def policy_in_people(model: str, algorithm: dict[str, Any], random: Random) -> shoal.Policy:
    """A policy with the model, k-anonymity in people, and the rest drawn."""
    asked: dict[str, Any] = {"model": model, **MODELS[model]}
    column = "stay" if model in {"k-e", "epsilon-m"} else "condition"
    if model == "t-closeness":
        asked["distance"] = random.choice(["equal", "ordered", "hierarchical"])
        column = "stay" if asked["distance"] == "ordered" else "condition"
    privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": random.choice([2, 3])}]
    if model != "k-anonymity":
        privacy.append({**asked, "sensitive": column})
    condition: dict[str, Any] = {"role": "sensitive", "categories": CATEGORIES, "publish": "values"}
    if random.random() < 0.5:
        condition["unknown_counts"] = True
    return shoal.Policy(
        columns={
            "who": {"role": "identifier"},
            "age": {
                "role": "quasi",
                "hierarchy": {"intervals": [5, 10, 20]},
                "boundary": random.choice([None, None, 2, 3]),
            },
            "region": {
                "role": "quasi",
                "hierarchy": {"tree": TREE},
                "boundary": random.choice([None, None, ["North", "South"]]),
            },
            "condition": condition,
            "stay": {"role": "sensitive"},
        },
        person="who",
        privacy=privacy,
        algorithm=algorithm,
        suppression=random.choice([0.0, 0.2, 0.6]),
        suppressed=random.choice(["drop", "star"]),
    )


def written_rows(path: Path) -> list[Cells]:
    with path.open(newline="", encoding="utf-8") as file:
        return [tuple(row) for row in csv.reader(file)]


def classes_with_people(recoding: Recoding, policy: shoal.Policy, table: pa.Table, path: Path) -> Classes:
    """The people and the secrets of each class of the written file: records are traced by the recoding's own rows,
    and the file has exactly these records."""
    head, *lines = written_rows(path)
    assert "who" not in head
    rows = table.to_pylist()
    assert len(recoding.row_class) == len(rows)
    found: Classes = defaultdict(list)
    expected: Counter[Cells] = Counter()
    for row, at in zip(rows, recoding.row_class.tolist(), strict=True):
        if at >= 0:
            nodes = recoding.nodes[at]
            labels = [h.labels[node] for h, node in zip(recoding.hierarchies, nodes, strict=True)]
            cells = tuple("" if label is None else str(label) for label in labels)
            found[cells].append((row["who"], row))
            secrets = {"condition": row["condition"] or "", "stay": str(row["stay"])}
            by_name = dict(zip(recoding.quasi, cells, strict=True)) | secrets
            expected[tuple(by_name[name] for name in head)] += 1
    stars = [line for line in lines if all(line[head.index(name)] == "*" for name in recoding.quasi)]
    whole = Counter(lines)
    if recoding.suppressed and policy.suppressed == "star":
        starred = tuple("*" if name in recoding.quasi else "" for name in head)
        assert len(stars) >= recoding.suppressed
        whole[starred] -= recoding.suppressed
    assert +whole == +expected, "the file has other records than the recoding says"
    return found


def secret_of(policy: shoal.Policy, column: str) -> Secret:
    unknown = frozenset() if policy.columns[column].unknown_counts else frozenset({None})
    if column == "stay":
        order = ["1", "2", "3", "5"]
        return Secret({}, order, {}, {value: value for value in order}, unknown)
    paths = {value: ("*", category, value) for category, values in CATEGORIES.items() for value in values}
    return Secret(CATEGORIES, VALUES, paths, {}, unknown)


def recount(policy: shoal.Policy, classes: Classes) -> None:
    """Every model of the policy, by its definition in people, over sets of names."""
    names = sorted({who for events in classes.values() for who, _ in events})
    number = {who: place for place, who in enumerate(names)}
    for model in policy.models():
        spec = {"model": model.name} | {name: getattr(model, name) for name in model.__dataclass_fields__}
        column = model.column or "condition"
        events = [
            [(number[who], None if row[column] is None else str(row[column])) for who, row in each]
            for each in classes.values()
        ]
        secret = secret_of(policy, column)
        assert all(oracle.holds(spec, events, secret)), model
        assert oracle.table_holds(spec, events, secret), model


def check(table: pa.Table, policy: shoal.Policy, path: Path) -> bool:
    try:
        release = shoal.anonymize(table, policy)
    except InfeasibleError:
        return False
    release.write(path, force=True)
    assert release.evidence["verified"]
    assert release.recoding.suppressed <= policy.suppression * table.num_rows
    recount(policy, classes_with_people(release.recoding, policy, table, path))
    return True


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("model", MODELS)
def test_a_release_holds_in_people_by_any_model_and_algorithm(run: str, model: str, tmp_path: Path) -> None:
    done = 0
    for seed in range(6):
        random = Random(f"{run} {model} {seed}")
        table = event_table(random, random.choice([4, 8, 15]), random.choice([12, 30, 60]))
        done += check(table, policy_in_people(model, RUNS[run], random), tmp_path / "release.csv")
    if done:
        return
    # an algorithm that starts from the most general release misses what only finer ones satisfy
    assert model in {"group-leakage", "alp-dif", "alpha-k-anonymity", "epsilon-m", "t-closeness"} or run == "range"


def test_a_thousand_event_tables_hold_in_people(tmp_path: Path) -> None:
    quick = [run for run in RUNS if "refined" not in run]
    found = Counter[str]()
    for seed in range(1000):
        random = Random(seed)
        model, run = random.choice(list(MODELS)), random.choice(quick)
        table = event_table(random, random.choice([3, 6, 12]), random.choice([8, 16, 30]))
        policy, path = policy_in_people(model, RUNS[run], random), tmp_path / "release.csv"
        try:
            result = make_release(table, policy)  # what verifies and attacks it is tried above
        except InfeasibleError:
            continue
        write_table(result.table, path)
        recount(policy, classes_with_people(result.record_recoding, policy, table, path))
        found[model] += 1
    assert found.total() > 400
    assert set(found) == set(MODELS)


@pytest.mark.parametrize("run", ["optimal", "mondrian", "top-down", "greedy-clustering", "greedy-clustering, faithful"])
def test_the_order_of_the_events_changes_nothing(run: str, tmp_path: Path) -> None:
    for seed in range(10):
        random = Random(seed)
        table = event_table(random, 10, 50)
        policy = policy_in_people("p-sensitive", RUNS[run], random)
        shuffled = table.take(np.random.default_rng(seed).permutation(table.num_rows))
        texts = []
        for each in (table, shuffled):
            try:
                shoal.anonymize(each, policy).write(tmp_path / "release.csv", force=True)
            except InfeasibleError:
                continue
            texts.append((tmp_path / "release.csv").read_bytes())
        assert len(set(texts)) <= 1


def test_the_class_of_one_patient_is_not_five_anonymous(tmp_path: Path) -> None:
    """Fifteen records of one patient with a date of birth of their own, and twenty patients with one record each."""
    table = pa.table(
        {
            "who": ["p0"] * 15 + [f"p{number}" for number in range(1, 21)],
            "age": [44] * 15 + [20] * 20,
            "region": ["a"] * 35,
            "condition": (["HIV", "Flu", "Asthma"] * 5) + ["Flu", "Cancer"] * 10,
            "stay": [1] * 35,
        }
    )
    policy = shoal.Policy(
        columns={
            "who": {"role": "identifier"},
            "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
            "region": {"role": "quasi", "hierarchy": {"tree": TREE}},
            "condition": {"role": "sensitive"},
        },
        person="who",
        privacy=[{"model": "k-anonymity", "k": 5}],
        algorithm={"name": "mondrian"},
    )
    assert check(table, policy, tmp_path / "release.csv")
    assert len({row[0] for row in written_rows(tmp_path / "release.csv")[1:]}) == 1
    without = shoal.anonymize(table, policy.changed(person=None))
    assert without.evidence["classes"] == 2
