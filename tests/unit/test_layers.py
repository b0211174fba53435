"""The directions between packages, read off the imports: data flows one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import shoal

ROOT = Path(shoal.__file__).parent
LAYERS = (
    {"errors", "formatting", "facts"},
    {"edits", "plugins"},
    {"hierarchies"},
    {"table"},
    {"models"},
    {"metrics"},
    {"search"},
    {"policy"},
    {"encode"},
    {"io"},
    {"verification"},
    {"attacks"},
    {"evidence"},
    {"present"},
    {"utility", "draft", "datasets"},
    {"pipeline"},
    {"reproduce"},
    {"ui"},
    {"cli"},
    {"__init__", "__main__"},
)
"""Each imports only from those before it and from itself; two side by side do not import each other."""
FILES = sorted(ROOT.rglob("*.py"))


@dataclass(frozen=True)
class Imported:
    module: str
    line: int
    checked_only: bool
    """Under ``if TYPE_CHECKING``: read by type checkers, never run."""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports_of(path: Path) -> Iterator[Imported]:
    module = ("shoal", *path.relative_to(ROOT).with_suffix("").parts)

    def walk(node: ast.AST, checked_only: bool) -> Iterator[Imported]:
        if isinstance(node, ast.Import):
            yield from (Imported(each.name, node.lineno, checked_only) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*module[: len(module) - node.level]] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            yield Imported(origin, node.lineno, checked_only)
            if origin == "shoal":
                yield from (Imported(f"shoal.{each.name}", node.lineno, checked_only) for each in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for stated in node.body:
                yield from walk(stated, True)
            for otherwise in node.orelse:
                yield from walk(otherwise, checked_only)
        else:
            for each in ast.iter_child_nodes(node):
                yield from walk(each, checked_only)

    yield from walk(tree_of(path), False)


def own_package(imported: str) -> str | None:
    parts = imported.split(".")
    return parts[1] if parts[0] == "shoal" and len(parts) > 1 else None


def layer(package: str) -> int:
    return next(place for place, packages in enumerate(LAYERS) if package in packages)


def test_every_package_has_its_layer() -> None:
    known = set().union(*LAYERS)
    assert {package_of(path) for path in FILES} <= known, "a new package needs a place among the layers"
    assert len(FILES) > 50


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_package_imports_only_what_stands_before_it(path: Path) -> None:
    here = package_of(path)
    wrong = [
        f"line {each.line}: {each.module}"
        for each in imports_of(path)
        if (package := own_package(each.module)) is not None
        and package != here
        and not each.checked_only
        and layer(package) >= layer(here)
    ]
    assert not wrong


def code_words(path: Path) -> Iterator[tuple[str, int]]:
    """Names and texts of the code, documentation left out."""
    tree = tree_of(path)
    documentation = {
        id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value, node.lineno
        elif isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
        elif isinstance(node, ast.FunctionDef):
            yield node.name, node.lineno
    yield from ((each.module, each.line) for each in imports_of(path))


@pytest.mark.parametrize("path", [path for path in FILES if package_of(path) != "io"], ids=name)
def test_only_io_knows_pandas_and_polars(path: Path) -> None:
    assert not [(word, line) for word, line in code_words(path) if "pandas" in word.lower() or "polars" in word.lower()]


def test_only_io_knows_the_readers_of_other_formats() -> None:
    known = {"fastexcel", "pyreadstat", "adbc_driver_manager", "adbc_driver_postgresql"}
    found = {name(path) for path in FILES for each in imports_of(path) if each.module.split(".")[0] in known}
    assert found == {"io/formats/excel.py", "io/formats/statistics_file.py", "io/postgres/connection.py"}


def test_only_the_kernels_know_numba() -> None:
    found = {name(path) for path in FILES for each in imports_of(path) if each.module.split(".")[0] == "numba"}
    assert found == {"search/kernels/compiled.py"}


def test_only_the_spark_engine_knows_pyspark() -> None:
    found = {name(path) for path in FILES for each in imports_of(path) if each.module.split(".")[0] == "pyspark"}
    assert found == {"io/spark/cluster.py", "io/spark/check.py", "io/spark/counts.py"}


@pytest.mark.parametrize("path", [path for path in FILES if name(path).startswith("io/spark/")], ids=name)
def test_the_spark_engine_keeps_to_what_spark_connect_offers(path: Path) -> None:
    """There is no context, no RDD and no broadcast variable behind a remote session."""
    refused = {"sparkContext", "SparkContext", "rdd", "broadcast", "_jdf", "_jvm", "_sc", "rand", "randn"}
    assert not [(word, line) for word, line in code_words(path) if word in refused]


def test_a_release_on_spark_is_checked_by_other_code_than_made_it() -> None:
    checking = next(path for path in FILES if name(path) == "io/spark/check.py")
    assert not [each.module for each in imports_of(checking) if own_package(each.module)]
    verifying = next(path for path in FILES if name(path) == "pipeline/verify.py")
    assert not [each.module for each in imports_of(verifying) if each.module.startswith("shoal.io.spark")]


def test_only_the_learners_know_scikit_learn() -> None:
    known = {"sklearn", "scipy", "threadpoolctl"}
    found = {name(path) for path in FILES for each in imports_of(path) if each.module.split(".")[0] in known}
    assert found == {"utility/learners.py"}


def test_only_the_web_page_knows_its_server() -> None:
    known = {"starlette", "uvicorn"}
    found = {package_of(path) for path in FILES for each in imports_of(path) if each.module.split(".")[0] in known}
    assert found == {"ui"}


@pytest.mark.parametrize("path", [path for path in FILES if package_of(path) == "verification"], ids=name)
def test_verification_shares_nothing_with_what_it_verifies(path: Path) -> None:
    shared = {"table", "search", "models", "metrics", "hierarchies", "encode"}
    assert not [each for each in imports_of(path) if own_package(each.module) in shared]


@pytest.mark.parametrize("path", [path for path in FILES if package_of(path) != "cli"], ids=name)
def test_only_the_command_line_prints(path: Path) -> None:
    calls = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    prints = [node.lineno for node in calls if isinstance(node.func, ast.Name) and node.func.id in {"print", "input"}]
    streams = [
        node.lineno
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"sys.stdout", "sys.stderr", "sys.__stdout__"}
    ]
    terminal = [each.line for each in imports_of(path) if each.module.split(".")[0] in {"rich", "typer", "click"}]
    assert not prints + streams + terminal


def test_the_walk_sees_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of the test: late imports count, those for type checkers are told apart, relative ones are resolved."""
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    file = tmp_path / "models" / "x.py"
    file.parent.mkdir()
    file.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from shoal.cli import main\n"
        "def f():\n    from shoal import search\n    from ..io import read\n    import pandas as pd\n"
        'def g():\n    "pandas in the documentation"\n    return "polars"\n'
    )
    found = {each.module: each.checked_only for each in imports_of(file)}
    assert found["shoal.cli"] is True
    assert found["shoal.search"] is found["shoal.io"] is found["pandas"] is False
    words = {word for word, _ in code_words(file)}
    assert {"pandas", "polars"} <= words
    assert "pandas in the documentation" not in words
