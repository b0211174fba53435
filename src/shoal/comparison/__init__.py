"""Comparing algorithms and parameters on one table: risk against utility, every point reproducible."""

from shoal.comparison.result import Comparison
from shoal.comparison.run import Plan, compare, plan_comparison, run_comparison

__all__ = ["Comparison", "Plan", "compare", "plan_comparison", "run_comparison"]
