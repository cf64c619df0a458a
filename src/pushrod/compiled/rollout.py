"""One run or many, the whole time loop inside compiled code."""

import os
from collections.abc import Mapping
from typing import Any

from pushrod.compiled import rows
from pushrod.compiled.job import Job, checked_params, run
from pushrod.compiled.result import Run
from pushrod.core.model import Model, World
from pushrod.metrics.metric import Measure


def rollout(
    model: Model | World,
    params: Any = None,
    inputs: Any = None,
    *,
    steps: int,
    dt: float,
    state: Any = None,
    k0: int = 0,
    seed: int = 0,
    instance: int = 0,
    every: int = 1,
    outputs: tuple[str, ...] | None = None,
    metrics: Mapping[str, Measure] | None = None,
    dtype: str = "float64",
) -> Run:
    """One run of `steps` ticks. Inputs are an In record, or a dict of channel -> number or array over ticks (the last value is held).

    `state` is a State record, or `run.state_rows` of an earlier run to go on from; `k0` is the number of the first tick.
    """
    params = checked_params(model, params, dt)
    return run(
        Job(
            model=model,
            params=params,
            inputs=rows.by_channel(model, inputs),
            n=1,
            steps=steps,
            dt=dt,
            state=state,
            k0=k0,
            seed=seed,
            instance=instance,
            every=every,
            outputs=outputs,
            metrics=metrics or {},
            dtype=dtype,
            vary={},
            vary_state={},
            device="cpu",
            threads=1,
            single=True,
        )
    )


def batch(
    model: Model | World,
    params: Any = None,
    inputs: Any = None,
    *,
    steps: int,
    dt: float,
    vary: rows.Vary | None = None,
    n: int | None = None,
    state: Any = None,
    vary_state: rows.Vary | None = None,
    k0: int = 0,
    seed: int = 0,
    instance: int = 0,
    every: int = 0,
    outputs: tuple[str, ...] | None = None,
    metrics: Mapping[str, Measure] | None = None,
    dtype: str = "float64",
    device: str = "cpu",
    threads: int | None = None,
) -> Run:
    """Many runs at once. `vary` gives one value per instance for the parameters it names; inputs may be [tick, instance] arrays.

    By default no trajectories are kept (every=0): ask for metrics, or for every k-th tick. `device` is "cpu" or "cuda".
    """
    params = checked_params(model, params, dt)
    channels = rows.by_channel(model, inputs)
    varied = rows.checked_vary(model.Params, vary or {}, f"{model.name}.Params")
    varied_state = rows.checked_vary(model.State, vary_state or {}, f"{model.name}.State")
    size = rows.count({**varied, **varied_state}, channels, n)
    rows.check_varied(params, varied, model.name, dt)
    return run(
        Job(
            model=model,
            params=params,
            inputs=channels,
            n=size,
            steps=steps,
            dt=dt,
            state=state,
            k0=k0,
            seed=seed,
            instance=instance,
            every=every,
            outputs=outputs,
            metrics=metrics or {},
            dtype=dtype,
            vary=varied,
            vary_state=varied_state,
            device=device,
            threads=cores() if threads is None else threads,
            single=False,
        )
    )


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
