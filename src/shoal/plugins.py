"""Finding what can be chosen by name: built in, or offered by installed packages as entry points.

A package that adds a privacy model has in its ``pyproject.toml``::

    [project.entry-points."shoal.models"]
    my-model = "my_package.my_model:MyModel"

The groups are ``shoal.models``, ``shoal.metrics``, ``shoal.algorithms``, ``shoal.attacks`` and ``shoal.checks``.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from shoal.errors import PluginError


def discover(package: str, base: Any, group: str) -> dict[str, Any]:
    """The classes of a kind by their names: those in the files of a package, then those installed.

    Each has a ``name`` and a ``position``, which says where it stands in lists.
    """
    found: dict[str, Any] = {each.name: each for each in _built_in(package, base)}
    found = dict(sorted(found.items(), key=lambda item: (item[1].position, item[0])))
    for point, offered in _offered(group, lambda each: _is_declared(each, base)):
        if offered.name != point.name:
            raise PluginError(f"{_origin(point)}: the class calls itself {offered.name!r}.", code="plugin-name")
        if point.name in found:
            message = f"{_origin(point)} has a name that {found[point.name].__module__} has already. Rename it."
            raise PluginError(message, code="plugin-name-taken")
        found[point.name] = offered
    return found


def offered_by_packages(group: str, is_right: Callable[[Any], bool]) -> dict[str, Any]:
    """What installed packages offer under an entry point group, by name; `PluginError` names a package that fails."""
    return {point.name: offered for point, offered in _offered(group, is_right)}


@cache
def _installed() -> Any:  # of another type in Python 3.11
    """The entry points of all installed packages, whose files are read once."""
    return entry_points()


def installed(group: str) -> tuple[EntryPoint, ...]:
    """What installed packages offer under an entry point group, not loaded yet."""
    return tuple(_installed().select(group=group))


def _offered(group: str, is_right: Callable[[Any], bool]) -> Iterator[tuple[EntryPoint, Any]]:
    for point in sorted(installed(group), key=lambda each: each.name):
        try:
            offered = point.load()
        except Exception as error:
            message = f"{_origin(point)} cannot be loaded: {type(error).__name__}: {error}"
            raise PluginError(f"{message} Uninstall or repair the package.", code="plugin-not-loadable") from error
        if not is_right(offered):
            message = (
                f"{_origin(point)} is not what {group} takes: {point.value} is {offered!r}. See docs/extending.md."
            )
            raise PluginError(message, code="plugin-wrong-kind")
        yield point, offered


def _origin(point: EntryPoint) -> str:
    package = point.dist.name if point.dist is not None else "an installed package"
    return f"The entry point {point.name!r} of {point.group} in the package {package}"


def _built_in(package: str, base: type) -> Iterator[Any]:
    for file in pkgutil.iter_modules(importlib.import_module(package).__path__):
        module = importlib.import_module(f"{package}.{file.name}")
        for each in vars(module).values():
            if _is_declared(each, base) and each.__module__ == module.__name__:
                yield each


def _is_declared(each: Any, base: type) -> bool:
    return isinstance(each, type) and issubclass(each, base) and not inspect.isabstract(each) and hasattr(each, "name")
