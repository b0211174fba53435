"""The errors Shoal raises, and the exit code that each stands for.

::

    ShoalError
    ├── InputError                 2  something that was given is wrong
    │   ├── PolicyError               the policy, alone or against the data; carries every problem at once
    │   ├── DataError                 the input cannot be read as a table
    │   ├── OutputError               the output exists or cannot be written
    │   ├── MissingExtraError         an optional dependency is not installed; carries the install line
    │   └── PluginError               an installed package offers something that cannot be used
    ├── InterruptedRunError      130  the user stopped the run
    └── PrivacyError               1  the privacy asked for does not hold or cannot be reached
        ├── InfeasibleError           no release exists within the policy; carries the diagnosis
        ├── VerificationError         a written release fails the independent check
        ├── ExposureError             an attack exposes more than may be; carries what it found
        └── WithheldError             no new record can be released by a published recoding; carries the reasons

Each error has a stable ``code`` for programs and carries its facts as attributes, not only a sentence;
`ShoalError.to_dict` gives them as plain data.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from shoal.edits import PolicyEdit
    from shoal.search.diagnosis.diagnosis import Diagnosis
    from shoal.verification import Verification

_LISTED = 20  # names that a message lists: all models, attacks and algorithms


class ShoalError(Exception):
    """Root of every error that Shoal raises on purpose."""

    exit_code: ClassVar[int] = 2
    default_code: ClassVar[str] = "error"

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        self.code = code or self.default_code
        """What is wrong, for programs: it stays the same when the message is worded better."""
        super().__init__(message)

    def to_dict(self) -> dict[str, Any]:
        """The error as plain data, ready for JSON: its class, code, exit code and message, and its facts by name."""
        named = {"error": type(self).__name__, "code": self.code, "exit_code": self.exit_code, "message": str(self)}
        return {**named, **self.facts()}

    def facts(self) -> dict[str, Any]:
        """What the error carries beside its message, as plain data."""
        return {}


class InputError(ShoalError):
    """Something that was given is wrong: a file, an option, a policy."""

    default_code: ClassVar[str] = "input"


@dataclass(frozen=True)
class PolicyProblem:
    """One thing that is wrong with a policy: where, what, and the fix."""

    where: str
    message: str
    fix: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    code: str = field(default="invalid", kw_only=True)  # what is wrong, for programs
    edits: tuple[PolicyEdit, ...] = field(default=(), kw_only=True)  # changes to the policy, each a fix

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} {self.fix}" if self.fix else text


class PolicyError(InputError):
    """The policy is wrong, in one or several parts; ``problems`` has all of them."""

    default_code: ClassVar[str] = "policy"

    def __init__(self, problems: Sequence[PolicyProblem], source: str = "the policy") -> None:
        self.problems = tuple(problems)
        self.source = source
        self.partial: Any = None
        """What is right in the policy (`shoal.policy.partial.PartialPolicy`), to go on checking with."""
        count = len(self.problems)
        head = f"{source} has {count} problem{'s' if count != 1 else ''}:"
        super().__init__("\n".join([head, *(f"  - {problem}" for problem in self.problems)]))

    def facts(self) -> dict[str, Any]:
        """Every problem with its path and its fix; with its facts, where edits of the policy would fix it."""
        shown = ("code", "where", "message", "fix")
        found = [{name: getattr(each, name) for name in shown} for each in self.problems]
        for content, each in zip(found, self.problems, strict=True):
            if each.edits:
                content |= {"facts": dict(each.facts), "edits": [edit.to_dict() for edit in each.edits]}
        return {"problems": found}


class DataError(InputError):
    """The input cannot be read as a table."""

    default_code: ClassVar[str] = "data"


class OutputError(InputError):
    """The output exists already or cannot be written."""

    default_code: ClassVar[str] = "output"


class MissingExtraError(InputError):
    """An optional dependency is missing; ``install`` is the line that brings it."""

    default_code: ClassVar[str] = "missing-extra"

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        self.install = f'pip install "shoal[{extra}]"'
        super().__init__(f"{what} needs an optional dependency that is not installed. Install it with: {self.install}")

    def facts(self) -> dict[str, Any]:
        """The line that installs what is missing."""
        return {"install": self.install}


class PluginError(InputError):
    """What an installed package offers as an entry point cannot be used; the message names the package."""

    default_code: ClassVar[str] = "plugin"


class InterruptedRunError(ShoalError):
    """The user stopped the run; the message says what was written by then, if anything."""

    default_code: ClassVar[str] = "interrupted"
    exit_code: ClassVar[int] = 130

    def __init__(self, message: str = "interrupted; no output was written.") -> None:
        super().__init__(message)


class PrivacyError(ShoalError):
    """The privacy asked for does not hold or cannot be reached."""

    default_code: ClassVar[str] = "privacy"
    exit_code: ClassVar[int] = 1


class InfeasibleError(PrivacyError):
    """No release within the policy satisfies the models; ``diagnosis`` says what blocks and what would help.

    A search raises it with the diagnosis alone; the pipeline adds the words (`shoal.present.diagnosis`).
    """

    default_code: ClassVar[str] = "infeasible"

    def __init__(self, diagnosis: Diagnosis, message: str = "No release satisfies the policy.") -> None:
        self.diagnosis = diagnosis
        super().__init__(message)

    def facts(self) -> dict[str, Any]:
        """The diagnosis."""
        return {"diagnosis": self.diagnosis.to_dict()}


class VerificationError(PrivacyError):
    """A release fails the independent check; ``verification`` has every check and its outcome."""

    default_code: ClassVar[str] = "not-verified"

    def __init__(self, verification: Verification) -> None:
        self.verification = verification
        super().__init__(str(verification))

    def facts(self) -> dict[str, Any]:
        """Every check."""
        return {"checks": [check.to_dict() for check in self.verification.checks]}


class ExposureError(PrivacyError):
    """An attack on a release exposes more than a condition allows; ``failed`` has each condition and its figures."""

    default_code: ClassVar[str] = "exposed"

    def __init__(self, failed: Sequence[Mapping[str, Any]], found: Mapping[str, Any], why: str = "") -> None:
        self.failed = tuple(failed)
        self.found = found
        said = f"{'; '.join(map(self._exceeded, self.failed))}. Nothing was written."
        super().__init__(f"{said}\n{why}" if why else said)

    @staticmethod
    def _exceeded(each: Mapping[str, Any]) -> str:
        if "decision" in each:
            return f"The condition {each['condition']} fails: the verdict is {each['decision']}"
        on = f" on {each['sensitive']}" if each["sensitive"] else ""
        return f"{each['condition']} is exceeded: {each['records']:,} of {each['of']:,} people are exposed{on}"

    def facts(self) -> dict[str, Any]:
        """The conditions that are exceeded, and all that was found."""
        return {"failed": [dict(each) for each in self.failed], **self.found}


class WithheldError(PrivacyError):
    """None of the new records can be released by a published recoding; ``withheld`` has every reason with its count."""

    default_code: ClassVar[str] = "withheld"

    def __init__(self, message: str, withheld: Sequence[Mapping[str, Any]]) -> None:
        self.withheld = tuple(withheld)
        super().__init__(message)

    def facts(self) -> dict[str, Any]:
        """Why the records are withheld, in counts."""
        return {"withheld": [dict(each) for each in self.withheld]}


class DisclosureWarning(UserWarning):
    """The release is weaker than its name may suggest. Never silenced by Shoal itself."""


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Say which known name is nearest, and list what there is: the tail of every "unknown …" message."""
    names = [str(each) for each in known]
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.6)
    listed = ", ".join(names[:_LISTED]) + (f", … ({len(names)} in all)" if len(names) > _LISTED else "")
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return f"{hint}Known: {listed or 'none'}."
