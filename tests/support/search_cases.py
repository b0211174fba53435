"""Problems for the full-domain searches: one description, read by the package and by the oracle each in its own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from random import Random
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracles import lattice_oracle as oracle
from oracles.lattice_oracle import Column, Label, Secret, Table
from shoal.errors import InfeasibleError
from shoal.hierarchies import Tree, boundary_caps, capped_levels
from shoal.hierarchies.ranges import ancestors
from shoal.metrics import METRICS
from shoal.models import Model
from shoal.search.engine import LocalEngine
from shoal.search.local.blocks import Blocks, Classes, class_extremes, prepare
from shoal.search.problem import Problem
from shoal.table.encoded import encode_table
from shoal.table.recoding import Recoding
from support.builders import domain_of, with_unknown
from support.model_cases import CATEGORIES, COLUMN, NUMBERS, RANDOM, READINGS, TREE, VALUES

SECOND = "job"
"""A second sensitive column with the same values, categories, order and tree as the first."""
DOMAINS = {
    name: domain_of(VALUES, column=name, ordered=True, categories=CATEGORIES, tree=TREE, numbers=NUMBERS)
    for name in (COLUMN, SECOND)
}
ROOT = "*"

Nested = Mapping[Any, Any]
"""A tree as the oracle has it: nested dicts down to ``None``, one label outermost."""


@dataclass(frozen=True, eq=False)
class Case:
    """A problem in plain values."""

    trees: tuple[Nested, ...]
    rows: tuple[tuple[Label, ...], ...]
    sensitive: Mapping[str, tuple[Label, ...]]
    models: tuple[Model, ...]
    budget: int = 0
    boundaries: tuple[tuple[Label, ...] | int | None, ...] = ()
    metric: str = "loss"
    weights: tuple[float, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    unknown: frozenset[Label] = frozenset()
    person: tuple[int, ...] | None = None
    """Who each row is about; None where records are counted."""

    def __repr__(self) -> str:
        return "Case(" + ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self)) + ")"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"q{j}" for j in range(len(self.trees)))

    @property
    def bounds(self) -> tuple[tuple[Label, ...] | int | None, ...]:
        return self.boundaries or (None,) * len(self.trees)

    def shuffled(self, order: Sequence[int]) -> Case:
        rows = tuple(self.rows[i] for i in order)
        sensitive = {name: tuple(v[i] for i in order) for name, v in self.sensitive.items()}
        person = None if self.person is None else tuple(self.person[i] for i in order)
        return replace(self, rows=rows, sensitive=sensitive, person=person)


def table_of(case: Case) -> Table:
    """What the oracle is asked."""
    rest: dict[Label, tuple[Label, ...]] = {}
    _paths_from_root(TREE, (ROOT,), rest)
    secret = Secret(CATEGORIES, VALUES, rest, NUMBERS, case.unknown)
    return Table(
        columns=tuple(Column(tree, bound) for tree, bound in zip(case.trees, case.bounds, strict=True)),
        rows=case.rows,
        sensitive=case.sensitive,
        secrets=dict.fromkeys(case.sensitive, secret),
        models=tuple(spec_of(model) for model in case.models),
        budget=case.budget,
        weights=case.weights,
        person=case.person,
    )


def spec_of(model: Model) -> dict[str, Any]:
    """A model as a policy writes it."""
    return {"model": model.name} | {each.name: getattr(model, each.name) for each in fields(model)}


def problem_of(case: Case) -> tuple[Problem, LocalEngine]:
    """What the package is asked."""
    hierarchies, caps, quasi = [], [], {}
    for name, tree, bound, values in zip(
        case.names, case.trees, case.bounds, zip(*case.rows, strict=True), strict=True
    ):
        distinct = sorted(set(values), key=str)
        built = Tree(tree).build(distinct, [values.count(each) for each in distinct], name)
        code = dict(zip(distinct, built.codes.tolist(), strict=True))
        hierarchies.append(built.hierarchy)
        caps.append(boundary_caps(built.hierarchy, bound, name))
        quasi[name] = (np.array([code[value] for value in values], dtype=np.int32), built.hierarchy.n_leaves)
    place = {value: code for code, value in enumerate(VALUES)}
    secrets = {
        name: np.array([place[value] for value in values], dtype=np.int32) for name, values in case.sensitive.items()
    }
    person = None if case.person is None else np.array(case.person, dtype=np.int32)
    problem = Problem(
        table=encode_table(quasi, secrets, len(case.rows), person=person),
        hierarchies=tuple(hierarchies),
        caps=tuple(caps),
        ladders=tuple(capped_levels(hierarchy, cap) for hierarchy, cap in zip(hierarchies, caps, strict=True)),
        models=case.models,
        domains={name: with_unknown(DOMAINS[name], case.unknown) for name in case.sensitive},
        budget=case.budget,
        metric=METRICS[case.metric],
        weights=dict(zip(case.names, case.weights, strict=False)),
        options=case.options,
    )
    return problem, LocalEngine(problem.table, problem.ladders, problem.domains)


def blocks_of(case: Case) -> Blocks:
    """Where local recodings of a case work; a case without any release is none for the test."""
    problem, engine = problem_of(case)
    try:
        return prepare(problem, engine)
    except InfeasibleError:
        assume(False)
        raise AssertionError from None


def levels_of(case: Case, node: oracle.Node) -> dict[str, int]:
    """An oracle's node as the package names it."""
    return dict(zip(case.names, oracle.nominal(table_of(case), node), strict=True))


def released_labels(recoding: Recoding) -> list[tuple[Label, ...] | None]:
    """What each row shows; None where it is suppressed."""
    names = [
        tuple(hierarchy.labels[node] for hierarchy, node in zip(recoding.hierarchies, nodes, strict=True))
        for nodes in recoding.nodes
    ]
    return [names[each] if each >= 0 else None for each in recoding.row_class]


