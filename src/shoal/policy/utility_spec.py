"""The task that a release is measured by: a column to predict, or count queries, or both."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, Tag, WithJsonSchema

from shoal.errors import did_you_mean
from shoal.hierarchies.hierarchy import LABEL_SCHEMA
from shoal.policy.fields import ByColumn, Integer, Name, Share, by_shape, label_text, refuse
from shoal.policy.partial import PartialPolicy, PartialSpec, read_part
from shoal.policy.spec import ColumnSpec, Spec

SAMPLE = 50_000  # records that models are trained on, and tested on, at most, unless the policy says otherwise
LEAST_SAMPLE = 100


def _condition(value: Any) -> str | list[str | None] | None:
    """A value or label, or a list of them, in canonical text."""
    if not isinstance(value, (list, tuple)):
        return label_text(value)
    if not value:
        raise refuse("is an empty list, which no record satisfies", "empty")
    return [label_text(each) for each in value]


def _some(query: dict[str, Any]) -> dict[str, Any]:
    if not query:
        raise refuse("is empty: name at least one column, such as {age: [30, 39]}", "empty")
    return query


Condition = Annotated[
    Any,
    PlainValidator(_condition),
    WithJsonSchema({"anyOf": [LABEL_SCHEMA, {"type": "array", "items": LABEL_SCHEMA, "minItems": 1}]}),
]
Query = Annotated[dict[str, Condition], ByColumn, AfterValidator(_some)]
Queries = Annotated[
    Annotated[Integer, Tag("<number>")] | Annotated[list[Query], Tag("<list>")],
    by_shape("<list>", "<number>", list, tuple),
]


class UtilitySpec(Spec):
    """What the release is to be used for; the evidence then says how well it serves."""

    example = "{target: income, queries: 200}"

    target: Name | None = Field(None, description="a released column that models are trained to predict")
    test: Share = Field(0.25, description="share of the records held out to test the models on, between 0 and 1")
    seed: Integer = Field(0, description="records held out, models and random queries are drawn from this seed")
    queries: Queries | None = Field(
        None, description="count queries: how many to draw at random, or a list of {column: value or [low, high]}"
    )
    sample: Integer = Field(SAMPLE, description="train and test on at most so many records each, drawn at random")


def read_utility(raw: Any, columns: Mapping[str, PartialSpec[ColumnSpec]], parts: PartialPolicy) -> None:
    """Note everything that is wrong with the task, alone and with the columns that it names."""
    if raw is None:
        return
    part = read_part(UtilitySpec, raw, "utility", parts)
    spec = part.value
    if spec is None:
        return
    if spec.target is None and spec.queries is None and not part.damaged:
        parts.add("utility", "names neither a target nor queries.",
                  "Write utility: {target: column} or utility: {queries: 200}.", code="missing-key")  # fmt: skip
    if not 0 < spec.test < 1:
        parts.add("utility.test", f"must lie between 0 and 1 (given: {spec.test}).",
                  "Hold out a part of the records, such as 0.25.", code="out-of-range")  # fmt: skip
    if spec.sample < LEAST_SAMPLE:
        parts.add("utility.sample", f"must be at least {LEAST_SAMPLE} (given: {spec.sample}).",
                  "Fewer records say next to nothing about a model.", code="out-of-range")  # fmt: skip
    if spec.seed < 0:
        parts.add("utility.seed", f"must be 0 or more (given: {spec.seed}).", code="out-of-range")
    _check_columns(spec, columns, parts)


def _check_columns(spec: UtilitySpec, columns: Mapping[str, PartialSpec[ColumnSpec]], parts: PartialPolicy) -> None:
    """The columns of target and queries must be released."""
    released = [name for name, part in columns.items() if part.value is None or part.value.role != "identifier"]

    def check(name: str, where: str) -> None:
        if name not in columns:
            parts.add(where, f"unknown column {name!r}.", did_you_mean(name, released), code="unknown-column")
        elif name not in released:
            parts.add(where, f"{name!r} is an identifier, which is never released.", "Name a released column.",
                      code="wrong-role")  # fmt: skip

    if spec.target is not None:
        check(spec.target, "utility.target")
    if isinstance(spec.queries, list):
        if not spec.queries:
            parts.add(
                "utility.queries", "is an empty list.", "Name a query, or a number of queries to draw.", code="empty"
            )
        for index, query in enumerate(spec.queries):
            for name in query:
                check(name, f"utility.queries[{index}].{name}")
    elif spec.queries is not None and spec.queries < 1:
        parts.add("utility.queries", f"must be 1 or more (given: {spec.queries}).", "Ask for example for 200.",
                  code="out-of-range")  # fmt: skip
