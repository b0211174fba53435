"""What a policy can reach, what blocks it and how long it takes, answered while a person changes it."""

from shoal.pipeline.forecast.forecast import Forecast, forecast
from shoal.pipeline.forecast.time_estimate import TimeEstimate, estimate_time

__all__ = ["Forecast", "TimeEstimate", "estimate_time", "forecast"]
