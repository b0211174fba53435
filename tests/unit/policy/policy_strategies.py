"""Random right policies, with awkward names and values."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

AWKWARD = ["NO", "012", "1e5", "5", "null", "a: b", "# c", "<<", " x ", "2020-01-05", "12:30", "é\nz", "\x85", "*", ""]
texts = st.sampled_from(AWKWARD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
names = texts.filter(lambda text: text.strip())
values = texts | st.none() | st.integers(-99, 99) | st.sampled_from([0.5, True])
shares = st.sampled_from([0, 0.05, 0.1, 1 / 3, 0.29, 0.5, 1])


def _key(value: Any) -> str:
    """What two values of a policy are the same by."""
    if isinstance(value, bool):
        return str(value).lower()
    return "\0" if value is None else str(value)


def distinct(elements: st.SearchStrategy[Any], least: int, most: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(elements, min_size=least, max_size=most, unique_by=_key)


@st.composite
def trees(draw: st.DrawFn) -> Any:
    labels = draw(distinct(texts.filter(lambda text: text != "*"), 2, 8))
    leaves = draw(distinct(values.filter(lambda value: _key(value) not in {*labels, "*"}), 2, 6))
    groups = labels[: draw(st.integers(2, len(labels)))]
    cut = [leaves[place :: len(groups)] for place in range(len(groups))]
    return {label: part for label, part in zip(groups, cut, strict=True) if part}


hierarchies = st.one_of(
    st.sampled_from(["flat", "mask", "dates", {"flat": True}, {"mask": "left"}, {"dates": "year"}]),
    st.sampled_from([
        {"intervals": [5, 10, 20]},
        {"intervals": [0.1, 0.5]},
        {"intervals": [["-inf", 0, 18.5, "inf"], ["-inf", 18.5, "inf"]]},
        {"intervals": {"widths": [5], "origin": 2, "bounds": [0, 120]}},
        {"mask": {"side": "right", "alphabet": "digits", "steps": [1, 3]}},
        {"dates": ["month", "year"]},
        {"dates": {"units": ["year"], "format": "%d.%m.%Y"}},
        {"levels": "levels.csv"},
        {"levels": {"path": "levels.csv", "separator": ";"}},
        {"tree": "tree.yaml"},
    ]),
    trees().map(lambda tree: {"tree": tree}),
    distinct(values.filter(lambda value: value != "*"), 1, 5).map(lambda order: {"order": order}),
)  # fmt: skip


@st.composite
def sensitive(draw: st.DrawFn) -> dict[str, Any]:
    column: dict[str, Any] = {"role": "sensitive"}
    if draw(st.booleans()):
        held = draw(distinct(values, 2, 6))
        named = draw(distinct(texts, 2, len(held)))
        column["categories"] = {name: held[place :: len(named)] for place, name in enumerate(named)}
        column["publish"] = draw(st.sampled_from(["values", "categories", "both"]))
    elif draw(st.booleans()):
        column["bins"] = draw(st.sampled_from([1000, 0.5, [0], [-1.5, 2, 3e3]]))
    return column


def models(
    column: str, categories: list[str], named: st.SearchStrategy[Any], bins: bool
) -> st.SearchStrategy[dict[str, Any]]:
    """A model that is right for a sensitive column, with limits on values that may be ``named``."""
    limits = st.dictionaries(named, st.sampled_from([0.1, 0.5, 1]), min_size=1, max_size=3)
    pairs = st.dictionaries(
        named, st.fixed_dictionaries({"alp": shares}, optional={"dif": shares}), min_size=1, max_size=3
    )
    kinds: list[st.SearchStrategy[dict[str, Any]]] = [
        st.fixed_dictionaries({"model": st.just("p-sensitive"), "p": st.integers(1, 3)}),
        st.fixed_dictionaries({"model": st.just("alp-dif"), "limits": pairs}),
        st.fixed_dictionaries({"model": st.just("alpha-k-anonymity"), "alpha": limits | st.sampled_from([0.1, 1])}),
        st.fixed_dictionaries({"model": st.just("t-closeness"), "t": shares}),
        st.fixed_dictionaries({"model": st.just("recursive-cl-diversity"), "l": st.integers(1, 3), "c": st.just(1.5)}),
        st.fixed_dictionaries({"model": st.just("entropy-l-diversity"), "l": st.sampled_from([1, 1.5])}),
        st.fixed_dictionaries({"model": st.just("distinct-l-diversity"), "l": st.integers(1, 3)}),
    ]
    if not bins:
        relative = {"relative": st.booleans()}
        limits_of_numbers = {"epsilon": st.sampled_from([0, 0.5]), "m": st.integers(1, 3)}
        kinds += [
            st.fixed_dictionaries({"model": st.just("k-e"), "k": st.integers(1, 3), "e": st.sampled_from([0, 1.5])}),
            st.fixed_dictionaries({"model": st.just("epsilon-m"), **limits_of_numbers}, optional=relative),
        ]
    if categories:
        weight = st.sampled_from([0, 1 / 3, 2])
        some = st.integers(1, len(categories)).map(lambda count: dict.fromkeys(categories[:count], 0.5))
        kinds += [
            st.fixed_dictionaries({"model": st.just("p-alpha-sensitive"), "p": st.integers(1, 3), "alpha": weight}),
            st.fixed_dictionaries({"model": st.just("p-plus-alpha-sensitive"), "p": st.just(2), "alpha": weight}),
            st.fixed_dictionaries({"model": st.just("group-leakage"), "p": st.just(1), "alpha": some}),
        ]
    return st.one_of(kinds).map(lambda model: model | {"sensitive": column})


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    """A right policy as a mapping."""
    quasi, secret, other = draw(distinct(names, 3, 3))
    column: dict[str, Any] = {"role": "quasi"}
    if draw(st.booleans()):
        column["hierarchy"] = draw(hierarchies)
        column |= draw(st.sampled_from([{}, {"boundary": 0}]))
    hidden = draw(sensitive())
    columns = {quasi: column, secret: hidden, other: {"role": draw(st.sampled_from(["identifier", "insensitive"]))}}
    unknown = draw(st.sampled_from([{}, {"unknown": ["?", 99]}, {"unknown_counts": True}, {"unknown_counts": False}]))
    hidden |= unknown
    named = texts | st.none() if hidden.get("unknown_counts") else texts.filter(lambda text: text not in {"?", "99"})
    categories = [str(name) for name in hidden.get("categories", ())]
    asked = draw(st.lists(models(secret, categories, named, "bins" in hidden), max_size=3))
    content: dict[str, Any] = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 3}, *asked]}
    optional: dict[str, st.SearchStrategy[Any]] = {
        "data": st.sampled_from(
            ["a.csv", {"path": "ä b.csv", "separator": ";", "quote": "", "missing": ["?", "", "NA"]}]
        ),
        "algorithm": st.sampled_from(
            ["optimal", {"name": "incognito", "node": {quasi: 1}, "metric": "ncp"}, {"seed": 7}]
        ),
        "suppression": shares,
        "suppressed": st.sampled_from(["drop", "star"]),
        "output": names,
    }
    return content | draw(st.fixed_dictionaries({}, optional=optional))
