"""Recordings made by simulation, with noise, for models whose parameters are known."""

from typing import Any

import numpy as np

from pushrod.compiled.rollout import rollout
from pushrod.core.record import numbers


def recorded(
    world: Any, params: Any, inputs: dict[str, Any], dt: float, outputs: tuple[str, ...], seed: int = 0, noise: float = 0.01
) -> dict[str, Any]:
    """What a sensor with white noise of that share of the span gives: outputs at the end of every tick, inputs held from its begin."""
    steps = max(len(np.atleast_1d(values)) for values in inputs.values())
    run = rollout(world, params, dict(inputs), steps=steps, dt=dt)
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {"t": np.arange(steps + 1) * dt}
    for name, values in inputs.items():
        column = np.full(steps, float(values)) if np.ndim(values) == 0 else np.asarray(values, float)
        made[f"in_{name}"] = np.append(column, column[-1])
    for path in outputs:
        y = run[path]
        scatter = noise * np.ptp(y) * rng.standard_normal(steps)
        made[path] = np.concatenate(([y[0]], y + scatter))
    return made


def names(world: Any, inputs: dict[str, Any], outputs: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Which column is what, for `identify.trial`."""
    assert {leaf.path or "u" for leaf in numbers(world.In)} >= set(inputs)
    return {"inputs": {name: f"in_{name}" for name in inputs}, "outputs": {path: path for path in outputs}}


def steps_of(levels: list[float], ticks: int) -> Any:
    """Each level for so many ticks."""
    return np.repeat(np.asarray(levels, float), ticks)


def rich(steps: int, dt: float, size: float = 1.0, seed: int = 0) -> Any:
    """Levels at random for random times, and sines on top: something for every parameter."""
    rng = np.random.default_rng(seed)
    t = np.arange(steps) * dt
    levels = np.repeat(rng.uniform(-1.0, 1.0, steps // 50 + 1), rng.integers(30, 90, steps // 50 + 1))
    levels = np.resize(levels, steps)
    length = steps * dt
    sines = sum(np.sin(2.0 * np.pi * f * t / length + rng.uniform(0.0, 6.28)) for f in (3.0, 11.0, 29.0)) / 3.0
    return size * (0.7 * levels + 0.3 * sines)
