"""Errors are checked by their code and by what they name, not by their sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from shoal.errors import ShoalError


@contextmanager
def raises(kind: type[ShoalError], code: str, *named: str) -> Iterator[pytest.ExceptionInfo[ShoalError]]:
    """Expect an error of a kind with a code, whose message names some things (a column, a value, a file)."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.code == code
    for each in named:
        assert each in str(caught.value), f"{each!r} is not named in: {caught.value}"
