"""How much runs of base intervals lose beside tight ranges and nodes, on seeded tables of numbers.

    python benchmarks/ranges.py [mondrian greedy-clustering …]

The tables are drawn like two public ones: patients with age, glucose and body mass index (5,110 records), and
defendants with age and prior offences (7,214). Prints NCP, classes and processor seconds under 5-anonymity.
"""

import sys
import time
from typing import Any

import numpy as np
import pandas as pd

import shoal

K = 5
Table = tuple[pd.DataFrame, dict[str, Any], str, dict[str, Any]]  # records, hierarchies, secret, what ``ranges`` says


def patients(seed: int = 1, n: int = 5110) -> Table:
    """Ages, glucose levels to a hundredth, body mass indices to a tenth, some of them missing."""
    draw = np.random.default_rng(seed)
    age = np.clip(np.round(draw.beta(1.6, 1.4, n) * 82), 1, 82).astype(int)
    usual, high = draw.gamma(20, 4.4, n), draw.normal(205, 25, n)
    glucose = np.round(np.where(draw.random(n) < 0.8, usual, high).clip(55.1, 271.7), 2)
    bmi = np.round(draw.gamma(14, 2.06, n).clip(10.3, 97.6), 1).astype(object)
    bmi[draw.choice(n, 201, replace=False)] = None
    columns = {
        "gender": draw.choice(["F", "M"], n, p=[0.585, 0.415]),
        "age": age,
        "married": np.where(age > draw.normal(28, 8, n), "Yes", "No"),
        "glucose": glucose,
        "bmi": bmi,
        "stroke": draw.choice(["0", "1"], n, p=[0.95, 0.05]),
    }
    hierarchies = {
        "gender": "flat",
        "age": {"intervals": [5, 10, 20, 40]},
        "married": "flat",
        "glucose": {"intervals": [1, 5, 10, 50]},
        "bmi": {"intervals": [0.5, 1, 5, 10, 20]},
    }
    ways = {
        "tight ranges": ["age", "glucose", "bmi"],
        "runs of 1, 1, 0.5": {"age": {"step": 1}, "glucose": {"step": 1}, "bmi": {"step": 0.5}},
        "runs of 5, 5, 1": {"age": {"step": 5}, "glucose": {"step": 5}, "bmi": {"step": 1}},
    }
    return pd.DataFrame(columns), hierarchies, "stroke", ways


def defendants(seed: int = 2, n: int = 7214) -> Table:
    """Ages and numbers of prior offences, most of them few."""
    draw = np.random.default_rng(seed)
    columns = {
        "sex": draw.choice(["M", "F"], n, p=[0.81, 0.19]),
        "race": draw.choice(["A", "C", "H", "O"], n, p=[0.51, 0.34, 0.09, 0.06]),
        "age": np.clip(np.round(18 + draw.gamma(1.9, 8.5, n)), 18, 96).astype(int),
        "priors": draw.negative_binomial(0.6, 0.15, n),
        "again": draw.choice(["0", "1"], n),
    }
    widths = {"age": {"intervals": [5, 10, 20, 40]}, "priors": {"intervals": [2, 4, 8, 16]}}
    ways = {
        "tight ranges": ["age", "priors"],
        "runs of 2": {"age": {"step": 2}, "priors": {"step": 2}},
        "runs of 5": {"age": {"step": 5}, "priors": {"step": 5}},
    }
    return pd.DataFrame(columns), {"sex": "flat", "race": "flat", **widths}, "again", ways


def main(algorithms: list[str]) -> None:
    """Release each table in every way, by each algorithm."""
    print(f"{'table':<12}{'algorithm':<20}{'released as':<20}{'ncp':>8}{'classes':>9}{'cpu s':>8}")
    for name, (frame, hierarchies, secret, ways) in {"patients": patients(), "defendants": defendants()}.items():
        columns: dict[str, Any] = {each: {"role": "quasi", "hierarchy": kind} for each, kind in hierarchies.items()}
        for algorithm in algorithms:
            for way, ranges in {"nodes": [], **ways}.items():
                policy = shoal.Policy(
                    columns={**columns, secret: {"role": "sensitive"}},
                    privacy=[{"model": "k-anonymity", "k": K}],
                    algorithm={"name": algorithm, "ranges": ranges},
                )
                begin = time.process_time()
                found = shoal.anonymize(frame, policy).evidence
                seconds = time.process_time() - begin
                ncp, classes = found["measures"]["ncp"], found["classes"]
                print(f"{name:<12}{algorithm:<20}{way:<20}{ncp:>8.4f}{classes:>9,}{seconds:>8.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["mondrian", "greedy-clustering"])
