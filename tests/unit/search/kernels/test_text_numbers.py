"""Numbers of texts: a dictionary and the compiled table of bytes agree, whatever the batches."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.search.kernels import text_numbers
from shoal.search.kernels.text_numbers import TextNumbers

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # the hash wraps around on purpose
TEXTS = st.sampled_from(["", "a", "b", "ab", "ba", "é", "𝄞", "a\0", "x" * 40]) | st.text(max_size=3)


@pytest.mark.parametrize("most", [0, 3, 1000])
@given(batches=st.lists(st.lists(TEXTS, max_size=12), max_size=6))
def test_texts_are_numbered_by_first_appearance(most: int, batches: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(text_numbers, "_FIRST", 4)  # it must grow, in texts and in bytes
        numbers = TextNumbers(most)
        found = [numbers.add(pa.array(["before", *batch], pa.string()).slice(1)).tolist() for batch in batches]
    expected: dict[str, int] = {}
    for batch in batches:
        for text in batch:
            expected.setdefault(text, len(expected))
    assert found == [[expected[text] for text in batch] for batch in batches]
    assert numbers.texts().to_pylist() == list(expected)
    assert len(numbers) == len(expected)
