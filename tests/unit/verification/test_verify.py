from __future__ import annotations

import copy
import hashlib
import json
import subprocess
import sys

import pandas
import polars
import pyarrow as pa
import pytest
from pyarrow import parquet
from verification_tables import CATEGORIES, TABLE_1, by_cells, failed, rows_of, table

from shoal.errors import DataError, VerificationError
from shoal.pipeline.verify import verify
from shoal.policy import Policy


def test_a_good_release_passes_with_and_without_the_original(release, original, make_policy, write):
    path = write(release)
    rows = by_cells(release)
    for given in (path, table(release), pandas.DataFrame(rows), polars.DataFrame(rows)):
        alone, beside = verify(given, make_policy()), verify(given, make_policy(), original)
        assert alone.passed, str(alone)
        assert beside.passed, str(beside)
        assert (beside.records, beside.classes, beside.suppressed) == (12, 3, 0)
        assert alone.suppressed is None


def test_the_original_may_be_a_file_read_as_the_policy_says(release, make_policy, tmp_path):
    lines = ["name;age;country;zip;condition", *(f"x;{a};{b};{c};{d}" for a, b, c, d in TABLE_1)]
    lines.append("x;?;USA;14242;Flu")
    path = tmp_path / "original.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = {"path": "original.csv", "separator": ";", "missing": ["?"]}
    found = verify(table(release), make_policy(data=data, suppression=0.1), path)
    assert found.passed, str(found)
    assert found.suppressed == 1


def test_a_failing_release_says_so_line_by_line_and_raises(release, make_policy):
    found = verify(table(release[1:]), make_policy({"model": "k-anonymity", "k": 4}, {"model": "p-sensitive", "p": 3}))
    assert failed(found) == {"k-anonymity", "p-sensitive[condition]"}
    assert len(str(found).splitlines()) == 3
    facts = next(check.facts for check in found.failures if check.name == "k-anonymity")
    assert (facts["failing_classes"], facts["failing_records"]) == (1, 3)
    with pytest.raises(VerificationError) as raised:
        found.raise_if_failed()
    assert raised.value.verification is found
    verify(table(release), make_policy()).raise_if_failed()


def test_the_verification_is_plain_data(release, original, make_policy):
    found = verify(table(release), make_policy(), original)
    content = json.loads(json.dumps(found.to_dict()))
    assert content["passed"] is True
    assert content["checks"][4]["name"] == "categories"
    smallest = next(check for check in content["checks"] if check["name"] == "k-anonymity")
    assert smallest["facts"] == {"k": 4, "smallest_class": 4}


def test_an_identifier_left_in_is_found(release, make_policy):
    found = verify(table([{"name": "x", **row} for row in release]), make_policy())
    assert failed(found) == {"columns"}
    assert "identifiers left in: 'name'" in str(found)


def test_a_column_that_the_policy_does_not_name_is_found(release, make_policy):
    assert failed(verify(table([{**row, "row": 1} for row in release]), make_policy())) == {"columns"}


def test_a_missing_column_is_found(release, make_policy):
    found = verify(table([{k: v for k, v in row.items() if k != "zip"} for row in release]), make_policy())
    assert failed(found) == {"columns"}
    assert found.classes is None


def test_a_column_twice_is_found(release, make_policy, tmp_path):
    lines = ["age,country,zip,condition,zip"]
    lines += [f'"{r["age"]}",{r["country"]},{r["zip"]},{r["condition"]},14248' for r in by_cells(release)]
    path = tmp_path / "release.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert failed(verify(path, make_policy())) == {"columns"}


def test_a_dropped_row_breaks_k(release, make_policy):
    assert failed(verify(table(release[1:]), make_policy())) == {"k-anonymity"}


def test_a_dropped_row_is_suppression_beyond_what_is_allowed(release, original, make_policy):
    k3 = {"model": "k-anonymity", "k": 3}
    assert failed(verify(table(release[:-1]), make_policy(k3), original)) == {"suppression"}
    assert verify(table(release[:-1]), make_policy(k3, suppression=0.084), original).suppressed == 1
    assert failed(verify(table(release[:-1]), make_policy(k3, suppression=0.083), original)) == {"suppression"}