def rows_of_classes(shown: Sequence[tuple[Label, ...] | None]) -> dict[tuple[Label, ...], list[int]]:
    """The rows of each class, by what it shows."""
    classes: dict[tuple[Label, ...], list[int]] = {}
    for row, labels in enumerate(shown):
        if labels is not None:
            classes.setdefault(labels, []).append(row)
    return classes


def _paths_from_root(nested: Any, above: tuple[Label, ...], found: dict[Label, tuple[Label, ...]]) -> None:
    if isinstance(nested, Mapping):
        for label, under in nested.items():
            if len(under):
                _paths_from_root(under, (*above, label), found)
            else:
                found[label] = (*above, label)
    else:
        found.update({leaf: (*above, leaf) for leaf in nested})


@st.composite
def nested_trees(draw: st.DrawFn, *, depth: int, missing: bool) -> dict[Label, Any]:
    """An uneven tree; with ``missing``, the missing value is one of its leaves, anywhere."""
    count = iter(range(1000))

    def grow(left: int) -> dict[Label, Any]:
        children: dict[Label, Any] = {}
        for _ in range(draw(st.integers(1 if left < depth else 2, 3))):
            name = f"v{next(count)}"
            children[name] = grow(left - 1) if left > 1 and draw(st.booleans()) else None
        return children

    tree: dict[Label, Any] = {ROOT: grow(depth)}
    if missing:
        groups = [tree[ROOT]]
        for group in groups:
            groups += [under for under in group.values() if under is not None]
        draw(st.sampled_from(groups))[None] = None
    return tree


def labels_in(nested: Nested) -> list[Label]:
    return [label for key, under in nested.items() for label in (key, *(labels_in(under) if under else ()))]


def _boundaries(tree: Nested) -> st.SearchStrategy[tuple[Label, ...] | int | None]:
    named = st.lists(st.sampled_from(labels_in(tree)), min_size=1, max_size=3, unique=True).map(tuple)
    height = Column(tree).height
    return st.sampled_from([None, None, None]) | st.none() | named | st.none() | st.integers(max(0, height - 1), height)


def random_models(columns: Sequence[str]) -> st.SearchStrategy[tuple[Model, ...]]:
    """One to three models of any name, on any of the columns."""
    one = st.sampled_from(sorted(RANDOM)).flatmap(lambda name: RANDOM[name])
    placed = st.tuples(one, st.sampled_from(list(columns))).map(
        lambda pair: replace(pair[0], sensitive=pair[1]) if pair[0].column else pair[0]  # type: ignore[call-arg]
    )
    return st.lists(placed, min_size=1, max_size=3).map(tuple) | st.lists(placed, min_size=3, max_size=3).map(tuple)


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    max_rows: int = 40,
    models: st.SearchStrategy[Any] | None = None,
    eased: bool = True,
    people: bool | None = None,
) -> Case:
    """Random small problems; unless ``eased``, most have no solution. In one of three, or as asked, people count."""
    width = draw(st.integers(1, 3))
    trees = tuple(draw(nested_trees(depth=3 if width < 3 else 2, missing=draw(st.booleans()))) for _ in range(width))
    leaves = [list(Column(tree).paths) for tree in trees]
    size = draw(st.integers(1, max_rows))
    random = Random(draw(st.integers(0, 2**20)))  # many rows from one draw: far more varied tables
    narrow = draw(st.booleans())
    rows = [tuple(random.choice(each[:2] if narrow and random.random() < 0.7 else each) for each in leaves)
            for _ in range(size)]  # fmt: skip
    names = (COLUMN, SECOND)[: draw(st.integers(1, 2))]
    few, unknown = draw(st.integers(2, len(VALUES) - 1)), draw(READINGS)
    values = {name: tuple(random.choice(VALUES[:few]) for _ in range(size)) for name in names}
    if people if people is not None else not draw(st.integers(0, 2)):
        crowd = draw(st.integers(1, max(size, 2)))
        person: tuple[int, ...] | None = tuple(random.randrange(crowd) for _ in range(size))
    else:
        person = None
    case = Case(
        trees=trees,
        rows=tuple(rows),
        sensitive=values,
        person=person,
        models=draw(random_models(names) if models is None else models),
        budget=draw(st.just(0) | st.integers(0, max(size // 3, 1)) | st.integers(0, size)),
        boundaries=tuple(draw(_boundaries(tree)) for tree in trees),
        metric=draw(st.sampled_from(sorted(METRICS))),
        weights=draw(st.just(()) | st.tuples(*(st.sampled_from([0, 0.25, 0.5, 1]) for _ in trees))),
        unknown=unknown,
    )
    named = {value for model in case.models for value in model.named_values()}
    case = replace(case, unknown=case.unknown - named)  # a policy cannot limit what is no value
    return _eased(case) if eased and draw(st.integers(0, 3)) else case


def _eased(case: Case) -> Case:
    """The case with those of its models, if any, that the most general node satisfies together."""
    chosen: tuple[Model, ...] = ()
    for model in case.models:
        table = table_of(replace(case, models=(*chosen, model)))
        if oracle.judge(table, oracle.top(table)).satisfied:
            chosen = (*chosen, model)
    return replace(case, models=chosen or case.models)


def class_nodes(blocks: Blocks, row_class: Classes, n_classes: int) -> NDArray[np.int32]:
    """The lowest common ancestor of the values of each class in each quasi-identifier, ranges or not."""
    low, high = class_extremes(blocks, row_class, n_classes)
    nodes = [ancestors(hierarchy, low[:, j], high[:, j]) for j, hierarchy in enumerate(blocks.problem.hierarchies)]
    return np.stack(nodes, axis=1)
