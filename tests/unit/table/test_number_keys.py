"""Numbers of keys: as NumPy gives them, in pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.table import encoded


@pytest.mark.parametrize("most", [2, 40])
@given(length=st.integers(0, 60), seed=st.integers(0, 99))
def test_keys_are_numbered_as_numpy_does(most: int, length: int, seed: int) -> None:
    keys = np.random.default_rng(seed).integers(0, most, length) - 7
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(encoded, "_STEP", 5)
        first, number = encoded.number_keys(keys)
    _, expected, inverse = np.unique(keys, return_index=True, return_inverse=True)
    assert first.tolist() == expected.tolist()
    assert number.tolist() == inverse.tolist()
