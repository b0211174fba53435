"""Compare two recordings of ``same_bytes.py``: every difference that the file of explained changes does not explain."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

Key = str | int
Keys = tuple[Key, ...]
Values = dict[Keys, Any]
_SHOWN = 3
_PATHS = 40


@dataclass(frozen=True)
class Pattern:
    """A path of the file of explained changes: a kind of document, or any, and keys."""

    kind: str | None
    keys: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Pattern:
        """``evidence:columns.*.ncp``; the kind and its colon may be left out. A dot within a key is written ``\\.``."""
        kind, colon, path = text.rpartition(":")
        keys = [part.replace("\0", ".") for part in path.replace("\\.", "\0").split(".")] if path else []
        return cls(kind if colon else None, tuple(keys))

    def match(self, kind: str, keys: Keys) -> tuple[list[Key], Keys] | None:
        """What ``*`` stands for and the keys below, where the pattern is the path or above it; None where it is not."""
        if self.kind is not None and self.kind != kind:
            return None
        return _match(self.keys, keys)

    def filled(self, stars: list[Key], below: Keys) -> Keys:
        """The path that the pattern is with its stars filled in."""
        left = iter(stars)
        return (*(next(left) if key == "*" else key for key in self.keys), *below)


def _match(pattern: tuple[str, ...], keys: Keys) -> tuple[list[Key], Keys] | None:
    if not pattern:
        return [], keys
    first, rest = pattern[0], pattern[1:]
    if first == "**":
        found = (_match(rest, keys[skipped:]) for skipped in range(len(keys) + 1))
        return next((each for each in found if each is not None), None)
    if not keys or not fnmatchcase(str(keys[0]), first):
        return None
    below = _match(rest, keys[1:])
    if below is None:
        return None
    return ([keys[0], *below[0]] if first == "*" else below[0]), below[1]


@dataclass(frozen=True)
class Explained:
    """Changes that are meant: see the docstring of ``same_bytes.py``."""

    renamed: list[tuple[Pattern, Pattern | None]]
    added: list[Pattern]
    wording: list[Pattern]
    rounded: list[Pattern]
    codes: list[tuple[Pattern, dict[str, Any]]]

    @classmethod
    def load(cls, path: Path) -> Explained:
        """Read the file; an unknown key is an error."""
        content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        unknown = content.keys() - {"renamed", "added", "wording", "rounded", "codes"}
        if unknown:
            raise SystemExit(f"{path}: unknown keys {', '.join(sorted(unknown))}")
        renamed = content.get("renamed", {}).items()
        return cls(
            [(Pattern.read(old), None if new is None else Pattern.read(new)) for old, new in renamed],
            [Pattern.read(each) for each in content.get("added", [])],
            [Pattern.read(each) for each in content.get("wording", [])],
            [Pattern.read(each) for each in content.get("rounded", [])],
            [(Pattern.read(each), values) for each, values in content.get("codes", {}).items()],
        )

    def as_new(self, kind: str, old: Values) -> Values:
        """Old values under their new paths and by their new names, without those that were removed."""
        values: Values = {}
        for keys, value in old.items():
            path = self._renamed(kind, keys)
            if path is not None:
                values[path] = self.coded(kind, path, value)
        return values

    def coded(self, kind: str, keys: Keys, value: Any) -> Any:
        """A value by its new name."""
        codes = next((codes for pattern, codes in self.codes if pattern.match(kind, keys)), {})
        return codes.get(value, value) if isinstance(value, str) else value

    def _renamed(self, kind: str, keys: Keys) -> Keys | None:
        for pattern, new in self.renamed:
            found = pattern.match(kind, keys)
            if found is not None:
                return None if new is None else new.filled(*found)
        return keys

    def may_appear(self, kind: str, keys: Keys) -> bool:
        """Whether a path is one that only new recordings have."""
        return any(pattern.match(kind, keys) for pattern in self.added)

    def is_wording(self, kind: str, keys: Keys) -> bool:
        """Whether a path holds a sentence."""
        return any(pattern.match(kind, keys) for pattern in self.wording)

    def equal(self, kind: str, keys: Keys, old: Any, new: Any) -> bool:
        """Whether two values are the same, with the rounding that is allowed."""
        numbers = isinstance(old, (int, float)) and isinstance(new, (int, float))
        if numbers and not isinstance(old, bool) and any(pattern.match(kind, keys) for pattern in self.rounded):
            return math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-9)
        return type(old) is type(new) and bool(old == new)


@dataclass
class Differences:
    """What differs, by what it is about."""

    by_path: dict[str, list[str]] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    cases: set[str] = field(default_factory=set)

    def add(self, case: str, path: str, what: str) -> None:
        """Note one difference."""
        self.by_path.setdefault(path, []).append(f"{case}: {what}")
        self.cases.add(case)


def flat(
    document: Any, keys: Keys = (), coded: Callable[[Keys, Any], Any] = lambda _, value: value
) -> Iterator[tuple[Keys, Any]]:
    """The single values of a document with their paths; empty lists and mappings are values.

    Entries of a list that have names of their own, such as attacks and checks, go by these: an entry that is new in the
    middle does not make others differ.
    """
    if isinstance(document, dict) and document:
        for key, value in document.items():
            yield from flat(value, (*keys, key), coded)
    elif isinstance(document, list) and document:
        names = [_name_of(each, (*keys, place), coded) for place, each in enumerate(document)]
        named = None not in names and len(set(names)) == len(names)
        for place, value in enumerate(document):
            yield from flat(value, (*keys, str(names[place]) if named else place), coded)
    else:
        yield keys, document


def _name_of(entry: Any, keys: Keys, coded: Callable[[Keys, Any], Any]) -> str | None:
    """The name of an entry of a list, with its sensitive column; None for one that has none."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return None
    return " ".join(str(coded((*keys, key), entry[key])) for key in ("name", "sensitive") if entry.get(key) is not None)


