"""A policy's YAML is read without surprises, and what cannot be read is said with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import PolicyError
from shoal.policy import Policy
from shoal.policy.yaml_text import dump_yaml, load_yaml, parse_yaml, read_yaml
from support.policy_cases import HOSPITAL, load_problems, load_text


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("01234", "01234"),
        ("0", 0),
        ("-7", -7),
        ("+5", 5),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        ("NO", "NO"),
        ("yes", "yes"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("True", "True"),
        ("NULL", "NULL"),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12:30", "12:30"),
        ("1:2:3", "1:2:3"),
        ("2020-01-05", "2020-01-05"),
        ("2020-01-05T10:00:00Z", "2020-01-05T10:00:00Z"),
        ("0.05", 0.05),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("00.5", "00.5"),
        ("-.inf", float("-inf")),
        ("inf", "inf"),
        ("1.2.3", "1.2.3"),
        ("'5'", "5"),
        ("=", "="),
    ],
)
def test_a_scalar_is_what_it_looks_like(text: str, content: Any) -> None:
    found = parse_yaml(f"key: {text}", "x")["key"]
    assert found == content
    assert type(found) is type(content)


def test_every_key_is_text_and_null_is_the_missing_value() -> None:
    content = parse_yaml("{5: a, 6.0: b, true: c, null: d, 01: e, 2020-01-05: f, NO: g}", "x")
    assert content == {"5": "a", "6": "b", "true": "c", None: "d", "01": "e", "2020-01-05": "f", "NO": "g"}


def test_one_and_true_are_two_keys() -> None:
    assert parse_yaml("{1: a, true: b, 0: c, false: d}", "x") == {"1": "a", "true": "b", "0": "c", "false": "d"}


@pytest.mark.parametrize("second", ["5", "'5'", "5.0"])
def test_a_key_that_stands_twice_is_a_problem_with_both_lines(second: str) -> None:
    _, (problem,) = load_yaml(f"a: 1\nb:\n  5: x\n  c: 2\n  {second}: y\n", "x")
    assert problem.where == "line 5"
    assert "'5' is listed twice" in problem.message
    assert "first on line 3" in problem.message
    assert problem.fix


def test_every_repeated_key_is_told() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_yaml("a: 1\na: 2\nb: {c: 1, c: 2}\na: 3\n", "x")
    assert [problem.where for problem in caught.value.problems] == ["line 2", "line 3", "line 4"]


def test_a_column_with_two_roles_is_told_together_with_everything_else(tmp_path: Path) -> None:
    twice = HOSPITAL.replace("  condition:", "  age: {role: sensitive}\n  condition:").replace("k: 4", "k: none")
    repeated, other = load_problems(tmp_path, twice)
    assert repeated.where == "line 9"
    assert "'age' is listed twice" in repeated.message
    assert other.where == "privacy[0].k"


def test_anchors_and_aliases_work() -> None:
    content = parse_yaml("a: &x {role: quasi}\nb: *x\nc: [&y 01, *y]\n", "x")
    assert content == {"a": {"role": "quasi"}, "b": {"role": "quasi"}, "c": ["01", "01"]}


def bomb(levels: int, width: int = 10, leaf: str = "x") -> str:
    """Lists of aliases of lists: ``width`` to the power of ``levels`` values in a few lines."""
    lines = [f"a0: &a0 [{', '.join([leaf] * width)}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        bomb(30),
        bomb(7),
        "text: &text " + "x" * 100_000 + "\nmany: [" + ", ".join(["*text"] * 20) + "]\n",
        "a: &a {k: &b {x: " + "y" * 600_000 + "}}\nb: [*b]\nc: [*a]\n",
    ],
)
def test_aliases_that_stand_for_far_more_than_is_written_are_refused(text: str, tmp_path: Path) -> None:
    for read in (lambda: load_yaml(text, "policy.yaml"), lambda: load_problems(tmp_path, text)):
        try:
            problems = read()
        except PolicyError as error:
            problems = error.problems
        assert [each.code for each in problems] == ["too-many-aliases"]


def test_a_large_document_may_use_aliases() -> None:
    large = "values: [" + ", ".join(f"v{n}" for n in range(20_000)) + "]\n"
    content, noted = load_yaml(large + bomb(5), "policy.yaml")
    assert (len(content["values"]), noted) == (20_000, [])
    assert content["a4"][9][9][9][9] == ["x"] * 10


def test_a_merge_key_is_refused_with_the_way_out() -> None:
    _, (problem,) = load_yaml("a: &x {role: quasi}\nb:\n  <<: *x\n  hierarchy: flat\n", "x")
    assert problem.where == "line 3"
    assert "merge" in problem.message
    assert "anchors and aliases" in problem.fix
    assert parse_yaml("'<<': a", "x") == {"<<": "a"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: [1, 2", "line 1", "expected ',' or ']'"),
        ("a: 1\nb: c: d", "line 2", "mapping values are not allowed"),
        ("a: 1\n\tb: 2", "line 2", "'\\t'"),
        ("a: 1\n---\nb: 2", "line 2", "another document"),
        ("a: *nope", "line 1", "undefined alias 'nope'"),
        ("a: &x [1, *x]", "line 1", "itself"),
        ("a: &x {b: *x}", "line 1", "itself"),
        ("a: !foo 1", "line 1", "'!foo' is not known"),
        ("a: !!python/object:os.system x", "line 1", "is not known"),
        ("a: !!binary aGk=", "line 1", "is not known"),
        ("a: !!set {x, y}", "line 1", "is not known"),
        ("a: !!timestamp 2020-01-05", "line 1", "is not known"),
        ("a: !!int five", "line 1", "'five' cannot be read as int"),
        ("a: !!float x", "line 1", "'x' cannot be read as float"),
        ("a: !!bool maybe", "line 1", "'maybe' cannot be read as bool"),
        ("a: !!map 5", "line 1", "a mapping was declared"),
        ("a: !!seq 5", "line 1", "a list was declared"),
        ("a: !!str [x]", "line 1", "a single value was declared"),
        ("a: " + "9" * 5000, "line 1", "cannot be read as int"),
        ("a: 1\nb: \x00", "line 2", "U+0000"),
        ("a: \x1b[31m", "line 1", "U+001B"),
    ],
)
def test_what_is_not_plain_yaml_is_told_with_its_line(text: str, line: str, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_yaml(text, "here.yaml")
    (problem,) = caught.value.problems
    assert problem.where == line
    assert words in problem.message
    assert str(caught.value).startswith("here.yaml has 1 problem:")


def test_a_key_that_is_a_list_is_a_problem() -> None:
    _, (problem,) = load_yaml("a: 1\n? [b, c]\n: 2\n", "x")
    assert problem.where == "line 2"


def test_nesting_without_end_is_told() -> None:
    with pytest.raises(PolicyError, match="nested too deeply"):
        parse_yaml("[" * 5000 + "]" * 5000, "x")


@pytest.mark.parametrize("text", ["", "\n\n", "# a comment\n", "---\n", "~"])
def test_a_file_with_nothing_in_it_is_no_policy(tmp_path: Path, text: str) -> None:
    (problem,) = load_problems(tmp_path, text)
    assert "there is nothing in it" in problem.message
    assert "columns" in problem.message


@pytest.mark.parametrize("text", ["- a\n- b\n", "hello", "5", "true", "[columns, privacy]"])
def test_a_file_that_is_no_mapping_is_no_policy(tmp_path: Path, text: str) -> None:
    (problem,) = load_problems(tmp_path, text)
    assert "a policy is a mapping" in problem.message


def test_a_file_that_is_not_utf8_is_told_with_the_byte(tmp_path: Path) -> None:
    (problem,) = load_problems(tmp_path, "output: ä.csv\n".encode("latin-1"))
    assert "byte 8" in problem.message
    assert "UTF-8" in problem.fix


def test_a_binary_file_is_no_policy(tmp_path: Path) -> None:
    (problem,) = load_problems(tmp_path, b"PAR1\x00\x01\x02")
    assert "U+0000" in problem.message


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    assert load_text(tmp_path, b"\xef\xbb\xbf" + HOSPITAL.encode()).names("identifier") == ["name"]


def test_windows_line_ends_are_read(tmp_path: Path) -> None:
    assert load_text(tmp_path, HOSPITAL.replace("\n", "\r\n")) == load_text(tmp_path, HOSPITAL)


@pytest.mark.parametrize("name", ["nowhere.yaml", "."])
def test_a_file_that_cannot_be_opened_is_told_by_its_path(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(PolicyError, match="cannot be read") as caught:
        Policy.load(path)
    assert str(path) in str(caught.value)
    with pytest.raises(PolicyError, match="cannot be read"):
        read_yaml(path)


AWKWARD = [
    "", " ", " a", "a ", "1e5", "1E5", "0x10", "012", "5", "5.0", "NO", "yes", "null", "~", "true", "<<", "=", "12:30",
    "2020-01-05", ".inf", ".5", "-", "- a", "a: b", "# c", "a #b", "&a", "*a", "!a", "%a", "@a", "`a`", "{a}", "[a]",
    "'", '"', "a\nb", "a\n",
    "\ta", "a\\b", "é", "名前", "🙂", "\x7f", "\x85", "\u2028", "\ufeff", "---", "...", "?", "|", ">",
    "k" * 2000, "word " * 300,
]  # fmt: skip


@pytest.mark.parametrize("text", AWKWARD)
def test_an_awkward_text_is_written_and_read_back(text: str) -> None:
    content = {text: [text, {"x": text, text + "y": None}]}
    assert parse_yaml(dump_yaml(content), "x") == content


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(AWKWARD)
scalars = texts | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()
contents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts | st.none(), inner, max_size=4),
    max_leaves=12,
)


@given(contents)
def test_whatever_is_written_is_read_back(content: Any) -> None:
    assert parse_yaml(dump_yaml(content), "x") == content


@given(st.text(max_size=40) | texts)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_yaml(text, "x")
    except PolicyError as error:
        refused = error
    else:
        return
    assert all(problem.message for problem in refused.problems)
    assert refused.problems


@given(texts)
def test_a_plain_yaml_reader_finds_the_same_texts(text: str) -> None:
    assert yaml.safe_load(dump_yaml({"key": [text]})) == {"key": [text]}
