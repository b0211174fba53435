"""Reading a policy part by part: what is wrong is noted, and what is right is kept, to go on checking with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from shoal.errors import PolicyProblem
from shoal.models import Model
from shoal.policy.spec import ColumnSpec, DataSpec, Spec
from shoal.policy.validation_problems import located_problems, not_a_mapping

SpecType = TypeVar("SpecType", bound=Spec)


@dataclass
class PartialPolicy:
    """What could be read of a policy, and everything that is wrong with it."""

    columns: dict[str, ColumnSpec] = field(default_factory=dict)  # the columns, each as far as it is right
    models: list[tuple[str, Model]] = field(default_factory=list)
    """Each model that is right with its path in the policy."""
    algorithm: Spec | None = None
    data: DataSpec | None = None
    """What the policy says of the data; no path where it says nothing, None where that is wrong."""
    problems: list[PolicyProblem] = field(default_factory=list)

    def add(self, where: str, message: str, fix: str = "", *, code: str, **facts: Any) -> None:
        """Note a problem."""
        self.problems.append(PolicyProblem(where, message, fix, facts, code=code))


@dataclass(frozen=True)
class PartialSpec(Generic[SpecType]):
    """One part of a policy, without what is wrong in it."""

    value: SpecType | None  # none where too little is right to go on with
    damaged: frozenset[str] = frozenset()  # the keys that are wrong, unknown, or required and not there
    replaced: frozenset[str] = frozenset()  # the keys among them that a stand-in replaces

    @property
    def role(self) -> str | None:
        """The role of a column; None where that cannot be told."""
        return getattr(self.value, "role", None) if "role" not in self.damaged else None

    @property
    def whole(self) -> SpecType | None:
        """The part if nothing is wrong with it."""
        return None if self.damaged else self.value


def read_part(
    spec: type[SpecType],
    content: Any,
    where: str,
    parts: PartialPolicy,
    *,
    stand_ins: Mapping[str, Any] | None = None,
    by_entry: frozenset[str] = frozenset(),
) -> PartialSpec[SpecType]:
    """Read one part by its spec and note every problem.

    A key that is wrong is left out of the value; of the keys ``by_entry``, which hold mappings, only the wrong entries
    are. Where a required key is wrong or not there, its stand-in lets the others be checked all the same.
    """
    if isinstance(content, BaseModel):
        content = content.model_dump(exclude_unset=True)
    content = spec.expand_short_form(content)
    if not isinstance(content, Mapping):
        parts.add(where, *not_a_mapping(spec, content), code="wrong-type")
        return PartialSpec(None, frozenset(spec.model_fields))
    raw = {"null" if key is None else str(key): value for key, value in content.items()}
    try:
        return PartialSpec(spec.model_validate(raw))
    except ValidationError as error:
        found = list(located_problems(error, spec, raw, where))
    parts.problems.extend(problem for problem, _ in found)
    right, damaged = dict(raw), frozenset(str(path[0]) for _, path in found if path)
    for _, path in found:
        _leave_out(right, path, by_entry)
    replaced = {key: value for key, value in (stand_ins or {}).items() if key in damaged and not right.get(key)}
    try:
        return PartialSpec(spec.model_validate(right | replaced), damaged, frozenset(replaced))
    except ValidationError:
        return PartialSpec(None, damaged)


def _leave_out(content: dict[str, Any], path: tuple[str | int, ...], by_entry: frozenset[str]) -> None:
    if not path:
        return
    key = str(path[0])
    if key in by_entry and len(path) > 1 and isinstance(content.get(key), Mapping):
        content[key] = {each: value for each, value in content[key].items() if str(each) != str(path[1])}
    else:
        content.pop(key, None)


def read_value(kind: Any, content: Any, where: str, parts: PartialPolicy) -> None:
    """Check a setting that is a single value."""
    try:
        TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        parts.problems.extend(problem for problem, _ in located_problems(error, None, content, where))
