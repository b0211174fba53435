"""Who a record is about, where people have several records: then the models count people instead of records."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import Field

from shoal.errors import did_you_mean
from shoal.formatting import listing
from shoal.models import MODELS
from shoal.policy.fields import NAME_SCHEMA, Columns, Events
from shoal.policy.partial import PartialPolicy, PartialSpec, read_part
from shoal.policy.spec import ColumnSpec, Spec


class PersonSpec(Spec):
    """The column, or the columns together, that say who a record is about."""

    short_forms = (NAME_SCHEMA, {"type": "array", "items": NAME_SCHEMA, "minItems": 1})
    example = "patient_id"

    column: Columns = Field(description="the identifier that says who a record is about, or several that do together")
    events: Events = Field(1, description="how many records of a person somebody may know while k people still fit")

    @classmethod
    def expand_short_form(cls, value: Any) -> Any:
        """A column or columns alone."""
        return value if isinstance(value, Mapping) or value is None else {"column": value}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that tell people apart."""
        return (self.column,) if isinstance(self.column, str) else tuple(self.column)


def read_person(
    policy: Mapping[Any, Any],
    columns: Mapping[str, PartialSpec[ColumnSpec]],
    models: Collection[str] | None,
    parts: PartialPolicy,
) -> tuple[str, ...]:
    """The columns of ``person``; notes everything that is wrong with it, alone and with the rest of the policy.

    ``models`` are those under ``privacy``; None where some of them cannot be read.
    """
    raw = policy.get("person")
    if raw is None:
        return ()
    if policy.get("recoding") is True:
        message = "new records cannot join a release that counts people: it does not say whose its records are."
        parts.add("recoding", message, "Leave recoding out.", code="recoding-with-person")
    spec = read_part(PersonSpec, raw, "person", parts).value
    named = () if spec is None else spec.columns
    identifiers = [name for name, part in columns.items() if part.role in {"identifier", "pseudonym", None}]
    for name in dict.fromkeys(named):
        if name not in columns:
            parts.add("person", f"unknown column {name!r}.", did_you_mean(name, identifiers), code="unknown-column")
        elif name not in identifiers:
            message = f"{name!r} has the role {columns[name].role}, so it would be released."
            parts.add("person", message, "Give it the role identifier or pseudonym.", code="wrong-role")
    if len(set(named)) < len(named):
        parts.add("person", "names a column twice.", "Name each column once.", code="listed-twice")
    with_k = [name for name, model in MODELS.items() if model.counts == "records"]
    if spec is not None and spec.events > 1 and models is not None and not set(models) & set(with_k):
        message = f"no model says how many people must fit {spec.events} known records."
        parts.add("person.events", message, f"Add {listing(with_k)} under privacy.", code="events-without-k")
    return named
