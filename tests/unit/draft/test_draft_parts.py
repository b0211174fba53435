"""The parts that a draft is made of: names, formats, widths, dates, marks, and how a file is written."""

from __future__ import annotations

import gzip
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.draft.profile import Profile, date_form, round_widths
from shoal.draft.propose import Proposal, propose
from shoal.draft.roles import decide, meaning_of
from shoal.draft.text_format import text_format
from shoal.draft.wording import flow, key, scalar
from shoal.policy.yaml_text import parse_yaml


def profile(name: str, *values: str, missing: int = 0) -> Profile:
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return Profile.of(name, counts, missing)


def proposed(name: str, *values: str) -> Proposal:
    column = profile(name, *values)
    return propose(column, date_form(column))


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("Name", "direct"),
        ("patient_id", "direct"),
        ("patientid", "direct"),
        ("insuranceNumber", "direct"),
        ("SSN", "direct"),
        ("E-Mail", "direct"),
        ("street", "direct"),
        ("date_of_birth", "date"),
        ("dateOfDiagnosis", "date"),
        ("country_name", "known"),
        ("disease name", "secret"),
        ("ICD10", "secret"),
        ("sexualOrientation", "secret"),
        ("religion", "secret"),
        ("net_income", "secret"),
        ("sex", "known"),
        ("Geschlecht", "known"),
        ("zipcode", "known"),
        ("PLZ", "known"),
        ("marital-status", "known"),
        ("native.country", "known"),
        ("household size", "known"),
        ("region_id", "known"),
        ("id", "number"),
        ("pid", "direct"),
        ("PID", "direct"),
        ("pat_id", "direct"),
        ("patid", "direct"),
        ("case_id", "direct"),
        ("Fallnummer", "direct"),
        ("fall_nr", "direct"),
        ("Aktenzeichen", "direct"),
        ("dx", "secret"),
        ("dx1", "secret"),
        ("diag", "secret"),
        ("icd10", "secret"),
        ("icd10code", "secret"),
        ("diag_date", "date"),
        ("Alter", "known"),
        ("altersgruppe", "known"),
    ],
)
def test_a_name_says_what_a_column_is(name: str, sort: str) -> None:
    meaning = meaning_of(name)
    assert meaning is not None
    assert meaning.kind == sort


@pytest.mark.parametrize("name", ["pages", "percentage", "xyz", "storage", "!"])
def test_a_word_inside_another_word_says_nothing(name: str) -> None:
    assert meaning_of(name) is None


@pytest.mark.parametrize(
    "values",
    [
        ["a@b.org", "c@d.com"],
        ["123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174001"],
        ["+49 30 1234567", "+1 202 555 0100"],
        ["(202) 555-0100", "(202) 555-0199"],
        ["123-45-6789", "987-65-4321"],
        ["DE89 3704 0044 0532 0130 00", "GB82 WEST 1234 5698 7654 32"],
        ["https://a.example/x", "www.b.example"],
        ["10.0.0.1", "192.168.1.1"],
    ],
)
def test_values_in_the_format_of_an_identifier_are_not_released_whatever_the_name(values: list[str]) -> None:
    assert decide(profile("contact point", *(values * 10))).role == "identifier"


@pytest.mark.parametrize(
    "values", [["12.01.2020", "13.01.2020"], ["01234", "01235"], ["1.5", "0.7", "0.9"], ["12", "13"]]
)
def test_dates_numbers_and_zip_codes_are_not_taken_for_telephone_numbers(values: list[str]) -> None:
    assert decide(profile("measure", *(values * 10))).role == "quasi"


def test_an_unknown_column_in_which_nearly_all_values_differ_is_not_released() -> None:
    assert decide(profile("xyz", *map(str, range(100)))).role == "identifier"
    assert decide(profile("xyz", *(f"v{number}" for number in range(100)))).role == "identifier"


def test_an_unknown_column_is_a_quasi_identifier_unless_it_is_constant() -> None:
    assert decide(profile("xyz", *"aabbcc")).role == "quasi"
    assert decide(profile("xyz", *"aaaaaa")).role == "insensitive"
    assert decide(profile("xyz", *"aaaaaa", missing=1)).role == "quasi"


def test_a_number_that_repeats_is_a_code_of_a_group_and_not_of_a_person() -> None:
    assert decide(profile("code", *"112233112233")).role == "quasi"
    assert decide(profile("code", *map(str, range(50)))).role == "identifier"


