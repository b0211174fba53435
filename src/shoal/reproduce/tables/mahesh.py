"""The tables of Mahesh & Meyyappan, typed in by hand; spelling as printed, slips included."""

from __future__ import annotations

from shoal.reproduce.tables.printed import PaperTable

MAHESH_COLUMNS = ("Sno", "Zipcode", "Age", "Salary", "Disease")

MAHESH_1 = PaperTable(
    "Mahesh Table 1: original table",
    MAHESH_COLUMNS,
    (
        ("1", "47677", "29", "3000", "Gastric ulcer"),
        ("2", "47602", "22", "4000", "Gastritis"),
        ("3", "47678", "27", "5000", "stomach cancer"),
        ("4", "47905", "43", "6000", "Gastritis"),
        ("5", "47909", "52", "11000", "Flu"),
        ("6", "47906", "47", "8000", "Bronchitis"),
        ("7", "47605", "30", "7000", "Bronchitis"),
        ("8", "47673", "36", "9000", "Pneumonia"),
        ("9", "47607", "32", "10000", "stomach cancer"),
    ),
)

MAHESH_2 = PaperTable(
    "Mahesh Table 2: transformed from Table 1",
    MAHESH_COLUMNS,
    (
        ("1", "4760*", "22", "4000", "Gastritis"),
        ("2", "4760*", "30", "7000", "Bronchitis"),
        ("3", "4760*", "32", "10000", "stomach cancer"),
        ("4", "4767*", "27", "5000", "Stomach cancer"),
        ("5", "4767*", "29", "3000", "Gastric ulcer"),
        ("6", "4767*", "36", "9000", "Pneumonia"),
        ("7", "4790*", "43", "6000", "Gastritis"),
        ("8", "4790*", "47", "8000", "Bronchitis"),
        ("9", "4790*", "52", "11000", "Flu"),
    ),
)

MAHESH_T_STAR = PaperTable(
    "Mahesh Table T*: anonymized table",
    MAHESH_COLUMNS,
    (
        ("1", "4760*", "22<=30", "4000", "Gastritis"),
        ("2", "4760*", "22<=32", "7000", "Bronchitis"),
        ("3", "4760*", "30<=32", "10000", "Stomach cancer"),
        ("4", "4767*", "27<=29", "5000", "Stomach Cancer"),
        ("5", "4767*", "27<=36", "3000", "Gastric Ulcer"),
        ("6", "4767*", "29<=36", "9000", "Pneumonia"),
        ("7", "4790*", "43<=47", "6000", "Gastritis"),
        ("8", "4790*", "43<=52", "8000", "Bronchitis"),
        ("9", "4790*", "47<=52", "11000", "Flu"),
    ),
)
