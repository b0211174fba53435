"""What the desk says of the policy: what can be chosen, what is wrong, what can be reached and what would help."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pytest

from shoal.declarations import Parameter, ParameterKind
from shoal.edits import PolicyEdit, apply_edits
from shoal.errors import InfeasibleError
from shoal.metrics import METRICS
from shoal.models import MODELS
from shoal.pipeline import anonymize
from shoal.policy.model_specs import MODEL_SPECS, build_model
from shoal.policy.yaml_text import dump_yaml
from shoal.search import ALGORITHMS
from shoal.ui.desk import choices as desk_choices
from shoal.ui.desk import document
from shoal.ui.desk import review as desk_review
from shoal.ui.desk import table as desk_table
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.main import ANSWERS, answer
from shoal.ui.run.main import run as do_run
from shoal.ui.server.runs import Runs
from shoal.ui.server.workspace import OUT, STATUS, Workspace, read_json, write_bytes, write_json
from support.ui_desk import refused
from support.ui_server import Client, serving

K = {"model": "k-anonymity", "k": 5}
TOO_STRONG: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k": 400},
    "p-sensitive": {"p": 12},
    "p-alpha-sensitive": {"p": 2, "alpha": 60},
    "p-plus-alpha-sensitive": {"p": 4, "alpha": 60},
    "group-leakage": {"p": 2, "alpha": {"Top Secret": 0.01, "Secret": 0.02}},
    "alp-dif": {"limits": {"HIV": {"alp": 0.01, "dif": 0.01}, "Cancer": {"dif": 0}}},
    "distinct-l-diversity": {"l": 12},
    "entropy-l-diversity": {"l": 11.5},
    "recursive-cl-diversity": {"l": 3, "c": 0.1},
    "alpha-k-anonymity": {"alpha": {"HIV": 0.01, "Flu": 0.05}},
    "t-closeness": {"t": 0.01},
}
"""Parameters that the bundled table cannot reach within its boundaries and without suppression."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with the bundled hospital table."""
    workspace = Workspace(tmp_path / "session")
    workspace.create()
    desk = Desk(workspace, 1_000_000)
    desk_table.open_example(desk, {})
    return desk


def save(desk: Desk, content: Any) -> None:
    """Write the policy file."""
    desk.workspace.policy.write_text(dump_yaml(content), encoding="utf-8")


def change(desk: Desk, **keys: Any) -> None:
    """Change some keys of the policy."""
    save(desk, {**desk.document(), **keys})


def review(desk: Desk) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(desk_review.review(desk, {"forecast": True})))
    return found


def forecast(desk: Desk) -> dict[str, Any]:
    found: dict[str, Any] = review(desk)["forecast"]
    return found


def check(desk: Desk) -> list[str]:
    return [each["where"] for each in review(desk)["problems"]]


def edits_of(suggestion: dict[str, Any]) -> list[PolicyEdit]:
    return [PolicyEdit.from_dict(each) for each in suggestion["edits"]]


# what can be chosen


def test_an_unknown_question_is_answered_with_its_code(desk: Desk) -> None:
    assert "review" in ANSWERS
    with refused("unknown-question"):
        answer(desk, "nothing", {})


def test_everything_that_the_code_knows_can_be_chosen_and_is_explained(desk: Desk) -> None:
    choices = json.loads(json.dumps(desk_choices.choices(desk, {})))
    assert [each["name"] for each in choices["models"]] == list(MODEL_SPECS)
    assert [each["name"] for each in choices["algorithms"]] == list(ALGORITHMS)
    assert [each["name"] for each in choices["measures"]] == list(METRICS)
    for model in choices["models"]:
        parameters = [each["name"] for each in model["parameters"]]
        assert parameters == [
            name for name in MODEL_SPECS[model["name"]].model_fields if name not in {"model", "sensitive"}
        ]
        assert all(model[key] for key in ("title", "fear", "protects", "audience", "example", "leaves_open"))
    for algorithm in choices["algorithms"]:
        assert set(algorithm["options"]) == ALGORITHMS[algorithm["name"]].option_names | {"seed"}
        assert all(algorithm[key] for key in ("scope", "does", "when", "drawback"))
        assert ("weights" in algorithm["options"]) == bool(algorithm["weights"]["role"])


def started(name: str, **changed: Any) -> dict[str, Any]:
    """An entry with the values that the page begins with."""
    starts = {each.name: each.start for each in MODELS[name].parameters}
    if name == "group-leakage":
        starts["alpha"] = {"Top Secret": starts["alpha"]}
    if name == "alp-dif":
        starts["limits"] = {"HIV": starts["limits"]}
    return {"model": name, **starts, **changed}