def test_the_share_of_suppressed_records_is_exact_in_decimals(make_policy):
    rows = [{"age": "[0, 30)", "country": "America", "zip": "142**", "condition": "Flu"}] * 71
    kept = table(rows)
    everyone = table([{"age": 20, "country": "USA", "zip": "14200", "condition": "Flu"}] * 100)
    k = {"model": "k-anonymity", "k": 2}
    assert int(0.29 * 100) == 28  # what binary floats would allow
    assert verify(kept, make_policy(k, suppression=0.29), everyone).passed


def test_an_added_row_has_no_original(release, original, make_policy):
    found = verify(table([*release, release[0]]), make_policy(), original)
    assert failed(found) == {"truthfulness", "suppression"}
    assert found.suppressed == -1


def test_a_split_class_breaks_k(release, make_policy):
    release[0]["zip"] = "1424*"
    assert failed(verify(table(release), make_policy())) == {"k-anonymity", "p-sensitive[condition]"}


def test_a_changed_sensitive_cell_is_untrue(release, original, make_policy):
    release[0]["condition"] = "Cancer"
    assert failed(verify(table(release), make_policy(), original)) == {"truthfulness"}


def test_two_records_that_swap_their_conditions_across_classes_are_untrue(release, original, make_policy):
    one, other = release[0], release[8]
    one["condition"], other["condition"] = other["condition"], one["condition"]
    found = verify(table(release), make_policy(), original)
    assert failed(found) == {"truthfulness"}
    assert found.failures[0].facts["without_original"] == 2


def test_a_label_of_another_column_is_found(release, make_policy):
    release[0]["age"] = "America"
    assert "labels" in failed(verify(table(release), make_policy()))


def test_an_untruthful_label_is_found(release, original, make_policy):
    for row in release[:4]:
        row["zip"] = "130**"
    found = verify(table(release), make_policy(), original)
    assert failed(found) == {"truthfulness"}
    assert found.failures[0].facts["without_original"] == 4


def test_a_value_in_no_category_is_found(release, make_policy):
    release[0]["condition"] = "Gout"
    assert failed(verify(table(release), make_policy())) == {"categories"}


def test_a_missing_sensitive_value_is_a_value_only_where_the_policy_says_so(release, make_policy, original):
    values = original.column("condition").to_pylist()
    policy = make_policy({"model": "p-sensitive", "p": 3}, changes={"condition": {"categories": None}})
    counting = {"condition": {"categories": None, "unknown_counts": True}}
    for place in (0, 4, 8):
        values[place] = release[place]["condition"] = None
    nulls = original.set_column(4, "condition", pa.array(values))
    assert verify(table(release), make_policy({"model": "p-sensitive", "p": 3}, changes=counting), nulls).passed
    assert failed(verify(table(release), policy, nulls)) == {"p-sensitive[condition]"}


NAME_OF = {value: name for name, values in CATEGORIES.items() for value in values}
STARS = {"age": "*", "country": "*", "zip": "*", "condition": None}


class TestPublishedCategories:
    def test_categories_are_judged_as_the_values(self, release, original, make_policy):
        for row in release:
            row["condition"] = NAME_OF[row["condition"]]
        publish = {"condition": {"publish": "categories"}}
        assert verify(table(release), make_policy({"model": "k-anonymity", "k": 4}, changes=publish), original).passed
        found = verify(table(release), make_policy(changes=publish), original)
        assert failed(found) == {"p-sensitive[condition]"}  # HIV and Cancer are two values, but one category
        release[0]["condition"] = "Non Secret"
        assert "truthfulness" in failed(verify(table(release), make_policy(changes=publish), original))

    def test_a_value_where_a_category_should_stand_is_found(self, release, make_policy):
        for row in release[1:]:
            row["condition"] = NAME_OF[row["condition"]]
        policy = make_policy({"model": "k-anonymity", "k": 4}, changes={"condition": {"publish": "categories"}})
        assert failed(verify(table(release), policy)) == {"categories"}

    def test_both_need_the_category_of_the_value(self, release, original, make_policy):
        for row in release:
            row["condition_category"] = NAME_OF[row["condition"]]
        policy = make_policy(changes={"condition": {"publish": "both"}})
        assert verify(table(release), policy, original).passed
        release[0]["condition_category"] = "Secret"
        assert failed(verify(table(release), policy)) == {"categories"}
        assert failed(verify(table(release), policy, original)) == {"categories", "truthfulness"}

    def test_without_a_word_p_plus_alpha_publishes_categories(self, release, make_policy):
        for row in release:
            row["condition"] = NAME_OF[row["condition"]]
        found = verify(table(release), make_policy({"model": "p-plus-alpha-sensitive", "p": 1, "alpha": 0}))
        assert found.passed, str(found)


