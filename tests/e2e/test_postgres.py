"""From a database to a database: one transaction, verified before it ends, or nothing at all."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from e2e.conftest import PATIENTS, POLICY
from shoal.errors import DataError, OutputError, PolicyError
from shoal.io import DatabaseTable, canonical_text
from shoal.io.memory import Budget
from shoal.io.postgres import sink as database
from shoal.io.postgres.sink import PostgresWriter
from shoal.policy import Policy
from shoal.policy.location import quoted
from support.cli import Cli, snapshot
from support.postgres import Server
from support.table_files import rows_of

pytestmark = pytest.mark.postgres

ROWS = rows_of(PATIENTS)


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with Server.start() as started:
        yield started


@pytest.fixture
def server(running: Server) -> Server:
    """The server with the patients in a table, and nothing else."""
    running.run(
        "DROP SCHEMA IF EXISTS public CASCADE",
        "DROP SCHEMA IF EXISTS clinic CASCADE",
        "CREATE SCHEMA public",
        "CREATE SCHEMA clinic",
    )
    kinds = {"age": "integer", "zipcode": "char(5)"}
    columns = ", ".join(f"{quoted(name)} {kinds.get(name, 'text')}" for name in ROWS[0])
    running.run(f"CREATE TABLE clinic.patients ({columns}, born date, cost numeric(7,2), seen timestamptz, notes json)")
    for number, row in enumerate(ROWS[1:]):
        cells = ", ".join("NULL" if cell is None else "'" + cell + "'" for cell in row)
        more = f"'2020-01-0{number % 3 + 1}', {number % 2}.50, '2020-01-01 10:00+01', '{{}}'"
        running.run(f"INSERT INTO clinic.patients VALUES ({cells}, {more})")
    return running


@pytest.fixture
def paths(clinic: Path) -> Path:
    return clinic / "policy.yaml"


def at(server: Server, table: str) -> str:
    return f"{server.url}#{table}"


def cells(server: Server, table: str) -> list[tuple[Any, ...]]:
    return server.run(f"SELECT * FROM {table}")


def test_a_table_of_a_database_gives_the_release_of_the_file(cli: Cli, paths: Path, server: Server) -> None:
    assert cli("anonymize", paths).code == 0
    out = paths.with_name("other.csv")
    ran = cli("anonymize", paths, "--data", server.url, "--table", "clinic.patients", "--out", out)
    assert ran.code == 0, ran.err
    assert out.read_bytes() == paths.with_name("release.csv").read_bytes()


def test_a_release_goes_into_a_table_with_its_evidence_beside_the_policy(cli: Cli, paths: Path, server: Server) -> None:
    assert cli("anonymize", paths).code == 0
    with paths.with_name("release.csv").open(encoding="utf-8", newline="") as file:
        expected = list(csv.reader(file))
    ran = cli(
        "anonymize", paths, "--data", server.url, "--table", "clinic.patients",
        "--out", server.url, "--out-table", "clinic.patients_release",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "#clinic.patients_release" in ran.out
    written = [["" if cell is None else cell for cell in row] for row in cells(server, "clinic.patients_release")]
    assert written == expected[1:]
    facts = json.loads(paths.with_name("patients_release.evidence.json").read_bytes())
    assert facts["verified"] is True
    assert (
        facts["release_sha256"] == json.loads(paths.with_name("release.evidence.json").read_bytes())["release_sha256"]
    )
    assert "patients_release" not in json.dumps(facts)
    assert str(server.folder) not in json.dumps(facts)
    assert paths.with_name("patients_release.report.html").exists()
    assert not [path for path in paths.parent.iterdir() if path.name.startswith(".shoal")]


def test_households_and_weights_of_a_database_are_those_of_the_file(paths: Path, server: Server) -> None:
    paths.write_text(paths.read_text(encoding="utf-8") + "household: name\nweight: age\n", encoding="utf-8")
    of_file = shoal.publish(paths)
    of_table = shoal.publish(paths, data=at(server, "clinic.patients"), out=paths.with_name("other.csv"))
    assert of_table.release.evidence["survey"] == of_file.release.evidence["survey"]
    streamed = shoal.publish(paths, data=at(server, "clinic.patients"), out=at(server, "clinic.out"), memory="1GB")
    assert streamed.release.evidence["survey"] == of_file.release.evidence["survey"]
    assert shoal.risk(at(server, "clinic.patients"), paths).to_dict() == shoal.risk(None, paths).to_dict()


def test_records_of_a_database_may_be_streamed(paths: Path, server: Server) -> None:
    whole = shoal.publish(paths, data=at(server, "clinic.patients"))
    streamed = shoal.publish(paths, data=at(server, "clinic.patients"), out=at(server, "clinic.out"), memory="1GB")
    assert streamed.release.evidence["release_sha256"] == whole.release.evidence["release_sha256"]
    assert streamed.release.table.num_rows == len(cells(server, "clinic.out")) == 12


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_people_of_a_database_are_those_of_a_file(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    visits = [(number * number % 17, 20 + number % 5, "ABC"[number % 3], f"note {number}") for number in range(60)]
    server.run(
        "CREATE TABLE clinic.visits (patient bigint, age integer, condition text, note text)",
        f"INSERT INTO clinic.visits VALUES {', '.join(map(str, visits))}",
    )
    policy = Policy.model_validate(
        {
            "columns": {
                "patient": {"role": "identifier"},
                "age": {"role": "quasi", "hierarchy": {"intervals": [2, 4]}},
                "condition": {"role": "sensitive"},
                "note": {"role": "insensitive"},
            },
            "person": "patient",
            "privacy": [{"model": "k-anonymity", "k": 4}, {"model": "p-sensitive", "p": 2, "sensitive": "condition"}],
            "algorithm": algorithm,
            "suppression": 0.2,
        }
    )
    names = ("patient", "age", "condition", "note")
    data = pa.table({name: list(column) for name, column in zip(names, zip(*visits, strict=True), strict=True)})
    expected = shoal.anonymize(data, policy)
    source = at(server, "clinic.visits")
    for apart in (False, True):
        if apart:
            monkeypatch.setattr(Budget, "leaves_out", lambda _, counter, __: "note" in counter.names)
        for memory in (None, "1GB"):
            out = tmp_path / f"{apart}-{memory}.csv"
            found = shoal.publish(policy, data=source, out=out, memory=memory).release
            assert found.table.to_pylist() == canonical(expected.table)
            assert found.evidence["models"] == expected.evidence["models"]
    evidence = tmp_path / "into.evidence.json"
    into = shoal.publish(policy, data=source, out=at(server, "clinic.out"), memory="1GB", evidence=evidence)
    assert into.release.table.num_rows == len(cells(server, "clinic.out")) == expected.table.num_rows
    assert "patient" not in into.release.table.column_names


def canonical(table: pa.Table) -> list[dict[str, Any]]:
    """A table as a file of text has it."""
    return pa.table({name: canonical_text(table.column(name)) for name in table.column_names}).to_pylist()


@pytest.mark.parametrize("publish", ["values", "categories", "both"])
def test_unknown_values_of_a_database_are_those_of_the_file(paths: Path, server: Server, publish: str) -> None:
    server.run("UPDATE clinic.patients SET condition = '?' WHERE age % 5 = 1")
    server.run("UPDATE clinic.patients SET condition = NULL WHERE age % 5 = 2")
    policy = Policy.load(paths)
    columns = policy.to_dict()["columns"]
    columns["condition"] |= {"unknown": ["?"], "publish": publish}
    privacy = [{"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 2}]
    asked = policy.changed(columns=columns, privacy=privacy)
    held = shoal.publish(asked, data=at(server, "clinic.patients"), out=paths.with_name("held.csv"))
    facts = held.release.evidence["columns"]["condition"]["unknown"]
    for memory in (None, "1GB"):
        there = at(server, "clinic.out")
        written = shoal.publish(asked, data=at(server, "clinic.patients"), out=there, memory=memory, force=True)
        assert written.release.evidence["columns"]["condition"]["unknown"] == facts
        assert written.release.evidence["release_sha256"] == held.release.evidence["release_sha256"]
    assert facts["records"] > 0


def test_spellings_of_a_database_are_merged_like_those_of_a_file(paths: Path, server: Server) -> None:
    expected = shoal.publish(paths, data=at(server, "clinic.patients"), out=at(server, "clinic.before"))
    server.run("UPDATE clinic.patients SET condition = lower(condition) || ' ' WHERE age BETWEEN 28 AND 36")
    policy = Policy.load(paths)
    with pytest.raises(PolicyError) as raised:
        shoal.publish(policy, data=at(server, "clinic.patients"), out=at(server, "clinic.out"))
    (problem,) = [each for each in raised.value.problems if each.code == "spellings-of-one-value"]
    content = policy.to_dict()
    content["columns"]["condition"]["same"] = {
        value: [f"{value.lower()} "]
        for values in content["columns"]["condition"]["categories"].values()
        for value in values
    }
    assert all(value in content["columns"]["condition"]["same"] for value in problem.edits[0].value)
    merged = policy.changed(columns=content["columns"])
    for memory in (None, "1GB"):
        shoal.publish(
            merged, data=at(server, "clinic.patients"), out=at(server, "clinic.out"), memory=memory, force=True
        )
        assert cells(server, "clinic.out") == cells(server, "clinic.before")
    assert expected.release.table.num_rows == len(cells(server, "clinic.out"))


def test_columns_set_apart_are_read_as_the_table_was_when_it_was_counted(
    paths: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Budget, "leaves_out", lambda _, counter, __: "ward" in counter.names)
    whole = shoal.publish(paths, data=at(server, "clinic.patients"))
    changed: list[str] = []

    def change(stage: str, _: float) -> None:
        if stage != "reading" and not changed:
            changed.append(stage)
            server.run("UPDATE clinic.patients SET ward = 'later'")

    out = paths.with_name("apart.csv")
    streamed = shoal.publish(paths, data=at(server, "clinic.patients"), out=out, memory="1GB", progress=change)
    assert changed
    assert "insensitive columns" in json.dumps(streamed.release.evidence["not_done"])
    assert streamed.release.evidence["release_sha256"] == whole.release.evidence["release_sha256"]
    assert server.run("SELECT DISTINCT ward FROM clinic.patients") == [("later",)]


def test_a_table_that_could_not_be_kept_as_it_was_is_not_released(
    paths: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Budget, "leaves_out", lambda _, counter, __: "ward" in counter.names)

    def end(stage: str, _: float) -> None:
        if stage != "reading":
            end_other_connections(server)

    before = snapshot(paths.parent)
    with pytest.raises(DataError, match=r"kept the table as it was when it was counted"):
        shoal.publish(paths, data=at(server, "clinic.patients"), memory="1GB", progress=end)
    assert snapshot(paths.parent) == before


def test_a_policy_may_name_both_ends(paths: Path, server: Server) -> None:
    text = POLICY.replace("data: patients.csv", f"data: {{postgresql: '{server.url}', table: clinic.patients}}")
    text = text.replace("output: release.csv", f"output: {{postgresql: '{server.url}', table: clinic.out}}")
    paths.write_text(text, encoding="utf-8")
    policy = Policy.load(paths)
    assert Policy.model_validate(policy.to_dict()) == policy
    shoal.publish(policy)
    assert len(cells(server, "clinic.out")) == 12
    assert paths.with_name("out.evidence.json").exists()
    short = POLICY.replace("patients.csv", f"'{at(server, 'clinic.patients')}'")
    paths.write_text(short, encoding="utf-8")
    assert Policy.load(paths).data == policy.data


def test_columns_released_as_they_are_keep_their_types(paths: Path, server: Server) -> None:
    more = "  born: {role: insensitive}\n  cost: {role: insensitive}\n  seen: {role: insensitive}\nprivacy:"
    paths.write_text(POLICY.replace("privacy:", more), encoding="utf-8")
    published = shoal.publish(paths, data=at(server, "clinic.patients"), out=at(server, "clinic.out"))
    kinds = dict(
        server.run(
            "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute "
            "WHERE attrelid = 'clinic.out'::regclass AND attnum > 0"
        )
    )
    assert kinds == {
        "age": "text",
        "zipcode": "text",
        "country": "text",
        "condition": "text",
        "condition_category": "text",
        "ward": "text",
        "born": "date",
        "cost": "numeric(7,2)",
        "seen": "timestamp with time zone",
    }
    again = shoal.publish(paths, data=at(server, "clinic.patients"), out=paths.with_name("file.csv"))
    assert published.release.evidence["release_sha256"] == again.release.evidence["release_sha256"]
    columns = published.release.table.column_names
    assert (
        canonical_text(published.release.table["cost"]).to_pylist()
        == canonical_text(again.release.table["cost"]).to_pylist()
    )
    assert columns == again.release.table.column_names


def test_an_existing_table_is_replaced_only_by_force(cli: Cli, paths: Path, server: Server) -> None:
    server.run("CREATE TABLE clinic.out (old text)", "INSERT INTO clinic.out VALUES ('kept')")
    before = snapshot(paths.parent)
    arguments = ["anonymize", paths, "--out", at(server, "clinic.out")]
    ran = cli(*arguments)
    assert ran.code == 2
    assert "#clinic.out exists already" in ran.err
    assert "--force" in ran.err
    assert cells(server, "clinic.out") == [("kept",)]
    assert snapshot(paths.parent) == before
    assert cli(*arguments, "--force").code == 0
    assert len(cells(server, "clinic.out")) == 12
    assert server.tables() == {"clinic.patients", "clinic.out"}


def test_a_table_that_others_depend_on_stays_even_with_force(cli: Cli, paths: Path, server: Server) -> None:
    server.run("CREATE TABLE clinic.out (old text)", "CREATE VIEW clinic.seen AS SELECT * FROM clinic.out")
    before = snapshot(paths.parent)
    ran = cli("anonymize", paths, "--out", at(server, "clinic.out"), "--force")
    assert ran.code == 2
    assert "depend" in ran.err
    assert server.tables() == {"clinic.patients", "clinic.out"}
    assert snapshot(paths.parent) == before
    ran = cli("anonymize", paths, "--out", at(server, "clinic.seen"), "--force")
    assert (ran.code, "not an ordinary table" in ran.err) == (2, True)


@pytest.mark.parametrize("way", ["partition", "child", "parent"])
def test_a_table_whose_rows_are_read_elsewhere_too_is_never_replaced(
    cli: Cli, paths: Path, server: Server, way: str
) -> None:
    source, target = ("clinic.out", "clinic.whole") if way == "parent" else ("clinic.whole", "clinic.out")
    if way == "partition":
        server.run(
            "CREATE TABLE clinic.whole (LIKE clinic.patients) PARTITION BY RANGE (age)",
            "CREATE TABLE clinic.out PARTITION OF clinic.whole DEFAULT",
        )
    else:
        server.run(
            "CREATE TABLE clinic.whole (LIKE clinic.patients)", "CREATE TABLE clinic.out () INHERITS (clinic.whole)"
        )
    server.run("INSERT INTO clinic.out SELECT * FROM clinic.patients")
    before = snapshot(paths.parent)
    ran = cli("anonymize", paths, "--data", at(server, source), "--out", at(server, target), "--force")
    assert ran.code == 2
    assert "is a partition, or inherits" in ran.err
    assert len(cells(server, "clinic.whole")) == len(cells(server, "clinic.out")) == 12
    assert snapshot(paths.parent) == before


def test_a_table_that_becomes_a_partition_during_the_run_stays(
    paths: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.run("CREATE TABLE clinic.out (LIKE clinic.patients)", "INSERT INTO clinic.out SELECT * FROM clinic.patients")
    server.run("CREATE TABLE clinic.whole (LIKE clinic.patients) PARTITION BY RANGE (age)")
    spoil(monkeypatch, lambda: server.run("ALTER TABLE clinic.whole ATTACH PARTITION clinic.out DEFAULT"))
    server.run("ALTER ROLE owner SET default_transaction_isolation = 'repeatable read'")
    try:
        with pytest.raises(OutputError, match=r"is a partition"):
            shoal.publish(paths, out=at(server, "clinic.out"), force=True)
    finally:
        server.run("ALTER ROLE owner RESET default_transaction_isolation")
    assert len(cells(server, "clinic.whole")) == 12


def test_the_input_is_never_the_output(cli: Cli, paths: Path, server: Server) -> None:
    server.run("ALTER ROLE owner SET search_path = clinic")
    try:
        ran = cli(
            "anonymize", paths, "--data", at(server, "clinic.patients"), "--out", at(server, "patients"), "--force"
        )
    finally:
        server.run("ALTER ROLE owner RESET search_path")
    assert (ran.code, "is the input as well" in ran.err) == (2, True)
    assert len(cells(server, "clinic.patients")) == 12


@pytest.mark.parametrize(
    ("table", "word"), [("nowhere.out", "no schema 'nowhere'"), ("pg_toast.out", "may not create|permission denied")]
)
def test_a_place_that_cannot_be_written_is_told_before_the_work(
    cli: Cli, paths: Path, server: Server, table: str, word: str
) -> None:
    server.run("DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN")
    url = server.url_of("reader" if table.startswith("pg_") else "owner")
    ran = cli("anonymize", paths, "--out", f"{url}#{table}")
    assert ran.code == 2
    assert any(each in ran.err for each in word.split("|")), ran.err


def spoil(monkeypatch: pytest.MonkeyPatch, deed: Any) -> None:
    """Do something when half of the rows have been sent."""
    texts = database._texts

    def halves(release: Path, names: Any) -> Iterable[pa.RecordBatch]:
        for batch in texts(release, names):
            middle = batch.num_rows // 2
            yield batch.slice(0, middle)
            deed()
            yield batch.slice(middle)

    monkeypatch.setattr(database, "_texts", halves)


def end_other_connections(server: Server) -> None:
    others = "pid <> pg_backend_pid() AND datname IS NOT NULL"
    server.run(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {others}")


def test_a_connection_that_breaks_while_writing_leaves_nothing(
    cli: Cli, paths: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(paths.parent)
    spoil(monkeypatch, lambda: end_other_connections(server))
    ran = cli("anonymize", paths, "--out", at(server, "clinic.out"), "--registry", paths.with_name("releases"))
    assert ran.code == 2, ran.err
    assert "writing to postgresql:///postgres#clinic.out failed" in ran.err
    assert "Traceback" not in ran.err
    assert server.tables() == {"clinic.patients"}
    assert {name: each for name, each in snapshot(paths.parent).items() if "releases" not in name} == before


def test_a_connection_that_breaks_before_the_end_takes_the_files_back(
    cli: Cli, paths: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = PostgresWriter.rename_to_target

    def broken(writer: PostgresWriter, *, force: bool) -> None:
        rename(writer, force=force)
        end_other_connections(server)

    monkeypatch.setattr(PostgresWriter, "rename_to_target", broken)
    server.run("CREATE TABLE clinic.out (old text)", "INSERT INTO clinic.out VALUES ('kept')")
    (paths.with_name("out.evidence.json")).write_text("older", encoding="utf-8")
    before = snapshot(paths.parent)
    ran = cli("anonymize", paths, "--out", at(server, "clinic.out"), "--force")
    assert ran.code == 2
    assert "broke while" in ran.err
    assert cells(server, "clinic.out") == [("kept",)]
    assert server.tables() == {"clinic.patients", "clinic.out"}
    assert snapshot(paths.parent) == before


def test_a_server_that_dies_while_writing_leaves_nothing(
    cli: Cli, paths: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(paths.parent)
    with Server.start() as mortal:
        spoil(monkeypatch, mortal.kill)
        ran = cli("anonymize", paths, "--out", at(mortal, "out"))
        assert ran.code == 2, ran.err
        assert snapshot(paths.parent) == before
        mortal.begin()
        assert mortal.tables() == set()


@pytest.mark.parametrize("moment", ["writing", "reading back", "committing"])
def test_an_interrupt_rolls_back(
    cli: Cli, paths: Path, server: Server, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    if moment == "writing":
        spoil(monkeypatch, interrupt)
    else:
        monkeypatch.setattr(PostgresWriter, "read_back" if moment == "reading back" else "commit", interrupt)
    before = snapshot(paths.parent)
    ran = cli("anonymize", paths, "--out", at(server, "clinic.out"))
    assert ran.code == 130, ran.err
    assert server.tables() == {"clinic.patients"}
    assert snapshot(paths.parent) == before


def test_what_the_table_holds_is_verified_before_it_is_committed(
    paths: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = PostgresWriter.write

    def tampered(writer: PostgresWriter, batches: Any, types: Any) -> None:
        write(writer, batches, types)
        writer._run(f"UPDATE {quoted(writer.schema, writer.name)} SET ward = 'C'")

    monkeypatch.setattr(PostgresWriter, "write", tampered)
    with pytest.raises(OutputError, match=r"does not hold what was written"):
        shoal.publish(paths, out=at(server, "clinic.out"))
    assert server.tables() == {"clinic.patients"}
    assert not paths.with_name("out.evidence.json").exists()


def test_an_exposure_that_is_too_much_writes_nothing(cli: Cli, paths: Path, server: Server) -> None:
    before = snapshot(paths.parent)
    ran = cli("anonymize", paths, "--out", at(server, "clinic.out"), "--fail-on", "background>0")
    assert ran.code == 1, ran.err
    assert server.tables() == {"clinic.patients"}
    assert snapshot(paths.parent) == before


def test_the_evidence_may_go_elsewhere(cli: Cli, paths: Path, server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    folder.mkdir()
    evidence = folder / "march.evidence.json"
    ran = cli("anonymize", paths, "--out", at(server, "clinic.out"), "--evidence", evidence)
    assert ran.code == 0, ran.err
    assert {path.name for path in folder.iterdir()} == {"march.evidence.json", "march.report.html"}
    assert cli("anonymize", paths, "--evidence", evidence).code == 2
    assert cli("anonymize", paths, "--out", at(server, "clinic.two"), "--evidence", folder / "x.txt").code == 2
    ran = cli("anonymize", paths, "--out", at(server, "clinic.two"), "--recoding")
    assert (ran.code, "needs a release in a file" in ran.err) == (2, True)


def test_a_registry_remembers_a_table_like_a_file(paths: Path, server: Server) -> None:
    registry = paths.with_name("releases")
    shoal.publish(paths, out=at(server, "clinic.out"), registry=registry)
    entries = [path for path in registry.iterdir() if path.name.endswith("out.json")]
    assert len(entries) == 1
    shoal.publish(paths, registry=registry)
    assert [path for path in registry.iterdir() if path.name.endswith(".json") and "release" in path.name] == []


def test_other_commands_read_a_table_too(cli: Cli, paths: Path, server: Server) -> None:
    table = at(server, "clinic.patients")
    assert cli("anonymize", paths, "--data", table, "--recoding").code == 0
    release = paths.with_name("release.csv")
    for arguments in (
        ["verify", release, "--policy", paths, "--original", table],
        ["attack", release, "--policy", paths, "--original", table],
        ["risk", table, "--policy", paths],
        ["why", paths, "--data", table, "--row", "1"],
        ["lattice", paths, "--data", table],
        ["apply", release.with_name("release.recoding.json"), "--data", table],
        ["compare", paths, "--algorithms", "optimal", "--data", table],
    ):
        ran = cli(*arguments)
        assert ran.code == 0, (arguments, ran.err)
    again = cli("compare", paths, "--algorithms", "optimal", "--data", table)
    assert (again.code, "1 already finished" in again.err) == (0, True)


def test_a_draft_of_a_table_runs_as_it_is(
    cli: Cli, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = cli("init", server.url, "--table", "clinic.patients")
    assert ran.code == 0, ran.err
    text = (tmp_path / "patients.yaml").read_text(encoding="utf-8")
    assert "notes is not listed" in text
    policy = Policy.load(tmp_path / "patients.yaml")
    assert set(policy.columns) == {*ROWS[0], "born", "cost", "seen"}
    assert cli("anonymize", tmp_path / "patients.yaml").code in {0, 1}


SECRET = "hunter2"


@pytest.mark.parametrize("key", ["data", "output", "both"])
def test_a_password_is_refused_in_a_policy_and_never_shown(cli: Cli, paths: Path, key: str) -> None:
    url = f"postgresql://me:{SECRET}@host/db"
    text = POLICY
    if key in {"data", "both"}:
        text = text.replace("data: patients.csv", f"data: {{postgresql: '{url}', table: t}}")
    if key in {"output", "both"}:
        text = text.replace("output: release.csv", f"output: '{url}#t'")
    paths.write_text(text, encoding="utf-8")
    ran = cli("anonymize", paths, "--json")
    assert ran.code == 2
    assert "holds a password" in ran.err
    assert SECRET not in ran.err + ran.out
    with pytest.raises(PolicyError) as refused:
        Policy.load(paths)
    assert SECRET not in str(refused.value) + repr(refused.value.to_dict())


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql:me:{SECRET}@/db",
        f"postgresql://me@/db;password={SECRET}",
        f"jdbc:postgresql://host/db?password={SECRET}",
        f" postgresql://me:{SECRET}@host/db",
        f"me:{SECRET}@host/db",
    ],
)
def test_what_is_almost_an_address_is_not_shown_from_a_policy(cli: Cli, paths: Path, address: str) -> None:
    for data in ({"postgresql": address, "table": "t"}, f"{address}#t"):
        if isinstance(data, str) and address.startswith("me:"):
            continue  # the name of a file
        paths.write_text(POLICY.replace("data: patients.csv", f"data: {json.dumps(data)}"), encoding="utf-8")
        ran = cli("anonymize", paths, "--json")
        assert ran.code == 2
        assert "PGPASSFILE" in ran.err
        assert SECRET not in ran.err + ran.out


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{SECRET}@host/db#t",
        f"postgresql://host/db?password={SECRET}#t",
        f"postgresql+psycopg://me:{SECRET}@host/db",
        f"postgresql://me:a/{SECRET}@host/db",
        f"postgresql:me:{SECRET}@/db",
        f"postgresql:/me:{SECRET}@host/db",
        f"postgresql://me@/db;password={SECRET}",
        f"jdbc:postgresql://host/db?password={SECRET}",
    ],
)
def test_a_password_is_refused_on_the_command_line_and_never_shown(cli: Cli, paths: Path, address: str) -> None:
    before = snapshot(paths.parent)
    for arguments in (
        ["anonymize", paths, "--data", address],
        ["anonymize", paths, f"--out={address}"],
        ["init", address],
        ["risk", address, "--policy", paths],
        ["verify", address, "--policy", paths],
        ["apply", address, "--data", paths],
        [address],
    ):
        ran = cli(*arguments, "--json")
        assert ran.code == 2
        assert "PGPASSFILE" in ran.err
        assert SECRET not in ran.err + ran.out
    assert snapshot(paths.parent) == before


def test_a_password_of_the_environment_is_in_no_file(
    cli: Cli, paths: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.run("DROP ROLE IF EXISTS secret", f"CREATE ROLE secret LOGIN SUPERUSER PASSWORD '{SECRET}'")
    monkeypatch.setenv("PGPASSWORD", SECRET)
    url = server.url_of("secret")
    ran = cli("anonymize", paths, "--data", f"{url}#clinic.patients", "--out", f"{url}#clinic.out", "--json")
    assert ran.code == 0, ran.err
    assert SECRET not in ran.out + ran.err
    assert not [path for path in paths.parent.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ({"postgresql": "postgresql://h/d"}, "data.path"),
        ({"postgresql": "postgresql://h/d", "table": "a.b.c"}, "data.path"),
        ({"postgresql": 5, "table": "t"}, "data.path"),
        ({"postgresql": "postgresql://h/d", "table": "t", "tabel": "t"}, "data.tabel"),
        ("mysql://h/d#t", "data.path"),
    ],
)
def test_a_table_that_is_named_wrongly_is_a_problem_of_the_policy(content: Any, where: str) -> None:
    columns = {"a": {"role": "quasi"}}
    with pytest.raises(PolicyError) as refused:
        Policy(data=content, columns=columns, privacy=[{"model": "k-anonymity", "k": 2}])  # type: ignore[arg-type]
    assert [problem.where for problem in refused.value.problems] == [where]


def test_a_table_option_needs_an_address(cli: Cli, paths: Path) -> None:
    for arguments in (["--table", "t"], ["--out-table", "t"], ["--data", "x.csv", "--table", "t"]):
        ran = cli("anonymize", paths, *arguments)
        assert (ran.code, ran.error) == (2, "table-without-database")
    assert DatabaseTable("postgresql://h/d").named("t").table == "t"


@pytest.mark.parametrize("memory", [None, "2GB"])
def test_pseudonyms_and_relative_dates_of_a_database(
    memory: str | None, paths: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOAL_PSEUDONYM_KEY", "k" * 32)
    server.run(
        "CREATE TABLE clinic.visits (patient integer, ward text, day date, out timestamp, illness text)",
        "INSERT INTO clinic.visits SELECT n / 2, 'w' || n % 2, date '2024-02-27' + n, "
        "timestamp '2024-02-27 10:00' + interval '1 day' * (n + n % 3), 'i' || n % 5 FROM generate_series(0, 39) n",
    )
    columns = {
        "patient": {"role": "pseudonym"},
        "ward": {"role": "quasi"},
        "day": {"role": "quasi", "relative": "first", "hierarchy": {"intervals": [7]}},
        "out": {"role": "insensitive", "relative": "day"},
        "illness": {"role": "sensitive"},
    }
    content = {"columns": columns, "person": "patient", "privacy": [{"model": "k-anonymity", "k": 5}]}
    paths.write_text(Policy.model_validate(content).to_yaml(), encoding="utf-8")
    source, target = at(server, "clinic.visits"), at(server, "clinic.visits_release")
    shoal.publish(paths, data=source, out=target, memory=memory)
    released = cells(server, "clinic.visits_release")
    assert len(released) == 40
    assert len({patient for patient, *_ in released}) == 20
    assert {out for _, _, _, out, _ in released} == {0, 1, 2}, "whole numbers in the database, too"
    file = paths.with_name("visits.csv")
    shoal.publish(paths, data=source, out=file, memory=memory)
    assert shoal.verify(file, paths, original=source).passed