def number(name: str, parameter: str, value: float) -> Any:
    """A number where the entry has it."""
    if name == "group-leakage" and parameter == "alpha":
        return {"Top Secret": value}
    return {"HIV": {"alp": value, "dif": value}} if parameter == "limits" else value


NUMBERS = [
    (name, each)
    for name, model in MODELS.items()
    for each in model.parameters
    if each.kind not in {ParameterKind.CHOICE, ParameterKind.FLAG}
]


@pytest.mark.parametrize(("name", "bounds"), NUMBERS, ids=lambda each: getattr(each, "name", each))
def test_the_bounds_of_a_number_are_those_of_its_model(name: str, bounds: Parameter) -> None:
    def problems(value: float) -> int:
        spec = MODEL_SPECS[name].model_validate(started(name, **{bounds.name: number(name, bounds.name, value)}))
        return len(build_model(spec, "condition").parameter_problems())

    assert bool(problems(bounds.low)) == bounds.open_low
    assert problems(bounds.low - 1)
    assert bool(problems(bounds.high + 1 if bounds.high < 2 else 10_000)) == (bounds.high < 2)
    assert not problems(bounds.high if bounds.high < 2 else 10_000)


@pytest.mark.parametrize("name", MODEL_SPECS)
def test_what_the_page_begins_with_is_a_policy_without_problems(desk: Desk, name: str) -> None:
    change(desk, privacy=[started(name)])
    if MODELS[name].needs_numbers:  # the page names a column of numbers
        columns = {**desk.document()["columns"], "age": {"role": "sensitive"}}
        change(desk, columns=columns, privacy=[started(name, sensitive="age")])
    assert check(desk) == []


def test_the_starting_points_are_policies_without_problems_and_say_why(desk: Desk) -> None:
    points = desk_choices.starting_points()
    assert [point["size"]["k"] for point in points] == [3, 10, 12]
    for point in points:
        assert str(point["size"]["k"]) in point["title"]
        assert len(point["why"]) > 40
        on_categories = [{**point["categories"], "sensitive": "condition"}] if "categories" in point else []
        change(desk, privacy=[point["size"], *on_categories], suppression=point.get("suppression", 0))
        assert check(desk) == []


# what is wrong


def test_a_policy_that_fits_the_table_has_no_problems(desk: Desk) -> None:
    assert check(desk) == []


def test_problems_with_the_data_are_told_with_their_place(desk: Desk) -> None:
    change(desk, privacy=[K, {"model": "alpha-k-anonymity", "alpha": {"Plague": 0.2}, "sensitive": "condition"}])
    assert check(desk) == ["privacy[1].alpha"]
    columns = desk.document()["columns"]
    change(desk, columns={**columns, "shoe_size": {"role": "quasi", "hierarchy": "flat"}})
    assert check(desk) == ["columns.shoe_size", "privacy[1].alpha"]


def test_a_problem_of_the_policy_itself_hides_none_with_the_data(desk: Desk) -> None:
    columns = desk.document()["columns"]
    few = {**columns["condition"], "categories": {"Grave": ["HIV", "Cancer"], "Harmless": ["Flu"]}}
    change(desk, privacy=[{"model": "k-anonymity", "k": 0}], columns={**columns, "condition": few})
    assert check(desk) == ["privacy[0].k", "columns.condition.categories"]


def test_options_that_the_table_does_not_allow_are_told_before_a_run(desk: Desk) -> None:
    change(desk, algorithm={"name": "range", "group": {"zipcode": 99}, "ranges": ["country"]})
    assert check(desk) == ["algorithm.group.zipcode", "algorithm.ranges.country"]
    change(desk, algorithm={"name": "mondrian", "ranges": ["zipcode", "country"]})
    assert "algorithm.ranges.country" in check(desk)


# what can be reached


def test_the_table_is_encoded_once_while_only_privacy_algorithm_and_suppression_change(desk: Desk) -> None:
    def encoded() -> Any:
        forecast(desk)
        return desk_review.prepared(desk, desk.policy()).resolved.problem.table

    first = encoded()
    change(desk, privacy=[K], suppression=0.1, algorithm={"name": "mondrian"})
    assert encoded() is first
    columns = desk.document()["columns"]
    change(desk, columns={name: column for name, column in columns.items() if name != "zipcode"})
    narrower = encoded()
    assert narrower is not first
    assert narrower.quasi == tuple(name for name in first.quasi if name != "zipcode")


def test_a_table_that_is_read_otherwise_is_encoded_anew(desk: Desk) -> None:
    first = desk_review.prepared(desk, desk.policy())
    change(desk, data={**desk.document()["data"], "missing": ["", "?", "F"]})
    second = desk_review.prepared(desk, desk.policy())
    assert second.source.table is not first.source.table
    assert "F" in first.resolved.quasi["sex"].hierarchy.labels
    assert "F" not in second.resolved.quasi["sex"].hierarchy.labels


