"""The tables of Campan, Truta & Cooper 2010, typed in by hand; spelling as printed, slips included."""

from __future__ import annotations

from shoal.reproduce.tables.printed import PaperTable

CAMPAN_QUASI = ("Marital-Status", "Gender", "Age")

CAMPAN_1 = PaperTable(
    "Campan Table 1: an IM dataset",
    ("Record", "Name", *CAMPAN_QUASI, "Diagnosis"),
    (
        ("X1", "Bob", "Married", "Male", "37", "Cancer"),
        ("X2", "Nancy", "Married", "Female", "30", "Flu"),
        ("X3", "James", "Married", "Male", "36", "HIV"),
        ("X4", "Carol", "Single", "Female", "43", "Cancer"),
        ("X5", "William", "Single", "Male", "45", "Flu"),
        ("X6", "Heidi", "Single", "Female", "37", "Flu"),
        ("X7", "Cindy", "Single", "Female", "32", "Flu"),
        ("X8", "Michael", "Married", "Male", "30", "Diabetes"),
        ("X9", "David", "Divorced", "Female", "41", "Diabetes"),
    ),
)

CAMPAN_COLUMNS = ("Record", *CAMPAN_QUASI, "Diagnosis")

CAMPAN_2 = PaperTable(
    "Campan Table 2: masked microdata MM1 for IM",  # the paper prints one line a class, here one a record
    CAMPAN_COLUMNS,
    (
        ("X1", "Married", "Male", "30-39", "Cancer"),
        ("X3", "Married", "Male", "30-39", "HIV"),
        ("X8", "Married", "Male", "30-39", "Diabetes"),
        ("X2", "Mar.-Status", "Female", "30-39", "Flu"),
        ("X6", "Mar.-Status", "Female", "30-39", "Flu"),
        ("X7", "Mar.-Status", "Female", "30-39", "Flu"),
        ("X4", "Mar.-Status", "Person", "40-49", "Cancer"),
        ("X5", "Mar.-Status", "Person", "40-49", "Flu"),
        ("X9", "Mar.-Status", "Person", "40-49", "Diabetes"),
    ),
)

CAMPAN_3 = PaperTable(
    "Campan Table 3: masked microdata MM2 for IM",
    CAMPAN_COLUMNS,
    (
        ("X1", "Married", "Male", "30-39", "Cancer"),
        ("X3", "Married", "Male", "30-39", "HIV"),
        ("X8", "Married", "Male", "30-39", "Diabetes"),
        ("X4", "Single", "Person", "20-59", "Cancer"),
        ("X5", "Single", "Person", "20-59", "Flu"),
        ("X6", "Single", "Person", "20-59", "Flu"),
        ("X2", "Mar.-Status", "Female", "20-59", "Flu"),
        ("X7", "Mar.-Status", "Female", "20-59", "Flu"),
        ("X9", "Mar.-Status", "Female", "20-59", "Diabetes"),
    ),
)

CAMPAN_4 = PaperTable(
    "Campan Table 4: masked microdata MM3 for IM",
    CAMPAN_COLUMNS,
    (
        ("X1", "Married", "Person", "30-39", "Cancer"),
        ("X2", "Married", "Person", "30-39", "Flu"),
        ("X8", "Married", "Person", "30-39", "Diabetes"),
        ("X3", "Mar.-Status", "Person", "30-39", "HIV"),
        ("X6", "Mar.-Status", "Person", "30-39", "Flu"),
        ("X7", "Mar.-Status", "Person", "30-39", "Flu"),
        ("X4", "Mar.-Status", "Person", "40-49", "Cancer"),
        ("X5", "Mar.-Status", "Person", "40-49", "Flu"),
        ("X9", "Mar.-Status", "Person", "40-49", "Diabetes"),
    ),
)
