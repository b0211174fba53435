"""The policy: what a table is, what privacy is asked, how it is to be reached. A YAML file or a Python object."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from shoal.errors import PolicyError
from shoal.models import Model
from shoal.policy.algorithm_spec import AlgorithmSpec
from shoal.policy.check import Draft, check
from shoal.policy.engine_spec import EngineSpec
from shoal.policy.fields import ByColumn, Flag, Output, PathText, Share, Suppressed
from shoal.policy.location import DatabaseTable, Place, place
from shoal.policy.model_specs import AnyModelSpec, build_models
from shoal.policy.spec import ColumnSpec, DataSpec, Spec
from shoal.policy.utility_spec import UtilitySpec
from shoal.policy.validation_problems import located_problems, policy_text
from shoal.policy.yaml_text import dump_yaml, load_yaml, read_text, read_yaml

Published = Literal["values", "categories", "both"]


class Policy(Spec):
    """A policy for one release. `Policy.load` reads a file; the constructor takes the same names."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Shoal policy")

    data: DataSpec | None = Field(
        None, description="the table: a path, or path with separator, encoding and missing marks"
    )
    columns: Annotated[dict[str, ColumnSpec], ByColumn] = Field(
        description="the columns; those not named here are not released", min_length=1
    )
    privacy: list[AnyModelSpec] = Field(description="the models that must hold, all of them", min_length=1)
    algorithm: AlgorithmSpec = Field(default_factory=AlgorithmSpec)
    suppression: Share = Field(0, description="at most this share of records may be left out")
    suppressed: Suppressed = Field(
        "drop", description="leave suppressed records out, or keep them as rows of * without sensitive values"
    )
    output: Output | None = Field(
        None, description="where the release goes: a path relative to the policy file, or a table of a database"
    )
    utility: UtilitySpec | None = Field(None, description="a task that the release is measured by, for its evidence")
    registry: PathText | None = Field(
        None, description="folder that remembers what was released, relative to the policy file"
    )
    engine: EngineSpec = Field(default_factory=EngineSpec, description="what carries it out: this machine, or Spark")
    recoding: Flag = Field(False, description="write the recoding too, with which shoal apply recodes new records")

    _folder: Path = PrivateAttr(default_factory=Path)
    _source: str = PrivateAttr(default="the policy")
    _bytes: bytes | None = PrivateAttr(default=None)

    @model_validator(mode="wrap")
    @classmethod
    def _all_problems(cls, raw: Any, handler: Any) -> Any:
        """Check part by part first, so that every problem is told and not only pydantic's first ones."""
        if isinstance(raw, cls):
            return raw
        draft = _checked(raw)
        if draft.problems:
            raise _error(draft)
        try:
            return handler(_settled(raw))
        except ValidationError as error:
            draft.problems.extend(problem for problem, _ in located_problems(error, cls, raw, ""))
            raise _error(draft) from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy file; paths in it are relative to it. Raises `PolicyError` with every problem."""
        path = Path(path)
        text, raw = read_text(path)
        content, noted = load_yaml(text, str(path))
        if noted:
            draft = _checked(content)
            draft.problems[:0] = noted
            raise _error(draft, str(path))
        try:
            policy = cls.model_validate(content)
        except PolicyError as error:
            raise _error(error.draft, str(path)) from None
        policy._folder, policy._source, policy._bytes = path.parent, str(path), raw
        return policy

    def changed(self, **changes: Any) -> Self:
        """A copy with some keys replaced; it remembers the file it came from, for paths and the hash."""
        content = self.model_dump(exclude_unset=True) | changes
        policy = type(self).model_validate(content)
        policy._folder, policy._source, policy._bytes = self._folder, self._source, self._bytes
        return policy

    def __eq__(self, other: object) -> bool:
        """Two policies are equal when they say the same, in the same order; not where they came from."""
        if not isinstance(other, Policy):
            return NotImplemented
        return bool(_in_order(self.model_dump()) == _in_order(other.model_dump()))

    def __hash__(self) -> int:
        return hash(_in_order(self.model_dump()))

    @property
    def source(self) -> str:
        """How messages name this policy: its file, or "the policy"."""
        return self._source

    @property
    def sha256(self) -> str:
        """Hash of the policy file, or of the policy as JSON when it was built in Python."""
        return hashlib.sha256(self._bytes if self._bytes is not None else self.to_json().encode()).hexdigest()

    def place(self, given: str) -> Place:
        """A file of the policy, relative to its own, or a table of a database."""
        found = place(given)
        return found if isinstance(found, DatabaseTable) else self._folder / found

    def path(self, relative: str) -> Path:
        """A path of the policy, relative to its file."""
        return self._folder / relative

    def to_dict(self) -> dict[str, Any]:
        """The policy as plain data, only what was said; null may be a key, where it is the missing value."""
        content: dict[str, Any] = _plain(self.model_dump(exclude_unset=True))
        return content

    def complete(self) -> dict[str, Any]:
        """The policy as plain data, with every default and the trees of other files filled in, for the verifier."""
        content = self.model_dump()
        for name, column in content["columns"].items():
            if column["role"] == "sensitive":
                column["publish"] = self.published(name)
            if column["hierarchy"] and isinstance(column["hierarchy"]["tree"], str):
                column["hierarchy"]["tree"] = read_yaml(self.path(column["hierarchy"]["tree"]))[0]
        return content

    def to_json(self) -> str:
        """The policy as JSON. Nothing is sorted: the order of categories and columns means something."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_yaml(self) -> str:
        """The policy as YAML text that `load` reads back."""
        return dump_yaml(self.to_dict())

    def placed_models(self) -> list[tuple[str, Model]]:
        """The models asked for, each with its place in the policy: ``privacy[0]``."""
        return [
            (f"privacy[{place}]", model)
            for place, spec in enumerate(self.privacy)
            for model in build_models(spec, self.columns)
        ]

    def models(self) -> tuple[Model, ...]:
        """The models asked for, one for each sensitive column that an entry is on."""
        return tuple(model for _, model in self.placed_models())

    def names(self, role: str) -> list[str]:
        """The columns of a role, in the policy's order."""
        return [name for name, column in self.columns.items() if column.role == role]

    def published(self, column: str) -> Published:
        """What is published of a sensitive column: as said, else what the models on it publish."""
        return published(column, self.columns[column], self.models())