def test_a_forecast_speaks_of_each_model_at_its_entry(desk: Desk) -> None:
    found = forecast(desk)
    assert [(each["entry"], each["model"]) for each in found["models"]] == [
        (0, "k-anonymity"),
        (1, "p-plus-alpha-sensitive"),
    ]
    assert (found["verdict"], found["suggestions"]) == ("reachable", [])
    assert found["overall"]
    assert found["table"]


def test_problems_name_the_part_of_the_policy_that_they_are_about(desk: Desk) -> None:
    columns = desk.document()["columns"]
    change(
        desk,
        columns={**columns, "age.group": {"role": "quasi", "hierarchy": "flat"}},
        privacy=[K, {"model": "alpha-k-anonymity", "alpha": {"Plague": 0.2}, "sensitive": "condition"}],
    )
    found = [(each["section"], each["column"], each["entry"]) for each in review(desk)["problems"]]
    assert found == [("columns", "age.group", None), ("privacy", None, 1)]


def test_a_policy_that_was_just_saved_is_not_read_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {**desk.document(), "suppression": 0.5}
    save(desk, content)
    revision = document.revision_of(document.text_of(desk.workspace.policy))
    monkeypatch.setattr("shoal.ui.desk.desk.check_file", lambda path: pytest.fail(f"{path} is read again"))
    given = {"document": document.to_page(content), "revision": revision, "forecast": True}
    assert desk_review.review(desk, given)["forecast"] is not None
    assert desk.policy().suppression == 0.5


def test_a_model_has_one_name_wherever_the_page_speaks_of_it(desk: Desk) -> None:
    titles = {each["name"]: each["title"] for each in desk_choices.choices(desk, {})["models"]}
    assert titles == {name: model.title for name, model in MODELS.items()}
    found = forecast(desk)["models"][1]
    assert found["sentences"][0].startswith(titles["p-plus-alpha-sensitive"])


def test_an_estimate_has_a_range(desk: Desk) -> None:
    estimate = review(desk)["estimate"]
    assert 0 < estimate["low"] <= estimate["high"]
    assert estimate["basis"]


# what would help


@pytest.mark.parametrize("name", TOO_STRONG)
def test_every_change_that_is_suggested_can_be_made_and_does_what_it_says(desk: Desk, name: str) -> None:
    entry = {"model": name, **TOO_STRONG[name]} | ({} if name == "k-anonymity" else {"sensitive": "condition"})
    change(desk, privacy=[{"model": "k-anonymity", "k": 20}, entry], suppression=0)
    before = desk.document()
    found = forecast(desk)
    assert found["verdict"] != "reachable"
    assert found["suggestions"]
    for each in found["suggestions"]:
        assert each["label"]
        save(desk, apply_edits(before, edits_of(each)))
        assert forecast(desk)["verdict"] == "reachable", each
        save(desk, before)


def test_each_entry_of_one_model_on_one_column_takes_its_own_change(desk: Desk) -> None:
    entries = [{"model": "t-closeness", "t": t, "distance": d, "sensitive": "condition"}
               for t, d in ((0.001, "equal"), (0.002, "hierarchical"))]  # fmt: skip
    change(desk, privacy=[K, *entries], suppression=0)
    before = desk.document()
    suggestions = forecast(desk)["suggestions"]
    assert any(
        {edit.path for edit in edits_of(each)} >= {("privacy", 1, "t"), ("privacy", 2, "t")} for each in suggestions
    )
    for each in suggestions:
        save(desk, apply_edits(before, edits_of(each)))
        assert forecast(desk)["verdict"] == "reachable", each
        save(desk, before)


def test_ranges_become_safe_with_what_that_needs(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "session")
    workspace.create()
    rows = [
        (zipcode, age, illness)
        for zipcode in ("47677", "47905")
        for age, illness in ((22, "flu"), (29, "flu"), (52, "HIV"))
    ]
    (workspace.folder / "incoming").mkdir()
    with (workspace.folder / "incoming" / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("zipcode", "age", "illness"), *rows])
    desk = Desk(workspace, 1000)
    desk_table.open_upload(desk, {"name": "people.csv"})
    columns = {
        "zipcode": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "age": {"role": "quasi", "hierarchy": {"intervals": [10, 50]}},
        "illness": {"role": "sensitive"},
    }
    for k, group in ((2, {"zipcode": 2}), (4, {"zipcode": 3})):
        change(desk, columns=columns, privacy=[{"model": "k-anonymity", "k": k}], suppression=0,
               algorithm={"name": "range", "group": {"zipcode": 2}, "ranges": ["age"]})  # fmt: skip
        found = forecast(desk)
        assert found["by_algorithm"] == "unreachable"
        save(desk, apply_edits(desk.document(), edits_of(found["suggestions"][0])))
        assert desk.document()["algorithm"] == {"name": "range", "group": group, "ranges": ["age"], "safe": True}
        assert forecast(desk)["by_algorithm"] == "reachable"


