"""The shape of each part of a policy file, as pydantic models: allowed keys, types, short forms, defaults.

What the parts mean together - a model that names a column, a boundary that names a node - is checked in
`shoal.policy.check`; what they mean for the data, in `shoal.encode.resolve`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from shoal.policy.data_source import DataSource
from shoal.policy.fields import (
    DATABASE_SCHEMA,
    LABEL_SCHEMA,
    SPARK_SCHEMA,
    Boundary,
    Bounds,
    Categories,
    Cut,
    DataPath,
    Flag,
    Integer,
    Label,
    Number,
    OnlyTrue,
    PathText,
    Publish,
    Role,
    Sheet,
    TreeText,
    database_address,
)
from shoal.policy.location import DatabaseTable, Place

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
_NUMBERS = {"type": "array", "items": {"type": "number"}}


class Spec(BaseModel):
    """A part of a policy: no unknown keys, no changes after the fact."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    short_forms: ClassVar[tuple[dict[str, Any], ...]] = ()
    """JSON Schema of what may stand in the place of the mapping."""
    example: ClassVar[str] = "{key: value}"
    """What a message shows to someone who wrote something else."""

    @classmethod
    def written_out(cls, value: Any) -> Any:
        """The mapping that a short form stands for; anything else as it is."""
        return value

    @model_validator(mode="before")
    @classmethod
    def _accept_short_forms(cls, value: Any) -> Any:
        return cls.written_out(value)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema with the short forms, so that an editor does not flag them."""
        schema = handler(core_schema)
        return {"anyOf": [*cls.short_forms, schema]} if cls.short_forms else schema


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
    labels: Flag = Field(True, description="read values of SPSS, SAS and Stata as their labels, where they have some")

    @classmethod
    def written_out(cls, value: Any) -> Any:
        """A path or an address alone, a table of a database by address and name, or one of Spark's."""
        if isinstance(value, Mapping) and "postgresql" in value and "path" not in value:
            others = {key: each for key, each in value.items() if key not in {"postgresql", "table"}}
            return {"path": database_address(value), **others}
        if isinstance(value, Mapping) and "spark" in value and "path" not in value:
            others = {key: each for key, each in value.items() if key != "spark"}
            return {"path": {"spark": value["spark"]}, **others}
        return {"path": value} if isinstance(value, (str, Path)) else value

    def source(self, path: Place) -> DataSource:
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
        )


# --- hierarchies ----------------------------------------------------------------------------------------------------


class IntervalsSpec(Spec):
    """Numeric intervals: widths, or explicit cut points a level."""

    short_forms = (_NUMBERS, {"type": "array", "items": {"type": "array"}})
    example = "[5, 10, 20]"

    widths: list[Number] = Field(default_factory=list, description="width of the intervals at each level")
    cuts: list[list[Cut]] = Field(default_factory=list, description="cut points of each level; outer ones may be inf")
    origin: Number = Field(0, description="where intervals of fixed width are counted from")
    bounds: Bounds | None = Field(None, description="smallest and largest value that there may be")

    @classmethod
    def written_out(cls, value: Any) -> Any:
        """A list of widths, or a list of lists of cut points."""
        if not isinstance(value, (list, tuple)):
            return value
        nested = any(isinstance(part, (list, tuple)) for part in value)
        return {"cuts": list(value)} if nested else {"widths": list(value)}


class LevelsSpec(Spec):
    """An ARX-style CSV file: one line a leaf value, then its ancestors."""

    short_forms = (_TEXT,)
    example = "age-levels.csv"

    path: PathText = Field(description="the file, relative to the policy file")
    separator: Character | None = Field(None, description="found out when not given: semicolon, tab or comma")

    @classmethod
    def written_out(cls, value: Any) -> Any:
        """A path alone."""
        return {"path": value} if isinstance(value, (str, Path)) else value


class MaskSpec(Spec):
    """Characters replaced by * from one side."""

    short_forms = ({"enum": ["left", "right"]},)
    example = "right"

    side: Literal["left", "right"] = "right"
    alphabet: str | None = Field(None, description="digits, letters, alphanumeric, or the characters themselves")
    steps: list[Integer] | None = Field(None, description="how many characters each level masks; each by default")

    @classmethod
    def written_out(cls, value: Any) -> Any:
        """A side alone."""
        return {"side": value} if isinstance(value, str) else value


class DatesSpec(Spec):
    """Calendar units, finest first."""

    short_forms = (_TEXT, {"type": "array", "items": _TEXT})
    example = "[month, year]"

    units: list[str] = Field(default_factory=lambda: ["month", "quarter", "year", "decade"])
    format: str | None = Field(None, description="how the values are written, as for strptime; ISO 8601 by default")

    @classmethod
    def written_out(cls, value: Any) -> Any:
        """A unit, or a list of them."""
        if isinstance(value, str):
            return {"units": [value]}
        return {"units": list(value)} if isinstance(value, (list, tuple)) else value


class OrderSpec(Spec):
    """Ordered values, grouped with their neighbours."""

    short_forms = ({"type": "array", "items": LABEL_SCHEMA},)
    example = "[low, mid, high]"

    values: list[Label] = Field(description="the values from first to last")
    groups: list[Integer] | None = Field(None, description="how many neighbours join at each level; 2, 4, 8, … else")

    @classmethod
    def written_out(cls, value: Any) -> Any:
        """A list of values."""
        return {"values": list(value)} if isinstance(value, (list, tuple)) else value


_WORDS: Mapping[str, dict[str, Any]] = {"flat": {"flat": True}, "mask": {"mask": {}}, "dates": {"dates": {}}}


class HierarchySpec(Spec):
    """One kind of hierarchy, as a mapping with exactly one of these keys (or just ``flat``, ``mask``, ``dates``)."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    short_forms = ({"enum": list(_WORDS)},)
    example = "{intervals: [5, 10, 20]}"

    intervals: IntervalsSpec | None = None
    tree: TreeText | None = Field(None, description="nested mapping, or the path of a YAML file")
    levels: LevelsSpec | None = None
    mask: MaskSpec | None = None
    dates: DatesSpec | None = None
    order: OrderSpec | None = None
    flat: OnlyTrue | None = Field(None, description="the value or *")

    @classmethod
    def written_out(cls, value: Any) -> Any:
        """A kind that needs no more than its name."""
        return _WORDS.get(value, value) if isinstance(value, str) else value

    @property
    def kinds(self) -> list[str]:
        """The kinds that are given; a right policy gives one."""
        return [name for name in type(self).model_fields if getattr(self, name) is not None]


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

    @property
    def boundary_labels(self) -> int | list[str | None] | None:
        """The boundary as a level or as labels in canonical text."""
        return self.boundary

    @property
    def category_values(self) -> dict[str, list[str | None]]:
        """The categories with their values in canonical text."""
        return self.categories or {}