class TestSuppressedAsStars:
    def test_star_rows_are_set_aside_and_counted(self, release, original, make_policy):
        rows = [*release[:8], *([STARS] * 4)]
        policy = make_policy(suppressed="star", suppression=0.34)
        for found in (verify(table(rows), policy), verify(table(rows), policy, original)):
            assert found.passed, str(found)
            assert (found.records, found.classes, found.suppressed) == (8, 2, 4)
        tight = make_policy(suppressed="star", suppression=0.33)
        assert failed(verify(table(rows), tight)) == {"suppression"}

    def test_a_star_row_that_was_dropped_is_found(self, release, original, make_policy):
        rows = [*release[:8], *([STARS] * 3)]
        found = verify(table(rows), make_policy(suppressed="star", suppression=0.5), original)
        assert failed(found) == {"suppression"}

    def test_a_row_of_stars_with_a_sensitive_value_is_a_record(self, release, make_policy):
        rows = [*release, {**STARS, "condition": "Flu"}]
        assert failed(verify(table(rows), make_policy(suppressed="star", suppression=0.5))) == {
            "k-anonymity",
            "p-sensitive[condition]",
        }

    def test_star_rows_are_records_where_the_policy_drops(self, release, make_policy):
        policy = make_policy({"model": "k-anonymity", "k": 2}, changes={"condition": {"categories": None}})
        assert failed(verify(table([*release, STARS]), policy)) == {"k-anonymity"}

    @pytest.mark.parametrize(("boundary", "stars", "suppressed"), [(None, 1, 1), (None, 3, 0), (1, 3, 3)])
    def test_without_other_columns_stars_are_a_class_when_they_can_be_one(self, boundary, stars, suppressed):
        column = {"role": "quasi", "boundary": boundary, "hierarchy": {"intervals": [10, 20]}}
        policy = Policy(
            columns={"age": column}, privacy=[{"model": "k-anonymity", "k": 2}], suppressed="star", suppression=0.6
        )
        found = verify(pa.table({"age": ["*"] * stars + ["[0, 10)"] * 2}), policy)
        assert found.passed, str(found)
        assert found.suppressed == suppressed


