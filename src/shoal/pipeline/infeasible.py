"""The words of a search that found no release: the search knows facts only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from shoal.errors import InfeasibleError
from shoal.present.diagnosis import diagnosis_text


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Give an `InfeasibleError` raised inside the text of its diagnosis."""
    try:
        yield
    except InfeasibleError as error:
        raise InfeasibleError(error.diagnosis, diagnosis_text(error.diagnosis)) from None
