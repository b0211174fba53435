"""Work that may be done elsewhere: blocks that have nothing to do with each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Spread(Protocol):
    """Does the same work on several blocks, each perhaps on another machine; the answers in the order of the blocks."""

    @property
    def blocks(self) -> int:
        """How many blocks are worth making."""
        ...

    @property
    def least(self) -> int:
        """How many kinds of records there must be for it to be worth while."""
        ...

    def __call__(self, work: Callable[[Any], Any], blocks: Sequence[Any]) -> list[Any]:
        """Do the work. Work, blocks and answers can be pickled; work done twice gives the same answer."""
        ...