def published(name: str, column: ColumnSpec, models: Sequence[Model]) -> Published:
    """What is published of a sensitive column: as said, else categories where every model on it publishes those."""
    if column.publish is not None:
        return column.publish
    publishes = {model.publishes for model in models if model.column == name}
    return "categories" if publishes == {"categories"} else "values"


def _checked(raw: Any) -> Draft:
    """Everything wrong with a policy, and what could be read of it."""
    known = list(Policy.model_fields)
    if isinstance(raw, Mapping):
        return check(_settled(raw), known)
    draft = Draft()
    given = "there is nothing in it" if raw is None else f"given: {policy_text(raw)}"
    draft.add("", f"a policy is a mapping with the keys {', '.join(known)} ({given}).",
              "`shoal init DATA` drafts one.", code="wrong-type")  # fmt: skip
    return draft


def _settled(raw: Mapping[Any, Any]) -> dict[Any, Any]:
    """The policy without optional keys that say nothing."""
    optional = {"data", "algorithm", "output", "utility", "registry", "engine"}
    return {key: value for key, value in raw.items() if value is not None or key not in optional}


def _error(draft: Draft, source: str = "the policy") -> PolicyError:
    """The error of a draft; the draft rides along so that the data can be checked against what is right in it."""
    error = PolicyError(draft.problems, source)
    error.draft = draft
    return error


def _plain(value: Any) -> Any:
    """Plain data that JSON and YAML can write; an infinite end is the text that the policy reads back."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def _in_order(value: Any) -> Any:
    """Nested content as tuples, which compare by order as well: the first category is the most sensitive."""
    if isinstance(value, Mapping):
        return tuple((key, _in_order(each)) for key, each in value.items())
    return tuple(_in_order(each) for each in value) if isinstance(value, (list, tuple)) else value
