"""What is kept of a release: its entry in a registry, after it was held against what the registry has."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.attacks.registry.composition import NAME, Composition, compose_with
from shoal.attacks.registry.entry import Entry
from shoal.attacks.registry.folder import INDEX, Registry
from shoal.attacks.registry.people import NewRelease
from shoal.attacks.registry.signature import signature_of
from shoal.attacks.scene_setup import Rows
from shoal.errors import ExposureError, InputError
from shoal.evidence import Evidence, sealed
from shoal.facts import plain
from shoal.io import check_outputs
from shoal.pipeline.conditions import Condition, exceeded, read_condition
from shoal.policy import Policy


@dataclass(frozen=True)
class Keeping:
    """Where a release is remembered, from which day, and what it may not expose beside earlier ones."""

    registry: Registry | None
    date: str
    replaces: tuple[Entry, ...] = ()
    """The earlier releases that are withdrawn for this one, and so not held against it."""
    conditions: tuple[Condition, ...] = ()

    @staticmethod
    def of(
        policy: Policy,
        *,
        registry: str | Path | None = None,
        as_of: str | datetime.date | None = None,
        replaces: Sequence[str] = (),
        fail_on: Sequence[str] = (),
    ) -> Keeping:
        """Read the registry and the options, before any work; `InputError` for what is wrong with them."""
        conditions = tuple(read_condition(text) for text in fail_on)
        folder = Path(registry) if registry is not None else registry_of(policy)
        if folder is None:
            composed = [condition.text for condition in conditions if condition.name == NAME]
            given = {f"--fail-on {NAME}": composed, "--replaces": replaces, "--as-of": as_of}
            for option, value in given.items():
                if value:
                    raise InputError(f"{option} is about earlier releases, and no registry was given. Add --registry.")
            return Keeping(None, _day(as_of), conditions=conditions)
        opened = Registry.open(folder)
        check_outputs([folder / INDEX if folder.exists() else folder], force=True)
        return Keeping(opened, _day(as_of), opened.named(replaces), conditions)

    @staticmethod
    def none() -> Keeping:
        """Nothing is kept."""
        return Keeping(None, "")

    def composition(self, new: NewRelease) -> dict[str, Any]:
        """What the release tells beside earlier ones, for its evidence; nothing without a registry.

        Raises `ExposureError` where that is more than a condition allows.
        """
        if self.registry is None:
            return {}
        withdrawn = {entry.release_sha256 for entry in self.replaces}
        earlier = [entry for entry in self.registry.current if entry.release_sha256 not in withdrawn]
        found = compose_with(new, earlier)
        failed = exceeded([condition for condition in self.conditions if condition.name == NAME], found.results)
        if failed:
            raise ExposureError(failed, {"composition": found.to_dict()})
        return {"composition": found}

    def refuse(self, attacks: Sequence[Mapping[str, Any]]) -> None:
        """Raise `ExposureError` where an attack on the release exposes more than a condition allows."""
        failed = exceeded(self.conditions, attacks)
        if failed:
            raise ExposureError(failed, {"attacks": plain(list(attacks))})

    @contextmanager
    def adding(self, policy: Policy, rows: Rows, name: str, digest: str) -> Iterator[Mapping[str, Path]]:
        """Put the entry of a release in place, to be taken back when what is done meanwhile fails.

        The same release a second time is one entry.
        """
        if self.registry is None:
            yield {}
            return
        known = self.registry.of_release(digest)
        if known is not None:
            yield {"registry": self.registry.path / f"{known.name}.json"}
            return
        entry = Entry(
            name=self.registry.free_name(self.date, name),
            date=self.date,
            release_sha256=digest,
            policy_sha256=policy.sha256,
            signature=signature_of(policy, rows),
            replaces=tuple(entry.release_sha256 for entry in self.replaces),
        )
        with self.registry.adding(entry) as path:
            yield {"registry": path}


def with_composition(evidence: Evidence, composed: Mapping[str, Composition]) -> Evidence:
    """The evidence with what a release reveals together with earlier ones, among its attacks as well."""
    if not composed:
        return evidence
    found = composed["composition"]
    if not evidence.attacks:
        return sealed(evidence, composition=found)
    return sealed(
        evidence, composition=found, attacks=(*(each for each in evidence.attacks if each.name != NAME), *found.results)
    )


def registry_of(policy: Policy) -> Path | None:
    """The registry that a policy names."""
    return policy.path(policy.registry) if policy.registry is not None else None


def _day(given: str | datetime.date | None) -> str:
    """A day as an ISO date: the one given, or today's by universal time."""
    if given is None:
        return datetime.datetime.now(datetime.UTC).date().isoformat()
    if isinstance(given, datetime.date):
        return given.isoformat()[:10]
    try:
        return datetime.date.fromisoformat(given).isoformat()
    except ValueError:
        raise InputError(f"{given!r} is no date. Write it as year-month-day, such as 2026-01-31.") from None