def test_a_number_of_people_that_repeats_is_warned_of() -> None:
    visits = [f"P{number % 300}" for number in range(1427)]
    found = decide(profile("pid", *visits))
    assert (found.doubt, found.facts["distinct"], found.facts["present"]) == ("person-repeats", 300, 1427)
    assert found.warning.startswith("300 different values in 1,427 records: ")
    mails = [f"p{number % 30}@example.org" for number in range(50)]
    assert decide(profile("contact point", *mails)).doubt == "value-repeats"
    assert decide(profile("pid", *(f"P{number}" for number in range(1427)))).warning == ""
    assert decide(profile("pid", *(f"P{number}" for number in range(50)), missing=3)).warning == ""


def test_a_name_that_repeats_may_be_shared_and_a_code_of_few_groups_is_no_number_of_people() -> None:
    assert decide(profile("surname", *"aabb")).doubt == "value-repeats"
    assert decide(profile("id", *map(str, [*range(100)] * 5))).doubt == "value-repeats"
    assert decide(profile("code", *"112233112233")).warning == ""
    assert decide(profile("age", *map(str, [*range(20, 90)] * 5))).warning == ""


def test_free_text_is_not_released_even_where_its_name_is_sensitive() -> None:
    notes = [f"patient {number} came in with a cough" for number in range(40)]
    assert decide(profile("diagnosis", *notes)).role == "identifier"
    assert decide(
        profile("diagnosis", *["malignant neoplasm of the lung", "acute upper airway infection"] * 9)
    ).role == ("sensitive")


@given(
    st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=3, max_size=30, unique=True),
    st.integers(min_value=0, max_value=2),
)
def test_widths_are_round_nest_and_hold_more_than_one_value(numbers: list[Decimal], places: int) -> None:
    rounded = sorted({number.quantize(Decimal(1).scaleb(-places)) for number in numbers})
    widths = round_widths([(number, 1) for number in rounded], decimals=places)
    assert len(widths) <= 3
    for width in widths:
        assert width.normalize().as_tuple().digits in {(1,), (2,), (5,)}
        assert width > Decimal(1).scaleb(-places)
        assert width < rounded[-1] - rounded[0]
    assert all(wide % narrow == 0 and wide > narrow for narrow, wide in pairwise(widths))
    if rounded[-1] - rounded[0] > 2 * Decimal(1).scaleb(-places):
        assert widths


@pytest.mark.parametrize(
    ("low", "high", "decimals", "widths"),
    [
        (17, 90, 0, "5 10 20"),
        (0, 5, 0, "2"),
        (20000, 90000, 0, "5000 10000 20000"),
        (0, 1, 2, "0.05 0.1 0.2"),
        (0, 2, 0, ""),
    ],
)
def test_widths_fit_the_range(low: int, high: int, decimals: int, widths: str) -> None:
    found = round_widths([(Decimal(low), 1), (Decimal(high), 1)], decimals=decimals)
    assert flow(found) == "[" + ", ".join(widths.split()) + "]"


def test_a_stray_number_does_not_stretch_the_widths() -> None:
    ages = [(Decimal(age), 10) for age in range(18, 90)]
    assert round_widths([*ages, (Decimal(99999), 2)], decimals=0) == round_widths(ages, decimals=0) == [5, 10, 20]


@pytest.mark.parametrize(
    ("values", "formats"),
    [
        (["2020-01-31", "2021-12-01"], [None]),
        (["2020-01-31T10:00", "2021-12-01 11:30"], [None]),
        (["31/01/2020", "01/02/2020"], ["%d/%m/%Y"]),
        (["01/31/2020", "02/01/2020"], ["%m/%d/%Y"]),
        (["2020/01/31"], ["%Y/%m/%d"]),
        (["1.2.2020", "3.4.2021"], ["%d.%m.%Y"]),
        (["31.01.2020 10:30", "01.02.2020 11:00"], ["%d.%m.%Y %H:%M"]),
        (["01/02/2020", "03/04/2020"], ["%d/%m/%Y", "%m/%d/%Y"]),
    ],
)
def test_dates_are_recognized_and_doubt_is_kept(values: list[str], formats: list[str | None]) -> None:
    found = date_form(profile("when", *values))
    assert found is not None
    assert list(found.formats) == formats


@pytest.mark.parametrize("values", [["2020-13-01"], ["12", "13"], ["1.5", "2.5"], ["2020-01-01", "soon"], ["01/02/20"]])
def test_what_is_no_date_throughout_is_none(values: list[str]) -> None:
    assert date_form(profile("when", *values)) is None


