"""The printed tables of the papers the product is built on, typed in by hand.

Spelling is as printed, slips included; where a test needs them reconciled, the reconciliation stands here too.
Abbreviations: Sun = Sun, Wang, Li, Truta 2008; Man = Man, Li, Wang; Mahesh = Mahesh, Meyyappan;
Wang = Wang, Xu, Qu 2011; Campan = Campan, Truta, Cooper 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PaperTable:
    """A printed table: its columns and its rows, every cell as printed text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), self.title

    def column(self, name: str) -> list[str]:
        """One column from top to bottom."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def records(self) -> list[dict[str, str]]:
        """The rows as records."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def classes(self, quasi: Sequence[str], sensitive: str) -> dict[tuple[str, ...], list[str]]:
        """The sensitive values of each combination of quasi-identifiers, in order of first appearance."""
        found: dict[tuple[str, ...], list[str]] = {}
        for record in self.records():
            found.setdefault(tuple(record[name] for name in quasi), []).append(record[sensitive])
        return found


SUN_QUASI = ("Age", "Country", "Zip Code")
SUN_COLUMNS = (*SUN_QUASI, "Health Condition")

SUN_1 = PaperTable(
    "Sun Table 1: micro data",
    SUN_COLUMNS,
    (
        ("27", "USA", "14248", "HIV"),
        ("28", "Canada", "14207", "HIV"),
        ("26", "USA", "14246", "Cancer"),
        ("25", "Canada", "14249", "Cancer"),
        ("41", "China", "13053", "Hepatitis"),
        ("48", "Japan", "13074", "Phthisis"),
        ("45", "India", "13064", "Asthma"),
        ("42", "India", "13062", "Heart Disease"),
        ("33", "USA", "14242", "Flu"),
        ("37", "Canada", "14204", "Flu"),
        ("36", "Canada", "14205", "Flu"),
        ("35", "USA", "14248", "Indigestion"),
    ),
)

SUN_2 = PaperTable(
    "Sun Table 2: a 2-anonymous view of Table 1",
    SUN_COLUMNS,
    (
        ("<30", "America", "142**", "HIV"),
        ("<30", "America", "142**", "HIV"),
        ("<30", "America", "1424*", "Cancer"),
        ("<30", "America", "1424*", "Cancer"),
        (">40", "Asia", "130**", "Hepatitis"),
        (">40", "Asia", "130**", "Phthisis"),
        (">40", "Asia", "130**", "Asthma"),
        (">40", "Asia", "130**", "Heart Disease"),
        ("3*", "America", "1424*", "Flu"),
        ("3*", "America", "142**", "Flu"),
        ("3*", "America", "142**", "Flu"),
        ("3*", "America", "1424*", "Indigestion"),
    ),
)

SUN_4 = {
    "Top Secret": ("HIV", "Cancer"),
    "Secret": ("Phthisis", "Hepatitis"),
    "Less Secret": ("Heart Disease", "Asthma"),
    "Non Secret": ("Flu", "Indigestion"),
}
"""Sun Table 4: categories of Health Condition, the most sensitive first (Category ID One … Four)."""

SUN_5 = PaperTable(
    "Sun Table 5: 2-sensitive 4-anonymous micro data",
    SUN_COLUMNS,
    (
        ("<30", "America", "142**", "HIV"),
        ("<30", "America", "142**", "HIV"),
        ("<30", "America", "142**", "Cancer"),
        ("<30", "America", "142**", "Cancer"),
        (">40", "Asia", "130**", "Hepatitis"),
        (">40", "Asia", "130**", "Phthisis"),
        (">40", "Asia", "130**", "Asthma"),
        (">40", "Asia", "130**", "Heart Disease"),
        ("3*", "America", "142**", "Flu"),
        ("3*", "America", "142**", "Flu"),
        ("3*", "America", "142**", "Flu"),
        ("3*", "America", "142**", "Indigestion"),
    ),
)