# runs


def test_a_failed_run_suggests_the_edits_that_would_help(desk: Desk) -> None:
    change(desk, privacy=[{"model": "k-anonymity", "k": 100}], suppression=0)
    with pytest.raises(InfeasibleError) as raised:
        anonymize(desk.workspace.table(), desk.policy())
    folder = desk.workspace.runs / "001"
    folder.mkdir()
    write_bytes(folder / "policy.yaml", desk.workspace.policy.read_bytes())
    failed = do_run(folder, desk.workspace, "release", lambda _, __: None)["error"]
    assert (failed["code"], bool(failed["reasons"]), (folder / OUT).exists()) == (raised.value.code, True, False)
    suggestions = failed["suggestions"]
    assert [each["code"] for each in suggestions][:2] == ["suppression", "parameters"]
    assert edits_of(suggestions[1]) == [PolicyEdit(("privacy", 0, "k"), 2)]
    assert raised.value.to_dict()["diagnosis"]["relaxations"][1]["edits"] == suggestions[1]["edits"]


def test_a_run_takes_another_name_and_stays_what_it_is(desk: Desk) -> None:
    folder = desk.workspace.runs / "001"
    folder.mkdir()
    write_json(folder / STATUS, {"kind": "release", "name": "", "state": "done", "started": 1.0})

    async def rename() -> None:
        Runs(desk.workspace, asyncio.Semaphore(1)).rename("001", "for the board")

    asyncio.run(rename())
    assert read_json(folder / STATUS) == {"kind": "release", "name": "for the board", "state": "done", "started": 1.0}


def test_the_server_gives_the_policy_of_a_run_and_takes_another_name_for_it(tmp_path: Path) -> None:
    with serving(tmp_path) as ui:
        client = Client.inside(ui)
        client.desk("open_example")
        number = client.run(name="first")
        assert client.ask("GET", f"/api/runs/{number}/policy").json["policy"]["privacy"][0] == K
        assert client.ask("PUT", f"/api/runs/{number}", {"name": "second"}).json["name"] == "second"
        assert client.ask("GET", "/api/runs/999/policy").status == 400
        assert client.ask("PUT", "/api/runs/999", {"name": "x"}).status == 400
        assert client.finished(number)["name"] == "second"


def test_one_request_saves_a_policy_and_reviews_it(tmp_path: Path) -> None:
    with serving(tmp_path) as ui:
        client = Client.inside(ui)
        opened = client.desk("open_example").json
        policy, revision = opened["policy"], opened["revision"]
        strict = {**policy, "privacy": [{"model": "k-anonymity", "k": 400}], "suppression": 0}
        sent = {"policy": strict, "revision": revision, "forecast": True}
        saved = client.ask("PUT", "/api/policy", sent).json
        if saved.get("pending"):
            saved |= client.desk("review", forecast=True).json
        assert (saved["problems"], saved["forecast"]["verdict"]) == ([], "unreachable")
        assert saved["estimate"]["high"] > 0
        stale = client.ask("PUT", "/api/policy", sent)
        assert (stale.status, stale.json["error"]["code"]) == (409, "policy-outdated")
        (edits,) = (each["edits"] for each in saved["forecast"]["suggestions"] if each["code"] == "parameters")
        eased = client.ask("PUT", "/api/policy", {"edits": edits, "revision": saved["revision"], "forecast": True}).json
        assert eased["policy"]["privacy"][0]["k"] < 400
        number = client.run(name="eased")
        again = client.ask(
            "PUT", "/api/policy", {"edits": [{"path": ["suppression"], "value": 0.1}], "run": number}
        ).json
        assert again["policy"]["suppression"] == 0.1
        for wrong, code in (({"edits": "all"}, "edit-unreadable"), ({"edits": [], "run": "../x"}, "unknown-run")):
            assert client.ask("PUT", "/api/policy", wrong).json["error"]["code"] == code


def test_households_and_weights_are_checked_against_the_table(desk: Desk) -> None:
    """The same table with other columns named: what was read before is not taken for it."""
    policy, problems = desk.document(), []
    for key, column in (("household", "name"), ("household", "marital_status"), ("weight", "age"), ("weight", "sex")):
        save(desk, {**policy, key: column})
        problems.append([each["code"] for each in review(desk)["problems"]])
    assert problems == [[], ["missing-household"], [], ["bad-weight"]]
