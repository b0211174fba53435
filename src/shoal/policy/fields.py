"""The single values of a policy: what each accepts, in words of our own, and how an editor's schema describes it."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, PlainValidator, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from shoal.errors import DataError
from shoal.formatting import parse_data_size
from shoal.hierarchies.hierarchy import LABEL_SCHEMA, is_scalar, scalar_text
from shoal.policy.location import DatabaseTable, parse_location
from shoal.policy.spark_location import SparkLocation

NAME_SCHEMA: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_TEXT = {"type": "string"}


def _object(texts: Iterable[str], *, description: str = "", **others: Any) -> dict[str, Any]:
    """The schema of a mapping with texts and others under some keys, and none beside them."""
    properties = {**dict.fromkeys(texts, _TEXT), **others}
    about = {"description": description} if description else {}
    required = {"required": list(properties)} if description else {}
    return {"type": "object", **about, "properties": properties, **required, "additionalProperties": False}


DATABASE_SCHEMA = _object(("postgresql", "table"), description="a table of a PostgreSQL database")
SPARK_SCHEMA = _object(
    (),
    description="a table that Spark reads or writes: a format with a path, or with a table of the catalog",
    spark=_object(("format", "path", "table"), options={"type": "object"}),
)
UNSHOWN = "unshown"  # the kind of an error about an address that must not be shown
UNSHOWN_KEY = "key-in-policy"  # that of an error about what may be a key
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_INFINITE = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf}
TAGS = frozenset({"<number>", "<mapping>", "<level>", "<labels>", "<column>", "<columns>", "<list>"})
"""How pydantic names the branches of our unions in the path of an error; no key of a policy reads like this."""


def refuse(message: str, code: Any = "wrong-type") -> PydanticCustomError:
    """An error whose words are ours; braces in them are not placeholders. Its kind is the code of the problem."""
    return PydanticCustomError(code, "{message}", {"message": message})


def _real(value: Any) -> int | float:
    """A number as it was given: an integer stays exact. Text and booleans are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise refuse("must be a number")
    return int(value) if isinstance(value, Integral) else float(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise refuse("must be a whole number")
    return int(value)


def _data_size(value: Any) -> str:
    if not isinstance(value, str):
        raise refuse("must be a size with its unit, such as 500MB or 2GB")
    try:
        parse_data_size(value)
    except ValueError as error:
        raise refuse(str(error).rstrip(".")) from None
    return value


def positive(value: Any) -> int:
    """A whole number above 0."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise refuse("must be a whole number above 0", "out-of-range")
    return int(value)


def _within(read: Callable[[Any], Any], allows: Callable[[Any], bool], rule: str) -> Callable[[Any], Any]:
    """Reads a number that must satisfy a rule."""

    def validate(value: Any) -> Any:
        number = read(value)
        if not allows(number):
            raise refuse(f"must be {rule}", "out-of-range")
        return number

    return validate


finite_number = _within(_real, math.isfinite, "a finite number")
_level = _within(_whole, lambda level: level >= 0, "a level, 0 or more")
_events = _within(_whole, lambda events: 1 <= events <= 3, "a whole number from 1 to 3")
_share = _within(_real, lambda share: 0 <= share <= 1, "a number from 0 to 1")
_seconds = _within(finite_number, lambda seconds: seconds >= 0, "a number of seconds, 0 or more")


def _cut(value: Any) -> int | float:
    """A cut point; the outer ones may be infinite."""
    if isinstance(value, str) and value.strip().lower() in _INFINITE:
        return _INFINITE[value.strip().lower()]
    try:
        number = _real(value)
    except PydanticCustomError:
        number = math.nan
    if math.isnan(number):
        raise refuse("must be a number, or inf or -inf for an open end")
    return number


def _bounds(value: Any) -> tuple[int | float, int | float]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise refuse("must be two numbers, the smallest and the largest value")
    return finite_number(value[0]), finite_number(value[1])


def label_text(value: Any) -> str | None:
    """One value as canonical text; null is the missing value."""
    if not is_scalar(value) or (isinstance(value, float) and math.isnan(value)):
        raise refuse("must be a single value: a text, a number, true, false, or null for the missing value")
    return scalar_text(value)


def _spelling(value: Any) -> str:
    """A value that is there, as canonical text."""
    if value is None:
        raise refuse("must be a value: the missing value is always unknown, and not a spelling of anything")
    return str(label_text(value))


def _name(value: Any) -> str:
    """A column's name; 5 is the column "5"."""
    if value is None or not is_scalar(value):
        raise refuse("must be the name of a column")
    return str(scalar_text(value))


def _path(value: Any) -> str:
    if not isinstance(value, (str, Path)):
        raise refuse("must be a path")
    return str(value)


def _location(value: Any) -> str:
    """A path, or the address of a table of a database; what is wrong with an address is told without showing it."""
    if isinstance(value, Mapping) and set(value) == {"spark"}:
        return spark_address(value["spark"])
    text = _path(value)
    try:
        found = parse_location(text)
        if isinstance(found, DatabaseTable):
            _ = found.parts
    except DataError as error:
        raise PydanticCustomError(UNSHOWN, "{message}", {"message": str(error).rstrip(".")}) from None
    return text


def database_address(value: Any) -> Any:
    """The address that a mapping ``{postgresql: …, table: …}`` stands for; anything else as it is."""
    if not isinstance(value, Mapping) or "postgresql" not in value:
        return value
    url, table = value["postgresql"], value.get("table", "")
    if not isinstance(url, str) or not isinstance(table, str):
        return value
    if "://" not in url:  # no file is meant here: refused as an address, without being shown
        url = f"postgresql:{url}"
    return f"{url}#{table}" if table else url


def spark_address(value: Any) -> str:
    """The address that ``{format: …, path: …}``, or ``table`` instead of ``path``, stands for."""
    known = {"format", "path", "table", "options"}
    if not isinstance(value, Mapping) or not set(value) <= known or ("path" in value) == ("table" in value):
        raise refuse("spark must be a mapping with a path or a table, and format and options where they are needed")
    options = value.get("options", {})
    texts = [value.get(key, "") for key in ("format", "path", "table")]
    if not all(isinstance(each, str) for each in texts) or not isinstance(options, Mapping):
        raise refuse("format, path and table of spark must be texts, and options a mapping")
    if not all(is_scalar(each) and each is not None for each in options.values()):
        raise refuse("each of the options of spark must have a single value")
    chosen = tuple((str(key), str(scalar_text(each))) for key, each in options.items())
    return SparkLocation(value.get("format", "parquet"), value.get("path"), value.get("table"), chosen).address


def _output(value: Any) -> str:
    """A path, a table of a database, or one that Spark writes."""
    if isinstance(value, Mapping) and set(value) not in ({"spark"}, {"postgresql", "table"}):
        raise refuse("must be a path, a mapping with the keys postgresql and table, or one with the key spark")
    return _location(database_address(value))


def _sheet(value: Any) -> str | int:
    """A sheet by its name or by its number from 1."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise refuse("must be the name of a sheet, or its number counted from 1")
    return int(value)


def _key_source(value: Any) -> dict[str, str]:
    """Where a key is; what is written there otherwise may be the key itself, so it is never shown."""
    if isinstance(value, Mapping) and len(value) == 1:
        ((kind, name),) = value.items()
        if kind == "env" and isinstance(name, str) and _VARIABLE.fullmatch(name):
            return {"env": name}
        if kind == "file" and isinstance(name, (str, Path)) and str(name):
            return {"file": str(name)}
    message = "must be {env: NAME}, an environment variable, or {file: path}; the key itself is never in a policy"
    raise refuse(message, UNSHOWN_KEY)


def _role(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        raise refuse("a column has one role: it cannot be known to an attacker and secret at once", "several-roles")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise refuse("must be true or false")
    return value


def _true(value: Any) -> bool:
    if value is not True:
        raise refuse("must be true; leave it out otherwise")
    return True


def _tree(value: Any) -> Any:
    """Nested groups with their labels as canonical text, or the path of a file."""
    if isinstance(value, (str, Path)):
        return str(value)
    if value is not None and not isinstance(value, (Mapping, list, tuple)):
        raise refuse("must be nested mappings and lists, or the path of a YAML file")
    try:
        return _plain_tree(value)
    except RecursionError:
        raise refuse("a group holds itself", "nested-too-deeply") from None


def _plain_tree(node: Any) -> Any:
    if isinstance(node, Mapping):
        below = [_plain_tree(each) for each in node.values()]
        return dict(zip(_texts(node, "label"), below, strict=True))
    if isinstance(node, (list, tuple)):
        return [_plain_tree(each) for each in node]
    return label_text(node)


def _texts(mapping: Mapping[Any, Any], what: str, *, null: bool = True) -> list[str | None]:
    """The keys of a mapping as canonical text, if they are single values and different ones."""
    texts: list[str | None] = []
    for key in mapping:
        if not is_scalar(key) or (key is None and not null):
            raise refuse(f"the {what} {'null' if key is None else repr(key)} must be a text")
        text = scalar_text(key)
        if text in texts:
            raise refuse(f"the {what} {text!r} is listed twice", "listed-twice")
        texts.append(text)
    return texts


def _text_keys(what: str, *, null: bool) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return dict(zip(_texts(value, what, null=null), value.values(), strict=True))

    return read


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def some(value: list[Any]) -> list[Any]:
    """A list that is not empty."""
    if not value:
        raise refuse("is an empty list: name at least one, or leave it out", "empty")
    return value


def _several(value: list[Any]) -> list[Any]:
    if len(value) < 2:
        raise refuse("must list the values that differ from each other, two or more")
    return value


def _bins(value: Any) -> Any:
    """A width, or the points between bins."""
    if not isinstance(value, (list, tuple)):
        return finite_number(value)
    if not value:
        raise refuse("must be a width, or a list with at least one point between bins")
    return [finite_number(point) for point in value]


def by_shape(matching: str, other: str, *kinds: type) -> Discriminator:
    """Tells two forms of a value apart by whether it is of some types; true and false are no numbers."""
    return Discriminator(lambda value: matching if isinstance(value, kinds) and not isinstance(value, bool) else other)


Number = Annotated[float, PlainValidator(finite_number), WithJsonSchema({"type": "number"})]
Integer = Annotated[int, PlainValidator(_whole), WithJsonSchema({"type": "integer"})]
Events = Annotated[int, PlainValidator(_events), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 3})]
Level = Annotated[int, PlainValidator(_level), WithJsonSchema({"type": "integer", "minimum": 0})]
_SIZE_SCHEMA = {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*([KkMmGgTt][Ii]?)?[Bb]?\s*$"}
DataSize = Annotated[str, PlainValidator(_data_size), WithJsonSchema(_SIZE_SCHEMA)]
Seconds = Annotated[float, PlainValidator(_seconds), WithJsonSchema({"type": "number", "minimum": 0})]
Share = Annotated[float, PlainValidator(_share), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
Cut = Annotated[
    float, PlainValidator(_cut), WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": ["inf", "+inf", "-inf"]}]})
]
Bounds = Annotated[
    tuple[float, float],
    PlainValidator(_bounds),
    WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}),
]
Label = Annotated[str | None, PlainValidator(label_text), WithJsonSchema(LABEL_SCHEMA)]
Name = Annotated[str, PlainValidator(_name), WithJsonSchema(NAME_SCHEMA)]
KeySource = Annotated[
    dict[str, str],
    PlainValidator(_key_source),
    WithJsonSchema(_object(("env", "file")) | {"minProperties": 1, "maxProperties": 1}),
]
PathText = Annotated[str, PlainValidator(_path), WithJsonSchema({"type": "string"})]
DataPath = Annotated[str, PlainValidator(_location), WithJsonSchema({"type": "string"})]
Output = Annotated[
    str, PlainValidator(_output), WithJsonSchema({"anyOf": [{"type": "string"}, DATABASE_SCHEMA, SPARK_SCHEMA]})
]
Sheet = Annotated[
    str | int,
    PlainValidator(_sheet),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]}),
]
Flag = Annotated[bool, PlainValidator(_flag), WithJsonSchema({"type": "boolean"})]
OnlyTrue = Annotated[Literal[True], PlainValidator(_true), WithJsonSchema({"const": True})]
TreeText = Annotated[Any, PlainValidator(_tree), WithJsonSchema({"type": ["object", "array", "string"]})]
Role = Annotated[Literal["identifier", "pseudonym", "quasi", "sensitive", "insensitive"], BeforeValidator(_role)]
Publish = Literal["values", "categories", "both"]
Bins = Annotated[
    Any,
    PlainValidator(_bins),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "array", "items": {"type": "number"}, "minItems": 1},
            ]
        }
    ),
]
Suppressed = Literal["drop", "star"]

Categories = Annotated[dict[str, list[Label]], BeforeValidator(_text_keys("category", null=False))]
Spelling = Annotated[str, PlainValidator(_spelling), WithJsonSchema(NAME_SCHEMA)]
Same = Annotated[
    dict[str, Annotated[list[Spelling], AfterValidator(some)]], BeforeValidator(_text_keys("value", null=False))
]
Different = Annotated[
    list[Annotated[list[Spelling], AfterValidator(_several)]],
    WithJsonSchema({"type": "array", "items": {"type": "array", "items": NAME_SCHEMA, "minItems": 2}}),
]
Unknown = Annotated[
    list[Spelling],
    BeforeValidator(_listed),
    AfterValidator(some),
    WithJsonSchema({"anyOf": [NAME_SCHEMA, {"type": "array", "items": NAME_SCHEMA, "minItems": 1}]}),
]
CategoryLimits = Annotated[dict[str, Number], BeforeValidator(_text_keys("category", null=False))]
ByColumn = BeforeValidator(_text_keys("column", null=False))
ByValue = BeforeValidator(_text_keys("value", null=True))
Limits = Annotated[
    Annotated[Number, Tag("<number>")] | Annotated[dict[str | None, Number], ByValue, Tag("<mapping>")],
    by_shape("<mapping>", "<number>", Mapping),
]
Boundary = Annotated[
    Annotated[Level, Tag("<level>")]
    | Annotated[list[Label], BeforeValidator(_listed), AfterValidator(some), Tag("<labels>")],
    by_shape("<level>", "<labels>", Integral),
    WithJsonSchema({"anyOf": [LABEL_SCHEMA, {"type": "array", "items": LABEL_SCHEMA, "minItems": 1}]}),
]
Columns = Annotated[
    Annotated[Name, Tag("<column>")] | Annotated[list[Name], AfterValidator(some), Tag("<columns>")],
    by_shape("<columns>", "<column>", list, tuple),
    WithJsonSchema({"anyOf": [NAME_SCHEMA, {"type": "array", "items": NAME_SCHEMA, "minItems": 1}]}),
]
