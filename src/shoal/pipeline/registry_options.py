"""The registry of a release: what it reveals beside the earlier releases there, and its own entry among them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.attacks.registry.composition import NAME, Composition, compose_with
from shoal.attacks.registry.folder import INDEX, Entry, Registry
from shoal.attacks.registry.people import NewRelease
from shoal.attacks.registry.signature import signature_of
from shoal.attacks.released_classes import Rows
from shoal.errors import ExposureError, InputError
from shoal.evidence.evidence import Evidence, sealed
from shoal.facts import plain
from shoal.io import check_outputs
from shoal.pipeline.conditions import Condition, exceeded, read_condition
from shoal.policy import Policy


@dataclass(frozen=True)
class RegistryOptions:
    """Where a release is remembered, as of which day, and what it may not expose."""

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
    ) -> RegistryOptions:
        """Read the registry and the options, before any work; `InputError` for what is wrong with them."""
        conditions = tuple(read_condition(text) for text in fail_on)
        folder = Path(registry) if registry is not None else registry_of(policy)
        if folder is None:
            composed = [condition.text for condition in conditions if condition.name == NAME]
            given = {f"--fail-on {NAME}": composed, "--replaces": replaces, "--as-of": as_of}
            for option, value in given.items():
                if value:
                    raise InputError(
                        f"{option} is about earlier releases, and no registry was given. Add --registry.",
                        code="no-registry",
                    )
            return RegistryOptions(None, _day(as_of), conditions=conditions)
        opened = Registry.open(folder)
        check_outputs([folder / INDEX if folder.exists() else folder], force=True)
        return RegistryOptions(opened, _day(as_of), opened.named(replaces), conditions)

    @staticmethod
    def none() -> RegistryOptions:
        """No registry, and no conditions."""
        return RegistryOptions(None, "")

    def composition(self, new: NewRelease) -> Composition:
        """What the release reveals beside earlier ones, for its evidence.

        Raises `ExposureError` where that is more than a condition allows.
        """
        assert self.registry is not None, "there are earlier releases to compare with"
        withdrawn = {entry.release_sha256 for entry in self.replaces}
        earlier = [entry for entry in self.registry.current if entry.release_sha256 not in withdrawn]
        found = compose_with(new, earlier)
        failed = exceeded([condition for condition in self.conditions if condition.name == NAME], found.results)
        if failed:
            raise ExposureError(failed, {"composition": found.to_dict()})
        return found

    def refuse(self, attacks: Sequence[Mapping[str, Any]]) -> None:
        """Raise `ExposureError` where an attack on the release exposes more than a condition allows."""
        failed = exceeded(self.conditions, attacks)
        if failed:
            raise ExposureError(failed, {"attacks": plain(list(attacks))})

    @contextmanager
    def adding(
        self, policy: Policy, rows_of: Callable[[], Rows], name: str, digest: str
    ) -> Iterator[Mapping[str, Path]]:
        """Put the entry of a release in place, to be taken back when what is done meanwhile fails.

        The same release a second time is one entry. Its records by class are only asked for where there is a registry.
        """
        if self.registry is None:
            yield {}
            return
        known = self.registry.of_release(digest)
        if known is not None:
            yield {"registry": self.registry.path / f"{known.name}.json"}
            return
        rows = rows_of()
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


def with_composition(evidence: Evidence, composition: Composition | None) -> Evidence:
    """The evidence with what a release reveals together with earlier ones, among its attacks as well."""
    if composition is None:
        return evidence
    others = tuple(each for each in evidence.attacks if each.name != NAME)
    attacks = (*others, *composition.results) if others else ()
    return sealed(evidence, composition=composition, attacks=attacks)


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
        raise InputError(
            f"{given!r} is not a date. Write it as year-month-day, such as 2026-01-31.", code="not-a-date"
        ) from None
