"""Where a policy is carried out, and tables that Spark reads and writes."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from shoal.hierarchies.hierarchy import is_scalar, scalar_text
from shoal.policy.fields import positive, refuse
from shoal.policy.partial import PartialPolicy, read_part
from shoal.policy.spark_location import SparkLocation
from shoal.policy.spec import NamedSpec

CELLS = 5_000_000
"""Cells that the driver may hold unless a policy says otherwise: 4 GB at ten columns, 6 GB for local algorithms."""

BLOCKS, LEAST = 32, 1_000_000
"""Blocks of a local recoding, and from how many distinct records on, unless a policy says otherwise."""


def _settings(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise refuse("must be a mapping from settings of Spark to their values")
    for key, content in value.items():
        if not isinstance(key, str) or content is None or not is_scalar(content):
            raise refuse(f"the setting {key!r} must have a single value")
    return {key: str(scalar_text(content)) for key, content in value.items()}


Budget = Annotated[int, PlainValidator(positive), WithJsonSchema({"type": "integer", "minimum": 1})]
Settings = Annotated[
    dict[str, str],
    PlainValidator(_settings),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}),
]


class EngineSpec(NamedSpec):
    """What carries the policy out: this machine, or a Spark cluster."""

    short_forms = ({"enum": ["local", "spark"]},)
    example = "spark"

    name: Literal["local", "spark"] = Field("local", description="this machine, or a Spark cluster")
    cells: Budget | None = Field(
        None,
        description=f"spark: how many cells the driver may hold, {CELLS:,} when left out; where the data has more, "
        "quasi-identifiers are coarsened first",
    )
    blocks: Budget | None = Field(
        None,
        description="spark: into how many blocks a local recoding divides the classes that the cluster cuts; when left "
        f"out, {BLOCKS} where there are at least {LEAST:,} distinct records, and none below",
    )
    settings: Settings = Field(default_factory=dict, description="spark: settings of the session, such as spark.master")


def check_engine(raw: Mapping[Any, Any], parts: PartialPolicy) -> None:
    """What is wrong with the engine, or with what it is asked to read and write."""
    spec = EngineSpec() if raw.get("engine") is None else read_part(EngineSpec, raw["engine"], "engine", parts).whole
    if spec is not None and spec.name == "local":
        for key in sorted(spec.model_fields_set - {"name"}):
            parts.add(f"engine.{key}", "is a setting of the Spark engine, but the engine is this machine.",
                      "Write name: spark.", code="wrong-engine")  # fmt: skip
        for key in ("data", "output"):
            if is_spark(raw.get(key)):
                parts.add(f"{key}.spark", "is a Spark table, but the engine is this machine.",
                          "Add engine: spark.", code="wrong-engine")  # fmt: skip


def is_spark(location: Any) -> bool:
    """Whether data or an output is a table of Spark's, as it stands in a policy."""
    if isinstance(location, Mapping):
        return "spark" in location or is_spark(location.get("path"))
    path = getattr(location, "path", location)
    return isinstance(path, str) and SparkLocation.of(path) is not None
