"""What a policy may name on the page, and what the server accepts from a browser at all.

On the command line a policy may name files, databases, clusters and registries of whoever runs it. On a page that
others use too it would read the server's: every such name is a problem that the page shows (`session_problems`). What
would lead out of the session's folder, or could not be answered again, is refused before anything is done with it.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from shoal.errors import InputError, PolicyProblem
from shoal.policy import Policy
from shoal.policy.released_forms import KEY_VARIABLE
from shoal.policy.spec import HierarchySpec

_FILES = ("levels", "path", "registry", "tree")  # keys under which a policy names files, when their value is text
_LARGEST = 5_000_000  # values in a document with its aliases expanded, at most


def checked_document(document: Any) -> Any:
    """A document that may be written as the policy of a session; where its data is stored is not read from it."""
    if not isinstance(document, Mapping):
        raise InputError("A policy must be a mapping of keys to values.", code="policy-not-a-mapping")
    if _size(document, {}) > _LARGEST:
        raise InputError(f"The policy has more than {_LARGEST:,} values.", code="policy-too-large")
    check_incoming({key: each for key, each in document.items() if key != "data"})
    check_incoming(document.get("data"), files=())
    return document


def check_incoming(value: Any, files: Iterable[str] = _FILES) -> None:
    """Refuse what names a file outside the session's folder, half a character, and numbers that JSON does not have."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            check_incoming(key)
            if key in files and isinstance(each, str) and _leads_out(each):
                message = f"{key}: {each!r} is outside this session. Import the file on the page instead."
                raise InputError(message, code="file-outside-session")
            check_incoming(each, files)
    elif isinstance(value, (list, tuple)):
        for each in value:
            check_incoming(each, files)
    elif isinstance(value, str):
        value.encode()  # raises for half a character, which would break every later answer
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{value} is not a number that a policy can hold.", code="not-a-number")


def _leads_out(text: str) -> bool:
    parts = {*PurePosixPath(text).parts, *PureWindowsPath(text).parts}
    return text.startswith(("/", "\\", "~")) or ":" in text or "\x00" in text or ".." in parts


def _size(value: Any, known: dict[int, int]) -> int:
    """How many values a document holds when every alias is expanded; each is looked at once."""
    if not isinstance(value, (Mapping, list, tuple)):
        return 1
    if id(value) not in known:
        parts: Iterable[Any] = value.values() if isinstance(value, Mapping) else value
        known[id(value)] = 1 + sum(_size(each, known) for each in parts)
    return known[id(value)]


def session_problems(policy: Policy) -> list[PolicyProblem]:
    """What a policy names besides the session's own table."""
    files = [
        each for name, column in policy.columns.items() for each in hierarchy_file_problems(name, column.hierarchy)
    ]
    data, output = None if policy.data is None else policy.data.path, policy.output
    other_data = data is not None and (not isinstance(data, str) or "/" in data or "\\" in data)
    database = output is not None and (not isinstance(output, str) or "://" in output)
    elsewhere = "Remove it here, and run the downloaded policy on the command line."
    limits = (
        (other_data, PolicyProblem("data", "only the table that was loaded can be used on this page.",
                                   "Give the name of its file alone.", code="other-data")),
        (database, PolicyProblem("output", "a release cannot be written to a database from this page.",
                                 "Name a file; it is downloaded in the last step.", code="other-output")),
        (policy.tables is not None, PolicyProblem("tables", "this page works on one table at a time.",
                                                  elsewhere, code="no-tables")),
        (policy.registry is not None, PolicyProblem("registry", "this page keeps no registry of releases.",
                                                    elsewhere, code="no-registry")),
        (policy.engine.name != "local", PolicyProblem("engine", "this page works on its own machine only.",
                                                      elsewhere, code="no-engine")),
    )  # fmt: skip
    keys = [
        PolicyProblem(f"columns.{name}.key", f"on this page the key is in {KEY_VARIABLE} of its server.",
                      "Leave key out here, or run the downloaded policy on the command line.", code="other-key")
        for name, column in policy.columns.items() if column.key not in (None, {"env": KEY_VARIABLE})
    ]  # fmt: skip
    return [*files, *keys, *(problem for wrong, problem in limits if wrong)]


def hierarchy_file_problems(column: str, spec: HierarchySpec | None) -> list[PolicyProblem]:
    """A hierarchy in a separate file: the session has only its table, and no file of the server is ever read."""
    if spec is None or spec.file is None:
        return []
    message = f"the hierarchy is in the file {spec.file!r}, which this page does not have."
    fix = "Import the file in the step Hierarchies: the policy then contains the hierarchy itself."
    return [PolicyProblem(f"columns.{column}.hierarchy", message, fix, code="hierarchy-in-file")]
