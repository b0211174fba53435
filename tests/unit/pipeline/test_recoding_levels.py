"""What a recoding file tells of heights: what the release shows, and nothing of codes that are suppressed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.pipeline.recoding_file import RecodingLevels

SHORT = ["14248,HIV", "14248,Flu", "14249,HIV", "14249,Flu", "14203,Asthma", "14203,Flu"]


def published(folder: Path, rows: list[str], **changes: Any) -> dict[str, Any]:
    """The recoding of a release of some codes, 2-anonymous by the level given."""
    folder.mkdir()
    (folder / "codes.csv").write_text("\n".join(["code,illness", *rows, ""]), encoding="utf-8")
    policy = shoal.Policy(
        columns={"code": {"role": "quasi", "hierarchy": "mask"}, "illness": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": 2}],
        suppression=0.2,
        **{"algorithm": "optimal", **changes},
    )
    done = shoal.publish(policy, data=str(folder / "codes.csv"), out=folder / "out.csv", recoding=True)
    return {**json.loads(Path(done.paths["recoding"]).read_text(encoding="utf-8")), "done": done}


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
@pytest.mark.parametrize("code", ["1", "123456", "1234567890123"])
def test_the_length_of_a_suppressed_code_is_not_told(tmp_path: Path, code: str, algorithm: str) -> None:
    """Whoever is suppressed, the file reads the same."""
    alone = published(tmp_path / "without", SHORT, algorithm=algorithm)
    more = published(tmp_path / "with", [*SHORT, f"{code},HIV"], algorithm=algorithm)
    if more["done"].release.evidence["suppressed"]:
        assert {key: more[key] for key in ("levels", "heights")} == {key: alone[key] for key in ("levels", "heights")}
    else:
        assert algorithm == "mondrian"  # it generalizes instead, and the release shows the code's class


def test_a_column_at_the_root_tells_no_length_at_all() -> None:
    policy = shoal.Policy(
        columns={"code": {"role": "quasi", "hierarchy": "mask"}, "illness": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": 2}],
    )
    told = [RecodingLevels({"code": n}, {"code": n}).as_shown(policy, {"code": ["*"]}) for n in (3, 9)]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("level", "height", "labels", "expected"),
    [
        (2, 5, ["142**"], (2, 5)),
        (2, 13, ["142**"], (2, 5)),
        (5, 13, ["*****"], (5, 6)),  # below the root of the longer codes, and must stay below it
        (5, 5, ["*"], (1, 1)),
        (2, 3, ["***", "*2*"], (2, 3)),
    ],
)
def test_a_level_stays_at_or_below_the_root(
    level: int, height: int, labels: list[str], expected: tuple[int, int]
) -> None:
    policy = shoal.Policy(
        columns={"code": {"role": "quasi", "hierarchy": "mask"}, "illness": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": 2}],
    )
    found = RecodingLevels({"code": level}, {"code": height}).as_shown(policy, {"code": labels})
    assert found.levels is not None
    assert (found.levels["code"], found.heights["code"]) == expected
    assert (found.levels["code"] >= found.heights["code"]) == (level >= height)


def test_declared_heights_stay_as_they_are() -> None:
    policy = shoal.Policy(
        columns={
            "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
            "place": {"role": "quasi", "hierarchy": {"mask": {"steps": [2, 4]}}},
            "illness": {"role": "sensitive"},
        },
        privacy=[{"model": "k-anonymity", "k": 2}],
    )
    found = RecodingLevels(None, {"age": 3, "place": 3}).as_shown(policy, {"age": ["*"], "place": ["12**"]})
    assert found == RecodingLevels(None, {"age": 3, "place": 2})


def test_records_join_a_recoding_that_tells_less_as_they_join_one_that_tells_all(tmp_path: Path) -> None:
    """A recoding of before, with the whole height, and one of now give the same labels."""
    found = published(tmp_path / "first", [*SHORT, "1234567890123,HIV"])
    path = tmp_path / "first" / "out.recoding.json"
    new = tmp_path / "new.csv"
    new.write_text("code,illness\n14248,HIV\n14249,Flu\n14203,Flu\n14203,HIV\n", encoding="utf-8")
    policy = found["done"].release.policy
    now = shoal.apply(path, new, policy=policy)
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert whole["heights"]["code"] < 13
    whole["heights"]["code"] = 13
    path.write_text(json.dumps(whole), encoding="utf-8")
    before = shoal.apply(path, new, policy=policy)
    assert now.table.equals(before.table)
    assert now.evidence["levels"] == before.evidence["levels"]
