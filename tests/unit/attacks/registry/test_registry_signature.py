"""What a registry keeps of a release: what the release shows, nothing of what it hides."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.attacks.registry.folder import Registry
from shoal.attacks.registry.signature import (
    Signature,
    categories_fingerprint,
    differing,
    hierarchy_fingerprint,
    policy_fingerprints,
    signature_of,
)
from shoal.attacks.released_classes import rows_of_release

HIDDEN = {"name": "Zebediah", "age": "87", "town": "Xanadu", "ward": "Nimbus", "illness": "Scurvy"}
"""A record that is suppressed: none of its values occurs elsewhere."""
POLICY: dict[str, Any] = {
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"intervals": [10, 50]}},
        "town": {"role": "quasi", "hierarchy": {"tree": {"North": ["Oslo", "Umea"], "South": ["Rome", "Xanadu"]}}},
        "ward": {"role": "insensitive"},
        "illness": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 3}],
    "algorithm": "optimal",
    "suppression": 0.2,
}


def table(shuffled: int | None = None) -> pa.Table:
    rows = [
        {"name": f"P{n}", "age": str(31 + n % 6), "town": ["Oslo", "Umea"][n % 2], "ward": "East",
         "illness": ["flu", "gout", "HIV"][n % 3]}
        for n in range(12)
    ]  # fmt: skip
    rows.append(HIDDEN)
    if shuffled is not None:
        random.Random(shuffled).shuffle(rows)
    return pa.Table.from_pylist(rows)


def policy(**changes: Any) -> shoal.Policy:
    return shoal.Policy(**{**POLICY, **changes})


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_an_entry_holds_no_raw_value_and_nothing_of_suppressed_records(tmp_path: Path, suppressed: str) -> None:
    made = shoal.anonymize(table(), policy(suppressed=suppressed), registry=tmp_path / "registry")
    assert made.evidence["suppressed"] == 1
    made.write(tmp_path / "release.csv", as_of="2026-01-31")
    (file,) = (tmp_path / "registry").glob("2026*.json")
    text = file.read_text(encoding="utf-8")
    generalized = {"31", "32", "Oslo", "Umea"} - set(made.table.column("town").to_pylist())
    for value in (*HIDDEN.values(), "P3", "East", *generalized):
        assert f'"{value}"' not in text
    (entry,) = Registry.open(tmp_path / "registry").entries
    assert entry.records == made.evidence["released"]


def test_a_signature_does_not_depend_on_the_order_of_the_rows() -> None:
    texts = set()
    for seed in range(3):
        made = shoal.anonymize(table(seed), policy())
        rows = rows_of_release(made.table, made.policy)
        signature = signature_of(made.policy, rows)
        texts.add(str(signature.to_dict()))
        assert Signature.from_dict(signature.to_dict()).to_dict() == signature.to_dict()
    assert len(texts) == 1


def columns(**changes: Any) -> shoal.Policy:
    return policy(columns={name: {**POLICY["columns"][name], **changes.get(name, {})} for name in POLICY["columns"]})


def test_fingerprints_tell_declarations_apart_and_nothing_else(tmp_path: Path) -> None:
    first = hierarchy_fingerprint(policy(), "town")
    same = {"tree": {"South": ["Rome", "Xanadu"], "North": ["Oslo", "Umea"]}}
    assert hierarchy_fingerprint(columns(town={"hierarchy": same}), "town") == first
    moved = {"tree": {"North": ["Oslo"], "South": ["Rome", "Xanadu", "Umea"]}}
    assert hierarchy_fingerprint(columns(town={"hierarchy": moved}), "town") != first
    (tmp_path / "tree.yaml").write_text("North: [Oslo, Umea]\nSouth: [Rome, Xanadu]\n", encoding="utf-8")
    (tmp_path / "p.yaml").write_text(columns(town={"hierarchy": {"tree": "tree.yaml"}}).to_yaml(), encoding="utf-8")
    assert hierarchy_fingerprint(shoal.Policy.load(tmp_path / "p.yaml"), "town") == first
    flat, also = columns(town={"hierarchy": "flat"}), columns(town={"hierarchy": None})
    assert hierarchy_fingerprint(flat, "town") == hierarchy_fingerprint(also, "town") != first


def test_the_order_of_categories_counts() -> None:
    one = columns(illness={"categories": {"grave": ["HIV"], "light": ["flu", "gout"]}})
    other = columns(illness={"categories": {"light": ["flu", "gout"], "grave": ["HIV"]}})
    assert categories_fingerprint(one, "illness") != categories_fingerprint(other, "illness")
    assert categories_fingerprint(policy(), "illness") is None
    assert differing(policy_fingerprints(one), policy_fingerprints(other)) == ["columns.illness"]


def test_policies_differ_where_they_say_something_else_of_columns_or_privacy() -> None:
    now = policy_fingerprints(policy())
    for harmless in ({"suppression": 0.1}, {"output": "x.csv"}, {"algorithm": "mondrian"}, {"data": "x.csv"}):
        assert differing(now, policy_fingerprints(policy(**harmless))) == []
    stricter = policy(privacy=[{"model": "k-anonymity", "k": 4}])
    assert differing(now, policy_fingerprints(stricter)) == ["privacy"]
    bounded = columns(age={"boundary": 1}, town={"boundary": ["North"]})
    assert differing(now, policy_fingerprints(bounded)) == ["columns.age", "columns.town"]


def test_a_table_of_levels_counts_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "levels.csv").write_text("Oslo;North\nRome;South\n", encoding="utf-8")
    text = columns(town={"hierarchy": {"levels": "levels.csv"}}).to_yaml()
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    first = hierarchy_fingerprint(shoal.Policy.load(tmp_path / "p.yaml"), "town")
    (tmp_path / "levels.csv").write_text("Oslo;South\nRome;South\n", encoding="utf-8")
    assert hierarchy_fingerprint(shoal.Policy.load(tmp_path / "p.yaml"), "town") != first
    (tmp_path / "levels.csv").unlink()
    with pytest.raises(shoal.errors.PolicyError, match=r"levels\.csv"):
        hierarchy_fingerprint(shoal.Policy.load(tmp_path / "p.yaml"), "town")


def test_a_policy_without_newer_keys_keeps_its_fingerprints() -> None:
    """A recoding or a registry that was written earlier stays valid: the hashes are those of version 0.1.0."""
    columns: dict[str, Any] = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}, "boundary": 1},
        "id": {"role": "identifier"},
        "illness": {"role": "sensitive", "categories": {"grave": ["HIV"], "light": ["flu"]}},
    }
    policy = shoal.Policy.model_validate({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]})
    found = policy_fingerprints(policy)
    assert {name: each[:12] for name, each in found["columns"].items()} == {
        "age": "7f6a452186e8",
        "id": "054e12acc49f",
        "illness": "25d6e65eb730",
    }
    assert found["privacy"].startswith("305ef106b0d1")
