"""Results of a study that was never run, as columns: what is in them is known."""

from typing import Any

import numpy as np

from pushrod.sweep.findings import Results
from pushrod.sweep.number import Column
from pushrod.sweep.worst import Bound

HOSTILE = "<script>alert(1)</script>"


def made_up(n: int = 4000, **otherwise: Any) -> Results:
    """y = 4 a + noise in two scenarios, of which the second adds 1; it passes below 3. b does nothing; c is a choice that keeps z from coming."""
    rng = np.random.default_rng(1)
    a, b, c = (np.repeat(v, 2) for v in (rng.uniform(0.0, 1.0, n), rng.normal(5.0, 1.0, n), rng.integers(0, 3, n).astype(float)))
    scenario = np.tile([0, 1], n)
    y = 4.0 * a + 0.1 * rng.normal(size=2 * n) + scenario
    columns = {"a": a, "b": b, "c": c, "only": np.full(2 * n, 7.0), "y": y, "z": np.where(c == 2.0, np.inf, b)}
    columns |= {"index": np.arange(2 * n), "sample": np.arange(2 * n) // 2, "scenario": scenario, "passed": y <= 3.0}
    told = {
        "study": HOSTILE,
        "folder": "sweeps/made up",
        "facts": (("Machine", "none"),),
        "scenarios": ("plain", "shifted"),
        "parameters": (
            Column("b", "kg", "normal, mean 5, sd 1"),
            Column("a", "s", "uniform, 0 … 1"),
            Column("c", "-", "one of x, y, z", ("x", "y", "z")),
            Column("only", "m", "7"),
        ),
        "metrics": (Column("y", "rad", "max of y"), Column("z", "s", "settling_time of z")),
        "bounds": (Bound("y", -np.inf, 3.0),),
        "runs": 2 * n,
        "design": "random",
        "column": columns.__getitem__,
    }
    return Results(**(told | otherwise))
