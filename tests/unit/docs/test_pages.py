"""The documentation is complete: a page for every model and algorithm, all measures, attacks and commands."""

from __future__ import annotations

import ast
import dataclasses
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shoal
from shoal.attacks.battery import ATTACKS
from shoal.cli.main import app
from shoal.evidence.evidence import evidence_schema
from shoal.metrics import METRICS
from shoal.models import MODELS
from shoal.search import ALGORITHMS
from support.pages import DOCS, ROOT, blocks, pages

SECTIONS = (
    "Definition",
    "Source",
    "Example",
    "What it guarantees",
    "What it does not",
    "When to use it",
    "In the policy",
)


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def headings(name: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text(name), flags=re.M | re.S), re.MULTILINE)


def test_there_is_one_page_for_every_model_and_no_other() -> None:
    assert {page.stem for page in (DOCS / "models").glob("*.md")} == {*MODELS, "index"}


def test_there_is_one_page_for_every_algorithm_and_no_other() -> None:
    assert {page.stem for page in (DOCS / "algorithms").glob("*.md")} == {*ALGORITHMS, "index"}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_page_has_every_section_and_parameter(name: str) -> None:
    page, model = text(f"models/{name}.md"), MODELS[name]
    assert [heading for heading in headings(f"models/{name}.md") if heading in SECTIONS] == list(SECTIONS)
    for field in dataclasses.fields(model):
        assert f"`{field.name}`" in page, field.name
    assert f"`{name}`" in page


@pytest.mark.parametrize("name", MODELS)
def test_a_model_page_says_what_the_model_declares(name: str) -> None:
    model = MODELS[name]
    declared = {
        "merging": model.merge_closed,
        "adding": model.superset_closed,
        "whole release": model.whole_table,
        "categories": model.needs_categories,
    }
    for row, answer in declared.items():
        (said,) = re.findall(rf"^\| {row} \| (yes|no)\b", text(f"models/{name}.md"), re.MULTILINE)
        assert said == ("yes" if answer else "no"), row


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_page_has_every_section_and_option(name: str) -> None:
    page, entry = text(f"algorithms/{name}.md"), ALGORITHMS[name]
    assert [heading for heading in headings(f"algorithms/{name}.md") if heading in SECTIONS] == list(SECTIONS)
    (table,) = re.findall(r"^\| option \|.*?(?=\n\n)", page, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"^\| `([a-z]+)`", table, re.MULTILINE)) == {*entry.option_names, "seed"}


@pytest.mark.parametrize("names", [pytest.param(MODELS, id="models"), pytest.param(ALGORITHMS, id="algorithms")])
def test_the_overview_links_every_page(names: dict[str, object], request: pytest.FixtureRequest) -> None:
    folder = request.node.callspec.id
    linked = re.findall(r"\]\(([a-z-]+)\.md\)", text(f"{folder}/index.md"))
    assert set(linked) == set(names)


def test_every_measure_and_every_attack_is_described() -> None:
    assert set(re.findall(r"^\| `([a-z_]+)` \|", text("measures.md"), re.MULTILINE)) == set(METRICS)
    (table,) = re.findall(r"^\| attack \| who.*?(?=\n\n)", text("attacks.md"), re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == set(ATTACKS)


def test_the_command_line_page_has_every_command() -> None:
    known = {command.callback.__name__ for command in app.registered_commands if command.callback is not None}
    page = text("reference/command-line.md")
    assert set(re.findall(r"^```\{shoal-help\} ([a-z]+)$", page, re.MULTILINE)) == known
    assert set(re.findall(r"^\| `shoal ([a-z]+)", page, re.MULTILINE)) == known


def test_every_option_in_the_table_of_commands_exists() -> None:
    listed = re.findall(r"^\| `shoal ([a-z]+)([^`]*)` \|", text("reference/command-line.md"), re.MULTILINE)
    assert listed
    for command, rest in listed:
        shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"})
        assert shown.exit_code == 0
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in shown.output, (command, option)


def test_the_map_of_packages_has_every_package() -> None:
    root = Path(shoal.__file__).parent
    packages = {path.parent.name for path in root.glob("*/__init__.py")} | {
        path.stem for path in root.glob("[a-z]*.py")
    }
    named = re.findall(
        r"`([a-z_]+)/?`", "\n".join(re.findall(r"^\| `.*?(?= \| )", text("architecture.md"), re.MULTILINE))
    )
    assert packages <= set(named)


def test_the_walk_of_one_record_names_functions_that_exist() -> None:
    steps = re.findall(r"^\| [a-z]+ \| `([a-z_/]+\.py)` \| `([A-Za-z_.]+)` \|", text("architecture.md"), re.MULTILINE)
    assert len(steps) > 10
    for file, function in steps:
        tree: ast.AST = ast.parse((Path(shoal.__file__).parent / file).read_text(encoding="utf-8"))
        for name in function.split("."):
            inside = {
                each.name: each
                for each in getattr(tree, "body", ())
                if isinstance(each, ast.FunctionDef | ast.ClassDef)
            }
            assert name in inside, f"{file} has no {function}"
            tree = inside[name]


def test_the_python_page_has_every_public_name() -> None:
    shown = re.findall(
        r"^\.\. auto(?:class|function|module):: shoal\.([A-Za-z]+)$", text("reference/python.md"), re.MULTILINE
    )
    assert set(shown) == set(shoal.__all__)


def test_every_page_is_in_the_navigation() -> None:
    listed = set()
    for page in pages():
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / f"{name}.md").resolve() for name in names}
    assert listed | {DOCS / "index.md"} == set(pages())


def test_the_facts_named_for_regulators_are_in_the_evidence() -> None:
    _, section = text("choosing.md").split("## What regulators ask")
    named = set(re.findall(r"`([a-z][a-z_-]*)(?:\.[a-z_]+)?`", section))
    of_risk = {"highest", "average"}
    assert named - set(evidence_schema()["properties"]) - set(ATTACKS) == of_risk


def test_the_readme_has_only_blocks_that_its_own_test_runs() -> None:
    assert {block.language for block in blocks(ROOT / "README.md")} <= {"sh", "python", "text"}


def test_no_page_promises_compliance() -> None:
    promise = re.compile(
        r"(?:GDPR|HIPAA|EMA|ISO)[ -]compliant|makes? you compliant|guarantees? compliance", re.IGNORECASE
    )
    for page in pages():
        assert not promise.search(page.read_text(encoding="utf-8")), page
