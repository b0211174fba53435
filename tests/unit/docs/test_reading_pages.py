"""The reader of pages finds every block, knows what to save, and notices when a program prints something else."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from support import pages
from support.pages import Block, blocks, commands, matches

PAGE = """
    Some text. Save the table as `a.csv`:

    ```csv
    x,y
    1,2
    ```

    - a list

      ```python
      if True:
          print("x")
      ```

    Do not save this as a file

    ```
    plain
    ```

    ```{shoal-help} verify
    ```
    """


@pytest.fixture
def read(tmp_path: Path) -> list[Block]:
    page = tmp_path / "page.md"
    page.write_text(textwrap.dedent(PAGE), encoding="utf-8")
    return blocks(page)


def test_every_block_is_found_with_its_language_and_line(read: list[Block]) -> None:
    assert [(block.language, block.line) for block in read] == [
        ("csv", 5),
        ("python", 12),
        ("", 19),
        ("{shoal-help}", 23),
    ]
    assert read[1].text == 'if True:\n    print("x")\n'


def test_a_block_is_saved_where_the_sentence_before_it_says_so(read: list[Block]) -> None:
    assert [block.saved_as for block in read] == ["a.csv", None, None, None]


def test_commands_come_with_what_they_print() -> None:
    block = Block(pages.ROOT / "page.md", 1, "console", "$ one --x\nout\n\nmore\n$ two\n", "")
    assert [(command.text, command.output) for command in commands(block)] == [
        ("one --x", "out\n\nmore\n"),
        ("two", ""),
    ]


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("a\nb\n", "a\nb\n"),
        ("a  \n\n", "a\n"),
        ("took (...).\n", "took (0.3 s).\n"),
        ("a\n...\nd\n", "a\nb\nc\nd\n"),
        ("a\n...\n", "a\n"),
        ("...\n", ""),
        ("k = 1 (x) [y] *\n", "k = 1 (x) [y] *\n"),
    ],
)
def test_what_is_as_expected_matches(expected: str, printed: str) -> None:
    assert matches(expected, printed)


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("a\n", "b\n"),
        ("a\n", "a\nb\n"),
        ("a\nb\n", "a\n"),
        ("a\n...\nd\n", "a\nb\nc\n"),
        ("took (...).\n", "took\n(1 s).\n"),
        ("a.c\n", "abc\n"),
    ],
)
def test_what_is_not_as_expected_does_not_match(expected: str, printed: str) -> None:
    assert not matches(expected, printed)