SUN_6 = PaperTable(
    "Sun Table 6: (2+, 2)-sensitive 4-anonymous micro data",
    ("ID", *SUN_COLUMNS, "Category ID"),
    (
        ("1", "<40", "America", "1424*", "HIV", "One"),
        ("4", "<40", "America", "1424*", "Cancer", "One"),
        ("9", "<40", "America", "1424*", "Flu", "Four"),
        ("12", "<40", "America", "1424*", "Indigestion", "Four"),
        ("5", ">40", "Asia", "130**", "Hepatitis", "Two"),
        ("6", ">40", "Asia", "130**", "Phthisis", "Two"),
        ("7", ">40", "Asia", "130**", "Asthma", "Three"),
        ("8", ">40", "Asia", "130**", "Heart Disease", "Three"),
        ("2", "<40", "America", "1420*", "HIV", "One"),
        ("3", "<40", "America", "1420*", "Cancer", "One"),  # record 3 of Table 1 has zip code 14246: not truthful
        ("10", "<40", "America", "1420*", "Flu", "Four"),
        ("11", "<40", "America", "1420*", "Flu", "Four"),
    ),
)

SUN_7 = PaperTable(
    "Sun Table 7: (3, 1)-sensitive 4-anonymous micro data",
    ("ID", *SUN_QUASI, "Disease", "weight"),
    (
        ("1", "<40", "America", "142**", "HIV", "0"),
        ("2", "<40", "America", "142**", "HIV", "0"),
        ("3", "<40", "America", "142**", "Cancer", "0"),
        ("9", "<40", "America", "142**", "Flu", "1"),
        ("5", ">40", "Asia", "130**", "Hepatitis", "1/3"),
        ("6", ">40", "Asia", "130**", "Phthisis", "1/3"),
        ("7", ">40", "Asia", "130**", "Asthma", "2/3"),
        ("8", ">40", "Asia", "130**", "Obesity", "2/3"),  # Table 1 has Heart Disease
        ("4", "<40", "America", "14***", "Cancer", "0"),
        ("10", "<40", "America", "14***", "Flu", "1"),
        ("11", "<40", "America", "14***", "Flu", "1"),
        ("12", "<40", "America", "14***", "Indigestion", "1"),
    ),
)
SUN_7_TOTALS = ("1", "2", "3")
SUN_7_CATEGORIES = SUN_4 | {"Less Secret": ("Heart Disease", "Asthma", "Obesity")}
"""Table 4 with the Obesity that Table 7 prints, in the category that its printed weight of 2/3 gives."""

SUN_8_LEFT = PaperTable(
    "Sun Table 8, left: sample data",
    ("Gender", "Zipcode", "Disease"),
    (
        ("Male", "4351", "HIV"),
        ("Male", "4351", "Flu"),
        ("Female", "4351", "HIV"),
        ("Female", "4352", "Flu"),
    ),
)
SUN_8_MIDDLE = PaperTable(
    "Sun Table 8, middle: original projected table",
    ("No.", "Zipcode", "Disease"),
    (("1", "4351", "HIV"), ("2", "4351", "Flu"), ("3", "4351", "HIV"), ("4", "4352", "Flu")),
)
SUN_8_RIGHT = PaperTable(
    "Sun Table 8, right: generalized table",
    ("No.", "Zipcode", "Disease"),
    (("1", "4351", "HIV"), ("2", "4351", "Flu"), ("3", "435*", "HIV"), ("4", "435*", "Flu")),
)

MAN_QUASI = ("Age", "Race", "Zip code")

