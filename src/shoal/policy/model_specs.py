"""The shape of each privacy model in a policy file, made from what the model declares."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from shoal.models import MODELS, Model
from shoal.policy.fields import Columns
from shoal.policy.spec import ColumnSpec, Spec, declared_spec


class ModelSpec(Spec):
    """A privacy model that is asked for."""

    model: str = Field(description="name of the model")

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Each declared parameter."""


class SensitiveModelSpec(ModelSpec):
    """A model on sensitive columns: one, a list, or - when left out - every sensitive column."""

    sensitive: Columns | None = Field(None, description="the sensitive columns; all of them when left out")


def _spec_of(model: type[Model]) -> type[ModelSpec]:
    """The spec of one model."""
    spec: type[ModelSpec] = declared_spec(
        f"{model.__name__}Spec",
        SensitiveModelSpec if model.reads_sensitive() else ModelSpec,
        model.parameters,
        globals(),
        doc=model.summary,
        model=(Literal[model.name], ...),
    )
    spec.example = model.example
    return spec


MODEL_SPECS: dict[str, type[ModelSpec]] = {name: _spec_of(model) for name, model in MODELS.items()}
"""The spec of each model by its name."""

if TYPE_CHECKING:
    AnyModelSpec = ModelSpec
else:
    AnyModelSpec = Annotated[reduce(or_, MODEL_SPECS.values()), Field(discriminator="model")]


def build_model(spec: ModelSpec, sensitive: str | None) -> Model:
    """The model of one entry on one sensitive column (none for a model that reads none)."""
    parameters: dict[str, Any] = {name: _plain(value) for name, value in spec if name not in {"model", "sensitive"}}
    if isinstance(spec, SensitiveModelSpec):
        parameters["sensitive"] = sensitive
    kind: Any = MODELS[spec.model]
    model: Model = kind(**parameters)
    return model


def _plain(value: Any) -> Any:
    """Limits of single values as plain mappings."""
    if isinstance(value, Mapping):
        return {key: dict(each) if isinstance(each, Spec) else each for key, each in value.items()}
    return value


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
