"""Reading and writing a policy's YAML without its surprises.

YAML 1.1, which PyYAML reads by default, turns the zip code 01234 into the number 668, the country code NO into False,
12:30 into 750 and 2020-01-05 into a date, and takes the last of two equal keys without a word. Here, as in YAML 1.2,
numbers have no leading zeros and ``<<`` merges nothing; only ``true``, ``false``, ``null`` and ``~`` are words with a
meaning; every key is text, so that 5 and "5" are one key; and a key that stands twice is a problem.

Aliases may stand for more than is written: nine lines of them for a thousand million values. What they add is limited,
and counted before anything is made of it.
"""

import re
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError
from yaml.reader import ReaderError

from shoal.errors import PolicyError, PolicyProblem
from shoal.formatting import number
from shoal.hierarchies.hierarchy import scalar_text

_TAG = "tag:yaml.org,2002:"
_FLOAT = re.compile(r"^[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$")
_LINE_BREAK = re.compile("[\n\r\x85\u2028\u2029]")
_WORDS = {"true": True, "false": False}
_ADDED_BY_ALIASES = 1_000_000
"""Values and characters of text by which a document may be larger than it is written, its aliases written out."""


class _Loader(yaml.SafeLoader):
    """A loader of plain data: text, numbers, booleans, null, lists and mappings."""

    noted: list[PolicyProblem]

    def note(self, node: yaml.Node, message: str, fix: str, code: str) -> None:
        self.noted.append(PolicyProblem(_line(node.start_mark), message, fix, code=code))


class _Dumper(yaml.SafeDumper):
    """A dumper that quotes whatever YAML 1.1 or this loader would not read as text, and repeats instead of aliasing."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the same for all data
        """A policy is read by people: write everything out."""
        return True


_Loader.yaml_implicit_resolvers = {}
for _kind, _pattern, _first in (
    ("bool", re.compile(r"^(?:true|false)$"), ["t", "f"]),
    ("null", re.compile(r"^(?:~|null|)$"), ["~", "n", ""]),
    ("int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789")),
    ("float", _FLOAT, list("-+.0123456789")),
    ("float", re.compile(r"^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$"), list("-+.")),
):
    _Loader.add_implicit_resolver(_TAG + _kind, _pattern, _first)
_Dumper.add_implicit_resolver(_TAG + "float", _FLOAT, list("-+.0123456789"))


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    """Text with line breaks goes into double quotes: PyYAML loses Unicode's own line breaks in the other styles."""
    style = '"' if _LINE_BREAK.search(text) else None
    return dumper.represent_scalar(_TAG + "str", text, style=style)


_Dumper.add_representer(str, _write_text)


