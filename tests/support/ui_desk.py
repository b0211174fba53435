"""What the tests of the desk share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from shoal.errors import ShoalError
from shoal.policy.yaml_text import dump_yaml
from shoal.ui.desk.desk import Desk


def save_policy(desk: Desk, content: Any) -> None:
    """Write the policy file of a desk."""
    desk.workspace.policy.write_text(dump_yaml(content), encoding="utf-8")


@contextlib.contextmanager
def refused(code: str) -> Iterator[None]:
    """Something that is refused with this code."""
    with pytest.raises(ShoalError) as raised:
        yield
    assert raised.value.code == code
