"""What is to be run, checked and packed into arrays, then handed to CPU threads or CUDA."""

import functools
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pushrod.compiled import rows
from pushrod.compiled.entry import Plan, Watched, plan_outputs, text
from pushrod.compiled.link import dotted
from pushrod.compiled.module import load
from pushrod.compiled.result import Run
from pushrod.core.check import check, expect
from pushrod.core.errors import InputError
from pushrod.core.model import Model, World
from pushrod.core.names import find
from pushrod.core.record import get, is_record, leaves, numbers
from pushrod.metrics.metric import Measure, window

DTYPES = {"float64": np.float64, "float32": np.float32}
CHUNK = 64  # most instances a thread takes at a time
TURNS = 32  # turns each thread takes at least: the last one to finish then keeps the others waiting little


class Job(NamedTuple):
    """One call of `rollout` or `batch`."""

    model: Model | World
    params: Any
    inputs: Any
    n: int
    steps: int
    dt: float
    state: Any
    k0: int
    seed: int
    instance: int
    every: int
    outputs: tuple[str, ...] | None
    metrics: Mapping[str, Measure]
    dtype: str
    vary: dict[str, rows.Array]
    vary_state: dict[str, rows.Array]
    device: str
    threads: int
    single: bool


class Arrays(NamedTuple):
    """What the compiled loop reads and writes: state rows, inputs (and whether each instance has its own), outputs, metrics and their parameters."""

    S: rows.Array
    U: rows.Array
    u_each: int
    Y: rows.Array
    M: rows.Array
    W: rows.Array


def checked_params(model: Model | World, params: Any, dt: float) -> Any:
    """The parameters, or the defaults: of the right class, and legal."""
    check_tick(dt)
    if params is None:
        params = model.Params()
    expect(params, model.Params, f"params of {model.name}")
    check(params, model.name, dt)
    return params


def check_tick(dt: float) -> None:
    if isinstance(dt, bool) or not isinstance(dt, (int, float, np.floating)) or not 0.0 < dt < float("inf"):
        raise InputError(f"dt = {dt} s; a tick must be longer than 0 and finite")


@functools.lru_cache(256)
def module(plan: Plan) -> ModuleType:
    return load(text(plan), plan.model.name)


def run(job: Job) -> Run:
    model = job.model
    _check(job)
    stored = plan_outputs(model, job.outputs)
    units: dict[str, str] = {leaf.path: leaf.meta.unit for leaf in numbers(model.Out)}  # type: ignore[union-attr]
    for path in stored:
        find(units, path, f"output of {model.name}")
    looked_at = tuple(watched(m, model) for m in job.metrics.values())
    arrays = _pack(job, len(stored))
    ended: rows.Array | Callable[[], rows.Array]
    if job.device == "cuda":
        from pushrod.compiled.cuda import run_kernel

        plan = Plan(model, "cuda", job.dtype, stored, looked_at, tuple(job.vary))
        arrays, ended, seconds = run_kernel(plan, job, arrays)
    else:
        ended = arrays.S
        seconds = _run_threads(Plan(model, "cpu", job.dtype, stored, looked_at), job, arrays)
    results = {name: (float(arrays.M[j, 0]) if job.single else arrays.M[j]) for j, name in enumerate(job.metrics)}
    known = _signals(model)
    metric_units = {name: known[m.path][1] if m.metric.unit == "y" else m.metric.unit for name, m in job.metrics.items()}
    names = tuple(path or "y" for path in stored)
    return Run(model, job.dt, job.k0, job.steps, job.every, names, arrays.Y, ended, results, metric_units, job.single, seconds)


