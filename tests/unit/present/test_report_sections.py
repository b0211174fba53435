"""What each part of the page says."""

from __future__ import annotations

from typing import Any

import pytest
from page_reader import rows, section
from report_evidence import hospital

from shoal.models import MODELS
from shoal.present import write_report


def said(anchor: str, **changes: Any) -> str:
    """The text of a section of the page of changed evidence."""
    return section(write_report(hospital() | changes), anchor).text.replace("\u00a0", " ")


def marks(anchor: str, evidence: dict[str, Any]) -> list[str]:
    return [str(each.attributes["class"]) for each in section(write_report(evidence), anchor).all("span")]


def test_a_verified_release_is_called_verified_with_its_counts() -> None:
    text = said("verdict")
    assert text.startswith("SummaryVerifiedThe independent check passed: all that was asked for holds.")
    assert "29,950 of 30,162 records are released in 312 classes; 212 (0.7%) were left out." in text
    assert "Smallest class6" in text


def test_nothing_suppressed_is_said_so() -> None:
    assert "in 312 classes; none was left out." in said("verdict", suppressed=0, released=30_162)


def test_suppressed_records_that_stay_as_rows_of_stars_are_not_called_left_out() -> None:
    policy = hospital()["policy"] | {"suppressed": "star"}
    assert "212 (0.7%) stand as rows of * only." in said("verdict", policy=policy)


@pytest.mark.parametrize("verified", [False, None, "yes", 1])
def test_only_true_means_verified(verified: object) -> None:
    text = said("verdict", verified=verified)
    assert "Not verified: do not publish" in text
    assert "passed: all that" not in text


def test_evidence_that_contradicts_itself_is_in_doubt() -> None:
    failing = [{"name": "truthfulness", "passed": False, "message": "3 records", "facts": {}}]
    assert "In doubt: do not publish" in said("verdict", checks=failing)
    assert "the check truthfulness failed" in said("verdict", checks=failing)
    models = [hospital()["models"][0] | {"holds": False}]
    assert "the model k-anonymity does not hold" in said("verdict", models=models)


def test_each_model_has_a_row_with_what_was_asked_and_reached_and_its_meaning_under_it() -> None:
    page = write_report(hospital())
    models = [[cell.replace("\u00a0", " ") for cell in row] for row in rows(page, "asked")[1:]]
    assert len(models) == 2 * len(hospital()["models"])
    assert models[0] == ["k-anonymity", "k at least 5", "k = 6", "yes"]
    assert models[1][0].startswith(MODELS["k-anonymity"].summary)
    assert models[1][0].endswith(
        "Weakest by k: a class of 6 records, one of 41 as weak – age [20, 30); zipcode 142**; country (missing); "
        "education *."
    )
    assert models[2] == ["(p⁺, α)-sensitivity on condition", "p at least 2α at least 2", "p = 2α = 2.33333", "yes"]


def test_limits_of_single_values_are_matched_with_what_is_reached() -> None:
    text = said("asked")
    assert "α of Top Secret at most 0.5" in text
    assert "α of Secret = 0.571429" in text
    assert "dif of HIV at most 0.27" in text
    assert "alp of (missing) at most 0.5" in text
    assert "alp of (missing) = 0.1" in text


def test_a_limit_missed_by_little_does_not_look_reached() -> None:
    model = {"model": "t-closeness", "sensitive": "x", "asked": {"t": 0.2}, "reached": {"t": 0.2000000004}}
    assert "t = 0.2000000004" in said("asked", models=[model | {"holds": False}])
    assert "t = 0.2yes" in said("asked", models=[model | {"holds": True}])


def test_an_unknown_model_is_shown_without_an_invented_meaning() -> None:
    model = {"model": "m-invariance", "sensitive": None, "asked": {"m": 3}, "reached": {}, "holds": None}
    page = write_report(hospital() | {"models": [model]})
    assert rows(page, "asked")[1:] == [["m-invariance", "m: 3", "not stated", "not stated"]]


def test_each_quasi_identifier_shows_level_labels_and_loss() -> None:
    found = rows(write_report(hospital()), "lost")[1:5]
    assert found == [
        ["age", "2 of 5", "9 for 74", "13.2%"],
        ["zipcode", "3 of 5", "17 for 1,843", "under 0.1%"],
        ["country", "0 of 2 (as it was)", "41 for 41", "0%"],
        ["education", "4 of 4 (nothing left)", "1 for 16", "100%"],
    ]


def test_nothing_is_left_only_where_the_column_lost_everything() -> None:
    def level(ncp: float, **declared: object) -> str:
        evidence = hospital()
        evidence["columns"]["education"]["ncp"] = ncp
        evidence["policy"]["columns"]["education"] = {"role": "quasi", **declared}
        return rows(write_report(evidence), "lost")[4][1]

    assert level(1.0) == level(1.0, boundary=["Higher"]) == "4 of 4 (nothing left)"
    assert level(0.62, boundary=["Higher"]) == level(0.62, boundary=3) == "4 of 4 (at its boundary)"
    assert level(0.62) == "4 of 4"


