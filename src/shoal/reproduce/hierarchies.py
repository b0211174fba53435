"""Our own hierarchies for Adult; the papers' drawings are lost, and they print no more than the heights.

Every tree is of even depth, so that its height is that of the paper: a value that stands alone in a group keeps a
label of its own on the way up.
"""

from __future__ import annotations

from typing import Any

COUNTRY: dict[str, Any] = {
    "America": {
        "North America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)"],
        "Central America": ["Mexico", "Guatemala", "Honduras", "El-Salvador", "Nicaragua"],
        "Caribbean": ["Cuba", "Dominican-Republic", "Haiti", "Jamaica", "Puerto-Rico", "Trinadad&Tobago"],
        "South America": ["Columbia", "Ecuador", "Peru"],
    },
    "Asia": {
        "East Asia": ["China", "Hong", "Japan", "South", "Taiwan"],
        "South-East Asia": ["Cambodia", "Laos", "Philippines", "Thailand", "Vietnam"],
        "South and West Asia": ["India", "Iran"],
    },
    "Europe": {
        "Western Europe": ["England", "France", "Germany", "Holand-Netherlands", "Ireland", "Scotland"],
        "Southern Europe": ["Greece", "Italy", "Portugal"],
        "Eastern Europe": ["Hungary", "Poland", "Yugoslavia"],
    },
}
"""Height 3: country, region, continent, all. Spelling as in Adult; South is South Korea, Hong is Hong Kong."""

EDUCATION: dict[str, Any] = {
    "School": {
        "Elementary": {"Preschool to 4th": ["Preschool", "1st-4th"], "5th to 8th": ["5th-6th", "7th-8th"]},
        "High school": {"9th to 10th": ["9th", "10th"], "11th to 12th": ["11th", "12th"], "Diploma": ["HS-grad"]},
    },
    "Higher": {
        "College": {"No degree": ["Some-college"], "Associate": ["Assoc-voc", "Assoc-acdm"]},
        "University": {
            "Bachelor": ["Bachelors"], "Master": ["Masters"], "Professional": ["Prof-school", "Doctorate"],
        },
    },
}  # fmt: skip
"""Height 4."""

MARITAL: dict[str, Any] = {
    "Has married": {
        "Married": ["Married-civ-spouse", "Married-AF-spouse"],
        "Spouse absent": ["Married-spouse-absent", "Separated"],
        "Married before": ["Divorced", "Widowed"],
    },
    "Has not married": {"Single": ["Never-married"]},
}
"""Height 3."""

MARITAL_SHORT: dict[str, Any] = {
    "With spouse": ["Married-civ-spouse", "Married-AF-spouse"],
    "Without spouse": ["Never-married", "Divorced", "Widowed", "Separated", "Married-spouse-absent"],
}
"""Height 2, as Campan has it."""

OCCUPATION: dict[str, Any] = {
    "Office": ["Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"],
    "Manual": ["Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving"],
    "Services": ["Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"],
}
"""Height 2."""

RACE: dict[str, Any] = {
    "Largest category": {"White alone": ["White"]},
    "Smaller categories": {
        "Black alone": ["Black"],
        "Asian or Pacific alone": ["Asian-Pac-Islander"],
        "Smallest categories": ["Amer-Indian-Eskimo", "Other"],
    },
}
"""Height 3, by how many records of Adult have a value."""

SEX: dict[str, Any] = {"*": {"Person": ["Male", "Female"]}}
"""Height 2: two values allow one step that says less; the second only changes the name."""

WORKCLASS: dict[str, Any] = {
    "Government": {"Federal": ["Federal-gov"], "State or local": ["State-gov", "Local-gov"]},
    "Business": {"Employee": ["Private"], "Self-employed": ["Self-emp-inc", "Self-emp-not-inc"]},
    "Unpaid": {"No wage": ["Without-pay", "Never-worked"]},
}
"""Height 3."""

SUN: dict[str, Any] = {
    "age": {"intervals": [5, 10, 20, 40]},
    "workclass": {"tree": WORKCLASS},
    "education": {"tree": EDUCATION},
    "native-country": {"tree": COUNTRY},
    "marital-status": {"tree": MARITAL},
    "race": {"tree": RACE},
    "sex": {"tree": SEX},
}
"""Sun Table 9: heights 5, 3, 4, 3, 3, 3, 2, in its order."""
SUN_HEIGHTS = {
    "age": 5, "workclass": 3, "education": 4, "native-country": 3, "marital-status": 3, "race": 3, "sex": 2,
}  # fmt: skip

WANG: dict[str, Any] = {
    "age": {"intervals": [5, 10, 20]},
    "education": {"tree": EDUCATION},
    "sex": "flat",
    "occupation": {"tree": OCCUPATION},
    "native-country": {"tree": COUNTRY},
    "income": "flat",
}
"""Wang Table IV: ages in ranges of 5, 10 and 20 years, taxonomies for the rest."""

CAMPAN: dict[str, Any] = {
    "age": {"intervals": {"cuts": [[10, 20, 30, 40, 50, 60, 70, 80, 90, 100], [10, 20, 60, 100]]}},
    "workclass": "flat",
    "marital-status": {"tree": MARITAL_SHORT},
    "race": "flat",
    "sex": "flat",
    "native-country": {"tree": COUNTRY},
}
"""Campan section 4: heights 1 for workclass, sex and race, 2 for marital status; ages by decades, then 20-59."""
CAMPAN_BOUNDARIES = {"age": 1, "native-country": 1}
"""Ages stay within their decade, countries within their region."""
