"""The cases of ``same_bytes.py``: policies, and the command lines that are run with them.

A case is a folder with some inputs and policies in which commands are run one after another. Commands that begin with
``@`` are done by the recorder itself: ``@replace FILE OLD NEW`` edits a file, as somebody would who tampers with it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from same_bytes_inputs import CONDITIONS, COUNTRIES, MEDICATIONS, STAGES

Json = dict[str, Any]
Command = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """Inputs, policies (file name → content) and the commands to run in a folder that has them."""

    name: str
    inputs: tuple[str, ...]
    policies: Mapping[str, Json]
    commands: tuple[Command, ...]
    fresh: bool = False
    """Whether each command needs a process of its own, since memory or Java are part of the case."""
    group: str = "local"
    """``local``, ``spark`` or ``postgres``."""
    tables: tuple[str, ...] = field(default=())
    """Tables of the database that are part of the result."""


AGE: Json = {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}}
FLAT: Json = {"role": "quasi", "hierarchy": "flat"}
MASK: Json = {"role": "quasi", "hierarchy": {"mask": "right"}}
COUNTRY: Json = {"role": "quasi", "hierarchy": {"tree": COUNTRIES}}
CONDITION: Json = {"role": "sensitive", "categories": CONDITIONS, "publish": "values"}
PEOPLE: Json = {
    "id": {"role": "identifier"},
    "age": AGE,
    "sex": FLAT,
    "zipcode": MASK,
    "country": COUNTRY,
    "condition": CONDITION,
}
MISSING: Json = {
    **PEOPLE,
    "condition": {
        **CONDITION,
        "categories": {**CONDITIONS, "Non Secret": [*CONDITIONS["Non Secret"], None]},
        "unknown_counts": True,  # the only reading of recordings that are older than the key
    },
}
NARROW: Json = {"age": AGE, "sex": FLAT, "condition": CONDITION}
K4: Json = {"model": "k-anonymity", "k": 4}
P2: Json = {"model": "p-sensitive", "p": 2, "sensitive": "condition"}

MODELS: dict[str, list[Json]] = {
    "k-anonymity": [{"model": "k-anonymity", "k": 5}],
    "p-sensitive": [K4, {"model": "p-sensitive", "p": 3, "sensitive": "condition"}],
    "p-alpha-sensitive": [K4, {"model": "p-alpha-sensitive", "p": 2, "alpha": 1, "sensitive": "condition"}],
    "p-plus-alpha-sensitive": [K4, {"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 1.5, "sensitive": "condition"}],
    "group-leakage": [
        K4,
        {"model": "group-leakage", "p": 2, "alpha": {"Top Secret": 0.5, "Secret": 0.6}, "sensitive": "condition"},
    ],
    "alp-dif": [K4, {"model": "alp-dif", "limits": {"HIV": {"alp": 0.6, "dif": 0.55}, "Cancer": {"alp": 0.7}}}],
    "distinct-l-diversity": [K4, {"model": "distinct-l-diversity", "l": 3}],
    "entropy-l-diversity": [K4, {"model": "entropy-l-diversity", "l": 2.2}],
    "recursive-cl-diversity": [K4, {"model": "recursive-cl-diversity", "l": 2, "c": 2.5}],
    "alpha-k-anonymity": [K4, {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.4, "Cancer": 0.5, "Flu": 0.7}}],
    "t-closeness": [K4, {"model": "t-closeness", "t": 0.45, "distance": "equal"}],
}
ALGORITHMS: dict[str, Json] = {
    "optimal": {"name": "optimal"},
    "incognito": {"name": "incognito"},
    "greedy-lattice": {"name": "greedy-lattice"},
    "top-down": {"name": "top-down"},
    "greedy-clustering": {"name": "greedy-clustering"},
    "faithful-clustering": {"name": "greedy-clustering", "faithful": True, "seed": 7},
    "mondrian": {"name": "mondrian"},
    "mondrian-ranges": {"name": "mondrian", "ranges": ["age"]},
}
_SUPPRESSIONS = (0.05, 0, 0.3)
_PUBLISHED = ("values", "both", "values")


def policy(
    columns: Json | None = None,
    privacy: list[Json] | None = None,
    algorithm: Json | str = "optimal",
    *,
    data: Any = "people.csv",
    **more: Any,
) -> Json:
    """The content of a policy file; ``k-anonymity`` with k = 4 and ``p-sensitive`` with p = 2 unless told otherwise."""
    return {
        "data": data,
        "columns": PEOPLE if columns is None else columns,
        "privacy": [K4, P2] if privacy is None else privacy,
        "algorithm": algorithm,
        "suppression": 0.05,
        "output": "release.csv",
        **more,
    }


def having(columns: Json, **changes: Json) -> Json:
    """Columns with further keys for some of them, or further columns."""
    return {**columns, **{name: {**columns.get(name, {}), **change} for name, change in changes.items()}}


def published(name: str, content: Json, *inputs: str, **options: Any) -> Case:
    """A case that makes one release."""
    command = ("anonymize", "policy.yaml", "--json", *options.pop("arguments", ()))
    return Case(name, inputs or ("people.csv",), {"policy.yaml": content}, (command,), **options)


def matrix() -> Iterator[Case]:
    """Every algorithm with every model; suppression, boundaries, stars and what is published vary on the way."""
    for row, (algorithm, options) in enumerate(ALGORITHMS.items()):
        for place, (model, privacy) in enumerate(MODELS.items()):
            turn = row + place
            suppression = _SUPPRESSIONS[turn % 3]
            columns = having(PEOPLE, condition={"publish": _PUBLISHED[turn % 3]})
            if turn % 4 == 1 and suppression:
                columns = having(columns, age={"boundary": 3}, country={"boundary": list(COUNTRIES)})
            more: Json = {"suppressed": "star"} if turn % 5 == 2 else {}
            content = policy(columns, privacy, options, suppression=suppression, **more)
            data = "few.csv" if algorithm == "faithful-clustering" else "people.csv"
            yield published(f"{algorithm}-{model}", {**content, "data": data}, data)


def suppression() -> Iterator[Case]:
    """How much may be suppressed, how it is shown, and boundaries of every form."""
    for share in (0, 0.05, 0.3):
        for shown in ("drop", "star"):
            yield published(
                f"suppression-{share}-{shown}", policy(algorithm="optimal", suppression=share, suppressed=shown)
            )
    bounded = having(PEOPLE, age={"boundary": 2}, country={"boundary": ["America", "Europe"]}, zipcode={"boundary": 3})
    for algorithm in ("optimal", "greedy-lattice", "mondrian", "top-down", "greedy-clustering"):
        yield published(f"boundary-{algorithm}", policy(bounded, algorithm=algorithm, suppression=0.3))
    yield published(
        "boundary-one-label",
        policy(having(PEOPLE, country={"boundary": "Asia"}), algorithm="mondrian", suppressed="star"),
    )
    for published_as in ("values", "categories", "both"):
        privacy = [K4, {"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 2, "sensitive": "condition"}]
        columns = having(PEOPLE, condition={"publish": published_as})
        yield published(f"publish-{published_as}", policy(columns, privacy, "mondrian"))
    default = {key: value for key, value in CONDITION.items() if key != "publish"}
    privacy = [K4, {"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 2}]
    yield published("publish-by-default", policy({**PEOPLE, "condition": default}, privacy, "optimal"))


def options() -> Iterator[Case]:
    """Measures, weights, ranges, refining, nodes and seeds of the algorithms."""
    for metric in ("ncp", "ntil", "distortion_ratio", "precision", "discernibility", "average_class_size"):
        yield published(f"metric-{metric}", policy(algorithm={"name": "optimal", "metric": metric}))
    yield published("metric-wang-incognito", policy(algorithm={"name": "incognito", "metric": "wang_loss"}))
    weights = {"age": 0.1, "zipcode": 0.9, "country": 0.5}
    yield published("weights-greedy-lattice", policy(algorithm={"name": "greedy-lattice", "weights": weights}))
    weighted = {"name": "greedy-clustering", "faithful": True, "seed": 3, "weights": {"condition": 0.5}}
    yield published("weights-faithful", policy(algorithm=weighted, data="few.csv"), "few.csv")
    for algorithm in ("mondrian", "top-down", "greedy-clustering"):
        ranged = {"name": algorithm, "ranges": ["age"], "metric": "ncp"}
        yield published(f"ranges-{algorithm}", policy(MISSING, algorithm=ranged, data="missing.csv"), "missing.csv")
        refined = {"name": algorithm, "refine": 120}
        yield published(f"refined-{algorithm}", policy(NARROW, algorithm=refined, data="few.csv"), "few.csv")
    refined_ranges = {"name": "mondrian", "ranges": ["age"], "refine": 120, "metric": "ncp"}
    yield published("refined-ranges", policy(NARROW, algorithm=refined_ranges, data="few.csv"), "few.csv")
    node = {"name": "incognito", "node": {"age": 1, "sex": 0, "zipcode": 1, "country": 2}}
    yield published("incognito-node", policy(algorithm=node, suppression=0.3))
    top = {"age": 4, "sex": 1, "zipcode": 5, "country": 2}
    yield published("incognito-node-that-is-not-minimal", policy(algorithm={**node, "node": top}))
    yield published("algorithm-option", policy(), arguments=("--algorithm", "mondrian", "--out", "other.csv"))
    yield published("larger-mondrian", policy(algorithm="mondrian", data="many.csv"), "many.csv")
    yield published("larger-clustering", policy(algorithm="greedy-clustering", data="many.csv"), "many.csv")
    yield published("larger-optimal", policy(algorithm="optimal", data="many.csv", suppression=0.02), "many.csv")
    yield published("k-only-without-sensitive", policy({"age": AGE, "sex": FLAT}, [K4], "mondrian"))


NEIGHBOURS: Json = {
    "zipcode": MASK,
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 50]}},
    "disease": {"role": "sensitive"},
}


_RANGES = (
    ("range-published", 1, False),
    ("range-published-holds", 2, False),
    ("range-fails", 3, False),
    ("range-safe", 4, True),
)


def ranges() -> Iterator[Case]:
    """The range method as published and its safe form."""
    for name, k, safe in _RANGES:
        algorithm: Json = {
            "name": "range",
            "group": {"zipcode": 2},
            "ranges": ["age"],
            **({"safe": True} if safe else {}),
        }
        content = policy(NEIGHBOURS, [{"model": "k-anonymity", "k": k}], algorithm, data="neighbours.csv")
        yield published(name, content, "neighbours.csv")
    safe_form = {"name": "range", "group": {"zipcode": 3, "sex": 0}, "ranges": ["age"], "safe": True}
    yield published("range-safe-p-sensitive", policy(algorithm=safe_form, suppression=0.3, suppressed="star"))
    yield published(
        "range-safe-missing", policy(MISSING, algorithm=safe_form, suppression=0.3, data="missing.csv"), "missing.csv"
    )
    several = {"name": "range", "group": {"zipcode": 5}, "ranges": ["age", "income"], "safe": True}
    columns: Json = {
        "zipcode": MASK,
        "age": AGE,
        "income": {"role": "quasi", "hierarchy": {"intervals": [5000, 20000]}},
    }
    yield published("range-two-columns", policy(columns, [K4], several, data="visits.csv"), "visits.csv")
    unclear = {"name": "range", "group": {"age": 1}, "ranges": ["age"], "safe": True}
    yield published("range-column-in-both-roles", policy(algorithm=unclear))
    yield published("range-without-group", policy(algorithm={"name": "range", "ranges": ["age"]}))


HIERARCHIES: dict[str, tuple[str, Any]] = {
    "widths": ("age", {"intervals": [5, 10, 20]}),
    "widths-origin-bounds": ("age", {"intervals": {"widths": [10, 30], "origin": 5, "bounds": [0, 120]}}),
    "cuts": ("age", {"intervals": [["-inf", 30, 45, 65, "inf"], ["-inf", 45, "inf"]]}),
    "cuts-bounds": ("income", {"intervals": {"cuts": [[0, 20000, 30000, 50000], [0, 30000, 50000]]}}),
    "tree": ("country", {"tree": COUNTRIES}),
    "tree-uneven": (
        "country",
        {"tree": {"World": {**COUNTRIES, "America": {"North": ["USA", "Canada"], "South": ["Brazil"]}}}},
    ),
    "tree-file": ("country", {"tree": "countries.yaml"}),
    "levels": ("code", {"levels": {"path": "codes.csv", "separator": ";"}}),
    "mask-right": ("zipcode", {"mask": "right"}),
    "mask-left": ("zipcode", {"mask": "left"}),
    "mask-alphabet-steps": ("zipcode", {"mask": {"side": "right", "alphabet": "digits", "steps": [2, 4]}}),
    "mask-plate": ("plate", {"mask": {"side": "right", "steps": [1, 2, 3]}}),
    "dates-year": ("admitted", {"dates": "year"}),
    "dates-units": ("admitted", {"dates": ["month", "quarter", "half", "year", "decade"]}),
    "dates-week": ("admitted", {"dates": ["week"]}),
    "order": ("stage", {"order": STAGES}),
    "order-groups": ("stage", {"order": {"values": STAGES, "groups": [2, 4]}}),
    "flat": ("medication", "flat"),
}


def hierarchies() -> Iterator[Case]:
    """Every kind of hierarchy, in a full-domain and in a local recoding by turns."""
    for place, (name, (column, hierarchy)) in enumerate(HIERARCHIES.items()):
        columns: Json = {"sex": FLAT, column: {"role": "quasi", "hierarchy": hierarchy}, "condition": CONDITION}
        more = ("codes.csv",) if name == "levels" else ("countries.yaml",) if name == "tree-file" else ()
        algorithm = ("optimal", "mondrian", "greedy-clustering")[place % 3]
        yield published(
            f"hierarchy-{name}", policy(columns, [K4, P2], algorithm, data="visits.csv"), "visits.csv", *more
        )
    every: Json = {
        "admitted": {"role": "quasi", "hierarchy": {"dates": ["quarter", "year"]}},
        "stage": {"role": "quasi", "hierarchy": {"order": STAGES}, "boundary": 2},
        "code": {"role": "quasi", "hierarchy": {"levels": {"path": "codes.csv", "separator": ";"}}},
        "ward": {"role": "insensitive"},
    }
    for algorithm in ("optimal", "top-down", "greedy-clustering"):
        content = policy({**PEOPLE, **every}, algorithm=algorithm, data="visits.csv", suppression=0.3)
        yield published(f"hierarchies-together-{algorithm}", content, "visits.csv", "codes.csv")


def sensitive() -> Iterator[Case]:
    """Several sensitive columns, distances of t-closeness, missing values."""
    two = {**PEOPLE, "medication": {"role": "sensitive"}, "ward": {"role": "insensitive"}}
    lists: list[Json] = [K4, {"model": "p-sensitive", "p": 2, "sensitive": ["condition", "medication"]}]
    mixed = [*lists, {"model": "t-closeness", "t": 0.6, "distance": "hierarchical", "sensitive": "condition"}]
    for algorithm in ("optimal", "mondrian", "greedy-clustering", "top-down"):
        content = policy(two, mixed, algorithm, data="visits.csv", suppression=0.1)
        yield published(f"two-sensitive-{algorithm}", content, "visits.csv")
    faithful = {
        "name": "greedy-clustering",
        "faithful": True,
        "seed": 5,
        "weights": {"condition": 0.7, "medication": 0.3},
    }
    yield published("two-sensitive-faithful", policy(two, lists, faithful, data="visits.csv"), "visits.csv")
    ordered = {**PEOPLE, "stage": {"role": "sensitive", "hierarchy": {"order": STAGES}}}
    by_order: list[Json] = [K4, {"model": "t-closeness", "t": 0.4, "distance": "ordered", "sensitive": "stage"}]
    yield published("t-closeness-ordered", policy(ordered, by_order, "mondrian", data="visits.csv"), "visits.csv")
    numbers = {**PEOPLE, "income": {"role": "sensitive"}}
    of_numbers: list[Json] = [K4, {"model": "t-closeness", "t": 0.4, "distance": "ordered", "sensitive": "income"}]
    yield published("t-closeness-numbers", policy(numbers, of_numbers, "mondrian", data="visits.csv"), "visits.csv")
    pain = ["aspirin", "ibuprofen"]
    long_term = [name for name in MEDICATIONS if name not in pain]
    tree = {"role": "sensitive", "hierarchy": {"tree": {"pain": pain, "long term": long_term}}}
    of_tree: list[Json] = [
        K4,
        {"model": "t-closeness", "t": 0.4, "distance": "hierarchical", "sensitive": "medication"},
    ]
    yield published(
        "t-closeness-hierarchical", policy({**PEOPLE, "medication": tree}, of_tree, data="visits.csv"), "visits.csv"
    )
    columns = having(MISSING, condition={"publish": "both"})
    for algorithm in ("optimal", "mondrian", "top-down", "greedy-clustering"):
        content = policy(columns, algorithm=algorithm, data="missing.csv", suppression=0.3)
        yield published(f"missing-{algorithm}", content, "missing.csv")
    unknown = having(PEOPLE, condition={"publish": "both", "unknown": ["Flu"]})
    for algorithm in ("optimal", "mondrian"):
        content = policy(unknown, algorithm=algorithm, data="missing.csv", suppression=0.3)
        yield published(f"unknown-{algorithm}", content, "missing.csv")
    marked = {"path": "people.csv", "missing": ["", "USA", "13053"]}
    yield published("missing-by-name", policy(algorithm="mondrian", data=marked))
    three: list[Json] = [K4, P2, {"model": "entropy-l-diversity", "l": 2}, {"model": "alpha-k-anonymity", "alpha": 0.6}]
    yield published("four-models", policy(privacy=three, algorithm="greedy-clustering"))


def wide_tables() -> Iterator[Case]:
    """Many quasi-identifiers."""
    columns: Json = {f"q{place}": FLAT for place in range(14)}
    columns |= {
        "q0": {"role": "quasi", "hierarchy": {"tree": {"ab": ["a", "b"], "cd": ["c", "d"]}}},
        "condition": {"role": "sensitive"},
    }
    for algorithm in ("optimal", "greedy-lattice", "mondrian", "greedy-clustering"):
        yield published(
            f"wide-{algorithm}", policy(columns, algorithm=algorithm, data="wide.csv", suppression=0.1), "wide.csv"
        )
    fewer = {name: column for name, column in columns.items() if name not in ("q9", "q10", "q11", "q12", "q13")}
    yield published("wide-incognito", policy(fewer, algorithm="incognito", data="wide.csv"), "wide.csv")


def formats() -> Iterator[Case]:
    """Every file format that is read, and both that are written."""
    brazil = {**COUNTRIES, "America": ["USA", "Canada", "Brésil"]}
    latin = having(PEOPLE, country={"hierarchy": {"tree": brazil}})
    yield published("format-tsv", policy(data="people.tsv"), "people.tsv")
    yield published(
        "format-latin1",
        policy(latin, data={"path": "latin.csv", "separator": ";", "encoding": "latin-1"}),
        "latin.csv",
    )
    yield published("format-utf16", policy(data={"path": "utf16.csv", "encoding": "utf-16"}), "utf16.csv")
    yield published("format-gzip", policy(data="people.csv.gz"), "people.csv.gz")
    typed: Json = {
        **PEOPLE,
        "admitted": {"role": "quasi", "hierarchy": {"dates": ["quarter", "year"]}},
        "income": {"role": "insensitive"},
        "ward": {"role": "insensitive"},
    }
    for algorithm in ("optimal", "mondrian", "top-down"):
        content = policy(typed, algorithm=algorithm, data="visits.parquet", output="release.parquet", suppressed="star")
        yield published(f"format-parquet-{algorithm}", content, "visits.parquet")
    yield published("format-parquet-to-csv", policy(typed, data="visits.parquet"), "visits.parquet")
    yield published("format-csv-to-parquet", policy(typed, data="visits.csv", output="release.parquet"), "visits.csv")
    yield published(
        "format-parquet-missing",
        policy(MISSING, algorithm="mondrian", data="missing.parquet", output="release.parquet"),
        "missing.parquet",
    )
    yield published("format-xlsx", policy(data={"path": "people.xlsx", "sheet": "people"}), "people.xlsx")
    yield published("format-sav", policy(MISSING, algorithm="mondrian", data="people.sav"), "people.sav")
    yield published("format-dta", policy(data="people.dta"), "people.dta")
    yield published("format-dta-without-labels", policy(data={"path": "people.dta", "labels": False}), "people.dta")
    yield published("format-pattern", policy(data="parts/*.csv", algorithm="mondrian"), "parts")
    yield published("format-folder-parquet", policy(typed, data="parquets", output="release.parquet"), "parquets")
    yield published("separator-wrong", policy(data={"path": "people.csv", "separator": ";"}))


def streaming() -> Iterator[Case]:
    """Runs with a limit of memory, and what does not fit into it."""
    memory = ("--memory", "2GB")
    every: Json = {"ward": {"role": "insensitive"}, "income": {"role": "insensitive"}}
    for algorithm in ("optimal", "incognito", "greedy-lattice", "mondrian", "top-down", "greedy-clustering"):
        content = policy(
            {**PEOPLE, **every}, algorithm=algorithm, data="visits.csv", suppressed="star", suppression=0.1
        )
        yield published(f"streamed-{algorithm}", content, "visits.csv", arguments=memory)
    content = policy({**PEOPLE, **every}, data="visits.parquet", output="release.parquet")
    yield published("streamed-parquet", content, "visits.parquet", arguments=memory)
    ranged = {"name": "mondrian", "ranges": ["age"]}
    yield published("streamed-ranges", policy(algorithm=ranged), arguments=memory)
    safe_form = {"name": "range", "group": {"zipcode": 3}, "ranges": ["age"], "safe": True}
    yield published("streamed-range-safe", policy(algorithm=safe_form, suppression=0.3), arguments=memory)
    categories = having(PEOPLE, condition={"publish": "both"})
    privacy = MODELS["group-leakage"]
    yield published("streamed-both", policy(categories, privacy, "mondrian", recoding=True), arguments=memory)
    yield published("streamed-pattern", policy(data="parts/*.csv", algorithm="mondrian"), "parts", arguments=memory)
    yield published("streamed-infeasible", policy(privacy=[{"model": "k-anonymity", "k": 500}]), arguments=memory)
    accounts: Json = {
        "age": AGE,
        "sex": FLAT,
        "zipcode": MASK,
        "condition": {"role": "sensitive"},
        "amount": {"role": "insensitive"},
        "note": {"role": "insensitive"},
    }
    small = ("--memory", "720MB")
    for suffix in ("csv", "parquet"):
        content = policy(accounts, algorithm="mondrian", data="accounts.csv", output=f"release.{suffix}")
        yield published(f"uncounted-columns-{suffix}", content, "accounts.csv", arguments=small)
    content = policy(accounts, algorithm="top-down", data="accounts.csv")
    yield published("memory-too-small-for-top-down", content, "accounts.csv", arguments=small)
    yield published("memory-below-minimum", policy(), arguments=("--memory", "20MB"))
    yield published("memory-without-meaning", policy(), arguments=("--memory", "plenty"))


def applied() -> Iterator[Case]:
    """New records by a published recoding."""
    for algorithm in ("optimal", "mondrian", "top-down", "greedy-clustering"):
        content = policy(algorithm=algorithm, recoding=True)
        commands: tuple[Command, ...] = (
            ("anonymize", "policy.yaml", "--json"),
            ("apply", "release.recoding.json", "--data", "later.csv", "--out", "part.csv", "--json"),
            ("apply", "part.recoding.json", "--data", "later2.csv", "--out", "part2.csv", "--json"),
            ("verify", "part.csv", "--policy", "policy.yaml", "--json"),
            ("apply", "release.recoding.json", "--data", "later.csv", "--json"),
        )
        yield Case(f"apply-{algorithm}", ("people.csv", "later.csv", "later2.csv"), {"policy.yaml": content}, commands)
    for name, model, extra in (
        ("union", "p-sensitive", ("--union",)),
        ("replaces", "distinct-l-diversity", ("--replaces",)),
        ("t-closeness", "t-closeness", ()),
        ("alp-dif", "alp-dif", ()),
        ("alpha-k", "alpha-k-anonymity", ("--union",)),
        ("categories", "p-plus-alpha-sensitive", ("--replaces",)),
    ):
        columns = having(PEOPLE, condition={"publish": "both"}) if name == "categories" else PEOPLE
        content = policy(columns, MODELS[model], "mondrian" if extra else "optimal", recoding=True)
        apply = ("apply", "release.recoding.json", "--data", "later.csv", "--out", "part.csv", *extra, "--json")
        commands = (("anonymize", "policy.yaml", "--json"), apply)
        yield Case(f"apply-{name}", ("people.csv", "later.csv"), {"policy.yaml": content}, commands)
    ranged = policy(NARROW, algorithm={"name": "mondrian", "ranges": ["age"]})
    yield Case(
        "apply-from-release",
        ("people.csv", "later.csv"),
        {"policy.yaml": ranged},
        (
            ("anonymize", "policy.yaml", "--json"),
            ("apply", "release.csv", "--policy", "policy.yaml", "--data", "later.csv", "--out", "part.csv", "--json"),
            ("apply", "release.csv", "--data", "later.csv", "--out", "part2.csv", "--json"),
            ("apply", "nothing.recoding.json", "--data", "later.csv", "--json"),
        ),
    )


PANEL: Json = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
    "zipcode": MASK,
    "condition": {"role": "sensitive"},
}


def registries() -> Iterator[Case]:
    """Releases over time: composition, withdrawal, conditions on attacks."""
    common: Json = {"data": "panel.csv", "privacy": [{**K4, "k": 2}, P2], "registry": "registry"}
    january = {**common, "columns": having(PANEL, age={"boundary": 1}), "output": "january.csv"}
    february = {**common, "columns": having(PANEL, zipcode={"boundary": 1}), "output": "february.csv"}
    first = ("anonymize", "january.yaml", "--as-of", "2026-01-31", "--json")
    second = ("anonymize", "february.yaml", "--as-of", "2026-02-28", "--json")
    policies = {"january.yaml": january, "february.yaml": february}
    yield Case("registry-composition", ("panel.csv",), policies, (first, second))
    fails = (*second, "--fail-on", "composition>0")
    yield Case("registry-fail-on", ("panel.csv",), policies, (first, fails, (*second, "--fail-on", "composition>90%")))
    withdrawn = (*second, "--replaces", "2026-01-31-january")
    yield Case("registry-replaces", ("panel.csv",), policies, (first, withdrawn, (*second, "--replaces", "nothing")))
    earlier = ("--earlier", "january.csv", "--earlier-policy", "january.yaml")
    attack = ("attack", "february.csv", "--policy", "february.yaml", "--original", "panel.csv", *earlier, "--json")
    yield Case("registry-attack-earlier", ("panel.csv",), policies, (first, second, attack))
    monthly = policy(algorithm="mondrian", recoding=True, registry="registry")
    dated = ("--registry", "registry", "--as-of", "2026-02-28", "--json")
    apply = ("apply", "release.recoding.json", "--data", "later.csv", "--out", "part.csv", *dated)
    yield Case(
        "registry-apply",
        ("people.csv", "later.csv"),
        {"policy.yaml": monthly},
        (("anonymize", "policy.yaml", "--as-of", "2026-01-31", "--json"), apply),
    )
    other = policy(algorithm={"name": "top-down"}, output="other.csv")
    option = ("--registry", "registry", "--as-of", "2026-03-31", "--json")
    yield Case(
        "registry-option",
        ("people.csv",),
        {"policy.yaml": policy(algorithm="mondrian"), "other.yaml": other},
        (("anonymize", "policy.yaml", *option), ("anonymize", "other.yaml", *option)),
    )


def _checked(name: str, algorithm: Json | str, columns: Json = PEOPLE, privacy: list[Json] | None = None) -> Case:
    content = policy(columns, privacy, algorithm)
    commands: tuple[Command, ...] = (
        ("anonymize", "policy.yaml", "--json"),
        ("verify", "release.csv", "--policy", "policy.yaml", "--original", "people.csv", "--json"),
        ("attack", "release.csv", "--policy", "policy.yaml", "--json"),
        ("attack", "release.csv", "--policy", "policy.yaml", "--original", "people.csv", "--seed", "3", "--json"),
        ("risk", "release.csv", "--policy", "policy.yaml", "--json"),
    )
    return Case(name, ("people.csv",), {"policy.yaml": content}, commands)


def checking() -> Iterator[Case]:
    """Verifying, attacking and looking at the risk of releases, honest and tampered with."""
    both = having(PEOPLE, condition={"publish": "both"})
    yield _checked("checked-optimal", "optimal")
    yield _checked("checked-mondrian", {"name": "mondrian", "ranges": ["age"]}, both, MODELS["t-closeness"])
    yield _checked("checked-top-down", "top-down", both, MODELS["group-leakage"])
    yield _checked("checked-range", {"name": "range", "group": {"zipcode": 4}, "ranges": ["age"], "safe": True})
    verify = ("verify", "release.csv", "--policy", "policy.yaml", "--original", "people.csv", "--json")
    weak = [{"model": "k-anonymity", "k": 2}]
    yield Case(
        "tampered",
        ("people.csv",),
        {"policy.yaml": policy(privacy=weak), "strict.yaml": policy(privacy=[{"model": "k-anonymity", "k": 60}])},
        (
            ("anonymize", "policy.yaml", "--json"),
            ("verify", "release.csv", "--policy", "strict.yaml", "--json"),
            ("verify", "release.csv", "--policy", "policy.yaml", "--fail-on", "homogeneity>0", "--json"),
            ("verify", "release.csv", "--policy", "policy.yaml", "--fail-on", "nonsense>0", "--json"),
            ("attack", "release.csv", "--policy", "policy.yaml", "--fail-on", "similarity>0", "--json"),
            ("attack", "release.csv", "--policy", "policy.yaml", "--rule-out", "1", "--json"),
            ("@replace", "release.csv", "Flu", "HIV"),
            verify,
            ("@replace", "release.evidence.json", '"verified": true', '"verified": false'),
            verify,
        ),
    )
    yield published("fail-on-anonymize", policy(privacy=weak), arguments=("--fail-on", "homogeneity>0"))
    risk = ("risk", "people.csv", "--policy", "policy.yaml")
    yield Case(
        "risk",
        ("people.csv", "many.csv", "missing.csv"),
        {"policy.yaml": policy()},
        (
            (*risk, "--json"),
            (*risk, "--max-columns", "2", "--threshold", "0.1", "--sampling-fraction", "0.1", "--json"),
            (*risk, "--population", "many.csv", "--json"),
            ("risk", "missing.csv", "--policy", "policy.yaml", "--json"),
            risk,
        ),
    )
    for algorithm in ("optimal", "mondrian", "greedy-clustering"):
        why = ("why", "policy.yaml", "--algorithm", algorithm)
        yield Case(
            f"why-{algorithm}",
            ("people.csv",),
            {"policy.yaml": policy()},
            (
                (*why, "--row", "5", "--json"),
                (*why, "--class", "2", "--json"),
                (*why, "--where", "sex=F", "--where", "zipcode=13053", "--json"),
                (*why, "--row", "5000", "--json"),
            ),
        )
    yield Case(
        "lattice",
        ("people.csv",),
        {"policy.yaml": policy(), "weak.yaml": policy(NARROW, weak, suppression=0)},
        (
            ("lattice", "policy.yaml", "--json"),
            ("lattice", "weak.yaml", "--json", "--svg", "lattice.svg"),
            ("lattice", "weak.yaml"),
        ),
    )


def tasks() -> Iterator[Case]:
    """Utility, comparisons, drafts, the demonstration and the schemas."""
    columns: Json = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20]}},
        "job": {"role": "quasi", "hierarchy": {"tree": {"low": ["a", "b"], "high": ["c", "d"]}}},
        "hours": {"role": "quasi", "hierarchy": {"intervals": [10, 30]}},
        "income": {"role": "sensitive"},
    }
    listed = [{"age": [30, 39], "job": "low"}, {"income": "high"}, {"hours": [10, 20], "job": ["a", "c"]}]
    task = {"target": "income", "test": 0.25, "seed": 7, "queries": listed}
    content = policy(columns, [K4], "mondrian", data="workers.csv", utility=task)
    utility = ("utility", "policy.yaml", "--json")
    yield Case(
        "utility",
        ("workers.csv",),
        {"policy.yaml": content},
        (("anonymize", "policy.yaml", "--json"), utility, (*utility, "--target", "job", "--queries", "25")),
    )
    plain = policy(columns, [K4], "optimal", data="workers.csv", utility={"queries": 60, "seed": 3})
    yield published("utility-random-queries", plain, "workers.csv")
    without = policy(columns, [K4], "optimal", data="workers.csv")
    yield Case(
        "utility-options",
        ("workers.csv",),
        {"policy.yaml": without},
        (utility, (*utility, "--target", "nothing"), (*utility, "--queries", "10")),
    )
    compare = ("compare", "policy.yaml", "--out", "grid", "--json", "--algorithms")
    yield Case(
        "compare-grid",
        ("people.csv",),
        {"policy.yaml": policy(NARROW)},
        (
            (*compare, "optimal,mondrian", "--k", "3,8", "--metric", "ncp", "--releases"),
            (*compare, "optimal,mondrian", "--k", "3,8,20", "--metric", "ncp", "--releases"),
        ),
    )
    grid = ("--set", "recursive-cl-diversity.c=1.5,3", "--set", "suppression=0,0.1")
    yield Case(
        "compare-set",
        ("people.csv",),
        {"policy.yaml": policy(NARROW, MODELS["recursive-cl-diversity"])},
        (
            (*compare, "greedy-lattice,top-down", *grid, "--risk", "highest"),
            (*compare, "nothing"),
        ),
    )
    yield Case(
        "draft",
        ("visits.csv", "latin.csv", "visits.parquet", "people.xlsx"),
        {},
        (
            ("init", "visits.csv", "--out", "csv.yaml"),
            ("init", "latin.csv", "--out", "latin.yaml", "--separator", ";", "--encoding", "latin-1"),
            ("init", "visits.parquet", "--out", "parquet.yaml"),
            ("init", "people.xlsx", "--out", "xlsx.yaml", "--sheet", "people"),
            ("init", "people.xlsx", "--out", "xlsx.yaml", "--sheet", "people"),
            ("init", "nothing.csv"),
        ),
    )
    yield Case("demo", (), {}, (("demo", "--out", "demo", "--json"),))
    yield Case("schema", (), {}, (("schema",), ("schema", "--evidence"), ("--version",), ("--help",)))
    yield Case(
        "plain-output",
        ("people.csv",),
        {"policy.yaml": policy()},
        (("anonymize", "policy.yaml"), ("anonymize", "policy.yaml"), ("anonymize", "policy.yaml", "--force")),
    )


def failures() -> Iterator[Case]:
    """Policies that cannot be reached, policies with problems, files that are not there."""
    for algorithm in ("optimal", "incognito", "greedy-lattice", "mondrian", "top-down", "greedy-clustering"):
        bounded = having(PEOPLE, age={"boundary": 1}, country={"boundary": 0})
        content = policy(bounded, [{"model": "k-anonymity", "k": 9}], algorithm, suppression=0.01, data="few.csv")
        yield published(f"infeasible-boundary-{algorithm}", content, "few.csv")
    for name, model in (
        ("p", {"model": "p-sensitive", "p": 4}),
        ("t", {"model": "t-closeness", "t": 0.01}),
        ("alpha", {"model": "alpha-k-anonymity", "alpha": 0.05}),
        ("alp", {"model": "alp-dif", "limits": {"HIV": {"alp": 0.001, "dif": 0.001}}}),
    ):
        content = policy(NARROW, [K4, model], "mondrian" if name == "p" else "optimal", suppression=0)
        bounded = having(NARROW, age={"boundary": 0})
        yield published(f"infeasible-{name}", {**content, "columns": bounded} if name in "pt" else content)
    yield published("infeasible-k", policy(privacy=[{"model": "k-anonymity", "k": 401}]))
    problems: dict[str, Json] = {
        "unknown-column": policy({**PEOPLE, "nothing": FLAT}),
        "unknown-model": policy(privacy=[{"model": "k-anonimity", "k": 3}]),
        "unknown-algorithm": policy(algorithm="optimum"),
        "parameters": policy(privacy=[{"model": "k-anonymity", "k": 0}, {"model": "t-closeness", "t": 2}]),
        "p-above-k": policy(privacy=[K4, {"model": "p-sensitive", "p": 5}]),
        "role": policy({**PEOPLE, "sex": {"role": "quasy"}}),
        "boundary": policy(having(PEOPLE, country={"boundary": ["Africa"]})),
        "tree-lacks-values": policy(having(PEOPLE, country={"hierarchy": {"tree": {"America": ["USA"]}}})),
        "categories-lack-values": policy(having(PEOPLE, condition={"categories": {"Grave": ["HIV"], "Rest": ["Flu"]}})),
        "intervals-of-text": policy(having(PEOPLE, country={"hierarchy": {"intervals": [5]}})),
        "widths": policy(having(PEOPLE, age={"hierarchy": {"intervals": [5, 7]}})),
        "option": policy(algorithm={"name": "optimal", "refine": 3, "ranges": ["age"]}),
        "unknown-key": {**policy(), "supression": 0.1},
        "no-data": policy(data="nothing.csv"),
        "suppression": policy(suppression=1.5),
        "sensitive-missing": policy({"age": AGE}, [K4, {"model": "p-sensitive", "p": 2}]),
        "leakage-order": policy(
            privacy=[K4, {"model": "group-leakage", "p": 2, "alpha": {"Top Secret": 0.9, "Secret": 0.2}}]
        ),
        "empty-table": policy(data="empty.csv"),
    }
    for name, content in problems.items():
        yield published(f"problem-{name}", content, "people.csv", "empty.csv")
    yield Case(
        "problem-missing-policy", (), {}, (("anonymize", "nothing.yaml", "--json"), ("nonsense",), ("anonymize",))
    )
    again = ("anonymize", "policy.yaml", "--json")
    yield Case(
        "existing-output",
        ("people.csv",),
        {"policy.yaml": policy()},
        (again, again, (*again, "--force")),
    )


def spark() -> Iterator[Case]:
    """The same through ``engine: spark``, on a session with two local workers."""
    engine: Json = {
        "name": "spark",
        "settings": {
            "spark.master": "local[2]",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "4",
            "spark.default.parallelism": "4",
        },
    }
    every: Json = {**PEOPLE, "ward": {"role": "insensitive"}, "income": {"role": "insensitive"}}

    def case(name: str, **more: Any) -> Case:
        content = {**policy(every, data="visits.parquet", output="release.parquet", engine=engine), **more}
        return published(f"spark-{name}", content, "visits.parquet", "people.csv", fresh=True, group="spark")

    yield case("optimal", suppressed="star")
    yield case("mondrian", algorithm={"name": "mondrian", "ranges": ["age"]}, output="release.csv")
    yield case("blocks", algorithm="mondrian", engine={**engine, "blocks": 4})
    yield case("top-down", algorithm="top-down", privacy=MODELS["t-closeness"])
    yield case("greedy-clustering", algorithm="greedy-clustering", columns=having(every, condition={"publish": "both"}))
    yield case("csv", data="people.csv", columns=PEOPLE, output="release.csv")
    yield case("uncounted", engine={**engine, "cells": 250})
    yield case("coarsened", engine={**engine, "cells": 60}, algorithm="mondrian")
    yield case("infeasible", privacy=[{"model": "k-anonymity", "k": 301}])


def postgres(url: str) -> Iterator[Case]:
    """Tables of a database; the server has ``people`` with the records of people.csv."""
    end = {"postgresql": url, "table": "people"}
    to = {"postgresql": url, "table": "released"}

    def case(name: str, content: Json, *more: Command, tables: tuple[str, ...] = ()) -> Case:
        commands = (("anonymize", "policy.yaml", "--json"), *more)
        return Case(
            f"postgres-{name}", ("people.csv",), {"policy.yaml": content}, commands, group="postgres", tables=tables
        )

    yield case("read", policy(data=end))
    yield case("write", policy(output={**to, "table": "released1"}, algorithm="mondrian"), tables=("released1",))
    both = policy(data=end, output={**to, "table": "released2"}, suppressed="star")
    again = ("anonymize", "policy.yaml", "--json", "--force")
    refused = ("anonymize", "policy.yaml", "--json")
    yield case("both", both, refused, again, tables=("released2",))
    streamed = policy(data=end)
    memory = ("anonymize", "policy.yaml", "--json", "--force", "--memory", "2GB")
    yield case("streamed", streamed, memory)
    others: tuple[Command, ...] = (
        ("risk", f"{url}#people", "--policy", "policy.yaml", "--json"),
        ("verify", "release.csv", "--policy", "policy.yaml", "--original", f"{url}#people", "--json"),
        ("init", f"{url}#people", "--out", "draft.yaml"),
        ("risk", f"{url}#nothing", "--policy", "policy.yaml", "--json"),
    )
    yield case("other-commands", policy(data=end), *others)


def local_cases() -> list[Case]:
    """All cases that need neither Spark nor a database, the long ones first and then by name."""
    groups = (matrix, suppression, options, ranges, hierarchies, sensitive, wide_tables, formats, streaming, applied,
              registries, checking, tasks, failures)  # fmt: skip
    cases = sorted((case for group in groups for case in group()), key=lambda case: case.name)
    assert len({case.name for case in cases}) == len(cases)
    # Long cases first, the others mixed, so that all workers have something to do until the end.
    return sorted(cases, key=lambda case: ("accounts.csv" not in case.inputs, zlib.crc32(case.name.encode())))
