"""What a policy can reach, what blocks it and how long it takes, answered while a person changes it."""

from shoal.pipeline.forecast.forecast import forecast
from shoal.pipeline.forecast.lattice_picture import lattice_picture
from shoal.pipeline.forecast.pick import pick_node
from shoal.pipeline.forecast.result import Facts, Forecast, ModelForecast
from shoal.pipeline.forecast.time_estimate import Estimate, estimate_time

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
