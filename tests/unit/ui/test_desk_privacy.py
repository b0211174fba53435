"""The desk's questions about privacy: what can be chosen, what is wrong, what can be reached and what would help."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pytest

from shoal.declarations import Parameter, ParameterKind
from shoal.errors import InfeasibleError, InputError
from shoal.metrics import METRICS
from shoal.models import MODELS
from shoal.pipeline import anonymize
from shoal.policy import Policy
from shoal.policy.model_specs import MODEL_SPECS, build_model
from shoal.search import ALGORITHMS
from shoal.ui.desk import document, privacy_words
from shoal.ui.desk import privacy as desk_privacy
from shoal.ui.desk import table as desk_table
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.questions import QUESTIONS
from shoal.ui.desk.relaxations import label, relaxed
from shoal.ui.server.runs import STATUS, Runs
from shoal.ui.server.workspace import Workspace, read_json, write_json
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


def change(desk: Desk, **keys: Any) -> None:
    """Change some keys of the policy."""
    document.save(desk.workspace, {**desk.document(), **keys})


def check(desk: Desk) -> list[str]:
    return [each["where"] for each in desk_privacy.check(desk, {})["problems"]]


# what can be chosen


def test_every_question_is_one_that_the_page_may_ask() -> None:
    assert set(desk_privacy.ANSWERS) <= QUESTIONS


def test_everything_that_the_code_knows_can_be_chosen_and_is_explained(desk: Desk) -> None:
    choices = json.loads(json.dumps(desk_privacy.choices(desk, {})))
    assert [each["name"] for each in choices["models"]] == list(MODEL_SPECS)
    assert [each["name"] for each in choices["algorithms"]] == list(ALGORITHMS)
    assert [each["name"] for each in choices["measures"]] == list(METRICS)
    for model in choices["models"]:
        parameters = [each["name"] for each in model["parameters"]]
        assert parameters == [
            name for name in MODEL_SPECS[model["name"]].model_fields if name not in {"model", "sensitive"}
        ]
        assert all(model[key] for key in ("title", "fear", "protects", "whom", "example", "not"))
    for algorithm in choices["algorithms"]:
        assert set(algorithm["options"]) == ALGORITHMS[algorithm["name"]].option_names | {"seed"}
        assert all(algorithm[key] for key in ("kind", "does", "when", "not"))
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
    (name, each) for name, model in MODELS.items() for each in model.parameters if each.kind is not ParameterKind.CHOICE
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
    assert check(desk) == []


def test_the_beginnings_that_others_use_say_why() -> None:
    for preset in privacy_words.PRESETS:
        assert str(preset.k) in preset.title
        assert len(preset.why) > 40
    assert [preset.k for preset in privacy_words.PRESETS] == [3, 10, 12]


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
        desk_privacy.forecast(desk, {})
        return desk_privacy.prepared(desk, desk.policy()).resolved.problem.table

    first = encoded()
    change(desk, privacy=[K], suppression=0.1, algorithm={"name": "mondrian"})
    assert encoded() is first
    columns = desk.document()["columns"]
    change(desk, columns={name: column for name, column in columns.items() if name != "zipcode"})
    narrower = encoded()
    assert narrower is not first
    assert narrower.quasi == tuple(name for name in first.quasi if name != "zipcode")


def test_a_table_that_is_read_otherwise_is_encoded_anew(desk: Desk) -> None:
    first = desk_privacy.prepared(desk, desk.policy())
    change(desk, data={**desk.document()["data"], "missing": ["", "?", "F"]})
    second = desk_privacy.prepared(desk, desk.policy())
    assert second.source.table is not first.source.table
    assert "F" in first.resolved.quasi["sex"].hierarchy.labels
    assert "F" not in second.resolved.quasi["sex"].hierarchy.labels


def test_a_forecast_speaks_of_each_model_at_its_place(desk: Desk) -> None:
    told = json.loads(json.dumps(desk_privacy.forecast(desk, {})))
    assert [(each["where"], each["model"]) for each in told["models"]] == [
        ("privacy[0]", "k-anonymity"),
        ("privacy[1]", "p-plus-alpha-sensitive"),
    ]
    assert told["verdict"] == "reachable"
    assert told["relaxations"] == []
    spoken = [sentence for each in told["models"] for sentence in each["sentences"]]
    assert told["general"]
    assert not set(told["general"]) & {*spoken, *told["facts_in_words"]}


def test_a_model_has_one_name_wherever_the_page_speaks_of_it(desk: Desk) -> None:
    titles = {each["name"]: each["title"] for each in desk_privacy.choices(desk, {})["models"]}
    assert titles == {name: words.title for name, words in MODELS.items()}
    told = desk_privacy.forecast(desk, {})["models"][1]
    assert (told["model"], titles[told["model"]]) == ("p-plus-alpha-sensitive", "(p⁺, α)-sensitivity")
    assert told["sentences"][0].startswith("(p⁺, α)-sensitivity with p = ")


def test_an_estimate_has_a_range(desk: Desk) -> None:
    told = desk_privacy.estimate(desk, {})
    assert 0 < told["low"] <= told["high"]
    assert told["words"].startswith("about")


# what would help


@pytest.mark.parametrize("name", TOO_STRONG)
def test_every_change_that_is_suggested_can_be_made_and_does_what_it_says(desk: Desk, name: str) -> None:
    entry = {"model": name, **TOO_STRONG[name]} | ({} if name == "k-anonymity" else {"sensitive": "condition"})
    change(desk, privacy=[{"model": "k-anonymity", "k": 20}, entry], suppression=0)
    before = desk.document()
    told = desk_privacy.forecast(desk, {})
    assert told["verdict"] != "reachable"
    assert told["relaxations"]
    for each in told["relaxations"]:
        assert each["label"]
        document.save(desk.workspace, document.from_page(desk_privacy.relax(desk, each)["policy"]))
        assert desk_privacy.forecast(desk, {})["verdict"] == "reachable", each
        document.save(desk.workspace, before)


def test_a_change_leaves_everything_else_as_it_was(desk: Desk) -> None:
    change(desk, privacy=[{"model": "k-anonymity", "k": 400}], suppression=0)
    policy = desk.policy()
    less = relaxed(policy, {"where": "k-anonymity.k", "value": 2.0, "text": ""})
    assert less == {**policy.to_dict(), "privacy": [{"model": "k-anonymity", "k": 2}]}
    more = relaxed(policy, {"where": "suppression", "value": 0.25, "text": ""})
    assert more == {**policy.to_dict(), "suppression": 0.25}
    free = relaxed(policy, {"where": "columns.age.boundary", "value": "none", "text": ""})
    assert "boundary" not in free["columns"]["age"]
    assert free["columns"]["country"] == policy.to_dict()["columns"]["country"]
    assert all("boundary" not in each for each in relaxed(policy, {"where": "boundaries"})["columns"].values())


def test_a_model_on_several_columns_gives_way_only_where_it_must() -> None:
    secret = {"role": "sensitive"}
    quasi = {"role": "quasi", "hierarchy": "flat"}
    entry = {"model": "p-sensitive", "p": 3}
    policy = Policy.model_validate({"columns": {"q": quasi, "a": secret, "b": secret, "c": secret}, "privacy": [entry]})
    where = {"where": "p-sensitive(b).p", "value": 2.0, "text": ""}
    assert relaxed(policy, where)["privacy"] == [
        {**entry, "sensitive": ["a", "c"]},
        {**entry, "p": 2, "sensitive": "b"},
    ]
    every = " with ".join(f"p-sensitive({name}).p = 2" for name in "abc")
    assert relaxed(policy, {"where": "privacy", "value": every, "text": ""})["privacy"] == [{**entry, "p": 2}]


def test_each_entry_of_one_model_on_one_column_takes_its_own_change(desk: Desk) -> None:
    entries = [{"model": "t-closeness", "t": t, "distance": d, "sensitive": "condition"}
               for t, d in ((0.001, "equal"), (0.002, "hierarchical"))]  # fmt: skip
    change(desk, privacy=[K, *entries], suppression=0)
    policy = desk.policy()
    both = "privacy[1].t-closeness(condition).t = 0.5 with privacy[2].t-closeness(condition).t = 0.25"
    given = {"where": "privacy", "value": both, "text": both}
    assert [each.get("t") for each in relaxed(policy, given)["privacy"]] == [None, 0.5, 0.25]
    assert label(policy, given) == (
        "Ask t = 0.5 of t-closeness on 'condition' (entry 2) and t = 0.25 of t-closeness on 'condition' (entry 3)"
    )
    before = desk.document()
    told = desk_privacy.forecast(desk, {})
    assert {each["where"] for each in told["relaxations"]} >= {"privacy"}
    for each in told["relaxations"]:
        document.save(desk.workspace, document.from_page(desk_privacy.relax(desk, each)["policy"]))
        assert desk_privacy.forecast(desk, {})["verdict"] == "reachable", each
        document.save(desk.workspace, before)


HOSTILE = "x).p = 1 with p-sensitive(y"


def test_names_that_read_like_changes_change_nothing_else() -> None:
    secret = {"role": "sensitive"}
    columns = {"q": {"role": "quasi", "hierarchy": "flat"}, HOSTILE: secret, "x": secret, "y": secret}
    privacy = [{"model": "p-sensitive", "p": 9, "sensitive": name} for name in (HOSTILE, "x", "y")]
    policy = Policy.model_validate({"columns": columns, "privacy": privacy})
    together = f"p-sensitive({HOSTILE}).p = 4 with p-sensitive(y).p = 5"
    given = {"where": "privacy", "value": together, "text": together}
    assert [each["p"] for each in relaxed(policy, given)["privacy"]] == [4, 9, 5]
    assert label(policy, given) == f"Ask p = 4 of p-sensitivity on {HOSTILE!r} and p = 5 of p-sensitivity on 'y'"


@pytest.mark.parametrize(
    "where", ["", "p-sensitive(gone).p", "columns.gone.boundary", "algorithm.group.gone", "privacy"]
)
def test_a_change_that_does_not_fit_the_policy_is_refused(desk: Desk, where: str) -> None:
    with pytest.raises(InputError, match="by hand"):
        desk_privacy.relax(desk, {"where": where, "value": "t-closeness(gone).t = 1", "text": ""})


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
        told = desk_privacy.forecast(desk, {})
        assert told["by_algorithm"] == "unreachable"
        document.save(workspace, document.from_page(desk_privacy.relax(desk, told["relaxations"][0])["policy"]))
        assert desk.document()["algorithm"] == {"name": "range", "group": group, "ranges": ["age"], "safe": True}
        assert desk_privacy.forecast(desk, {})["by_algorithm"] == "reachable"


# runs


def test_a_change_can_be_made_to_the_policy_of_a_run(desk: Desk) -> None:
    folder = desk.workspace.runs / "001"
    folder.mkdir()
    asked = {**desk.document(), "privacy": [{"model": "k-anonymity", "k": 77}]}
    (folder / "policy.yaml").write_text(document.dump(asked), encoding="utf-8")
    given = {"run": "001", "where": "suppression", "value": 0.2, "text": "suppression: 0.2 (240 of 1200 records)"}
    changed = desk_privacy.relax(desk, given)["policy"]
    assert (changed["privacy"], changed["suppression"]) == ([{"model": "k-anonymity", "k": 77}], 0.2)
    with pytest.raises(InputError, match="no run"):
        desk_privacy.relax(desk, {**given, "run": "../../session"})


def test_what_would_help_a_failed_run_is_said_as_a_button_says_it(desk: Desk) -> None:
    folder = desk.workspace.runs / "001"
    folder.mkdir()
    change(desk, privacy=[{"model": "k-anonymity", "k": 100}], suppression=0)
    (folder / "policy.yaml").write_bytes(desk.workspace.policy.read_bytes())
    with pytest.raises(InfeasibleError) as raised:
        anonymize(desk.path(), desk.policy())
    write_json(folder / STATUS, {"kind": "release", "state": "failed", "error": raised.value.to_dict()})
    labels = [each["label"] for each in desk_privacy.way_out(desk, {"run": "001"})["changes"]]
    assert labels[0].startswith("Let ")
    assert "Ask k = 2 of k-anonymity" in labels
    assert len(labels) == len(raised.value.diagnosis.relaxations)


def test_a_run_takes_another_name_and_stays_what_it_is(desk: Desk) -> None:
    folder = desk.workspace.runs / "001"
    folder.mkdir()
    write_json(folder / STATUS, {"kind": "release", "name": "", "state": "done", "asked": 1.0})

    async def rename() -> None:
        Runs(desk.workspace, asyncio.Semaphore(1)).rename("001", "for the board")

    asyncio.run(rename())
    assert read_json(folder / STATUS) == {"kind": "release", "name": "for the board", "state": "done", "asked": 1.0}


def test_the_server_gives_the_policy_of_a_run_and_takes_another_name_for_it(tmp_path: Path) -> None:
    with serving(tmp_path) as ui:
        client = Client.inside(ui)
        client.desk("open_example")
        number = client.run(name="first")
        asked = client.ask("GET", f"/api/runs/{number}/policy").json
        assert asked["policy"]["privacy"][0] == K
        assert document.to_page(document.settled(document.parse(asked["yaml"]))) == asked["policy"]
        assert client.ask("PUT", f"/api/runs/{number}", {"name": "second"}).json["name"] == "second"
        assert client.ask("GET", "/api/runs/999/policy").status == 400
        assert client.ask("PUT", "/api/runs/999", {"name": "x"}).status == 400
        assert client.finished(number)["name"] == "second"
