"""The shape of each part of a policy file, as pydantic models: types, allowed keys, defaults.

What the parts mean together - a model that names a column, a boundary that names a node - is checked in
`shoal.policy.check`; what they mean for the data, in `shoal.policy.resolve`.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator

from shoal.hierarchies.text import scalar_text

Scalar = str | int | float | bool | datetime.date | None
Integer = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Role = Literal["identifier", "quasi", "sensitive", "insensitive"]
Publish = Literal["values", "categories", "both"]


def _text_keys(value: Any) -> Any:
    return {scalar_text(key): item for key, item in value.items()} if isinstance(value, Mapping) else value


def _as_list(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else [value]


class Spec(BaseModel):
    """A part of a policy: no unknown keys, no changes after the fact."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# --- data -----------------------------------------------------------------------------------------------------------


class DataSpec(Spec):
    """Where the table is and how its text is to be read."""

    path: str = Field(description="CSV or Parquet file, relative to the policy file")
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = Field(
        None, description="column separator of a CSV file; a comma, or a tab for .tsv, when not given"
    )
    encoding: str = Field("utf-8", description="text encoding of a CSV file")
    quote: Annotated[str, Field(min_length=1, max_length=1)] = Field('"', description="quote character of a CSV file")
    missing: list[str] = Field(default_factory=lambda: [""], description="cells of a CSV file that mean: no value")


# --- hierarchies ----------------------------------------------------------------------------------------------------


class IntervalsSpec(Spec):
    """Numeric intervals: widths that double as levels, or explicit cut points a level."""

    widths: list[Number] = Field(default_factory=list)
    cuts: list[list[Annotated[float, Strict()]]] = Field(default_factory=list)
    origin: Number = 0.0
    bounds: tuple[Number, Number] | None = None


class LevelsSpec(Spec):
    """An ARX-style CSV file: one line a leaf value, then its ancestors."""

    path: str
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = None


class MaskSpec(Spec):
    """Characters replaced by * from one side."""

    side: Literal["left", "right"] = "right"
    alphabet: str | None = None
    steps: list[Integer] | None = None


class DatesSpec(Spec):
    """Calendar units, finest first."""

    units: list[str] = Field(default_factory=lambda: ["month", "quarter", "year", "decade"])
    format: str | None = None


class OrderSpec(Spec):
    """Ordered values, grouped with their neighbours."""

    values: list[Scalar]
    groups: list[Integer] | None = None


_SHORT = {"flat": {"flat": True}, "mask": {"mask": {}}, "dates": {"dates": {}}}


class HierarchySpec(Spec):
    """One kind of hierarchy, as a mapping with exactly one of these keys (or just ``flat``, ``mask``, ``dates``)."""

    intervals: IntervalsSpec | None = None
    tree: dict[Any, Any] | list[Any] | str | None = Field(
        None, description="nested mapping, or the path of a YAML file"
    )
    levels: LevelsSpec | None = None
    mask: MaskSpec | None = None
    dates: DatesSpec | None = None
    order: OrderSpec | None = None
    flat: Literal[True] | None = None

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, value: Any) -> Any:
        """Accept the short form of each kind: a list of widths, a path, a side, a list of units or values."""
        if isinstance(value, str) and value in _SHORT:
            return _SHORT[value]
        if not isinstance(value, Mapping):
            return value
        long = dict(value)
        given = long.get("intervals")
        if isinstance(given, (list, tuple)):
            nested = any(isinstance(part, (list, tuple)) for part in given)
            long["intervals"] = {"cuts": list(given)} if nested else {"widths": list(given)}
        for kind, key in (("levels", "path"), ("mask", "side")):
            if isinstance(long.get(kind), str):
                long[kind] = {key: long[kind]}
        for kind, key in (("dates", "units"), ("order", "values")):
            if isinstance(long.get(kind), (list, tuple)):
                long[kind] = {key: list(long[kind])}
        return long

    @property
    def kinds(self) -> list[str]:
        """The kinds that are given; a right policy gives one."""
        return [name for name in type(self).model_fields if getattr(self, name) is not None]


# --- columns --------------------------------------------------------------------------------------------------------


class ColumnSpec(Spec):
    """What a column is, how far it may be blurred, and what is published of it."""

    role: Role
    hierarchy: HierarchySpec | None = Field(None, description="how a quasi-identifier is generalized; flat by default")
    boundary: Integer | Annotated[list[Scalar], BeforeValidator(_as_list)] | None = Field(
        None, description="how far values may be generalized at most: node labels, or a level"
    )
    categories: Annotated[dict[str, list[Scalar]], BeforeValidator(_text_keys)] | None = Field(
        None, description="sensitive values by category, most sensitive category first"
    )
    publish: Publish | None = Field(None, description="what is released of a sensitive column")

    @property
    def boundary_labels(self) -> int | list[str | None] | None:
        """The boundary as a level or as labels in canonical text."""
        return [scalar_text(label) for label in self.boundary] if isinstance(self.boundary, list) else self.boundary

    @property
    def category_values(self) -> dict[str, list[str | None]]:
        """The categories with their values in canonical text."""
        return {name: [scalar_text(value) for value in values] for name, values in (self.categories or {}).items()}


