"""The pages of the documentation as their readers use them: every fenced block, in order, in one folder.

| block | what the tests do with it |
|---|---|
| ``python`` | run, all blocks of a page in one namespace |
| ``output`` | compared with what the block before it printed |
| ``console`` | each line after ``$`` is run and the lines under it compared with what it printed |
| ``yaml`` | read as a policy, or as the keys of one |
| ``csv`` | saved as the file that the sentence before it names |
| ``sh`` | not run: only commands that set a machine up, each of a known form |
| ``toml`` | read |
| ``text`` | not run |

"Save it as `name`:" before a block of ``csv``, ``yaml`` or ``text`` writes it to that file. In what is compared, a line
``...`` stands for any lines and ``...`` within a line for any text. A command must end with exit code 0 unless the next
one is ``echo $?``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+)(?P<info>.*)$")
_SAVED = re.compile(r"[Ss]ave [^.]*\bas `(?P<name>[^`]+)`")


@dataclass(frozen=True)
class Block:
    """One fenced block and the paragraph before it."""

    page: Path
    line: int
    """Of its first line of content, from 1."""
    language: str
    text: str
    before: str

    @property
    def location(self) -> str:
        """Where it stands, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def saved_as(self) -> str | None:
        """The file that the sentence before the block tells the reader to save it as."""
        found = _SAVED.findall(self.before)
        return found[-1] if found and self.before.endswith(":") else None


def pages() -> list[Path]:
    """Every page of the documentation."""
    return sorted(DOCS.rglob("*.md"))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return list(_blocks(page, page.read_text(encoding="utf-8").splitlines()))


def _blocks(page: Path, lines: list[str]) -> Iterator[Block]:
    place = 0
    while place < len(lines):
        opened = _FENCE.match(lines[place])
        if not opened:
            place += 1
            continue
        end = next(at for at in range(place + 1, len(lines)) if lines[at].strip() == opened["ticks"])
        text = textwrap.dedent("\n".join(lines[place + 1 : end])) + "\n"
        language = (opened["info"].split() or [""])[0]
        yield Block(page, place + 2, language, text, _paragraph_before(lines, place))
        place = end + 1


def _paragraph_before(lines: list[str], place: int) -> str:
    end = place
    while end and not lines[end - 1].strip():
        end -= 1
    start = end
    while start and lines[start - 1].strip() and not _FENCE.match(lines[start - 1]):
        start -= 1
    return " ".join(line.strip() for line in lines[start:end])


@dataclass(frozen=True)
class Command:
    """A line after ``$`` and what the page says it prints."""

    text: str
    output: str


def commands(block: Block) -> list[Command]:
    """The commands of a ``console`` block."""
    first, *parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not first.strip(), f"{block.location}: a console block begins with a command after '$ '"
    return [Command(*(part.split("\n", 1))) for part in parts]


def matches(expected: str, printed: str) -> bool:
    """Whether what was printed is what the page says, ``...`` standing for anything."""
    pattern = ""
    for line in expected.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*?".join(map(re.escape, line.rstrip().split("..."))) + "\n"
    shown = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch(pattern, shown) is not None


def updated(expected: str, printed: str) -> str:
    """What the page should say instead: what was printed, with the gaps (``...``) of the page."""
    shown = [re.sub(r"\(\d+\.\d+ s\)", "(...)", line.rstrip()) for line in printed.strip("\n").splitlines()]
    said = expected.strip("\n").splitlines()
    if not any(line.strip() == "..." for line in said):
        return "".join(f"{line}\n" for line in shown)
    lines: list[str] = []
    for line in said:
        if line.strip() != "..." and shown:
            gap = lines[-1:] == ["..."]
            near = [SequenceMatcher(None, line, each).ratio() for each in shown] if gap else [1.0]
            skipped = near.index(max(near))
            lines.append(shown[skipped])
            del shown[: skipped + 1]
        else:
            lines.append("...")
    return "".join(f"{line}\n" for line in lines)


def rewrite(block: Block, expected: str, new: str) -> None:
    """Put another output into a page."""
    text = block.page.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    indent = re.match(" *", lines[block.line - 1])
    assert indent is not None
    before, after = "".join(lines[: block.line - 1]), "".join(lines[block.line - 1 :])
    old, new = (textwrap.indent(each, indent[0]) for each in (expected, new))
    assert old in after, block.location
    block.page.write_text(before + after.replace(old, new, 1), encoding="utf-8")
