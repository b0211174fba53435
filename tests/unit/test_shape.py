"""The shape of the package, read off its source: directions between packages, no cycles, who knows what, and names.

Each test collects every violation, so that one run shows all of them.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import shoal
from shoal.models import MODELS
from shoal.search import ALGORITHMS

ROOT = Path(shoal.__file__).parent
LAYERS = (
    {"errors", "formatting", "facts"},
    {"plugins"},
    {"declarations", "edits", "attack_names"},
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


def module_of(path: Path) -> str:
    return ".".join(("shoal", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


def imports_of(path: Path) -> Iterator[Imported]:
    """Every import of a file, those inside functions too; relative ones are resolved."""
    module = ("shoal", *path.relative_to(ROOT).with_suffix("").parts)

    def walk(node: ast.AST, checked_only: bool) -> Iterator[Imported]:
        if isinstance(node, ast.Import):
            yield from (Imported(each.name, node.lineno, checked_only) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*module[: len(module) - node.level]] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            yield Imported(origin, node.lineno, checked_only)
            if origin.split(".")[0] == "shoal":
                yield from (Imported(f"{origin}.{each.name}", node.lineno, checked_only) for each in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for stated in node.body:
                yield from walk(stated, True)
            for otherwise in node.orelse:
                yield from walk(otherwise, checked_only)
        else:
            for each in ast.iter_child_nodes(node):
                yield from walk(each, checked_only)

    yield from walk(tree_of(path), False)


@cache
def graph() -> dict[str, set[str]]:
    """Which modules each module imports when it runs."""
    modules = {module_of(path): path for path in FILES}
    return {
        module: {each.module for each in imports_of(path) if each.module in modules and not each.checked_only}
        - {module}
        for module, path in modules.items()
    }


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


def texts(path: Path) -> Iterator[str]:
    """The texts of the code, documentation left out."""
    tree = tree_of(path)
    documentation = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def compared(path: Path) -> Iterator[str]:
    """The texts that something is compared with, or that are listed."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Compare):
            yield from (each.value for each in node.comparators if isinstance(each, ast.Constant))  # type: ignore[misc]
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            yield from (each.value for each in node.elts if isinstance(each, ast.Constant))  # type: ignore[misc]


def loaded_with(statement: str) -> set[str]:
    """The modules that a new process has after a statement."""
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


# --- directions -------------------------------------------------------------------------------------------------------


def layer(package: str) -> int:
    return next(index for index, packages in enumerate(LAYERS) if package in packages)


def test_every_package_has_its_layer() -> None:
    known = set().union(*LAYERS)
    assert {package_of(path) for path in FILES} <= known, "a new package must be listed in a layer"
    assert len(FILES) > 50


def test_a_package_imports_only_what_stands_before_it() -> None:
    wrong = [
        f"{name(path)}:{each.line} {each.module}"
        for path in FILES
        for each in imports_of(path)
        if not each.checked_only and each.module.startswith("shoal.")
        for package in [each.module.split(".")[1]]
        if package in set().union(*LAYERS) and package != package_of(path) and layer(package) >= layer(package_of(path))
    ]
    assert not wrong


def test_no_module_imports_itself_through_others() -> None:
    packages = {module_of(path) for path in FILES if path.name == "__init__.py"}
    plain = {module: to - packages for module, to in graph().items() if module not in packages}
    in_circle = []
    for start, direct in plain.items():
        seen, todo = set[str](), list(direct)
        while todo:
            module = todo.pop()
            if module not in seen:
                seen.add(module)
                todo += plain.get(module, ())
        if start in seen:
            in_circle.append(start)
    assert not in_circle


def test_the_verifier_reaches_nothing_that_makes_releases() -> None:
    """Not through what its imports import, either; `shoal.plugins` only finds the checks that packages offer."""
    seen, todo = set[str](), ["shoal.verification"]
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo += [*graph().get(module, ()), *([module.rpartition(".")[0]] if module.count(".") > 1 else [])]
    assert {module for module in seen if not module.startswith("shoal.verification")} == {
        "shoal.errors",
        "shoal.plugins",
    }


def test_a_policy_is_read_without_searches_and_without_reading_data() -> None:
    loaded = loaded_with("import shoal.policy")
    assert not [each for each in loaded if each.split(".")[0] in {"numba", "pandas", "polars", "pyarrow", "pyspark"}]
    heavy = re.compile(r"shoal\.(io|encode|verification|search\.(engine|kernels|lattice|local|bounds|diagnosis)\b)")
    assert not [each for each in loaded if heavy.match(each)]


def test_a_release_on_spark_is_checked_by_other_code_than_made_it() -> None:
    checking = ROOT / "io" / "spark" / "check.py"
    assert not [each.module for each in imports_of(checking) if each.module.startswith("shoal.")]


# --- who knows what ---------------------------------------------------------------------------------------------------


def importers(*known: str) -> set[str]:
    return {name(path) for path in FILES for each in imports_of(path) if each.module.split(".")[0] in known}


