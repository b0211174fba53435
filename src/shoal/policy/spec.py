"""The shape of each part of a policy file, as pydantic models: allowed keys, types, short forms, defaults.

What the parts mean together - a model that names a column, a boundary that names a node - is checked in
`shoal.policy.check`; what they mean for the data, in `shoal.encode.resolve`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, create_model, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from shoal.declarations import REQUIRED, Parameter, ParameterKind
from shoal.formatting import parse_data_size
from shoal.hierarchies import HIERARCHY_KINDS
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind
from shoal.policy.data_source import DataSource
from shoal.policy.fields import (
    DATABASE_SCHEMA,
    SPARK_SCHEMA,
    Bins,
    Boundary,
    Bounds,
    ByColumn,
    ByValue,
    Categories,
    CategoryLimits,
    Cut,
    DataPath,
    DataSize,
    Different,
    Flag,
    Integer,
    KeySource,
    Label,
    Level,
    Limits,
    Name,
    Number,
    OnlyTrue,
    PathText,
    Publish,
    Role,
    Same,
    Seconds,
    Sheet,
    TreeText,
    Unknown,
    database_address,
)
from shoal.policy.location import DatabaseTable, Location
from shoal.policy.range_fields import Ranges

Character = Annotated[str, Field(min_length=1, max_length=1)]
_TEXT = {"type": "string"}
_DATABASE = DATABASE_SCHEMA | {
    "properties": {**DATABASE_SCHEMA["properties"], "missing": {"type": "array", "items": _TEXT}}
}
_SPARK = SPARK_SCHEMA | {
    "properties": {
        **SPARK_SCHEMA["properties"],
        **dict.fromkeys(("separator", "encoding", "quote"), _TEXT),
        "missing": {"type": "array", "items": _TEXT},
    }
}
_NO_PATTERN = str.maketrans("*?[]", "____")


class Spec(BaseModel):
    """A part of a policy: no unknown keys, no changes after the fact."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    short_forms: ClassVar[tuple[dict[str, Any], ...]] = ()
    """JSON Schema of what may be written instead of the mapping."""
    example: ClassVar[str] = "{key: value}"
    """What a message shows to someone who wrote something else."""

    @classmethod
    def expand_short_form(cls, value: Any) -> Any:
        """The mapping that a short form stands for; anything else as it is."""
        return value

    @model_validator(mode="before")
    @classmethod
    def _accept_short_forms(cls, value: Any) -> Any:
        return cls.expand_short_form(value)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema with the short forms, so that an editor does not flag them."""
        schema = handler(core_schema)
        return {"anyOf": [*cls.short_forms, schema]} if cls.short_forms else schema


class NamedSpec(Spec):
    """A part that may be written as its name alone."""

    @classmethod
    def expand_short_form(cls, value: Any) -> Any:
        """A name alone."""
        return {"name": value} if isinstance(value, str) else value


# --- data -----------------------------------------------------------------------------------------------------------


class DataSpec(Spec):
    """Where the table is and how its text is to be read."""

    short_forms = (_TEXT, _DATABASE, _SPARK)
    example = "patients.csv"

    path: DataPath = Field(
        description="file of text (CSV), Parquet, Excel, SPSS, SAS or Stata, relative to the policy file, or "
        "postgresql://host/database#table"
    )
    separator: Character | None = Field(
        None, description="column separator of a CSV file; a comma, or a tab for .tsv, when not given"
    )
    encoding: str = Field("utf-8", description="text encoding of a CSV file")
    quote: Annotated[str, Field(max_length=1)] = Field('"', description="quote character of a CSV file; empty for none")
    missing: list[str] = Field(default_factory=lambda: [""], description="cells that mean: no value")
    sheet: Sheet | None = Field(None, description="sheet of a workbook: its name, or its number from 1; else the first")
    unpacked: DataSize | None = Field(None, description="what a compressed file may unpack to, such as 8GB")
    labels: Flag = Field(True, description="read values of SPSS, SAS and Stata as their labels, where they have some")

    @classmethod
    def expand_short_form(cls, value: Any) -> Any:
        """A path or an address alone, a table of a database by address and name, or one of Spark's."""
        if isinstance(value, Mapping) and "postgresql" in value and "path" not in value:
            others = {key: each for key, each in value.items() if key not in {"postgresql", "table"}}
            return {"path": database_address(value), **others}
        if isinstance(value, Mapping) and "spark" in value and "path" not in value:
            others = {key: each for key, each in value.items() if key != "spark"}
            return {"path": {"spark": value["spark"]}, **others}
        return {"path": value} if isinstance(value, (str, Path)) else value

    def source(self, path: Location) -> DataSource:
        """A table to be read as this says; without a separator, a comma, or a tab for .tsv."""
        if isinstance(path, DatabaseTable):
            name = Path(str(path).translate(_NO_PATTERN))
            return DataSource(name, missing=tuple(self.missing), database=path)
        tabs = ".tsv" in [suffix.lower() for suffix in path.suffixes]
        separator = self.separator if self.separator is not None else ("\t" if tabs else ",")
        return DataSource(
            path,
            separator,
            self.encoding,
            self.quote,
            tuple(self.missing),
            sheet=self.sheet,
            labels=self.labels,
            unpacked=None if self.unpacked is None else parse_data_size(self.unpacked),
        )