def _run_threads(plan: Plan, job: Job, a: Arrays) -> float:
    """Seconds the compiled loop took; the arrays are written in place."""
    run_range = module(plan).run_range
    P = rows.pack_params(job.params, job.vary, job.dtype)

    chunk = max(1, min(CHUNK, job.n // (TURNS * job.threads)))

    def run_from_to(first: int, last: int) -> None:
        place = (first, last, job.k0, job.steps, job.dt, job.seed, job.instance, job.every)
        run_range(P.values, P.first, P.each, a.S, a.U, a.u_each, a.Y, a.M, a.W, *place, *P.tables)

    def go(first: int) -> None:
        run_from_to(first, min(first + chunk, job.n))

    started = time.perf_counter()
    if job.threads == 1 or job.n == 1:
        for first in range(0, job.n, chunk):
            go(first)
    else:
        run_from_to(0, 0)  # compiles, while there is no other thread: after Ctrl-C the next one would compile all of it once more, and be waited for
        _in_turns(go, range(0, job.n, chunk), job.threads)
    return time.perf_counter() - started


def _in_turns(go: Callable[[int], None], turns: Iterable[int], threads: int) -> None:
    """Each thread, this one among them, takes the next turn until there is none: that costs a microsecond, where a task of a pool costs twenty."""
    left, over = iter(turns), threading.Event()

    def work() -> None:
        try:
            for turn in left:  # of a range, so that several threads may ask it
                if over.is_set():
                    return
                go(turn)
        except BaseException:
            over.set()  # an error or Ctrl-C here ends the others after the turn they are at
            raise

    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(work) for _ in range(threads - 1)]
        work()
        for other in others:
            other.result()


def _pack(job: Job, width: int) -> Arrays:
    U, u_each = rows.pack_inputs(job.model, job.inputs, job.n, job.dtype)
    parameters = [x for name, m in job.metrics.items() for x in _weights(name, m, job)]
    return Arrays(
        S=rows.pack_state(job.model, job.state, job.vary_state, job.n, job.dtype, "F" if job.device == "cpu" else "C"),
        U=U,
        u_each=u_each,
        Y=np.zeros((job.steps // job.every if job.every else 0, width, job.n), job.dtype),
        M=np.zeros((len(job.metrics), job.n), job.dtype),
        W=np.array(parameters or [0.0], job.dtype),
    )


def _signals(model: Model | World) -> dict[str, tuple[str, str]]:
    """Every signal a metric can watch: its text in linked code, and its unit. The empty path is the whole output."""
    outputs = {leaf.path or "y": (f"y{dotted(leaf.path)}", str(leaf.meta.unit)) for leaf in numbers(model.Out)}  # type: ignore[union-attr]
    found = {"": outputs["y"] if not is_record(model.Out) else ("y", "-")} | outputs
    return found | {f"in.{leaf.path or 'u'}": (f"u{dotted(leaf.path)}", str(leaf.meta.unit)) for leaf in numbers(model.In)}  # type: ignore[union-attr]


def watched(measure: Measure, model: Model | World) -> Watched:
    """What a measure looks at, as linked code has it."""
    known = _signals(model)
    signal, _ = find(known, measure.path, f"output of {model.name}")
    if measure.to is not None:
        signal = f"{signal} - {find(known, measure.to, f'output of {model.name}')[0]}"
    return Watched(measure.metric, signal, measure.windowed)


def _weights(name: str, m: Measure, job: Job) -> list[float]:
    """The numbers of one metric in W."""
    found = [float(get(m.params, leaf.path)) for leaf in leaves(m.metric.Params)]
    if not m.windowed:
        return found
    first, last = window(m.since, m.until, job.dt)
    if first > last or last < job.k0 or first >= job.k0 + job.steps:
        ran = f"the run ends its ticks from {(job.k0 + 1) * job.dt:g} s to {(job.k0 + job.steps) * job.dt:g} s, one every {job.dt:g} s"
        raise InputError(f"metrics[{name!r}] looks from {m.since:g} s until {m.until:g} s, where no tick ends; {ran}")
    return [*found, first, last]


def _check(job: Job) -> None:
    find(DTYPES, job.dtype, "number type")
    find({"cpu": 0, "cuda": 0}, job.device, "device")
    for name in ("steps", "k0", "seed", "instance", "every", "threads"):
        if isinstance(getattr(job, name), bool) or not isinstance(getattr(job, name), (int, np.integer)):
            raise InputError(f"{name} = {getattr(job, name)!r}; it must be a whole number")
    if job.steps < 1:
        raise InputError(f"steps = {job.steps}; a run needs at least one tick")
    for name, measure in job.metrics.items():
        if not isinstance(measure, Measure):
            raise InputError(f"metrics[{name!r}] = {measure!r}; give one of pushrod.metrics, such as metrics.maximum('speed')")
        check(measure.params, f"metrics[{name!r}]")
    if job.every < 0:
        raise InputError(f"every = {job.every}; keep every k-th tick (k >= 1), or 0 to keep none")
    if job.threads < 1:
        raise InputError(f"threads = {job.threads}; at least one is needed")