def test_only_io_knows_pandas_and_polars() -> None:
    wrong = [
        f"{name(path)}:{line}"
        for path in FILES
        if package_of(path) != "io"
        for word, line in code_words(path)
        if "pandas" in word.lower() or "polars" in word.lower()
    ]
    assert not wrong


def test_other_libraries_are_known_in_one_place_each() -> None:
    assert importers("fastexcel") == {"io/formats/excel.py"}
    assert importers("pyreadstat") == {"io/formats/spss_sas_stata.py"}
    assert importers("adbc_driver_manager", "adbc_driver_postgresql") == {"io/postgres/connection.py"}
    assert importers("numba") == {"search/kernels/jit.py", "verification/box_walk.py"}
    assert importers("sklearn", "scipy", "threadpoolctl") == {"utility/learners.py"}
    assert {each.split("/")[0] for each in importers("starlette", "uvicorn")} == {"ui"}
    assert {each.rpartition("/")[0] for each in importers("pyspark")} == {"io/spark"}


def test_the_spark_engine_keeps_to_what_spark_connect_offers() -> None:
    """There is no context, no RDD and no broadcast variable behind a remote session."""
    refused = {"sparkContext", "SparkContext", "rdd", "broadcast", "_jdf", "_jvm", "_sc", "rand", "randn"}
    spark = [path for path in FILES if name(path).startswith("io/spark/")]
    assert spark
    assert not [f"{name(path)}:{line}" for path in spark for word, line in code_words(path) if word in refused]


def test_only_the_command_line_prints() -> None:
    wrong = []
    for path in FILES:
        if package_of(path) == "cli":
            continue
        for node in ast.walk(tree_of(path)):
            prints = (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"print", "input"}
            )
            streams = isinstance(node, ast.Attribute) and ast.unparse(node) in {
                "sys.stdout",
                "sys.stderr",
                "sys.__stdout__",
            }
            if prints or streams:
                wrong.append(f"{name(path)}:{node.lineno}")
        wrong += [f"{name(path)}:{each.line}" for each in imports_of(path) if each.module in {"rich", "typer", "click"}]
    assert not wrong


# --- declarations drive -----------------------------------------------------------------------------------------------

_ORDINARY = {"optimal", "range"}
"""Names of algorithms that are words of their own: they are meant as names where something is compared with them."""


def naming(names: Collection[str], ordinary: Collection[str], *own: str) -> set[str]:
    """The modules outside some packages that have a name in a text of their code."""
    plain = [each for each in names if each not in ordinary]
    meant = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(plain, key=len, reverse=True)))})(?![\w-])")
    return {
        name(path)
        for path in FILES
        if package_of(path) not in own
        if any(map(meant.search, texts(path))) or not set(ordinary).isdisjoint(compared(path))
    }


def test_no_module_outside_models_names_a_model() -> None:
    """The verifier has its own condition for each model, and the papers name theirs."""
    assert not naming(MODELS, (), "models", "verification", "reproduce")


def test_no_module_outside_models_imports_a_model() -> None:
    classes = {model.__name__ for model in MODELS.values()}
    own = {"models", "reproduce"}
    wrong = [
        f"{name(path)}:{each.line}"
        for path in FILES
        for each in imports_of(path)
        if package_of(path) not in own and each.module.rpartition(".")[2] in classes
    ]
    assert not wrong


def test_no_module_outside_search_names_an_algorithm() -> None:
    assert not naming(ALGORITHMS, _ORDINARY, "search", "reproduce")


# --- words last -------------------------------------------------------------------------------------------------------

READS_TEXT = frozenset({"ui/server/settings.py", "ui/server/workspace.py"})
"""Modules of the page that read text which people wrote: settings and names of files."""


def test_the_page_parses_no_sentence() -> None:
    def takes_apart(path: Path) -> bool:
        calls = (node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call))
        splits = any(isinstance(each, ast.Attribute) and each.attr in {"split", "splitlines"} for each in calls)
        return splits or any(each.module == "re" for each in imports_of(path))

    assert {name(path) for path in FILES if package_of(path) == "ui" and takes_apart(path)} <= READS_TEXT


# --- names and codes --------------------------------------------------------------------------------------------------


def test_no_two_public_classes_share_a_name() -> None:
    found = defaultdict(list)
    for path in FILES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(name(path))
    assert not {each: where for each, where in found.items() if len(where) > 1}


CODED = {"PolicyProblem", "InputError", "DataError", "OutputError", "PluginError"}


def test_every_problem_and_error_has_a_code() -> None:
    found = set()
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CODED:
                given = {keyword.arg: keyword.value for keyword in node.keywords}
                code = given.get("code")
                if code is None and None not in given:
                    found.add(name(path))
                if isinstance(code, ast.Constant):
                    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", str(code.value)), f"{name(path)}:{node.lineno}"
    assert not found


# --- the tests of these tests -----------------------------------------------------------------------------------------


def test_the_walk_sees_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Late imports count, those for type checkers are told apart, relative ones are resolved."""
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