def kind_of(name: str) -> str:
    """The kind of a document: ``evidence`` for ``release.evidence.json``, ``registry`` within one, else its stem."""
    path = Path(name)
    return "registry" if path.parts[0] == "registry" else Path(path.stem).suffix.lstrip(".") or path.stem


def compare(
    old: Path, new: Path, *, renamed: Path, details: bool, wanted: Callable[[str], bool] = lambda _: True
) -> int:
    """Print every unexplained difference between two recordings; 1 if there is one."""
    explained, found = Explained.load(renamed), Differences()
    names = [
        {path.parent.name for path in each.glob("*/record.json") if wanted(path.parent.name)} for each in (old, new)
    ]
    if not names[0]:
        raise SystemExit(f"{old} has no recording")
    for group in ("spark-", "postgres-"):
        missing = {name for name in names[0] if name.startswith(group)}
        if missing and not any(name.startswith(group) for name in names[1]):
            print(f"{len(missing)} cases {group}* are not in the new recording and not compared.")
            names[0] -= missing
    for name in sorted(names[0] ^ names[1]):
        found.add(name, "case", "only in the old recording" if name in names[0] else "only in the new recording")
    for name in sorted(names[0] & names[1]):
        _compare_case(name, old / name, new / name, explained, found)
    order = sorted(found.by_path.items(), key=lambda each: (":" in each[0], -len(each[1]), each[0]))
    for path, what in order if details else order[:_PATHS]:
        print(f"{path}: {len(what)} {'difference' if len(what) == 1 else 'differences'}")
        for line in what if details else what[:_SHOWN]:
            print(f"    {line}")
        if not details and len(what) > _SHOWN:
            print(f"    ... and {len(what) - _SHOWN} more (--details)")
    if not details and len(order) > _PATHS:
        print(f"... and {len(order) - _PATHS} more paths (--details)")
    count = sum(map(len, found.by_path.values()))
    print(f"{len(names[0] & names[1])} cases compared: {count} unexplained differences in {len(found.cases)} cases.")
    print(f"Texts differ in {len(found.texts)} cases.")
    return 1 if count else 0


def _compare_case(name: str, old: Path, new: Path, explained: Explained, found: Differences) -> None:
    before, after = (json.loads((each / "record.json").read_text(encoding="utf-8")) for each in (old, new))
    lines = [[command["argv"] for command in each["commands"]] for each in (before, after)]
    if lines[0] != lines[1]:
        found.add(name, "commands", "the recordings ran different commands")
        return
    seen: Counter[tuple[str, str]] = Counter()
    for ran, again in zip(before["commands"], after["commands"], strict=True):
        line = " ".join(ran["argv"])
        if ran["exit"] != again["exit"]:
            found.add(name, "exit code", f"{ran['exit']} became {again['exit']} of shoal {line}")
            return
        kind = ran["argv"][0]
        _compare_values(name, kind, line, (ran["json"], again["json"]), explained, found, seen)
    for file in sorted(before["sha256"].keys() | after["sha256"].keys()):
        if before["sha256"].get(file) != after["sha256"].get(file):
            found.add(name, "bytes", _of_files(file, before["sha256"], after["sha256"]))
    documents = before["documents"], after["documents"]
    for file in sorted(documents[0].keys() | documents[1].keys()):
        if all(file in each for each in documents):
            both = (documents[0][file], documents[1][file])
            _compare_values(name, kind_of(file), file, both, explained, found, seen)
        else:
            found.add(name, "files", _of_files(file, *documents))
    for file in sorted(before["texts"].keys() ^ after["texts"].keys()):
        found.add(name, "files", _of_files(file, before["texts"], after["texts"]))
    texts = [{path.name: path.read_bytes() for path in each.glob("*.txt")} for each in (old, new)]
    if before["texts"] != after["texts"] or texts[0] != texts[1]:
        found.texts.add(name)


def _of_files(file: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    if file not in after:
        return f"{file} is no longer written"
    return f"{file} differs" if file in before else f"{file} is new"


def _compare_values(
    case: str,
    kind: str,
    where: str,
    documents: tuple[Any, Any],
    explained: Explained,
    found: Differences,
    seen: Counter[tuple[str, str]],
) -> None:
    old = explained.as_new(kind, dict(flat(documents[0], coded=partial(explained.coded, kind))))
    new = dict(flat(documents[1]))
    keyed_old, keyed_new = ({tuple(map(str, keys)): value for keys, value in each.items()} for each in (old, new))
    for keys in keyed_old.keys() | keyed_new.keys():
        if explained.is_wording(kind, keys):
            if keyed_old.get(keys) != keyed_new.get(keys):
                found.texts.add(case)
            continue
        if keys not in keyed_new:
            what = f"{_shown(keyed_old[keys])} is gone"
        elif keys not in keyed_old:
            if explained.may_appear(kind, keys):
                continue
            what = f"{_shown(keyed_new[keys])} is new"
        elif explained.equal(kind, keys, keyed_old[keys], keyed_new[keys]):
            continue
        else:
            what = f"{_shown(keyed_old[keys])} became {_shown(keyed_new[keys])}"
        path = ".".join(keys)
        if seen[(path, what)] == 0 or kind not in ("anonymize", "evidence"):  # --json prints the evidence once more
            general = ".".join("*" if key.isdigit() else key for key in keys)
            found.add(case, f"{kind}:{general}", f"{what} ({path} of {where})")
        seen[(path, what)] += 1


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