MAN_1 = PaperTable(
    "Man Table 1: the original data table",
    ("No.", *MAN_QUASI, "Disease"),
    (
        ("1", "21", "Black", "14128", "Cancer"),
        ("2", "39", "White", "23141", "Hepatitis"),
        ("3", "48", "Black", "14150", "Gastric pain"),
        ("4", "27", "White", "14156", "Cancer"),
        ("5", "36", "Black", "23143", "tuberculosis"),
        ("6", "42", "Black", "14156", "Fever"),
        ("7", "22", "Black", "14152", "AIDS"),
        ("8", "32", "White", "23114", "Heart disease"),
        ("9", "49", "Black", "14156", "Fever"),
        ("10", "24", "Black", "14120", "AIDS"),
        ("11", "35", "White", "23141", "High blood pressure"),
        ("12", "45", "Black", "14120", "Fever"),
    ),
)

MAN_2 = {
    "1": ("AIDS", "cancer"),
    "2": ("Tuberculosis", "hepatitis"),
    "3": ("Heart disease", "high blood pressure"),
    "4": ("Fever", "stomach pain"),
}
"""Man Table 2: sensitive attribute grouping by Grouping ID, the most sensitive first."""

MAN_3 = PaperTable(
    "Man Table 3: (3, alpha)-sensitive 4-anonymous table",  # the caption says 3; the text says p = 2
    ("No.", *MAN_QUASI, "Disease", "Grouping ID"),
    (
        ("1", "[20,50)", "Black", "141**", "Cancer", "1"),
        ("12", "[20,50)", "Black", "141**", "Fever", "4"),
        ("10", "[20,50)", "Black", "141**", "AIDS", "1"),
        ("6", "[20,50)", "Black", "141**", "Fever", "4"),
        ("2", "[30,40)", "*", "231**", "Hepatitis", "2"),
        ("11", "[30,40)", "*", "231**", "High blood pressure", "3"),
        ("8", "[30,40)", "*", "231**", "Heart disease", "3"),
        ("5", "[30,40)", "*", "231**", "Pulmonary tuberculosis", "2"),
        ("3", "[20,50)", "*", "141**", "Gastric pain", "4"),
        ("7", "[20,50)", "*", "141**", "AIDS", "1"),
        ("9", "[20,50)", "*", "141**", "Fever", "4"),
        ("4", "[20,50)", "*", "141**", "Cancer", "1"),
    ),
)
MAN_ALPHA = {"1": 0.5, "2": 0.6, "3": 0.75, "4": 1}
"""The limits of the worked example, by Grouping ID."""

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

WANG_QUASI = ("Age", "Education", "Sex")
WANG_COLUMNS = (*WANG_QUASI, "Illness")

WANG_1 = PaperTable(
    "Wang Table I: 2-anonymity",
    WANG_COLUMNS,
    (
        ("(40, 50]", "Dr.", "M", "HIV"),
        ("(40, 50]", "Dr.", "M", "HIV"),
        ("[30, 40]", "Master", "M", "cancer"),
        ("[30, 40]", "Master", "M", "cold"),
        ("[20, 30)", "Secondary education", "F", "fever"),
        ("[20, 30)", "Secondary education", "F", "fever"),
    ),
)

WANG_2 = PaperTable(
    "Wang Table II: 2-sensitive",
    WANG_COLUMNS,
    (
        ("(20, 50]", "*", "person", "HIV"),
        ("(20, 50]", "*", "person", "HIV"),
        ("(20, 50]", "*", "person", "cancer"),
        ("(20, 50]", "*", "person", "cold"),
        ("(20, 50]", "*", "person", "fever"),
        ("(20, 50]", "*", "person", "fever"),
    ),
)

WANG_3 = PaperTable(
    "Wang Table III: a release table",
    WANG_COLUMNS,
    (
        ("(40, 50]", "tertiary education", "M", "HIV"),
        ("(40, 50]", "tertiary education", "M", "HIV"),
        ("(40, 50]", "tertiary education", "M", "CANCER"),
        ("(40, 50]", "tertiary education", "M", "COLD"),
        ("[20, 30)", "secondary education", "F", "FEVER"),
        ("[20, 30)", "secondary education", "F", "FEVER"),
    ),
)

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
