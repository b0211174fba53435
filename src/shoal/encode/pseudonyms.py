"""Pseudonyms: what is released instead of an identifier, so that the records of one person can be told to be one's.

A pseudonym is the HMAC-SHA-256 (RFC 2104) of the identifier's canonical text in UTF-8, cut to 128 bits, in hexadecimal
digits; where several columns together say who a record is about, of their texts as a JSON list. The name of the column
is not part of it: tables that are released with the same key have the same pseudonym for the same identifier, whatever
they call it. Nobody without the key can work out the pseudonym of an identifier, or try identifiers out.

The key is read from the environment or a file whenever it is needed; no object keeps it, and no message has it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, PolicyError, PolicyProblem
from shoal.policy import Policy
from shoal.policy.released_forms import KEY_VARIABLE
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import Codes
from shoal.table.people import person_codes

SHORTEST = 32  # bytes of a key, at least
DIGITS = 32  # hexadecimal digits of a pseudonym: 128 bits
_FIX = "Make a key with `openssl rand -hex 32`, and keep it as secret as the identifiers."


def refuse_joining(policy: Policy) -> None:
    """Raise `InputError` where records cannot join a release: they would change what is linked, or a first date."""
    if policy.pseudonym is None and not policy.relative_columns:
        return
    message = "new records cannot join a release with pseudonyms or relative dates. Make a new release of all records."
    raise InputError(message, code="cannot-be-joined")


def refuse_comparing(policy: Policy) -> None:
    """Raise `InputError` for a registry: earlier releases are not compared by pseudonyms."""
    if policy.pseudonym is not None:
        message = f"a registry cannot compare pseudonyms, and {policy.pseudonym} is one. Leave the registry out."
        raise InputError(message, code="pseudonym-in-registry")


def key_problems(policy: Policy) -> list[PolicyProblem]:
    """What is wrong with the key of the policy's pseudonym, if it has one."""
    return [found] if policy.pseudonym is not None and isinstance(found := _key(policy), PolicyProblem) else []


def pseudonym_key(policy: Policy) -> bytes:
    """The key of the policy's pseudonym; `PolicyError` where there is none that can be used."""
    found = _key(policy)
    if isinstance(found, PolicyProblem):
        raise PolicyError([found], policy.source)
    return found


def key_at_hand(policy: Policy) -> bytes | None:
    """The key of the policy's pseudonym; None where there is no pseudonym, or no key that can be used."""
    found = None if policy.pseudonym is None else _key(policy)
    return None if isinstance(found, PolicyProblem) else found


def _key(policy: Policy) -> bytes | PolicyProblem:
    """The key, or what is wrong with it; never shown, nor is the name that the policy gives, which may be the key."""
    name = str(policy.pseudonym)
    source, where = policy.columns[name].key or {"env": KEY_VARIABLE}, f"columns.{name}.key"
    if "env" in source:
        key = os.environ.get(source["env"], "").strip().encode()
        which = f"variable {KEY_VARIABLE}" if source["env"] == KEY_VARIABLE else "variable that it names"
        if not key:
            fix = f"Set it. {_FIX}"
            return PolicyProblem(where, f"the environment {which} is not set.", fix, code="no-pseudonym-key")
    else:
        path = policy.path(source["file"])
        try:
            mode, key = path.stat().st_mode, path.read_bytes().strip()
        except OSError as error:
            message = f"the file that it names cannot be read: {error.strerror}."
            return PolicyProblem(where, message, f"Check the path. {_FIX}", code="no-pseudonym-key")
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            message = "the file that it names can be read or changed by other users."
            fix = "Make it readable by you alone: chmod 600."
            return PolicyProblem(where, message, fix, {"mode": oct(stat.S_IMODE(mode))}, code="pseudonym-key-open")
    if len(key) < SHORTEST:
        message = f"the key is shorter than {SHORTEST} bytes, so it could be guessed."
        return PolicyProblem(where, message, _FIX, code="pseudonym-key-short")
    return key


def pseudonym(texts: Sequence[str], key: bytes) -> str:
    """The pseudonym of a person, by the canonical text of each column that says who that is."""
    message = texts[0] if len(texts) == 1 else json.dumps(list(texts), ensure_ascii=False)
    return hmac.new(key, message.encode(), hashlib.sha256).hexdigest()[:DIGITS]


def pseudonyms(policy: Policy, rows: DistinctRows) -> tuple[Codes, pa.Array]:
    """For each row the number of its pseudonym, and the pseudonyms."""
    named = [rows.columns[name] for name in policy.person_columns]
    person = person_codes(rows, policy.person_columns)
    assert person is not None, "a pseudonym is a person's"
    numbers, first, codes = np.unique(person, return_index=True, return_inverse=True)
    key = pseudonym_key(policy)
    texts = [pseudonym([str(column.labels[column.codes[row]]) for column in named], key) for row in first.tolist()]
    assert len(set(texts)) == len(numbers), "no two people have the same 128 bits"
    return codes.astype(np.int32), pa.array(texts, pa.string())
