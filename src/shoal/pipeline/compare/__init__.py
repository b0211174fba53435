"""Comparing algorithms and parameters on one table: risk against utility, every point reproducible."""

from shoal.pipeline.compare.result import Comparison
from shoal.pipeline.compare.run import Plan, compare, plan_comparison, run_comparison

__all__ = ["Comparison", "Plan", "compare", "plan_comparison", "run_comparison"]
