"""Public tables that papers and benchmarks use; none of them is part of the package."""

from shoal.datasets.adult import ADULT_COLUMNS, load_adult

__all__ = ["ADULT_COLUMNS", "load_adult"]
