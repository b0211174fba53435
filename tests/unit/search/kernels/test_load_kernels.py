"""Kernels declare what they are compiled for; whether they are is told by the files that compiling leaves."""

from __future__ import annotations

import hashlib
import importlib
import os
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.search import kernels
from shoal.search.kernels import compiling, jit, load
from shoal.search.kernels.load import load_kernels
from shoal.verification import box_walk

needs_numba = pytest.mark.skipif(not jit.is_jitted(load_kernels().group_dense), reason="the kernels are not compiled")


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(kernels.__path__, f"{kernels.__name__}."):
        yield importlib.import_module(found.name)


def jitted() -> Iterator[tuple[str, Any]]:
    """Every kernel and every helper, where it is defined, with those of the checker."""
    for module in (*modules(), box_walk):
        for name, value in vars(module).items():
            if jit.is_jitted(value) and value.py_func.__module__ == module.__name__:
                yield f"{module.__name__.rpartition('.')[2]}.{name}", value


@needs_numba
def test_every_kernel_declares_the_types_that_it_is_compiled_for() -> None:
    undeclared = [
        name
        for name, function in jitted()
        if not function.targetoptions.get("no_cpython_wrapper") and not hasattr(function, "declared")
    ]
    assert not undeclared, "write @jit with the types of the arguments, or @helper if only kernels call it"


@needs_numba
def test_declared_types_are_one_for_each_argument() -> None:
    for name, kernel in jitted():
        if hasattr(kernel, "declared"):
            assert len(jit.declared_types(kernel)) == kernel.py_func.__code__.co_argcount, name


@needs_numba
def test_arrays_are_declared_contiguous() -> None:
    """As NumPy makes them: a kernel for anything else would be compiled beside, when it is first called."""
    for name, kernel in jitted():
        if hasattr(kernel, "declared"):
            assert "A" not in [each.layout for each in flat(jit.declared_types(kernel)) if hasattr(each, "layout")], (
                name
            )


def flat(types: Any) -> Iterator[Any]:
    for each in types:
        yield from flat(each.types) if hasattr(each, "types") else [each]


@needs_numba
def test_a_kernel_counts_as_compiled_once_its_file_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(load_kernels().group_dense.stats.cache_path).name
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not load.is_compiled("compiled.group_dense")
    (tmp_path / folder).mkdir()
    file = tmp_path / folder / "compiled.group_dense-57.py311.nbi"
    file.touch()
    assert load.is_compiled("compiled.group_dense")
    assert not load.is_compiled("compiled.group_dense", "compiled.willing_groups")
    os.utime(file, (0, 0))  # from before the kernel was changed
    assert not load.is_compiled("compiled.group_dense")
    source = Path(load_kernels().__file__ or "").read_bytes()
    file.write_bytes(b"begin" + hashlib.sha256(source).digest() + b"end")  # the file of the source was touched only
    os.utime(file, (0, 0))
    assert load.is_compiled("compiled.group_dense")


@pytest.mark.parametrize("group", [load.GROUPING, load.REFINING, load.COVERING, load.NEIGHBOURS, load.GUIDING])
def test_the_kernels_asked_about_exist(group: tuple[str, ...]) -> None:
    for name in group:
        module, _, function = name.partition(".")
        assert hasattr(importlib.import_module(f"{kernels.__name__}.{module}"), function)


@needs_numba
@pytest.mark.slow
def test_kernels_are_compiled_before_they_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process leaves its share where this one finds it."""
    wanted = ("compiled.fill_slots", "compiled.group_dense")
    stages: list[tuple[str, float]] = []
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "_compile", lambda _: None)  # this process has them in another folder
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    compiling.compile_ahead(wanted, lambda *stage: stages.append(stage))
    assert [load.is_compiled(each) for each in wanted] == [False, True]
    assert {stage for stage, _ in stages} == {compiling.STAGE}
    assert [share for _, share in stages] == sorted(share for _, share in stages)
    stages.clear()
    compiling.compile_ahead(wanted[1:], lambda *stage: stages.append(stage))
    assert not stages


@needs_numba
@pytest.mark.parametrize(
    ("way", "called"), [("prices", load.GUIDING), ("cover", load.REFINING), ("neighbours", load.NEIGHBOURS)]
)
def test_a_search_calls_kernels_with_the_types_they_declare(
    way: str, called: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any other would be compiled beside, while the user waits."""
    monkeypatch.setattr("shoal.search.local.greedy_clustering.has_few_tuples", lambda _: False)
    monkeypatch.setattr(load, "ROWS_BEFORE_LOADING", 0)
    monkeypatch.setattr("shoal.verification.price_certificate.FEW_ITEMS", -1)
    if way != "prices":
        monkeypatch.setattr("shoal.search.local.greedy_clustering.prices_may_guide", lambda _: False)
    if way == "neighbours":
        monkeypatch.setattr("shoal.search.local.blocks.walks_whole_lattice", lambda *_, **__: False)
        monkeypatch.setattr("shoal.search.local.near_tuples.ROWS_BEFORE_LOADING", 0)
    before = {name: set(kernel.signatures) for name, kernel in jitted()}
    table = pa.table(
        {"age": [20 + i * i % 53 for i in range(600)], "zip": [str(10_000 + i**3 % 971) for i in range(600)]}
    )
    columns = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    }
    policy = shoal.Policy(
        columns=columns,
        privacy=[{"model": "k-anonymity", "k": 3}],
        algorithm={"name": "greedy-clustering", "refine": 9},
    )
    shoal.anonymize(table, policy)
    for name, kernel in jitted():
        if hasattr(kernel, "declared"):
            assert set(kernel.signatures) - before[name] <= {jit.declared_types(kernel)}, name
    calls = {*called, *load.PRICES, "box_walk.walk"}
    assert {name for name, kernel in jitted() if name in calls and not kernel.signatures} == set()


def test_short_searches_load_no_compiler() -> None:
    assert load.covering_kernels(1_000, 30) == ()
    assert load.covering_kernels(1_000, 13_000) == load.COVERING
    assert load.refining_kernels(1_000, None) == ()
    assert load.refining_kernels(1_000, 60.0) == load.REFINING == load.refining_kernels(30_000, None)


@pytest.mark.parametrize("compiled", [False, True])
def test_short_searches_that_are_repeated_use_what_is_compiled(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling would take longer than it saves."""
    monkeypatch.setattr(load, "is_compiled", lambda *_: compiled)
    assert load.refining_kernels(1_000, None, repeated=True) == (load.REFINING if compiled else ())
    assert load.covering_kernels(1_000, 30, repeated=True) == (load.COVERING if compiled else ())
