"""The evidence of a release: typed facts, the JSON Schema that follows from them, and its seal.

The only module where its keys are declared. Facts that belong to an algorithm (``search``), an attack (``details``), a
check (``facts``), a task (``utility``), a registry (``composition``) or new records (``applied``) are plain data here;
their own modules say what they hold. Reproducible byte for byte apart from `VOLATILE`. It holds counts and labels of
what is released; never a value of a suppressed record, of an identifier, or of a row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from shoal.attacks.attack import AttackResult
from shoal.attacks.attackers.composition import Composition
from shoal.attacks.exposure import Exposure
from shoal.attacks.risk.survey import SurveyRiskOfRelease
from shoal.attacks.verdict.verdict import Verdict
from shoal.evidence.formulas import FormulaCells
from shoal.evidence.people import ClassSizes, PeopleFacts, SeveralRecords
from shoal.evidence.tables import TableFacts
from shoal.facts import Facts, fields_described, plain
from shoal.models.near_numbers import PolicyWarning
from shoal.verification import Check

EVIDENCE_VERSION: Literal[1] = 1
"""Raised when a key changes its meaning or goes; new keys alone do not raise it."""
VOLATILE = ("seconds", "seconds_by_stage", "peak_memory_bytes")
"""The facts that may differ between two runs on the same input; all others are the same, byte for byte."""
_SEAL = "evidence_sha256"
_LISTED = 3

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, eq=False)
class WeakestClass(Facts):
    """The class that satisfies a parameter least: of several the smallest, then the first by its labels."""

    strength: float | None
    """What it reaches, in the parameter's unit; null where that is not finite."""
    size: Count
    """Its records."""
    people: Count | None = field(default=None, kw_only=True)
    """Its people, where the models count people."""
    labels: Mapping[str, str | None]
    """What it shows in the release, by quasi-identifier; null is the missing value."""
    classes: Count
    """Classes that are as weak."""
    classes_at_limit: Count
    """Classes that would fail if the parameter were any stricter."""


@dataclass(frozen=True, eq=False)
class ModelFacts(Facts):
    """A privacy model: asked, reached, and where it is weakest."""

    model: str
    sensitive: str | None
    """The sensitive column it is on; null for k-anonymity."""
    asked: Mapping[str, Any]
    """Its parameters as in the policy."""
    reached: Mapping[str, float | None]
    """The strongest value of each parameter that every class has."""
    holds: bool
    weakest: Mapping[str, WeakestClass] | None = None
    """By parameter; those of the release as a whole are left out."""


@dataclass(frozen=True, eq=False)
class BoundFacts(Facts):
    """How little any release of this table under these models could lose."""

    ncp: Share
    """A lower bound on the NCP of any release by generalization and suppression."""
    ncp_interval: tuple[float, float]
    records: Count
    """Records that the bound was worked out from."""
    estimated: bool
    """Whether these were drawn from more, which leaves the interval."""
    reached: Share
    """The NCP of this release."""
    ratio: float | None
    """Reached over bound; null where the bound is 0."""
    gap: float | None
    """By what share of the bound the release exceeds it at most: reached over bound, less 1; null where it is 0."""
    method: Literal["prices", "prices-of-some-columns", "neighbours"]
    """How the bound was found: by prices of records, over all columns or the dearest few, or by nearest neighbours."""
    checked: bool
    """Whether the verifier found this bound itself, from the original, the policy and the prices."""
    columns: tuple[str, ...] | None = None
    """The columns whose loss is counted in the bound; left out where all are."""
    unchecked: Literal["neighbours", "too-large", "no-original"] | None = None
    """Why it did not: there are no prices, or it would take longer than finding them, or there is no original."""


@dataclass(frozen=True, eq=False)
class ValueGroup(Facts):
    """Values of a column counted together."""

    kind: Literal["label", "missing", "others"]
    """A node of the hierarchy, the missing value, or all groups that are not shown one by one."""
    label: str | None
    distinct_values: Count
    """Different values in it that released records had."""
    before: Count
    """Released records by the values they had."""
    within: Count
    """Released records whose label says that they lie here."""
    after: Annotated[float, Field(ge=0)]
    """Those, and an even share of the records whose label covers more."""


@dataclass(frozen=True, eq=False)
class Distribution(Facts):
    """A column before and after, over the released records."""

    level: Count
    """The level of the hierarchy that the groups are on."""
    least_hidden: Count
    """A group hides no record or at least this many."""
    groups: tuple[ValueGroup, ...]


@dataclass(frozen=True, eq=False)
class QuasiFacts(Facts):
    """A quasi-identifier."""

    role: Literal["quasi"]
    height: Count
    """Levels of its hierarchy above the values."""
    hierarchy_values: Count
    """Values of its hierarchy."""
    labels_released: Count
    ncp: Share
    """Share of its detail that was lost."""
    distribution: Distribution | None
    """Null where no group can be shown."""
    relative: str | None = None
    """Of dates that are released as days: ``first``, or the column that they count from."""


@dataclass(frozen=True, eq=False)
class UnknownFacts(Facts):
    """The released records whose sensitive value is unknown, and what their classes show under either reading."""

    counted: bool
    """Whether the policy counts an unknown value as a value (``unknown_counts``)."""
    records: Count
    """Released records whose value is unknown: missing, or listed under ``unknown``."""
    known_records: Count
    classes_without_known: Count
    """Classes in which no value is known."""
    fewest_values: Count
    """Distinct values of the class that has fewest, unknown ones not counted."""
    fewest_values_if_counted: Count
    """The same if each unknown value counts as a value."""
    single_value_records: Count
    """Records with the only value of their class, unknown ones not counted."""
    single_value_records_if_counted: Count
    """The same if each unknown value counts as a value."""


