"""The policy: what a table is, what privacy is asked, how it is to be reached. A YAML file or a Python object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from shoal.errors import PolicyError, PolicyProblem
from shoal.hierarchies.text import scalar_text
from shoal.models import Model
from shoal.policy.check import Draft, build_models, check, validation_problems
from shoal.policy.spec import AlgorithmSpec, AnyModelSpec, ColumnSpec, DataSpec, Number, Spec
from shoal.policy.yaml_text import read_yaml


class Policy(Spec):
    """A policy for one release. `Policy.load` reads a file; the constructor takes the same names."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Shoal policy")

    data: DataSpec | None = Field(
        None, description="the table: a path, or path with separator, encoding and missing marks"
    )
    columns: dict[str, ColumnSpec] = Field(description="the columns; those not named here are not released")
    privacy: list[AnyModelSpec] = Field(description="the models that must hold, all of them")
    algorithm: AlgorithmSpec = Field(default_factory=AlgorithmSpec)
    suppression: Number = Field(0.0, ge=0, le=1, description="at most this share of records may be left out")
    suppressed: Literal["drop", "star"] = Field(
        "drop", description="leave suppressed records out, or keep them as rows of * without sensitive values"
    )
    output: str | None = Field(None, description="where the release goes, relative to the policy file")

    _folder: Path = PrivateAttr(default_factory=Path)
    _source: str = PrivateAttr(default="the policy")
    _bytes: bytes | None = PrivateAttr(default=None)

    @model_validator(mode="wrap")
    @classmethod
    def _all_problems(cls, raw: Any, handler: Any) -> Any:
        """Validate part by part first, so that every problem is told and not only pydantic's first ones."""
        if isinstance(raw, cls):
            return raw
        if not isinstance(raw, Mapping):
            problem = PolicyProblem("", f"a policy is a mapping with the keys {', '.join(cls.model_fields)}.")
            raise PolicyError([problem])
        content = _long_forms(raw)
        draft = check(content, list(cls.model_fields))
        whole = {"columns", "privacy", "algorithm"}
        try:
            parsed = handler(content)
        except ValidationError as error:
            for problem in validation_problems(error, ""):
                if problem.where.split(".")[0].split("[")[0] not in whole:
                    draft.problems.append(problem)
            raise _error(draft) from None
        if draft.problems:
            raise _error(draft)
        return parsed

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy file; paths in it are relative to it. Raises `PolicyError` with every problem."""
        path = Path(path)
        content, raw = read_yaml(path)
        try:
            policy = cls.model_validate(content)
        except PolicyError as error:
            named = PolicyError(error.problems, str(path))
            named.draft = error.draft
            raise named from None
        policy._folder = path.parent
        policy._source = str(path)
        policy._bytes = raw
        return policy

    def changed(self, **changes: Any) -> Self:
        """A copy with some keys replaced; it remembers the file it came from, for paths and the hash."""
        content = self.model_dump(exclude_unset=True) | changes
        policy = type(self).model_validate(content)
        policy._folder, policy._source, policy._bytes = self._folder, self._source, self._bytes
        return policy

    @property
    def source(self) -> str:
        """How messages name this policy: its file, or "the policy"."""
        return self._source

    @property
    def sha256(self) -> str:
        """Hash of the policy file, or of the policy as JSON when it was built in Python."""
        return hashlib.sha256(self._bytes if self._bytes is not None else self.to_json().encode()).hexdigest()

    def path(self, relative: str) -> Path:
        """A path of the policy, relative to its file."""
        return self._folder / relative

    def to_dict(self) -> dict[str, Any]:
        """The policy as plain data, only what was said."""
        content: dict[str, Any] = self.model_dump(mode="json", exclude_unset=True)
        return content

    def to_json(self) -> str:
        """The policy as canonical JSON."""
        return json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False)

    def to_yaml(self) -> str:
        """The policy as YAML text that `load` reads back."""
        return str(yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True))

    def models(self) -> tuple[Model, ...]:
        """The models asked for, one for each sensitive column that an entry is on."""
        return tuple(model for spec in self.privacy for model in build_models(spec, self.columns))

    def names(self, role: str) -> list[str]:
        """The columns of a role, in the policy's order."""
        return [name for name, column in self.columns.items() if column.role == role]

    def published(self, column: str) -> Literal["values", "categories", "both"]:
        """What is published of a sensitive column: as said, else categories where only (p⁺, α) is asked on it."""
        said = self.columns[column].publish
        if said is not None:
            return said
        asked = {model.name for model in self.models() if model.column == column}
        return "categories" if asked == {"p-plus-alpha-sensitive"} else "values"


def _long_forms(raw: Mapping[Any, Any]) -> dict[str, Any]:
    """The short forms that the file allows, written out."""
    content = {str(key): value for key, value in raw.items()}
    if isinstance(content.get("data"), (str, Path)):
        content["data"] = {"path": str(content["data"])}
    if isinstance(content.get("algorithm"), str):
        content["algorithm"] = {"name": content["algorithm"]}
    if isinstance(content.get("output"), Path):
        content["output"] = str(content["output"])
    if isinstance(content.get("columns"), Mapping):
        content["columns"] = {str(scalar_text(name)): column for name, column in content["columns"].items()}
    return content


def _error(draft: Draft) -> PolicyError:
    """The error of a draft; the draft rides along so that the data can be checked against what is right in it."""
    error = PolicyError(draft.problems)
    error.draft = draft
    return error
