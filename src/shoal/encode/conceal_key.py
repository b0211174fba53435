"""The key of a search that conceals: from the environment where the owner gives one, else made for the run.

The seed of a policy is public, so it cannot serve. With the owner's key a run can be repeated; without, each run makes
a release of its own, and several releases of the same records can be compared with each other.
"""

import os

from shoal.encode.pseudonyms import SHORTEST
from shoal.errors import InputError, PolicyError, PolicyProblem
from shoal.policy import Policy
from shoal.search.conceal import Veto

CONCEAL_VARIABLE = "SHOAL_CONCEAL_KEY"
"""The environment variable that has the key."""


def refuse_repeating(policy: Policy) -> None:
    """Raise `InputError` where a search that conceals cannot be repeated: it would make another release."""
    if policy.algorithm.conceal and not os.environ.get(CONCEAL_VARIABLE, "").strip():
        message = "the algorithm conceals with a key that is made for each run, so the release cannot be made again"
        fix = f"Set {CONCEAL_VARIABLE} to the key that it was made with."
        raise InputError(f"{message} to explain it. {fix}", code="conceal-key-missing")


def conceal_veto(policy: Policy) -> Veto | None:
    """What the policy's search refuses although it holds; None where it does not conceal. The key is never shown."""
    if not policy.algorithm.conceal:
        return None
    given = os.environ.get(CONCEAL_VARIABLE, "").strip().encode()
    if given and len(given) < SHORTEST:
        message = f"the key in the environment variable {CONCEAL_VARIABLE} is shorter than {SHORTEST} bytes, so it "
        fix = "Make a key with `openssl rand -hex 32`, and keep it as secret as the sensitive values."
        problem = PolicyProblem("algorithm.conceal", f"{message}could be guessed.", fix, code="conceal-key-short")
        raise PolicyError([problem], policy.source)
    return Veto(given or os.urandom(SHORTEST), given=bool(given))
