"""Whether kernels are compiled is told by the files that compiling leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.search.kernels import load
from shoal.search.kernels.load import load_kernels


def test_a_kernel_counts_as_compiled_once_its_file_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = load_kernels().group_dense
    if not hasattr(kernel, "stats"):
        pytest.skip("the kernels are not compiled here")
    folder = Path(kernel.stats.cache_path).name
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not load.is_compiled(load.GROUPING)
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "compiled.group_dense-57.py311.nbi").touch()
    assert load.is_compiled(load.GROUPING)
    assert not load.is_compiled(load.CLUSTERING)


def test_the_kernels_asked_about_exist() -> None:
    kernels = load_kernels()
    assert hasattr(kernels, load.GROUPING)
    assert hasattr(kernels, load.CLUSTERING)