@dataclass(frozen=True, eq=False)
class SensitiveFacts(Facts):
    """A sensitive column."""

    role: Literal["sensitive"]
    published: Literal["values", "categories", "both", "bins"]
    spellings_merged: Count | None = None
    """Different spellings in the data that the policy reads as another value; absent where it names none."""
    records_merged: Count | None = None
    """Records that had one of them."""
    unknown: UnknownFacts | None = None
    """Absent where the value of every released record is known."""
    relative: str | None = None
    """Of dates that are released as days: ``first``, or the column that they count from."""


@dataclass(frozen=True, eq=False)
class OtherFacts(Facts):
    """An identifier, one that is released as a pseudonym, or an insensitive column."""

    role: Literal["identifier", "pseudonym", "insensitive"]
    relative: str | None = None
    """Of dates that are released as days: ``first``, or the column that they count from."""


ColumnFacts = Annotated[QuasiFacts | SensitiveFacts | OtherFacts, Field(discriminator="role")]


Warnings = tuple[Annotated[PolicyWarning | SeveralRecords | FormulaCells, Field(discriminator="code")], ...]


@dataclass(frozen=True, eq=False)
class Evidence(Facts):
    """The evidence of a release: the content of ``*.evidence.json``."""

    evidence_version: Literal[1]
    verified: bool
    """Whether the independent verifier passed the written file."""
    records: Count
    """Records of the original."""
    released: Count
    suppressed: Count
    classes: Count
    levels: Mapping[str, Count] | None
    """Level of each column; null for a local recoding."""
    measures: Mapping[str, float]
    bound: BoundFacts | None
    """Null where classes guarantee nothing (the range method)."""
    models: tuple[ModelFacts, ...]
    algorithm: str
    seed: Count | None
    search: Mapping[str, Any]
    """Facts of the search, by algorithm."""
    columns: Mapping[str, ColumnFacts]
    not_released: tuple[str, ...]
    """Columns of the data that are not in the release."""
    not_named: tuple[str, ...]
    """Those of them that the policy does not name."""
    class_sizes: ClassSizes | Mapping[str, Any]
    """Empty where no class is released."""
    exposure: Mapping[str, Mapping[str, Exposure]]
    """By sensitive column and attack on classes."""
    checks: tuple[Check, ...]
    policy: Mapping[str, Any]
    """The policy without paths."""
    policy_sha256: Sha256
    """Of the policy file; of the policy as JSON where it was made in Python."""
    release_sha256: Sha256 | None
    """Of the release file; null before it is written."""
    evidence_sha256: Sha256
    """Of all facts but itself and the volatile ones, as sorted JSON."""
    versions: Mapping[str, str]
    seconds: Annotated[float, Field(ge=0)]
    """Volatile."""
    seconds_by_stage: Mapping[str, float]
    """Volatile."""
    peak_memory_bytes: Count | None
    """Volatile; null where the system does not tell."""
    attacks: tuple[AttackResult, ...] = ()
    attack_seed: Count = 0
    """Samples of the attacks were drawn from it."""
    verdict: Verdict | None = None
    """Whether to publish the release, and why."""
    utility: Mapping[str, Any] | None = None
    """What the release is worth for the policy's task."""
    composition: Composition | None = None
    """What it reveals together with earlier releases of a registry."""
    applied: Mapping[str, Any] | None = None
    """For new records of a published recoding: what they joined, and who could not."""
    not_done: Mapping[str, str] | None = None
    """What was not done, each with the reason."""
    people: PeopleFacts | None = None
    """The people, where the policy says who a record is about: the models then count people instead of records."""
    tables: Mapping[str, TableFacts] | None = None
    """Each table, where several were released together."""
    survey: SurveyRiskOfRelease | None = None
    """The risk of households and with sampling weights, where the policy names their columns."""
    warnings: Warnings | None = None
    """What the owner of the policy should know and is no error."""
    engine: Mapping[str, Any] | None = None
    """How an engine other than this machine went about it."""

    @staticmethod
    def read(content: Mapping[str, Any]) -> Evidence:
        """Evidence from plain data; `pydantic.ValidationError` for what is not evidence."""
        return _adapter().validate_json(json.dumps(plain(content)))


@cache
def _adapter() -> TypeAdapter[Evidence]:
    return TypeAdapter(Evidence)


def evidence_schema() -> dict[str, Any]:
    """The JSON Schema of the evidence."""
    with fields_described():
        schema = TypeAdapter(Evidence).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def evidence_problems(content: object) -> list[str]:
    """What keeps a content from being evidence; the first few problems."""
    if not isinstance(content, Mapping):
        return ["it is not a JSON object"]
    try:
        Evidence.read(content)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        return [*found[:_LISTED], *([f"and {len(found) - _LISTED} more"] if len(found) > _LISTED else [])]
    return []


def to_json(evidence: Mapping[str, Any]) -> str:
    """The evidence as it is written to disk."""
    return json.dumps(plain(evidence), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def without_volatile(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same whenever the same input is anonymized again."""
    return {key: value for key, value in evidence.items() if key not in VOLATILE}


def seal(evidence: Mapping[str, Any]) -> str:
    """SHA-256 of the evidence without its seal and its volatile facts, as JSON with sorted keys.

    It shows that a fact was changed by somebody who did not care to seal it again. It is no signature.
    """
    facts = {key: value for key, value in without_volatile(evidence).items() if key != _SEAL}
    canonical = json.dumps(json.loads(to_json(facts)), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def sealed(evidence: Evidence, **changes: Any) -> Evidence:
    """The evidence with some facts changed and its seal renewed."""
    changed = replace(evidence, **changes)
    return replace(changed, evidence_sha256=seal(changed))