def _mapping(loader: _Loader, node: yaml.Node) -> dict[Any, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise ConstructorError(None, None, "a mapping was declared and there is none", node.start_mark)
    result: dict[Any, Any] = {}
    lines: dict[Any, int] = {}
    for key_node, value_node in node.value:
        value = loader.construct_object(value_node, deep=True)
        if not isinstance(key_node, yaml.ScalarNode):
            loader.note(key_node, "a key must be a single value, not a list or mapping.", "Write key: value.",
                        "wrong-type")  # fmt: skip
            continue
        if key_node.value == "<<" and key_node.style is None:
            loader.note(key_node, "<< (a merge key) is not YAML 1.2 and merges nothing.",
                        "Write the keys out; anchors and aliases of whole values work.", "merge-key")  # fmt: skip
            continue
        key = scalar_text(loader.construct_object(key_node))
        if key in lines:
            shown = "null" if key is None else repr(key)
            loader.note(key_node, f"the key {shown} is listed twice in the same mapping, first on line {lines[key]}.",
                        "A column has one role and a setting one value: keep one of them.", "listed-twice")  # fmt: skip
            continue
        lines[key] = key_node.start_mark.line + 1
        result[key] = value
    return result


def _sequence(loader: _Loader, node: yaml.Node) -> list[Any]:
    if not isinstance(node, yaml.SequenceNode):
        raise ConstructorError(None, None, "a list was declared and there is none", node.start_mark)
    return [loader.construct_object(each, deep=True) for each in node.value]


def _scalar(_: _Loader, node: yaml.Node) -> Any:
    """A scalar by its tag, which stands there or follows from how the scalar is written."""
    if not isinstance(node, yaml.ScalarNode):
        raise ConstructorError(None, None, "a single value was declared and there is none", node.start_mark)
    kind, text = node.tag.removeprefix(_TAG), node.value
    if kind == "str":
        return text
    if kind == "null":
        return None
    try:
        if kind == "bool":
            return _WORDS[text]
        return int(text) if kind == "int" else float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    except (ValueError, KeyError):
        shown = text if len(text) <= 40 else text[:40] + "…"
        raise ConstructorError(None, None, f"{shown!r} cannot be read as {kind}", node.start_mark) from None


def _unknown(_: _Loader, node: yaml.Node) -> Any:
    raise ConstructorError(None, None, f"the tag {node.tag!r} is not known: write plain values", node.start_mark)


_Loader.yaml_constructors = {}
for _kind in ("str", "null", "bool", "int", "float"):
    _Loader.add_constructor(_TAG + _kind, _scalar)
_Loader.add_constructor(_TAG + "map", _mapping)
_Loader.add_constructor(_TAG + "seq", _sequence)
_Loader.add_constructor(None, _unknown)


def load_yaml(text: str, source: str) -> tuple[Any, list[PolicyProblem]]:
    """The content of a YAML document, and what is wrong with keys in it; a syntax error is a `PolicyError`."""
    loader = None
    try:
        loader = _Loader(text)
        loader.noted = []
        node = loader.get_single_node()
        if node is None:
            return None, loader.noted
        _refuse_too_many_aliases(node, source)
        return loader.construct_document(node), loader.noted
    except ReaderError as error:
        where = f"line {text.count(chr(10), 0, error.position) + 1}"
        message = f"holds the character U+{ord(text[error.position]):04X}, which no text has."
        problem = PolicyProblem(where, message, "Is this a policy? It is written as plain text.", code="not-text")
    except yaml.YAMLError as error:
        problem = _syntax_problem(error)
    except RecursionError:
        message = "lists and mappings are nested too deeply."
        problem = PolicyProblem("", message, "Write them flatter.", code="nested-too-deeply")
    finally:
        if loader is not None:
            loader.dispose()
    raise PolicyError([problem], source)


def _refuse_too_many_aliases(document: yaml.Node, source: str) -> None:
    """Stop at a document that its aliases make much larger than it is written; each node is looked at once."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        """The values and characters of a node with its aliases written out; one that holds itself is refused later."""
        if id(node) not in sizes:
            sizes[id(node)] = 0
            parts = node.value if isinstance(node, yaml.SequenceNode) else ()
            if isinstance(node, yaml.MappingNode):
                parts = [part for pair in node.value for part in pair]
            own = 1 + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)
            sizes[id(node)] = own + sum(map(size, parts))
            written.append(own)
        return sizes[id(node)]

    written: list[int] = []
    if size(document) - sum(written) > _ADDED_BY_ALIASES:
        message = f"its aliases (*) stand for more than {number(_ADDED_BY_ALIASES)} values and characters."
        raise PolicyError(
            [PolicyProblem("", message, "Write out what they stand for.", code="too-many-aliases")], source
        )


def parse_yaml(text: str, source: str) -> Any:
    """The content of a YAML document; syntax errors and repeated keys are a `PolicyError`."""
    content, noted = load_yaml(text, source)
    if noted:
        raise PolicyError(noted, source)
    return content


def read_text(path: Path) -> tuple[str, bytes]:
    """The text of a file and its bytes; a file that cannot be read as text is a `PolicyError`."""
    try:
        raw = path.read_bytes()
        return raw.decode("utf-8-sig"), raw
    except UnicodeDecodeError as error:
        problem = PolicyProblem("", f"not UTF-8 text (byte {error.start}).", "Save the file as UTF-8.", code="not-text")
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}."
        problem = PolicyProblem("", message, "Check the path.", code="unreadable-file")
    raise PolicyError([problem], str(path))


def read_yaml(path: Path) -> tuple[Any, bytes]:
    """The content of a YAML file and its bytes; everything wrong with it is a `PolicyError`."""
    text, raw = read_text(path)
    return parse_yaml(text, str(path)), raw


def dump_yaml(content: Any) -> str:
    """YAML text that this module reads back as the same content."""
    return str(yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))


def flow_yaml(content: Any) -> str:
    """YAML text on one line, as a message shows it; characters that cannot be seen are escaped."""
    plain = repr(content).isprintable() and "\\" not in repr(content)
    text = yaml.dump(content, Dumper=_Dumper, default_flow_style=True, sort_keys=False, allow_unicode=plain,
                     width=float("inf"))  # fmt: skip
    return str(text).removesuffix("\n")


def _syntax_problem(error: yaml.YAMLError) -> PolicyProblem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    reasons = [getattr(error, "context", None), getattr(error, "problem", None)]
    reason = ", ".join(each for each in reasons if each) or str(error).splitlines()[0]
    fix = "Indent with spaces, not with tabs." if r"'\t'" in reason else ""
    if "recursive" in reason:
        reason, fix = "an anchor (&) holds an alias (*) of itself", "Write the part out."
    return PolicyProblem(_line(mark), f"not valid YAML: {reason}.", fix, code="invalid-yaml")


def _line(mark: yaml.Mark | None) -> str:
    return f"line {mark.line + 1}" if mark is not None else ""