def test_the_page_says_that_models_count_records() -> None:
    assert "The models count records, not people." in said("told")


def test_a_policy_that_names_every_column_is_said_to() -> None:
    text = said("told", not_named=[])
    assert "The policy names every column of the data." in text
    assert "Identifiers, removed: name." in text


def test_local_recoding_has_no_level_a_column() -> None:
    page = write_report(hospital() | {"levels": None})
    assert rows(page, "lost")[0][1] == "Levels there are"
    assert rows(page, "lost")[1][1] == "5"
    assert "no one level for a column" in section(page, "lost").text


def test_the_loss_plot_draws_a_bar_as_long_as_the_loss() -> None:
    plot = section(write_report(hospital()), "lost").all("svg")[0]
    widths = [bar.attributes["width"] for bar in plot.all("rect") if bar.attributes["class"] == "bar"]
    assert [width for width in widths if width != "1"] == ["13.15%", "0.04%", "100.00%"]
    assert "age 13.2%; zipcode under 0.1%; country 0%; education 100%." in plot.text


def test_measures_show_value_direction_and_meaning() -> None:
    found = rows(write_report(hospital() | {"measures": {"precision": 0.6, "ncp": 0.25, "kl": 1.5}}), "lost")
    start = found.index(["Measure", "Value", "Range and direction"])
    assert found[start + 1] == ["Precision", "0.6", "0 to 1, more is better"]
    assert found[start + 3] == ["NCP (normalized certainty penalty)", "0.25", "0 to 1, less is better"]
    assert found[start + 5] == ["kl", "1.5", "not stated"]


def test_class_sizes_name_the_smallest_the_median_and_the_largest() -> None:
    text = said("sizes")
    assert "The smallest class has 6 records, the median is 27.5" in text
    assert "the largest has 2,405 records." in text
    assert "logarithmic" in text


def test_no_class_sizes_mean_no_plot() -> None:
    page = write_report(hospital() | {"class_sizes": {}})
    assert not section(page, "sizes").all("svg")
    assert "No class is released" in section(page, "sizes").text


def test_the_table_of_sizes_counts_every_class_and_record() -> None:
    found = rows(write_report(hospital()), "sizes")[1:]
    by_size = hospital()["class_sizes"]["classes_by_size"]
    assert sum(int(row[1].replace(",", "")) for row in found) == sum(by_size.values())
    assert sum(int(row[2].replace(",", "")) for row in found) == sum(int(size) * n for size, n in by_size.items())


def test_a_sensitive_column_without_a_model_is_pointed_out() -> None:
    only_k = hospital()["models"][:1]
    assert said("told", models=only_k).count("No model on") == 2
    assert "No model on" not in said("told")


def test_columns_kept_as_they_are_and_columns_not_released_are_named() -> None:
    text = said("told")
    assert "Released as they are (insensitive): ward." in text
    assert "Identifiers, removed: name." in text
    assert "Not named in the policy, so not released: doctor, insurance number." in text
    assert ["country", "quasi-identifier", "not generalized (level 0)"] in rows(write_report(hospital()), "told")
    assert ["condition", "sensitive", "categories in place of values"] in rows(write_report(hospital()), "told")


def test_the_search_counts_minimal_nodes_and_shows_what_it_does_not_know() -> None:
    search = hospital()["search"] | {"rounds": 7, "seeds": list(range(200)), "best": {"age": 1}}
    found = rows(write_report(hospital() | {"search": search}), "made")
    assert ["Minimal nodes (they satisfy, and no less general one does)", "2"] in found
    assert ["Nodes checked", "412"] in found
    assert ["rounds", "7"] in found
    assert ["seeds", "200 items, in the evidence file"] in found
    assert ["best", "age: 1"] in found


def test_each_check_shows_its_outcome() -> None:
    checks = [
        {"name": "a", "passed": True, "message": "fine", "facts": {}},
        {"name": "b", "passed": False, "message": "2 rows", "facts": {}},
        {"name": "c"},
    ]
    found = rows(write_report(hospital() | {"checks": checks}), "made")
    assert ["a", "passed", "fine"] in found
    assert ["b", "failed", "2 rows"] in found
    assert ["c", "not stated", "not stated"] in found
    assert marks("made", hospital() | {"checks": checks}) == ["mark good", "mark", "mark"]


def test_a_release_that_was_not_written_has_no_hash() -> None:
    text = said("made", release_sha256=None)
    assert "none: the evidence was made before the release was written to a file" in text
    assert "ab" * 32 in text


def test_cost_and_policy_are_shown() -> None:
    text = said("made")
    assert "Searching for the release2.100 s" in text
    assert "Most memory held298 MiB" in text
    assert "categories: Top Secret: [HIV, Cancer] Rest: [Flu]" in text