# --- hierarchies ----------------------------------------------------------------------------------------------------


_TYPES: Mapping[FieldKind | ParameterKind, Any] = {
    FieldKind.NUMBER: Number,
    FieldKind.NUMBERS: list[Number],
    FieldKind.CUTS: list[list[Cut]],
    FieldKind.BOUNDS: Bounds,
    FieldKind.WHOLES: list[Integer],
    FieldKind.TEXT: str,
    FieldKind.TEXTS: list[str],
    FieldKind.CHARACTER: Character,
    FieldKind.VALUES: list[Label],
    FieldKind.PATH: PathText,
    FieldKind.TREE: TreeText,
    FieldKind.PRESENT: OnlyTrue,
    ParameterKind.WHOLE: Integer,
    ParameterKind.NUMBER: Number,
    ParameterKind.SECONDS: Seconds | None,
    ParameterKind.FLAG: bool,
    ParameterKind.BY_CATEGORY: CategoryLimits,
    ParameterKind.BY_VALUE_OR_ONE: Limits,
    ParameterKind.MEASURE: str,
    ParameterKind.RANGES: Ranges,
    ParameterKind.WEIGHTS: Annotated[dict[str, Number], ByColumn],
    ParameterKind.LEVELS: Annotated[dict[str, Level], ByColumn],
}
"""What a policy may write for each kind of field or parameter, but for choices and limits."""


def declared_spec(
    name: str,
    base: type[Spec],
    declared: Iterable[Parameter | HierarchyField],
    module: dict[str, Any],
    doc: str | None = "",
    **others: Any,
) -> Any:
    """A spec with a field for each thing declared; it is put into its module, where pickle looks for it."""
    fields: dict[str, Any] = others | {each.name: _declared_field(each, name, module) for each in declared}
    spec: Any = create_model(name, __base__=base, __module__=module["__name__"], __doc__=doc, **fields)
    module[name] = spec
    return spec


def _declared_field(declared: Parameter | HierarchyField, owner: str, module: dict[str, Any]) -> tuple[Any, Any]:
    """The type and the default of a field."""
    kind, default = _type_of(declared, owner, module), declared.default
    settings: dict[str, Any] = {"description": declared.help} if declared.help else {}
    if default is REQUIRED:
        return kind, Field(**settings)
    if isinstance(default, tuple):
        return kind, Field(default_factory=lambda: list(default), **settings)
    return (kind | None if default is None else kind), Field(default, **settings)


def _type_of(declared: Parameter | HierarchyField, owner: str, module: dict[str, Any]) -> Any:
    if declared.kind in {ParameterKind.CHOICE, FieldKind.CHOICE}:
        return Literal[tuple(declared.choices)]
    if isinstance(declared, Parameter) and declared.kind is ParameterKind.LIMITS:
        entry = declared_spec(f"{owner}{declared.name.title()}", Spec, declared.parts, module)
        entry.example = str(declared.start).replace("'", "")
        return Annotated[dict[str | None, entry], ByValue]  # type: ignore[valid-type]
    return _TYPES[declared.kind]


class _KindSpec(Spec):
    """What is written under the key of one kind of hierarchy."""

    kind: ClassVar[HierarchyKind]

    @classmethod
    def expand_short_form(cls, value: Any) -> Any:
        """The short forms that the kind declares."""
        return cls.kind.expand(value)


