"""What the evidence must look like: its JSON Schema, and what is wrong with evidence that comes from a file.

The one place where its keys are declared. Facts that belong to an algorithm (``search``), an attack (``details``), a
check (``facts``), a task (``utility``), a registry (``composition``) or new records (``applied``) are plain data here;
their own modules say what they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

EVIDENCE_VERSION: Literal[1] = 1
"""Raised when a key changes its meaning or goes; new keys alone do not raise it."""

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Labels = dict[str, str | None]
_LISTED = 3


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Weakest(_Facts):
    """The class that satisfies a parameter least: of several the smallest, then the first by its labels."""

    strength: float | None = Field(description="What it reaches, in the parameter's unit; null where nothing finite.")
    size: Count = Field(description="Its records.")
    labels: Labels = Field(description="What it shows in the release, by quasi-identifier; null is the missing value.")
    classes: Count = Field(description="Classes that are as weak.")
    classes_at_limit: Count = Field(description="Classes that would fail if the parameter were any stricter.")


class ModelFacts(_Facts):
    """A privacy model: asked, reached, and where it is weakest."""

    model: str
    sensitive: str | None = Field(description="The sensitive column it is on; null for k-anonymity.")
    asked: dict[str, Any] = Field(description="Its parameters as in the policy.")
    reached: dict[str, float | None] = Field(description="The strongest value of each parameter that every class has.")
    holds: bool
    weakest: dict[str, Weakest] = Field(description="By parameter; those of the release as a whole are left out.")


class Bound(_Facts):
    """How little any release of this table under these models could lose."""

    ncp: Share = Field(description="A lower bound on the NCP of any release by generalization and suppression.")
    ncp_interval: Annotated[list[float], Field(min_length=2, max_length=2)]
    records: Count = Field(description="Records that the bound was worked out from.")
    estimated: bool = Field(description="Whether these were drawn from more, which leaves the interval.")
    reached: Share = Field(description="The NCP of this release.")
    ratio: float | None = Field(description="Reached over bound; null where the bound is 0.")


class Group(_Facts):
    """Values of a column counted together."""

    of: Literal["label", "missing", "others"] = Field(
        description="A node of the hierarchy, the missing value, or all groups that are not shown one by one."
    )
    label: str | None
    values: Count = Field(description="Different values in it that released records had.")
    before: Count = Field(description="Released records by the values they had.")
    within: Count = Field(description="Released records whose label says that they lie here.")
    after: float = Field(ge=0, description="Those, and an even share of the records whose label covers more.")


class Distribution(_Facts):
    """A column before and after, over the released records."""

    level: Count = Field(description="The level of the hierarchy that the groups stand on.")
    crowd: Count = Field(description="A group hides no record or at least so many.")
    groups: list[Group]


class ColumnFacts(_Facts):
    """A column of the policy."""

    role: Literal["identifier", "quasi", "sensitive", "insensitive"]
    published: Literal["values", "categories", "both"] | None = Field(
        default=None, description="Of a sensitive column."
    )
    height: Count | None = Field(default=None, description="Levels of its hierarchy above the values.")
    values: Count | None = Field(default=None, description="Values of its hierarchy.")
    labels_released: Count | None = None
    ncp: Share | None = Field(default=None, description="Share of its detail that was lost.")
    distribution: Distribution | None = Field(default=None, description="Null where no group can be shown.")


class ClassSizes(_Facts):
    """How large the classes are."""

    smallest: Count
    smallest_if_missing_matches_anything: Count
    largest: Count
    mean: float
    quartiles: Annotated[list[float], Field(min_length=3, max_length=3)]
    classes_by_size: dict[str, Count]


class Exposed(_Facts):
    """Classes open to an attack, and the records in them."""

    classes: Count
    records: Count


class AttackFacts(_Facts):
    """What one attacker got, against what would have been known without the release."""

    name: str
    sensitive: str | None
    status: Literal["tried", "not tried", "not applicable"]
    attacker: str = Field(description="Who the attacker is and what is known to them.")
    tried: str = Field(description="What was tried, or why it was not.")
    records: Count | None = Field(description="Records exposed; --fail-on speaks of these where the attack leaks.")
    of: Count | None
    classes: Count | None
    rate: Share | None
    baseline: Share | None
    baseline_is: str
    interval: Annotated[list[float], Field(min_length=2, max_length=2)] | None = Field(
        description="The 95 % interval of the rate where it is an estimate."
    )
    exact: bool
    leak: bool = Field(description="Whether more was found than the baseline explains.")
    verdict: str
    details: dict[str, Any]


class CheckFacts(_Facts):
    """One check of the independent verifier."""

    name: str
    passed: bool
    message: str
    facts: dict[str, Any]


class Evidence(_Facts):
    """The evidence of a release: the content of ``*.evidence.json``."""

    evidence_version: Literal[1]
    verified: bool = Field(description="Whether the independent verifier passed the written file.")
    records: Count = Field(description="Records of the original.")
    released: Count
    suppressed: Count
    classes: Count
    levels: dict[str, Count] | None = Field(description="Level of each column; null for a local recoding.")
    measures: dict[str, float]
    bound: Bound | None = Field(description="Null where classes guarantee nothing (the range method).")
    models: list[ModelFacts]
    algorithm: str
    seed: Count | None
    search: dict[str, Any] = Field(description="Facts of the search, by algorithm.")
    columns: dict[str, ColumnFacts]
    not_released: list[str] = Field(description="Columns of the data that are not in the release.")
    not_named: list[str] = Field(description="Those of them that the policy does not name.")
    class_sizes: ClassSizes
    exposure: dict[str, dict[str, Exposed]] = Field(description="By sensitive column and attack on classes.")
    attacks: list[AttackFacts]
    attack_seed: Count = Field(description="Samples of the attacks were drawn from it.")
    utility: dict[str, Any] | None = Field(default=None, description="What the release is worth for the policy's task.")
    composition: dict[str, Any] | None = Field(
        default=None, description="What it tells beside earlier releases of a registry."
    )
    applied: dict[str, Any] | None = Field(
        default=None, description="For new records of a published recoding: what they joined, and who could not."
    )
    not_done: dict[str, str] | None = Field(
        default=None, description="What was not done at this size, each with the reason."
    )
    engine: dict[str, Any] | None = Field(
        default=None, description="How an engine other than this machine went about it."
    )
    checks: list[CheckFacts]
    policy: dict[str, Any] = Field(description="The policy without paths.")
    policy_sha256: Sha256 = Field(description="Of the policy file; of the policy as JSON where it was made in Python.")
    release_sha256: Sha256 | None = Field(description="Of the release file; null before it is written.")
    evidence_sha256: Sha256 = Field(description="Of all facts but itself and the volatile ones, as sorted JSON.")
    versions: dict[str, str]
    seconds: float = Field(ge=0, description="Volatile.")
    seconds_by_stage: dict[str, float] = Field(description="Volatile.")
    peak_memory_bytes: Count | None = Field(description="Volatile; null where the system does not tell.")


def evidence_schema() -> dict[str, Any]:
    """The JSON Schema of the evidence."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Evidence.model_json_schema()}


def evidence_problems(content: object) -> list[str]:
    """In words, what keeps a content from being evidence; the first few problems."""
    if not isinstance(content, Mapping):
        return ["it is no JSON object"]
    try:
        Evidence.model_validate(content)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        return [*found[:_LISTED], *([f"and {len(found) - _LISTED} more"] if len(found) > _LISTED else [])]
    return []