def test_dates_that_can_be_read_in_two_ways_are_left_with_a_comment() -> None:
    found = proposed("visit", "01/02/2020", "03/04/2020", "05/06/2020", "07/08/2020", "09/10/2020")
    assert found.spec == "flat"
    assert (found.reason, found.facts["formats"]) == ("ambiguous-dates", "%d/%m/%Y or %m/%d/%Y")


def test_hierarchies_follow_the_values() -> None:
    assert flow(proposed("visit", "31.12.2020", "1.1.2020").spec) == (
        '{dates: {units: [month, quarter], format: "%d.%m.%Y"}}'
    )
    assert flow(proposed("postcode", "SW1A 1AA", "N1 9GU").spec) == "{mask: {side: right, steps: [2, 4, 6]}}"
    assert flow(proposed("zip", "1234", "12345").spec) == "{mask: right}"
    assert flow(proposed("tariff", *(f"{number:03d}" for number in range(20))).spec) == "{mask: right}"
    assert flow(proposed("tariff", *(f"A{number:02d}" for number in range(20))).spec) == "{mask: right}"
    assert flow(proposed("children", "0", "1", "2", "3", "4", "7").spec) == "{intervals: [2]}"
    assert proposed("sex", "F", "M").spec == "flat"
    assert proposed("city", *(f"town {letter}" for letter in "abcdefghijklmnopqrstuvwxyzäöüßéè")).spec == "flat"


def test_a_mask_is_not_proposed_for_values_that_hold_stars() -> None:
    assert proposed("zip", "12*4", "1234", "12345").spec == "flat"


def test_the_name_of_the_one_group_is_none_of_the_values() -> None:
    found = proposed("city", "any", "any value", "Bonn", "Rome", "Oslo")
    assert found.groups == ("any value value", ("Bonn", "Oslo", "Rome", "any", "any value"))


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("x" * 2000)
@example("true")
@example("1e5")
@example("012")
def test_a_scalar_reads_back_as_the_text_it_was(text: str) -> None:
    written = scalar(text)
    assert "\n" not in written
    assert parse_yaml(f"a: [{written}, {written}]", "test") == {"a": [text, text]}
    assert parse_yaml(f"{key(text)}\n  - {written}  # a comment", "test") == {text: [text]}


@pytest.mark.parametrize(
    ("name", "content", "separator", "encoding"),
    [
        ("a.csv", b"a,b\n1,2\n", ",", "utf-8"),
        ("a.csv", b"a;b\n1,5;2\n", ";", "utf-8"),
        ("a.csv", b'a;b\n"1;5";2\n"x\ny";3\n', ";", "utf-8"),
        ("a.csv", b"a|b|c,d\n1|2|3\n", "|", "utf-8"),
        ("a.tsv", b"a,x\tb\n1\t2\n", "\t", "utf-8"),
        ("a.csv", b"only\n1;2\n", ",", "utf-8"),
        ("a.csv", "ä;b\n1;2\n".encode("latin-1"), ";", "latin-1"),
        ("a.csv", "€;b\n1;2\n".encode("cp1252"), ";", "cp1252"),
        ("a.csv", "ä;b\n1;2\n".encode("utf-16"), ";", "utf-16"),
        ("a.csv", "\ufeffä,b\n1,2\n".encode(), ",", "utf-8"),
        ("a.csv.gz", gzip.compress("ä;b\n1;2\n".encode("latin-1"), mtime=0), ";", "latin-1"),
    ],
)
def test_separator_and_encoding_are_read_off_the_file(
    tmp_path: Path, name: str, content: bytes, separator: str, encoding: str
) -> None:
    (tmp_path / name).write_bytes(content)
    found = text_format(tmp_path / name, separator=None, encoding=None)
    assert (found.separator, found.encoding) == (separator, encoding)


def test_bytes_far_into_the_file_decide_its_encoding_too(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,b\n" + b"1,2\n" * 400_000 + "ü,3\n".encode("latin-1"))
    assert text_format(tmp_path / "a.csv", separator=None, encoding=None).encoding == "latin-1"


@pytest.mark.parametrize("name", ["note", "Remarks", "doctor_comment", "free_text", "Bemerkung"])
def test_notes_about_people_are_not_released_however_few_there_are(name: str) -> None:
    assert decide(profile(name, *["fine"] * 6, "late", "late")).role == "identifier"
