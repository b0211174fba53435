"""Releases over time: a folder that remembers what was published, and what a new release tells beside it.

An entry holds what its release publishes anyway - released labels, sizes of classes, published sensitive values with
their counts - in clear, because whoever has the release has it too. It never holds a value of the input that was not
published, nothing of suppressed records, no insensitive column and no row.
"""

from shoal.attacks.registry.composition import Composition, compose_with
from shoal.attacks.registry.entry import Entry
from shoal.attacks.registry.folder import Registry
from shoal.attacks.registry.people import NewRelease
from shoal.attacks.registry.signature import Signature, signature_of

__all__ = ["Composition", "Entry", "NewRelease", "Registry", "Signature", "compose_with", "signature_of"]