# --- models ---------------------------------------------------------------------------------------------------------


class ModelSpec(Spec):
    """A privacy model that is asked for."""

    model: str


class SensitiveModelSpec(ModelSpec):
    """A model on sensitive columns: one, a list, or - when left out - every sensitive column."""

    sensitive: str | list[str] | None = None


class KAnonymitySpec(ModelSpec):
    """Every class has at least k records."""

    model: Literal["k-anonymity"]
    k: Integer


class PSensitiveSpec(SensitiveModelSpec):
    """Every class has at least p distinct values."""

    model: Literal["p-sensitive"]
    p: Integer


class PAlphaSensitiveSpec(SensitiveModelSpec):
    """At least p distinct values and total weight alpha."""

    model: Literal["p-alpha-sensitive"]
    p: Integer
    alpha: Number


class PPlusAlphaSensitiveSpec(SensitiveModelSpec):
    """At least p distinct categories and total weight alpha."""

    model: Literal["p-plus-alpha-sensitive"]
    p: Integer
    alpha: Number


class GroupLeakageSpec(SensitiveModelSpec):
    """At least p distinct categories and at most a share alpha of each."""

    model: Literal["group-leakage"]
    p: Integer
    alpha: Annotated[dict[str, Number], BeforeValidator(_text_keys)]


class LimitSpec(Spec):
    """Limits of one sensitive value."""

    alp: Number = 1.0
    dif: Number = 1.0


class AlpDifSpec(SensitiveModelSpec):
    """Average leakage probability and its difference in every class, by value."""

    model: Literal["alp-dif"]
    limits: Annotated[dict[str | None, LimitSpec], BeforeValidator(_text_keys)]


class DistinctLDiversitySpec(SensitiveModelSpec):
    """At least l distinct values."""

    model: Literal["distinct-l-diversity"]
    l: Integer  # noqa: E741 - the paper's name


class EntropyLDiversitySpec(SensitiveModelSpec):
    """Entropy of at least ln(l)."""

    model: Literal["entropy-l-diversity"]
    l: Number  # noqa: E741 - the paper's name


class RecursiveCLDiversitySpec(SensitiveModelSpec):
    """The commonest value is less than c times the sum of all but the l - 1 commonest."""

    model: Literal["recursive-cl-diversity"]
    l: Integer  # noqa: E741 - the paper's name
    c: Number


class AlphaKAnonymitySpec(SensitiveModelSpec):
    """No value has more than a share alpha of a class."""

    model: Literal["alpha-k-anonymity"]
    alpha: Number | Annotated[dict[str | None, Number], BeforeValidator(_text_keys)]


class TClosenessSpec(SensitiveModelSpec):
    """Each class's distribution is within t of the table's."""

    model: Literal["t-closeness"]
    t: Number
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"


AnyModelSpec = Annotated[
    KAnonymitySpec
    | PSensitiveSpec
    | PAlphaSensitiveSpec
    | PPlusAlphaSensitiveSpec
    | GroupLeakageSpec
    | AlpDifSpec
    | DistinctLDiversitySpec
    | EntropyLDiversitySpec
    | RecursiveCLDiversitySpec
    | AlphaKAnonymitySpec
    | TClosenessSpec,
    Field(discriminator="model"),
]
MODEL_SPECS: dict[str, type[ModelSpec]] = {
    "k-anonymity": KAnonymitySpec,
    "p-sensitive": PSensitiveSpec,
    "p-alpha-sensitive": PAlphaSensitiveSpec,
    "p-plus-alpha-sensitive": PPlusAlphaSensitiveSpec,
    "group-leakage": GroupLeakageSpec,
    "alp-dif": AlpDifSpec,
    "distinct-l-diversity": DistinctLDiversitySpec,
    "entropy-l-diversity": EntropyLDiversitySpec,
    "recursive-cl-diversity": RecursiveCLDiversitySpec,
    "alpha-k-anonymity": AlphaKAnonymitySpec,
    "t-closeness": TClosenessSpec,
}


# --- algorithm ------------------------------------------------------------------------------------------------------


class AlgorithmSpec(Spec):
    """The algorithm and its options."""

    name: str = "optimal"
    metric: str = Field("loss", description="the measure that is minimized; any measure's name")
    seed: Integer = Field(0, description="where an algorithm draws at random, it draws from this seed")
    weights: dict[str, Number] = Field(
        default_factory=dict, description="importance of quasi-identifiers in [0, 1] for greedy-lattice"
    )
    node: dict[str, Integer] | None = Field(None, description="for incognito: the minimal node to release, by levels")
