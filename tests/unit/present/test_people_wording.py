"""What is said where the models count people, word for word, in golden files (``pytest --update-golden``)."""

from __future__ import annotations

from typing import Any

from page_reader import lines, read_page
from report_evidence import LINKED, LINKED_BY_WARD, UNPROTECTED, attack, hospital, weakest
from test_report_wording import LEAK, MIXED, REGISTRY, SAMPLE

from shoal.attacks.battery import AttackReport
from shoal.evidence.evidence import Evidence
from shoal.models import MODELS
from shoal.present.attacks import declared, exposed_phrase, verdict_sentence
from shoal.present.people import in_people, people_sentences
from shoal.present.report.page import write_report
from shoal.present.terminal import attack_lines, release_lines
from shoal.present.warnings import warning_sentence
from support.golden_files import check_golden

PEOPLE: dict[str, Any] = {
    "columns": ["patient_id"],
    "people": 21_000,
    "released": 20_950,
    "records_per_person": {"median": 1.0, "largest": 15, "people_with_several": 4_200},
    "lost_all": 50,
    "lost_some": 120,
    "lost_none": 20_830,
    "class_sizes": {
        "smallest": 5,
        "largest": 900,
        "mean": 60.5,
        "quartiles": [9.0, 21.0, 70.5],
        "classes_by_size": {"5": 12, "21": 30, "900": 1},
    },
}
COUNTED = {"people": 2, "of_people": 40}
RESULTS = [
    attack("homogeneity", "illness", **LEAK, **COUNTED, details=UNPROTECTED),
    attack("homogeneity-insensitive", "illness", **LEAK, **COUNTED, details=MIXED, columns=["ward", "room"]),
    attack("similarity", "illness", **LEAK, **COUNTED | {"people": 1}, details={"by_category": {"Grave": 2}}),
    attack("background", "illness", **LEAK, **COUNTED, details={"by_values_ruled_out": {2: 3}, "values_ruled_out": 2}),
    attack("linkage", rate=0.041, **COUNTED | {"people": 0}, details=LINKED),
    attack("linkage", **SAMPLE, **COUNTED | {"people": 0}, details=LINKED),
    attack("linkage", **LEAK, **COUNTED | {"people": 1}, details=LINKED),
    attack("linkage-insensitive", **LEAK, **COUNTED, details=LINKED | LINKED_BY_WARD, columns=["ward"]),
    attack("linkage", rate=0.041, counted="records", details=LINKED),
    attack("linkage", **LEAK, counted="records", details=LINKED),
    attack("inference", "illness", rate=0.3, baseline=0.29, counted="records", details={"base_rate": 0.25}),
    attack("composition", "illness", **LEAK, counted="records", details={"earlier_releases": 1}),
    attack("composition", "illness", **LEAK | {"of": 40}, counted="records", details=REGISTRY),
    attack("informed", "illness", status="not tried", outcome="people-counted"),
]
SEVERAL = {"code": "several-records-per-person", "column": "patient_id", "people": 100, "records": 129,
           "people_with_several": 16, "largest": 15}  # fmt: skip


def release() -> dict[str, Any]:
    model = hospital()["models"][0] | {"reached": {"k": 5}, "weakest": {"k": weakest(5) | {"size": 8, "people": 5}}}
    return hospital() | {"people": PEOPLE, "models": [model], "attacks": RESULTS, "seconds": 1.0}


def test_a_release_in_people(update_golden: bool) -> None:
    known = set(lines(read_page(write_report(hospital()))))
    page = [line for line in lines(read_page(write_report(release()))) if line not in known]
    said = ["=== on the command line", *release_lines(release()), "=== in the report", *page]
    check_golden("people_release.txt", "\n".join(said) + "\n", update=update_golden)


def test_attacks_models_and_warnings_in_people(update_golden: bool) -> None:
    results = Evidence.read(release()).attacks
    said = [f"{each.name}: {verdict_sentence(each)} [{exposed_phrase(each)}]" for each in results]
    said += [f"{each.name}: {declared(each, 'attempt')}" for each in results if each.name == "linkage"][:1]
    said.append(list(attack_lines("release.csv", AttackReport(results, 0)))[-1])
    said += [f"{name}: {in_people(model.summary)}" for name, model in MODELS.items()]
    one = PEOPLE | {"people": 2, "released": 1, "lost_all": 1, "lost_some": 0, "lost_none": 1, "class_sizes": {}}
    nobody = PEOPLE | {"lost_all": 0, "lost_some": 0, "lost_none": 21_000, "released": 21_000}
    said += [" ".join(people_sentences(each)) for each in (PEOPLE, one, nobody)]
    said += [
        warning_sentence(each) for each in (SEVERAL, SEVERAL | {"people_with_several": 1, "column": "Patient No: #"})
    ]
    check_golden("people_sentences.txt", "\n".join(said) + "\n", update=update_golden)