class TestBoundaries:
    def test_a_value_above_its_boundary_is_found_with_the_original(self, release, original, make_policy):
        for row in release[4:8]:
            row["country"] = "*"
        policy = make_policy(changes={"country": {"boundary": ["America", "Asia"]}})
        found = verify(table(release), policy, original)
        assert failed(found) == {"boundaries"}
        assert found.failures[0].facts["violations"] == 4
        assert verify(table(release), make_policy(changes={"country": {"boundary": ["America"]}}), original).passed

    def test_a_label_above_every_boundary_under_it_is_found_without(self, release, make_policy):
        for row in release[4:8]:
            row["country"] = "*"
        assert failed(verify(table(release), make_policy(changes={"country": {"boundary": 1}}))) == {"boundaries"}
        both = make_policy(changes={"country": {"boundary": ["America", "Asia", None]}})
        assert failed(verify(table(release), both)) == {"boundaries"}
        assert verify(table(release), make_policy(changes={"country": {"boundary": ["America"]}})).passed
        for row in release[4:8]:
            row["age"] = "[0, 40)"
        decades = make_policy(changes={"age": {"boundary": ["[0, 30)", "[30, 40)"]}})
        assert failed(verify(table(release), decades)) == {"boundaries"}

    def test_a_root_that_only_missing_values_may_become_is_left_to_the_original(self, release, original, make_policy):
        for row in release[4:8]:
            row["country"] = "*"
        policy = make_policy(changes={"country": {"boundary": ["America", "Asia"]}})
        found = verify(table(release), policy)
        assert found.passed
        assert "4 cells are roots that only missing values may become" in found.checks[-1].message
        countries = original.column("country").to_pylist()
        countries[4:8] = [None] * 4
        missing = original.set_column(2, "country", pa.array(countries))
        assert verify(table(release), policy, missing).passed
        assert failed(verify(table(release), policy, original)) == {"boundaries"}

    def test_the_first_boundary_met_from_the_value_upward_counts(self, release, original, make_policy):
        policy = make_policy(changes={"country": {"boundary": ["Asia", "China"]}})
        assert failed(verify(table(release), policy, original)) == {"boundaries"}
        assert verify(table(release), policy).passed  # Asia may stand for Japan and India

    def test_a_level_caps_every_value(self, release, original, make_policy):
        assert verify(table(release), make_policy(changes={"zip": {"boundary": 2}}), original).passed
        assert verify(table(release), make_policy(changes={"zip": {"boundary": 2}})).passed
        tight = make_policy(changes={"zip": {"boundary": 1}})
        assert failed(verify(table(release), tight)) == {"boundaries"}
        found = verify(table(release), tight, original)
        assert failed(found) == {"boundaries"}
        assert found.failures[0].facts["violations"] == 12

    def test_records_are_matched_so_that_boundaries_hold_if_they_can(self, make_policy):
        original = table(rows_of([(20, "USA", "1", "Flu"), (20, "Japan", "1", "Flu")]))
        release = table(rows_of([("20", "*", "1", "Flu"), ("20", "*", "1", "Flu")]))
        k = {"model": "k-anonymity", "k": 2}
        found = verify(release, make_policy(k, changes={"country": {"boundary": ["America"]}}), original)
        assert failed(found) == {"boundaries"}
        assert found.failures[0].facts["violations"] == 1
        more = table(rows_of([(20, "USA", "1", "Flu"), (20, "Japan", "1", "Flu"), (20, "India", "1", "Flu")]))
        policy = make_policy(k, changes={"country": {"boundary": ["America"]}}, suppression=0.5)
        assert verify(release, policy, more).passed  # the two may be those of Japan and India


class TestFiles:
    def test_a_release_that_is_no_table_cannot_be_read(self, tmp_path, make_policy):
        for name, content in (
            ("empty.csv", b""),
            ("broken.parquet", b"PAR1"),
            ("latin.csv", b"age,country,zip,condition\n\xe9,,,\n"),
            ("quote.csv", b'age,country,zip,condition\n"20,USA,1,Flu\n'),
            ("ragged.csv", b"age,country,zip,condition\n20,USA,1\n"),
            ("release.xlsx", b""),
        ):
            path = tmp_path / name
            path.write_bytes(content)
            with pytest.raises(DataError, match=name.split(".")[0]):
                verify(path, make_policy())
        with pytest.raises(DataError, match="absent"):
            verify(tmp_path / "absent.csv", make_policy())

    def test_an_empty_release_fails(self, tmp_path, make_policy):
        path = tmp_path / "release.csv"
        path.write_text("age,country,zip,condition\n", encoding="utf-8")
        assert failed(verify(path, make_policy())) == {"records"}

    def test_a_missing_cell_and_an_empty_text_differ(self, tmp_path, make_policy):
        path = tmp_path / "release.csv"
        path.write_text('age,country,zip,condition\n20,USA,,Flu\n20,USA,"",Flu\n', encoding="utf-8")
        found = verify(path, make_policy({"model": "k-anonymity", "k": 1}))
        assert found.classes == 2

    def test_missing_labels_form_a_class_of_their_own(self, release, make_policy):
        for row in release[:4]:
            row["zip"] = None
        assert verify(table(release), make_policy()).passed
        release[3]["zip"] = "142**"
        assert failed(verify(table(release), make_policy())) == {"k-anonymity", "p-sensitive[condition]"}

    def test_the_evidence_must_be_of_these_bytes(self, release, make_policy, write):
        path = write(release)
        evidence = path.with_name("release.evidence.json")
        evidence.write_text("{}", encoding="utf-8")
        assert "hash" not in {check.name for check in verify(path, make_policy()).checks}
        evidence.write_text(json.dumps({"release_sha256": hashlib.sha256(path.read_bytes()).hexdigest()}))
        assert "hash" in {check.name for check in verify(path, make_policy()).checks}
        assert verify(path, make_policy()).passed
        path.write_text(path.read_text().replace("HIV", "Flu"))
        assert "hash" in failed(verify(path, make_policy()))
        evidence.write_text("{", encoding="utf-8")
        assert "hash" in failed(verify(path, make_policy()))

    def test_parquet_carries_nothing_else(self, release, make_policy, tmp_path):
        path = tmp_path / "release.parquet"
        plain = table(release)
        parquet.write_table(plain, path)
        assert verify(path, make_policy()).passed
        parquet.write_table(plain.replace_schema_metadata({"source": "patients.csv"}), path)
        assert failed(verify(path, make_policy())) == {"baggage"}
        pandas.DataFrame(by_cells(release)).to_parquet(path)
        assert failed(verify(path, make_policy())) == {"baggage"}

    @pytest.mark.parametrize("stored", [True, False])
    def test_a_dictionary_with_values_that_no_record_holds_is_found(self, release, make_policy, tmp_path, stored):
        plain = table(release)
        used = plain.column("zip").combine_chunks().dictionary_encode()
        listed = pa.DictionaryArray.from_arrays(used.indices, pa.concat_arrays([used.dictionary, pa.array(["14248"])]))
        path = tmp_path / "release.parquet"
        for column, failing in ((used, set()), (listed, {"baggage"})):
            given = plain.set_column(2, "zip", column)
            parquet.write_table(given, path, store_schema=stored)
            assert failed(verify(path, make_policy())) == failing
            assert failed(verify(given, make_policy())) == failing
        frame = pandas.DataFrame(by_cells(release))
        frame["zip"] = pandas.Categorical(frame["zip"], categories=["142**", "130**", "14248"])
        assert failed(verify(frame, make_policy())) == {"baggage"}


