"""Check that everything which names the version of a release names the same one.

Run ``python tools/check_release.py`` before a release is tagged, and with ``--tag v0.1.0`` once it is. The version of
``pyproject.toml`` must be the first one with a section in ``CHANGELOG.md``, nothing may be left under "Unreleased", and
``CITATION.cff`` must name it with the date of that section. Every difference is printed; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import yaml

_SECTION = re.compile(r"^## \[(?P<name>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """A section of the changelog: a version with the date of its release, or what is not released yet."""

    name: str
    date: str | None
    text: str


def sections(changelog: str) -> list[Section]:
    """The sections of a changelog, in its order."""
    heads = list(_SECTION.finditer(changelog))
    ends = [*(each.start() for each in heads), len(changelog)][1:]
    return [
        Section(each["name"], each["date"], changelog[each.end() : end].strip())
        for each, end in zip(heads, ends, strict=True)
    ]


def problems(folder: Path, tag: str | None = None) -> dict[str, str]:
    """What does not agree in a checkout, or with the tag of a release: a code and a sentence for each difference."""
    version = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    citation = yaml.safe_load((folder / "CITATION.cff").read_text(encoding="utf-8"))
    listed = sections((folder / "CHANGELOG.md").read_text(encoding="utf-8"))
    latest = next((each for each in listed if each.name != "Unreleased"), None)
    found = {}
    if tag is not None and tag != f"v{version}":
        found["tag"] = f"The tag is {tag}; for version {version} of pyproject.toml it must be v{version}."
    if any(each.name == "Unreleased" and each.text for each in listed):
        found["unreleased"] = f"CHANGELOG.md has changes under Unreleased. Move them to a section for {version}."
    if latest is None or latest.name != version:
        found["section"] = f"CHANGELOG.md does not begin with a section ## [{version}] - YYYY-MM-DD."
    elif latest.date is None:
        found["date"] = f"The section of {version} in CHANGELOG.md has no date. Write ## [{version}] - YYYY-MM-DD."
    elif str(citation.get("date-released")) != latest.date:
        found["cited-date"] = f"CITATION.cff must have the line date-released: {latest.date}."
    if str(citation.get("version")) != version:
        found["cited-version"] = f"CITATION.cff must have the line version: {version}."
    return found


def main(arguments: list[str]) -> int:
    """Print what does not agree; 1 if there is anything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tag", help="the tag of the release, such as v0.1.0")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="the checkout; this folder by default")
    asked = parser.parse_args(arguments)
    found = problems(asked.folder, asked.tag)
    for each in found.values():
        print(each, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
