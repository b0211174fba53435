"""What a policy can reach, what blocks it and how long it takes, answered while a person changes it."""

from shoal.forecast.estimate import Estimate, estimate_time
from shoal.forecast.forecast import forecast
from shoal.forecast.pick import pick_node
from shoal.forecast.picture import lattice_picture
from shoal.forecast.result import Facts, Forecast, ModelForecast

__all__ = [
    "Estimate",
    "Facts",
    "Forecast",
    "ModelForecast",
    "estimate_time",
    "forecast",
    "lattice_picture",
    "pick_node",
]
