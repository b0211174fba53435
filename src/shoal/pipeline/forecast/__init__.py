"""What a policy can reach, what blocks it and how long it takes, answered while a person changes it."""

from shoal.pipeline.forecast.forecast import Forecast, ModelForecast, forecast
from shoal.pipeline.forecast.lattice_picture import lattice_picture, pick_node
from shoal.pipeline.forecast.time_estimate import TimeEstimate, estimate_time

__all__ = ["Forecast", "ModelForecast", "TimeEstimate", "estimate_time", "forecast", "lattice_picture", "pick_node"]
