"""One run or many, the whole time loop inside compiled code."""

import functools
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np

from pushrod.compiled import rows
from pushrod.compiled.entry import Plan, Watched, plan_outputs, text
from pushrod.compiled.module import load
from pushrod.compiled.result import Run
from pushrod.core.check import check
from pushrod.core.errors import InputError
from pushrod.core.model import Model, World
from pushrod.core.names import find
from pushrod.core.record import get, leaves, numbers
from pushrod.metrics.metric import Measure

Measures = Mapping[str, Measure]
DTYPES = {"float64": "float64", "float32": "float32"}
CHUNK = 64  # instances a thread takes at a time: small enough to balance, large enough to hide the call


@functools.lru_cache(256)
def module(plan: Plan) -> ModuleType:
    return load(text(plan), plan.model.name)


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
    metrics: Measures | None = None,
    dtype: str = "float64",
) -> Run:
    """One run of `steps` ticks. Inputs are an In record, or a dict of channel -> number or array over ticks (the last value is held).

    `state` is a State record, or `run.state_rows` of an earlier run to go on from; `k0` is the number of the first tick.
    """
    params = model.Params() if params is None else params
    check(params, model.name, dt)
    return _run(
        model,
        params,
        {},
        rows.by_channel(model, inputs),
        1,
        steps,
        dt,
        state,
        {},
        k0,
        seed,
        instance,
        every,
        outputs,
        metrics,
        dtype,
        "cpu",
        1,
        single=True,
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
    metrics: Measures | None = None,
    dtype: str = "float64",
    device: str = "cpu",
    threads: int | None = None,
) -> Run:
    """Many runs at once. `vary` gives one value per instance for the parameters it names; inputs may be [tick, instance] arrays.

    By default no trajectories are kept (every=0): ask for metrics, or for every k-th tick. `device` is "cpu" or "cuda".
    """
    params = model.Params() if params is None else params
    inputs = rows.by_channel(model, inputs)
    varied = rows.checked_vary(model.Params, vary or {}, f"{model.name}.Params")
    varied_state = rows.checked_vary(model.State, vary_state or {}, f"{model.name}.State")
    size = rows.count({**varied, **varied_state}, inputs, n)
    rows.check_varied(params, varied, model.name, dt)
    workers = threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else threads or os.cpu_count() or 1
    return _run(
        model,
        params,
        varied,
        inputs,
        size,
        steps,
        dt,
        state,
        varied_state,
        k0,
        seed,
        instance,
        every,
        outputs,
        metrics,
        dtype,
        device,
        workers,
        single=False,
    )


def _run(
    model: Model | World,
    params: Any,
    vary: dict[str, rows.Array],
    inputs: Any,
    n: int,
    steps: int,
    dt: float,
    state: Any,
    vary_state: dict[str, rows.Array],
    k0: int,
    seed: int,
    instance: int,
    every: int,
    outputs: tuple[str, ...] | None,
    metrics: Measures | None,
    dtype: str,
    device: str,
    threads: int,
    *,
    single: bool,
) -> Run:
    find(DTYPES, dtype, "number type")
    find({"cpu": 0, "cuda": 0}, device, "device")
    _check_run(steps, dt, every)
    stored = plan_outputs(model, outputs)
    units = {leaf.path: leaf.meta.unit for leaf in numbers(model.Out)}  # type: ignore[union-attr]
    for path in stored:
        find(units, path, f"output of {model.name}")
    measures = dict(metrics or {})
    watched = tuple(Watched(m.metric, _watched_path(units, m.path, model)) for m in measures.values())
    U, u_each = rows.pack_inputs(model, inputs, n, dtype)
    W = np.array([float(get(m.params, leaf.path)) for m in measures.values() for leaf in leaves(m.metric.Params)] or [0.0], dtype)
    Y = np.zeros((steps // every if every else 0, len(stored), n), dtype)
    M = np.zeros((len(measures), n), dtype)
    S = rows.pack_state(model, state, vary_state, n, dtype, "F" if device == "cpu" else "C")
    if device == "cuda":
        from pushrod.compiled.cuda import run_kernel

        Y, S, M, seconds = run_kernel(
            Plan(model, "cuda", dtype, stored, watched, tuple(vary)), params, vary, S, U, u_each, Y, M, W, k0, steps, dt, seed, instance, every
        )
    else:
        run_range = module(Plan(model, "cpu", dtype, stored, watched)).run_range
        P = rows.pack_params(params, vary, dtype)

        def go(a: int) -> None:
            b = min(a + CHUNK, n)
            run_range(P.values, P.first, P.each, S, U, u_each, Y, M, W, a, b, k0, steps, dt, seed, instance, every, *P.tables)

        started = time.perf_counter()
        if threads == 1 or n <= CHUNK:
            for a in range(0, n, CHUNK):
                go(a)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(go, range(0, n, CHUNK)))
        seconds = time.perf_counter() - started
    results = {name: (float(M[j, 0]) if single else M[j]) for j, name in enumerate(measures)}
    metric_units = {name: units.get(m.path, "-") if m.metric.unit == "y" else m.metric.unit for name, m in measures.items()}
    names = tuple(path or "y" for path in stored)
    return Run(model, dt, k0, steps, every, names, Y, S, results, metric_units, single, seconds)


def _watched_path(units: dict[str, str], path: str, model: Model | World) -> str:
    if path and not (path == "y" and "" in units):
        find(units, path, f"output of {model.name}")
        return path
    return ""


def _check_run(steps: int, dt: float, every: int) -> None:
    if steps < 1:
        raise InputError(f"steps = {steps}; a run needs at least one tick")
    if not (dt > 0.0 and dt < float("inf")):
        raise InputError(f"dt = {dt} s; a tick must be longer than 0 and finite")
    if every < 0:
        raise InputError(f"every = {every}; keep every k-th tick (k >= 1), or 0 to keep none")