def _kind_field(kind: HierarchyKind) -> tuple[Any, Any]:
    """The field of a hierarchy's spec that a kind declares."""
    if kind.single:
        (field,) = kind.fields
        return _TYPES[field.kind] | None, Field(None, description=field.help)
    spec = declared_spec(f"{kind.key.title()}Spec", _KindSpec, kind.fields, globals(), kind.summary)
    spec.kind, spec.short_forms, spec.example = kind, kind.short_forms, kind.example
    return spec | None, None


class DeclaredHierarchy(Spec):
    """One kind of hierarchy, as a mapping with exactly one of these keys (or just ``flat``, ``mask``, ``dates``)."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    short_forms = ({"enum": [kind.key for kind in HIERARCHY_KINDS.values() if kind.by_name]},)
    example = "{intervals: [5, 10, 20]}"

    @classmethod
    def expand_short_form(cls, value: Any) -> Any:
        """A kind that needs no more than its name."""
        kind = HIERARCHY_KINDS.get(value) if isinstance(value, str) else None
        return {value: True if kind.single else {}} if kind is not None and kind.by_name else value

    @property
    def kinds(self) -> list[str]:
        """The kinds that are given; a right policy gives one."""
        return [name for name in type(self).model_fields if getattr(self, name) is not None]

    @property
    def kind(self) -> HierarchyKind:
        """The declaration of the kind that is given."""
        return HIERARCHY_KINDS[self.kinds[0]]

    @property
    def fields(self) -> dict[str, Any]:
        """What is written under the key of the kind, by field."""
        given = getattr(self, self.kind.key)
        return {self.kind.key: given} if self.kind.single else dict(given)

    @property
    def file(self) -> str | None:
        """The file that the hierarchy is read from, relative to the policy; None where the policy itself has it."""
        files = [field.name for field in self.kind.fields if field.kind in {FieldKind.PATH, FieldKind.TREE}]
        return next((self.fields[name] for name in files if isinstance(self.fields[name], str)), None)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What is written under the key of each kind."""


if TYPE_CHECKING:
    HierarchySpec = DeclaredHierarchy
else:
    HierarchySpec = declared_spec(
        "HierarchySpec",
        DeclaredHierarchy,
        (),
        globals(),
        DeclaredHierarchy.__doc__,
        **{key: _kind_field(kind) for key, kind in HIERARCHY_KINDS.items()},
    )


# --- columns --------------------------------------------------------------------------------------------------------


class ColumnSpec(Spec):
    """What a column is, how far it may be blurred, and what is published of it."""

    example = "{role: quasi}"

    role: Role = Field(description="what the column is")
    hierarchy: HierarchySpec | None = Field(None, description="how a quasi-identifier is generalized; flat by default")
    boundary: Boundary | None = Field(
        None, description="how far values may be generalized at most: node labels, or a level"
    )
    categories: Categories | None = Field(
        None, description="sensitive values by category, most sensitive category first"
    )
    publish: Publish | None = Field(None, description="what is released of a sensitive column")
    same: Same | None = Field(None, description="sensitive values with their other spellings, which are read as them")
    different: Different | None = Field(
        None, description="lists of sensitive values that differ although their spellings are alike"
    )
    bins: Bins | None = Field(
        None, description="intervals that sensitive numbers are published in: a width, or the points between them"
    )
    unknown: Unknown | None = Field(
        None, description="sensitive values that say nothing, like a missing one: models do not count them"
    )
    unknown_counts: Flag | None = Field(
        None, description="whether a missing sensitive value, and each under unknown, counts as a value of its own"
    )

    relative: Name | None = Field(
        None,
        description="release a date as days since the person's first date in the column (first), or since the date in "
        "another column",
    )
    key: KeySource | None = Field(
        None,
        description="where the key of a pseudonym is: {env: NAME} or {file: path}; the environment variable "
        "SHOAL_PSEUDONYM_KEY when left out",
    )

    @property
    def category_values(self) -> dict[str, list[str | None]]:
        """The categories with their values in canonical text."""
        return self.categories or {}

    @property
    def unknown_marks(self) -> frozenset[str | None]:
        """The sensitive values that say nothing, whether they are to count or not."""
        return frozenset({None, *(self.unknown or ())})

    @property
    def unknown_values(self) -> frozenset[str | None]:
        """The sensitive values that models do not count."""
        return frozenset() if self.unknown_counts else self.unknown_marks

    @property
    def value_of(self) -> dict[str, str]:
        """The value that each other spelling is read as."""
        same = self.same or {}
        return {spelling: value for value, spellings in same.items() for spelling in spellings if spelling != value}
