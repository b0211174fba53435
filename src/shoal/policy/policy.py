"""The policy: what a table is, what privacy is asked, how it is to be reached. A YAML file or a Python object."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from shoal.errors import PolicyError
from shoal.models import Model, least_size
from shoal.models.known_events import KnownEvents
from shoal.policy.accept_spec import AcceptSpec
from shoal.policy.algorithm_spec import AlgorithmSpec
from shoal.policy.check import check
from shoal.policy.engine_spec import EngineSpec
from shoal.policy.fields import ByColumn, Flag, Name, Output, PathText, Share, Suppressed
from shoal.policy.location import DatabaseTable, Location, parse_location
from shoal.policy.model_specs import AnyModelSpec, build_models
from shoal.policy.partial import PartialPolicy
from shoal.policy.person_spec import PersonSpec
from shoal.policy.spec import ColumnSpec, DataSpec, Spec
from shoal.policy.tables_spec import Tables
from shoal.policy.utility_spec import UtilitySpec
from shoal.policy.validation_problems import located_problems, policy_text
from shoal.policy.yaml_text import dump_yaml, load_yaml, read_text, read_yaml
from shoal.search.algorithm import Algorithm, Demand

Published = Literal["values", "categories", "both", "bins"]


class Policy(Spec):
    """A policy for one release. `Policy.load` reads a file; the constructor takes the same names."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Shoal policy")

    data: DataSpec | None = Field(
        None, description="the table: a path, or path with separator, encoding and missing marks"
    )
    tables: Tables | None = Field(
        None, description="several tables of the same people in place of data, released together"
    )
    columns: Annotated[dict[str, ColumnSpec], ByColumn] = Field(
        description="the columns; those not named here are not released", min_length=1
    )
    person: PersonSpec | None = Field(
        None, description="who a record is about, if people have several records: the models then count people"
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
    accept: list[AcceptSpec] = Field(
        default_factory=list, description="leaks that are accepted, each with a reason, which stands in the evidence"
    )
    household: Name | None = Field(
        None, description="the column that says who lives together: the risk of households is then shown"
    )
    weight: Name | None = Field(
        None, description="the column of sampling weights: the risk in the population is then shown"
    )
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
        parts = _checked(raw)
        if parts.problems:
            raise _error(parts)
        try:
            return handler(_settled(raw))
        except ValidationError as error:
            parts.problems.extend(problem for problem, _ in located_problems(error, cls, raw, ""))
            raise _error(parts) from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy file; paths in it are relative to it. Raises `PolicyError` with every problem."""
        path = Path(path)
        text, raw = read_text(path)
        content, noted = load_yaml(text, str(path))
        if noted:
            parts = _checked(content)
            parts.problems[:0] = noted
            raise _error(parts, str(path))
        try:
            policy = cls.model_validate(content)
        except PolicyError as error:
            raise _error(error.partial, str(path)) from None
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

    def location(self, text: str) -> Location:
        """A file of the policy, relative to its own, or a table of a database."""
        found = parse_location(text)
        return found if isinstance(found, DatabaseTable) else self._folder / found

    def path(self, relative: str) -> Path:
        """A path of the policy, relative to its file."""
        return self._folder / relative

    @property
    def listed_orders(self) -> dict[str, list[str]]:
        """The quasi-identifiers whose values ``ranges`` lists in an order, which is then that of their leaves."""
        orders = {name: (self.range_form(name) or {}).get("order") for name in self.algorithm.ranges}
        return {name: order for name, order in orders.items() if isinstance(order, list)}

    def range_form(self, name: str) -> Mapping[str, Any] | None:
        """What ``ranges`` says of a column; None for one whose ends are values, or that is not released as ranges."""
        ranges = self.algorithm.ranges
        form = ranges.get(name) if isinstance(ranges, Mapping) else None
        return form if isinstance(form, Mapping) else None

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

    def models_with_paths(self) -> list[tuple[str, Model]]:
        """The models asked for, each with its path in the policy: ``privacy[0]``."""
        asked = [
            (f"privacy[{index}]", model)
            for index, spec in enumerate(self.privacy)
            for model in build_models(spec, self.columns)
        ]
        if self.person is not None and self.person.events > 1:
            k = least_size(model for _, model in asked if model.column is None)
            asked.append(("person.events", KnownEvents(k, self.person.events)))
        return asked

    def models(self) -> tuple[Model, ...]:
        """The models asked for, one for each sensitive column that an entry is on."""
        return tuple(model for _, model in self.models_with_paths())

    @property
    def person_columns(self) -> tuple[str, ...]:
        """The columns that say who a record is about; none where every record is somebody else's."""
        return () if self.person is None else self.person.columns

    @property
    def pseudonym(self) -> str | None:
        """The column that is released as a pseudonym, if one is: all records of a person are linked by it."""
        return next(iter(self.names("pseudonym")), None)

    @property
    def demands(self) -> frozenset[Demand]:
        """What the policy demands of its recoding; a local one that is named serves for new records, too."""
        linked = self.pseudonym is not None
        return frozenset({Demand.ONE_LEVEL}) if self.recoding or linked else frozenset()

    @property
    def search_algorithm(self) -> Algorithm:
        """What the algorithm declares under this policy."""
        return self.algorithm.declared(self.demands)

    def as_read(self) -> Self:
        """The policy for a table whose relative dates are in days already."""
        content = self.model_dump(exclude_unset=True)["columns"]
        columns = {name: {key: each[key] for key in each if key != "relative"} for name, each in content.items()}
        return self.changed(columns=columns) if self.relative_columns else self

    @property
    def relative_columns(self) -> dict[str, str]:
        """The columns that are released as days, each with what it is relative to: ``first``, or a column."""
        return {name: column.relative for name, column in self.columns.items() if column.relative is not None}

    def names(self, role: str) -> list[str]:
        """The columns of a role, in the policy's order."""
        return [name for name, column in self.columns.items() if column.role == role]

    def published(self, column: str) -> Published:
        """What is published of a sensitive column: as said, else what the models on it publish."""
        return published(column, self.columns[column], self.models())


def published(name: str, column: ColumnSpec, models: Sequence[Model]) -> Published:
    """What is published of a sensitive column: as said, else categories where every model on it publishes those.

    Numbers that have bins are published in these.
    """
    if column.bins is not None:
        return "bins"
    if column.publish is not None:
        return column.publish
    publishes = {model.publishes for model in models if model.column == name}
    return "categories" if publishes == {"categories"} else "values"


def _checked(raw: Any) -> PartialPolicy:
    """Everything wrong with a policy, and what could be read of it."""
    known = list(Policy.model_fields)
    if isinstance(raw, Mapping):
        return check(_settled(raw), known)
    parts = PartialPolicy()
    given = "there is nothing in it" if raw is None else f"given: {policy_text(raw)}"
    parts.add("", f"a policy is a mapping with the keys {', '.join(known)} ({given}).",
              "`shoal init DATA` drafts one.", code="wrong-type")  # fmt: skip
    return parts


def _settled(raw: Mapping[Any, Any]) -> dict[Any, Any]:
    """The policy without optional keys that say nothing."""
    optional = {
        "data",
        "tables",
        "person",
        "algorithm",
        "output",
        "utility",
        "accept",
        "household",
        "weight",
        "registry",
        "engine",
    }
    return {key: value for key, value in raw.items() if value is not None or key not in optional}


def _error(parts: PartialPolicy, source: str = "the policy") -> PolicyError:
    """The error with what is right in the policy, so that the data can still be checked against that."""
    error = PolicyError(parts.problems, source)
    error.partial = parts
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
