"""What a release may not expose, and its registry: what it reveals beside earlier releases, its entry among them.

Conditions such as ``similarity>0`` or ``linkage>5%`` say how much an attack may expose before a run counts as failed;
``verdict`` fails where the verdict is not to publish, ``verdict>publish`` already where there are caveats.
What the baseline explains is not due to the release and exceeds none, however many records it is; people who are
exposed as often as chance would have it count all the same.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.attacks.attack import AttackResult
from shoal.attacks.attackers.composition import NAME, Composition, compose_with
from shoal.attacks.battery import ATTACKS
from shoal.attacks.registry.entry import Entry
from shoal.attacks.registry.folder import INDEX, Registry
from shoal.attacks.registry.people import NewRelease
from shoal.attacks.registry.signature import signature_of
from shoal.attacks.released_classes import Rows
from shoal.attacks.verdict.verdict import Decision, Verdict, worse
from shoal.encode.pseudonyms import refuse_comparing
from shoal.errors import ExposureError, InputError, did_you_mean
from shoal.facts import plain
from shoal.io import check_outputs
from shoal.io.folder_lock import refuse_unreliable
from shoal.policy import Policy
from shoal.present.attacks import reason_clause
from shoal.present.terminal import decision_lines
from shoal.search.problem import Progress, no_progress

VERDICT = "verdict"
"""What a condition on the verdict names instead of an attack."""
_WORST_ALLOWED: Mapping[str, Decision] = {
    VERDICT: "publish-with-caveats",
    f"{VERDICT}>publish": "publish",
    f"{VERDICT}>publish-with-caveats": "publish-with-caveats",
}
_CONDITION = re.compile(r"\s*(?P<name>[^\s>]+)\s*>\s*(?P<limit>\d+(\.\d+)?)\s*(?P<percent>%)?\s*", re.ASCII)


@dataclass(frozen=True)
class Condition:
    """A limit on the records that an attack exposes: a number of them, or a share in percent; or on the verdict."""

    name: str
    limit: float
    percent: bool
    text: str
    worst_allowed: Decision | None = None
    """The worst verdict that a condition on the verdict allows."""


def read_condition(text: str) -> Condition:
    """A condition from its text; `InputError` for one that cannot be read or names no attack."""
    worst_allowed = _WORST_ALLOWED.get("".join(text.split()))
    if worst_allowed is not None:
        return Condition(VERDICT, 0, False, text.strip(), worst_allowed)
    match = _CONDITION.fullmatch(text)
    if match is None and text.strip().startswith(VERDICT):
        message = f"The condition {text!r} cannot be read. Write one of {', '.join(_WORST_ALLOWED)}."
        raise InputError(message, code="condition-unreadable")
    if match is None:
        raise InputError(
            f"The condition {text!r} cannot be read. Write the name of an attack and a number of records or a "
            "percentage, such as similarity>0 or linkage>5%, or verdict.",
            code="condition-unreadable",
        )
    name, percent = match["name"], match["percent"] is not None
    if name not in ATTACKS:
        message = f"The condition {text!r} does not name an attack. {did_you_mean(name, ATTACKS)}"
        raise InputError(message, code="condition-unknown-attack")
    limit = float(match["limit"])
    if percent and limit > 100:
        raise InputError(f"The condition {text!r} asks for more than 100%.", code="condition-over-100")
    if not percent and not limit.is_integer():
        message = f"The condition {text!r} counts records, so it takes a whole number."
        raise InputError(f"{message} For a share write {text.strip()}%.", code="condition-not-whole")
    return Condition(name, limit, percent, text.strip())


def exceeded(
    conditions: Sequence[Condition], results: Sequence[Mapping[str, Any]], verdict: Verdict | None = None
) -> list[dict[str, Any]]:
    """The conditions that some attack exceeds, with its figures, or that the verdict does.

    An attack that was not tried is an `InputError`: looking away would satisfy any limit. One that does not apply to
    the release exposes nothing.
    """
    found = []
    for condition in conditions:
        if condition.worst_allowed is not None:
            assert verdict is not None, "there is a verdict where attacks were made"
            if worse(verdict.decision, condition.worst_allowed):
                found.append({"condition": condition.text, "name": VERDICT, "decision": verdict.decision})
            continue
        attacks = [each for each in results if each["name"] == condition.name]
        unknown = [each for each in attacks if each["status"] == "not tried"]
        if unknown or not attacks:
            reason = f": {reason_clause(AttackResult(**unknown[0]))}" if unknown else ""
            message = f"The condition {condition.text!r} is about an attack that was not tried{reason}."
            raise InputError(message, code="condition-not-tried")
        for each in attacks:
            records, of = each["records"] or 0, each["of"] or 0
            over = 100 * records > condition.limit * of if condition.percent else records > condition.limit
            by_chance = each.get("p_value") is not None and ATTACKS[condition.name].exposed_by_chance
            if over and (each["leak"] or by_chance):  # else its baseline explains all of it
                figures = {key: each[key] for key in ("name", "sensitive", "records", "of")}
                found.append({"condition": condition.text, **figures})
    return found


@dataclass(frozen=True)
class RegistryOptions:
    """Where a release is remembered, as of which day, and what it may not expose."""

    registry: Registry | None = None
    date: str = ""
    replaces: tuple[Entry, ...] = ()  # the earlier releases that are withdrawn for this one, and so not held against it
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
        folder = None if registry is None else Path(registry)
        if folder is None and policy.registry is not None:
            folder = policy.path(policy.registry)
        if folder is None:
            composed = [condition.text for condition in conditions if condition.name == NAME]
            given = {f"--fail-on {NAME}": composed, "--replaces": replaces, "--as-of": as_of}
            for option, value in given.items():
                if value:
                    message = f"{option} is about earlier releases, and no registry was given. Add --registry."
                    raise InputError(message, code="no-registry")
            return RegistryOptions(None, _day(as_of), conditions=conditions)
        refuse_comparing(policy)
        opened = Registry.open(folder)
        check_outputs([folder / INDEX if folder.exists() else folder], force=True)
        refuse_unreliable(folder)
        return RegistryOptions(opened, _day(as_of), opened.named(replaces), conditions)

    @contextmanager
    def locked(self, progress: Progress = no_progress) -> Iterator[RegistryOptions]:
        """The same with the registry as it is now, which nobody else changes meanwhile.

        A release is compared with the earlier ones and becomes an entry under one lock: of two runs at the same time,
        the second is compared with the release of the first.
        """
        if self.registry is None:
            yield self
            return

        def waiting() -> None:
            progress("waiting for another run with this registry", 0.0)

        with Registry.locked(self.registry.path, waiting=waiting) as registry:
            names = [entry.name for entry in self.replaces]
            yield replace(self, registry=registry, replaces=registry.named(names))

    def composition(self, new: NewRelease) -> Composition:
        """What the release reveals beside earlier ones, for its evidence.

        Raises `ExposureError` where that is more than a condition allows.
        """
        assert self.registry is not None, "there are earlier releases to compare with"
        withdrawn = {entry.release_sha256 for entry in self.replaces}
        earlier = [entry for entry in self.registry.current if entry.release_sha256 not in withdrawn]
        found = compose_with(new, earlier)
        completed = tuple({"code": "entry-completed", "release": name} for name in self.registry.completed)
        found = replace(found, notes=(*completed, *found.notes))
        failed = exceeded([condition for condition in self.conditions if condition.name == NAME], found.results)
        if failed:
            raise ExposureError(failed, {"composition": found.to_dict()})
        return found

    def refuse(self, attacks: Sequence[Mapping[str, Any]], verdict: Verdict | None) -> None:
        """Raise `ExposureError` where an attack on the release, or its verdict, is worse than a condition allows."""
        failed = exceeded(self.conditions, attacks, verdict)
        if failed:
            judged = verdict is not None and any("decision" in each for each in failed)
            why = "\n".join(decision_lines(verdict)) if judged else ""
            raise ExposureError(failed, {"attacks": plain(list(attacks)), "verdict": plain(verdict)}, why)

    @contextmanager
    def adding(
        self, policy: Policy, rows_of: Callable[[], Rows], name: str, digest: str, hidden: Sequence[Path]
    ) -> Iterator[Mapping[str, Path]]:
        """Put the entry of a release in place with it, to be taken back when what is done meanwhile fails.

        The same release a second time is one entry, unless it was withdrawn in between. Its records by class are only
        asked for where there is a registry; ``hidden`` are its files until they are put in place.
        """
        if self.registry is None:
            yield {}
            return
        known = self.registry.remembered(digest, self.replaces)
        if known is not None:
            yield {"registry": self.registry.path / f"{known.name}.json"}
            return
        replaced = tuple(entry.release_sha256 for entry in self.replaces)
        name, signature = self.registry.free_name(self.date, name), signature_of(policy, rows_of())
        entry = Entry(name, self.date, digest, policy.sha256, signature, replaced)
        with self.registry.adding(entry, hidden) as path:
            yield {"registry": path}


def _day(day: str | datetime.date | None) -> str:
    """A day as an ISO date: the one given, or today's by universal time."""
    if day is None:
        return datetime.datetime.now(datetime.UTC).date().isoformat()
    if isinstance(day, datetime.date):
        return day.isoformat()[:10]
    try:
        return datetime.date.fromisoformat(day).isoformat()
    except ValueError:
        message = f"{day!r} is not a date. Write it as year-month-day, such as 2026-01-31."
        raise InputError(message, code="not-a-date") from None
