"""The tables of Man, Li & Wang, typed in by hand; spelling as printed, slips included."""

from __future__ import annotations

from shoal.reproduce.tables.printed import PaperTable

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
