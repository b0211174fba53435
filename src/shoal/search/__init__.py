"""Searching for a recoding: the algorithms by name, by what they declare. No search is loaded before it runs."""

from shoal.declarations import Parameter
from shoal.plugins import discover
from shoal.search.algorithm import SEED, Algorithm

ALGORITHMS: dict[str, Algorithm] = {
    name: kind() for name, kind in discover("shoal.search.algorithms", Algorithm, "shoal.algorithms").items()
}
"""Every algorithm by its name in the policy."""
DEFAULT_ALGORITHM = "auto"  # what a policy runs that names none


def all_options() -> dict[str, Parameter]:
    """Every option that some algorithm takes, by name."""
    found = {SEED.name: SEED}
    for algorithm in ALGORITHMS.values():
        for option in algorithm.options:
            known = found.setdefault(option.name, option)
            if known.kind is not option.kind:
                raise ValueError(f"the option {option.name} of {algorithm.name} is of another kind elsewhere")
    return found


def shared_options(name: str) -> frozenset[str]:
    """The options of a policy that also go to an algorithm which it does not name; none where nobody knows it."""
    if name not in ALGORITHMS:
        return frozenset()
    return frozenset({SEED.name, *(option.name for option in ALGORITHMS[name].options if option.shared)})


def algorithms_by(search: str) -> list[str]:
    """The names of the algorithms that look for the same: see `Algorithm.search`."""
    return [name for name, algorithm in ALGORITHMS.items() if algorithm.search == search]


__all__ = ["ALGORITHMS", "DEFAULT_ALGORITHM", "Algorithm", "algorithms_by", "all_options", "shared_options"]
