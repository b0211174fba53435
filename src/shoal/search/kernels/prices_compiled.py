"""The kernels of the bound by prices, compiled: the functions of `kernels.prices` as they are there."""

from types import FunctionType
from typing import Any

from shoal.search.kernels import prices
from shoal.search.kernels.jit import jit


def _compiled() -> dict[str, Any]:
    """The functions of the module, compiled, each calling the compiled others."""
    names = dict(vars(prices))
    for name, function in vars(prices).items():
        if isinstance(function, FunctionType):
            names[name] = jit(FunctionType(function.__code__, names, name))
    return names


_functions = _compiled()
least_costs = _functions["least_costs"]
near_boxes = _functions["near_boxes"]
price_steps = _functions["price_steps"]
repair = _functions["repair"]
