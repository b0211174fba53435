"""Categories of sensitivity: Sun's weights and distances, and what a class holds of each category.

Sun, Wang, Li, Truta 2008, section 3: the values of a sensitive column are partitioned into categories S₁ … S_m, the
most sensitive first. Category i weighs (i - 1)/(m - 1), so the most sensitive adds 0 to its class and the least
sensitive 1; two categories lie |i - j|/(m - 1) apart. A class weighs the sum over its **records**; those whose value is
unknown are in no category and weigh nothing.
"""

from fractions import Fraction

import numpy as np

from shoal.errors import PolicyProblem
from shoal.formatting import listing
from shoal.hierarchies.problems import quoted
from shoal.table.classes import ClassView, Counts, SensitiveDomain


def category_weight(i: int, m: int) -> Fraction:
    """Weight of the i-th of m categories, counted from 1, the most sensitive (Sun (1))."""
    return category_distance(1, i, m)


def category_distance(i: int, j: int, m: int) -> Fraction:
    """Distance of the i-th and the j-th of m categories, counted from 1."""
    if m < 2:
        raise ValueError(f"weights and distances are defined for two categories or more, not for {m}")
    for number in (i, j):
        if not 1 <= number <= m:
            raise ValueError(f"there is no category {number} of {m}")
    return Fraction(abs(i - j), m - 1)


def weight_steps(view: ClassView) -> Counts:
    """Total weight of each class in steps of 1/(m - 1), and of units of people: a whole number, so sums are exact."""
    histogram = view.histogram
    steps = view.domain.category_of.astype(np.int64)[histogram.values] * histogram.weights
    return histogram.per_class_sum(steps)


def class_weight(view: ClassView, index: int) -> Fraction:
    """Total weight of one class."""
    return int(weight_steps(view)[index]) * category_weight(2, len(view.domain.categories)) / view.unit


def category_problems(domain: SensitiveDomain, *, least: int) -> list[PolicyProblem]:
    """What the categories of a column lack for a model that needs at least so many."""
    declared = len(domain.categories)
    if not declared:
        message = f"column {domain.column!r} declares no categories, and the model is about categories."
        fix = f"Declare categories for column {domain.column!r}, from most to least sensitive."
        return [PolicyProblem("sensitive", message, fix, code="no-categories")]
    without = [value for value, code in zip(domain.values, domain.category_of, strict=True) if code < 0]
    without = [value for value in without if value not in domain.unknown]
    problems = []
    if without:
        message = f"column {domain.column!r} has values in no category: {listing([quoted(each) for each in without])}."
        fix, facts = "Put each into a category.", {"values": tuple(without)}
        problems.append(PolicyProblem("sensitive", message, fix, facts, code="value-in-no-category"))
    if declared < least:
        message = f"column {domain.column!r} declares one category ({domain.categories[0]!r}), which leaves the weight "
        message, fix = f"{message}(i - 1)/(m - 1) undefined.", f"Declare at least {least} categories."
        problems.append(PolicyProblem("sensitive", message, fix, {"categories": declared}, code="too-few-categories"))
    return problems
