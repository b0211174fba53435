"""Signals at a bad moment."""

from __future__ import annotations

import os
import signal
import time

import pytest

from shoal.cli.main import _clean_end


@pytest.mark.parametrize(("number", "recorded"), [(signal.SIGTERM, [signal.SIGTERM]), (signal.SIGINT, [])], ids=str)
def test_a_signal_while_compiled_code_is_loaded_comes_once_more(number: signal.Signals, recorded: list[int]) -> None:
    """An exception inside LLVM's callbacks is lost, or ends the process."""
    signals: list[int] = []

    def _raw_object_cache_notify() -> bool:
        os.kill(os.getpid(), number)
        time.sleep(0.001)
        return True

    with _clean_end(signals):
        assert _raw_object_cache_notify()
        with pytest.raises(KeyboardInterrupt):
            time.sleep(10)
    assert signals == recorded