def test_nothing_depends_on_the_order_of_rows_and_columns(release, original, make_policy):
    release[0]["zip"], release[5]["condition"], release[7]["age"] = "1424*", "Flu", "[30, 40)"
    there = verify(table(release), make_policy(), original)
    backward = [dict(reversed(list(row.items()))) for row in reversed(copy.deepcopy(release))]
    back = verify(table(backward), make_policy(), original.take(list(range(11, -1, -1))))
    assert not there.passed
    assert [(c.name, c.passed, c.facts) for c in there.checks] == [(c.name, c.passed, c.facts) for c in back.checks]


def test_the_policy_may_be_a_path(release, tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(
        "columns:\n  age: {role: quasi, hierarchy: {intervals: {cuts: [[0, 30, 40, 120]]}}}\n"
        "  country: {role: quasi, hierarchy: {tree: tree.yaml}}\n"
        "  zip: {role: quasi, hierarchy: {levels: zip.csv}}\n  condition: {role: sensitive}\n"
        "privacy: [{model: k-anonymity, k: 4}]\n",
        encoding="utf-8",
    )
    (tmp_path / "tree.yaml").write_text("America: [USA, Canada]\nAsia: [China, Japan, India]\n", encoding="utf-8")
    codes = sorted({row[2] for row in TABLE_1})
    (tmp_path / "zip.csv").write_text("".join(f"{code};{code[:3]}**\n" for code in codes), encoding="utf-8")
    assert verify(table(release), path, table(rows_of(TABLE_1))).passed
    release[0]["zip"] = "1424*"
    assert "labels" in failed(verify(table(release), path))


def test_the_verifier_loads_nothing_that_makes_releases():
    """Not even through what its imports import; `shoal.plugins` only finds the checks that packages offer."""
    script = "import sys, shoal.verification; print(*sorted(m for m in sys.modules if m.startswith('shoal.')))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    others = {name for name in loaded if not name.startswith("shoal.verification")}
    assert others == {"shoal.errors", "shoal.plugins"}


def test_messages_do_not_depend_on_the_hash_seed(release, tmp_path, write):
    path = write(release[:-1])
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "columns: {age: {role: quasi}, country: {role: quasi}, zip: {role: quasi}, condition: {role: sensitive}}\n"
        "privacy: [{model: k-anonymity, k: 4}, {model: t-closeness, t: 0.1}]\n",
        encoding="utf-8",
    )
    script = f"from shoal.pipeline.verify import verify; print(verify({str(path)!r}, {str(policy)!r}))"
    said = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert b"not verified" in said.pop()
