"""The shape of each privacy model in a policy file; what the parameters may be is checked by the model itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from shoal.models import MODELS, Model
from shoal.policy.fields import ByValue, CategoryLimits, Columns, Integer, Limits, Number
from shoal.policy.spec import ColumnSpec, Spec


class ModelSpec(Spec):
    """A privacy model that is asked for."""

    model: str = Field(description="name of the model")


class SensitiveModelSpec(ModelSpec):
    """A model on sensitive columns: one, a list, or - when left out - every sensitive column."""

    sensitive: Columns | None = Field(None, description="the sensitive columns; all of them when left out")


class KAnonymitySpec(ModelSpec):
    """Every class has at least k records."""

    model: Literal["k-anonymity"]
    k: Integer = Field(description="records that every class has at least")


class PSensitiveSpec(SensitiveModelSpec):
    """Every class has at least p distinct values."""

    model: Literal["p-sensitive"]
    p: Integer = Field(description="distinct values that every class has at least")


class PAlphaSensitiveSpec(SensitiveModelSpec):
    """At least p distinct values and total weight alpha."""

    model: Literal["p-alpha-sensitive"]
    p: Integer = Field(description="distinct values that every class has at least")
    alpha: Number = Field(description="total weight that every class has at least")


class PPlusAlphaSensitiveSpec(SensitiveModelSpec):
    """At least p distinct categories and total weight alpha."""

    model: Literal["p-plus-alpha-sensitive"]
    p: Integer = Field(description="distinct categories that every class has at least")
    alpha: Number = Field(description="total weight that every class has at least")


class GroupLeakageSpec(SensitiveModelSpec):
    """At least p distinct categories and at most a share alpha of each."""

    model: Literal["group-leakage"]
    p: Integer = Field(description="distinct categories that every class has at least")
    alpha: CategoryLimits = Field(description="largest share of a class that each category may have")


class LimitSpec(Spec):
    """Limits of one sensitive value."""

    example = "{alp: 0.5, dif: 0.2}"

    alp: Number = Field(1, description="largest average leakage probability")
    dif: Number = Field(1, description="how far the leakage of a class may exceed the average")


class AlpDifSpec(SensitiveModelSpec):
    """Average leakage probability and its difference in every class, by value."""

    model: Literal["alp-dif"]
    limits: Annotated[dict[str | None, LimitSpec], ByValue] = Field(description="limits of each protected value")


class DistinctLDiversitySpec(SensitiveModelSpec):
    """At least l distinct values."""

    model: Literal["distinct-l-diversity"]
    l: Integer = Field(description="distinct values that every class has at least")  # noqa: E741 - the paper's name


class EntropyLDiversitySpec(SensitiveModelSpec):
    """Entropy of at least ln(l)."""

    model: Literal["entropy-l-diversity"]
    l: Number = Field(description="the entropy of every class is at least ln(l)")  # noqa: E741 - the paper's name


class RecursiveCLDiversitySpec(SensitiveModelSpec):
    """The commonest value is less than c times the sum of all but the l - 1 commonest."""

    model: Literal["recursive-cl-diversity"]
    l: Integer = Field(description="from which rank on values are summed")  # noqa: E741 - the paper's name
    c: Number = Field(description="how many times that sum the commonest value stays below")


class AlphaKAnonymitySpec(SensitiveModelSpec):
    """No value has more than a share alpha of a class."""

    model: Literal["alpha-k-anonymity"]
    alpha: Limits = Field(description="largest share of a class that a value may have, for all values or by value")


class TClosenessSpec(SensitiveModelSpec):
    """Each class's distribution is within t of the table's."""

    model: Literal["t-closeness"]
    t: Number = Field(description="largest distance of a class from the whole release")
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


def build_model(spec: ModelSpec, sensitive: str | None) -> Model:
    """The model of one entry on one sensitive column (none for a model that reads none)."""
    parameters: dict[str, Any] = {name: value for name, value in spec if name not in {"model", "sensitive"}}
    if isinstance(spec, AlpDifSpec):
        parameters["limits"] = {value: {"alp": each.alp, "dif": each.dif} for value, each in spec.limits.items()}
    if isinstance(spec, SensitiveModelSpec):
        parameters["sensitive"] = sensitive
    kind: Any = MODELS[spec.model]
    model: Model = kind(**parameters)
    return model


def sensitive_columns(spec: ModelSpec, columns: Mapping[str, ColumnSpec]) -> list[str]:
    """The sensitive columns that an entry is on: those it names, each once, or all that there are."""
    if not isinstance(spec, SensitiveModelSpec):
        return []
    if spec.sensitive is None:
        return [name for name, column in columns.items() if column.role == "sensitive"]
    return list(dict.fromkeys([spec.sensitive] if isinstance(spec.sensitive, str) else spec.sensitive))


def build_models(spec: ModelSpec, columns: Mapping[str, ColumnSpec]) -> list[Model]:
    """The models of one entry: one for each sensitive column that it is on."""
    if not isinstance(spec, SensitiveModelSpec):
        return [build_model(spec, None)]
    return [build_model(spec, name) for name in sensitive_columns(spec, columns)]
