"""The tables of Sun, Wang, Li & Truta 2008, typed in by hand; spelling as printed, slips included."""

from __future__ import annotations

from shoal.reproduce.tables.printed import PaperTable

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
