"""Pseudonyms: what they are, and which keys are refused without ever being shown."""

import hashlib
import hmac
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal import Policy
from shoal.encode.pseudonyms import key_problems, pseudonym
from shoal.errors import InputError, PolicyError
from shoal.pipeline.run import make_release
from shoal.policy.released_forms import KEY_VARIABLE

KEY = "k3y-0f-somebody-4nd-n0body-else-7777"
TABLE = pa.table({"id": ["a", "a", "b", "é", "é"], "no": [1, 1, 1, 2, 2], "sex": ["F", "M", "M", "F", "M"]})


def policy_of(person: Any = "id", **column: Any) -> Policy:
    columns = {"id": {"role": "pseudonym", **column}, "no": {"role": "identifier"}, "sex": {"role": "quasi"}}
    return Policy.model_validate(
        {"columns": columns, "person": person, "privacy": [{"model": "k-anonymity", "k": 1}], "algorithm": "optimal"}
    )


def expected(text: str) -> str:
    return hmac.new(KEY.encode(), text.encode(), hashlib.sha256).hexdigest()[:32]


def test_a_pseudonym_is_the_hmac_of_the_identifier_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    released = make_release(TABLE, policy_of()).table.to_pydict()
    assert sorted(released["id"]) == sorted(map(expected, ["a", "a", "b", "é", "é"]))
    other = TABLE.rename_columns(["patient", "no", "sex"])
    columns = {"patient": {"role": "pseudonym"}, "sex": {"role": "quasi"}}
    policy = policy_of().changed(columns=columns, person="patient")
    assert make_release(other, policy).table.to_pydict()["patient"] == released["id"], "whatever the column is called"


def test_the_pseudonym_of_known_texts() -> None:
    """Worked out with `printf 'P-17' | openssl dgst -sha256 -hmac 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'`."""
    assert pseudonym(["P-17"], b"a" * 32) == "78769772c7d653624fa290f94948c57c"
    assert pseudonym(["a", "1"], b"a" * 32) == "2b1fbfa695aa9876b485fc636ea04953", "of the JSON list"
    assert pseudonym(["a", "1"], b"a" * 32) != pseudonym(['["a", "1', '"]'], b"a" * 32)


def test_several_columns_have_one_pseudonym_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    released = make_release(TABLE, policy_of(["id", "no"])).table.to_pydict()
    assert set(released["id"]) == {
        expected(json.dumps(pair, ensure_ascii=False)) for pair in (["a", "1"], ["b", "1"], ["é", "2"])
    }
    assert "no" not in released


@pytest.mark.parametrize(
    ("key", "code"), [(None, "no-pseudonym-key"), ("", "no-pseudonym-key"), (KEY[:31], "pseudonym-key-short")]
)
def test_keys_of_the_environment_that_are_refused(key: str | None, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (KEY_VARIABLE, "OTHER"):
        monkeypatch.delenv(name, raising=False)
        if key is not None:
            monkeypatch.setenv(name, key)
    for policy in (policy_of(), policy_of(key={"env": "OTHER"})):
        with pytest.raises(PolicyError) as error:
            shoal.anonymize(TABLE, policy)
        assert [(each.where, each.code) for each in error.value.problems] == [("columns.id.key", code)]
        assert not key or key not in str(error.value)


def test_a_key_in_a_file_is_its_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(policy_of(key={"file": "the.key"}).to_yaml(), encoding="utf-8")
    policy = Policy.load(tmp_path / "policy.yaml")
    assert [each.code for each in key_problems(policy)] == ["no-pseudonym-key"]
    file = tmp_path / "the.key"
    file.write_text(f"{KEY}\n", encoding="utf-8")
    file.chmod(0o600)
    assert key_problems(policy) == []
    assert set(make_release(TABLE, policy).table.to_pydict()["id"]) == set(map(expected, "abé"))
    if os.name == "posix":
        for mode in (0o640, 0o604, 0o620):
            file.chmod(mode)
            assert [each.code for each in key_problems(policy)] == ["pseudonym-key-open"]
    file.chmod(0o600)
    file.write_text("short\n", encoding="utf-8")
    (problem,) = key_problems(policy)
    assert problem.code == "pseudonym-key-short"
    assert "short\n" not in str(problem)


def test_a_name_that_may_be_the_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "a" + "0f" * 20
    monkeypatch.delenv(name, raising=False)
    (problem,) = key_problems(policy_of(key={"env": name}))
    assert name not in str(problem)


def test_a_release_with_pseudonyms_stays_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    release = shoal.anonymize(TABLE, policy_of())
    with pytest.raises(InputError) as joined:
        shoal.apply(release, TABLE)
    assert joined.value.code == "cannot-be-joined"
    with pytest.raises(InputError) as compared:
        shoal.anonymize(TABLE, policy_of(), registry=tmp_path / "registry")
    assert compared.value.code == "pseudonym-in-registry"


def test_nothing_that_a_release_gives_has_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    release = shoal.anonymize(TABLE, policy_of())
    everything = json.dumps(release.evidence) + repr(release) + repr(release.result) + repr(release.policy)
    assert KEY not in everything
    assert KEY not in json.dumps(release.table.to_pydict())
