"""The text around a linked step: load and store lines between rows and records, the time loop, the entry points.

    CPU:   step_one   one tick of one instance, for a live Stepper
           run_range  the whole time loop of instances a..b, for rollouts and batches alike
           run_each   the same of chosen instances, each at its own tick, seed and number, for `Steppers`
    CUDA:  kernel     the whole time loop of one instance per thread

Parameters that all instances share are plain kernel arguments on CUDA: they cost no registers there. On the CPU one module
serves every choice of varied parameters: number r of instance i is P[first[r] + i * each[r]].
"""

import functools
from typing import Any, NamedTuple

from pushrod.compiled.layout import layout
from pushrod.compiled.link import Linker, dotted
from pushrod.core.model import Model, Tick, World
from pushrod.core.record import Leaf, leaves, numbers
from pushrod.core.ring import Ring
from pushrod.metrics.metric import Metric

_CPU_HEAD = """import math
from collections import namedtuple

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from pushrod.compiled.callee import Callee

fn = njit(nogil=True, error_model="numpy", _nrt=False, {inline}no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=Callee)
entry = njit(nogil=True, error_model="numpy", _nrt=False, cache=True)
real_floor = np.floor
index = np.uint64


@intrinsic
def line_at(typing, rows, first, i):
    # a line in the state is where it begins: the cells of an instance lie one after another
    def build(context, builder, signature, args):
        array = make_array(rows)(context, builder, args[0])
        places = [context.cast(builder, arg, kind, types.intp) for arg, kind in zip(args[1:], signature.args[1:])]
        return cgutils.get_item_pointer(context, builder, rows, array, places, wraparound=False)

    return types.CPointer(rows.dtype)(rows, first, i), build


@intrinsic(prefer_literal=True)
def local_line(typing, n):
    # room in the frame of the function that asks: a step that makes a line of its own (`ring.empty()`) gets it here
    def build(context, builder, signature, args):
        return cgutils.alloca_once(builder, context.get_value_type(types.{dtype}), size=n.literal_value)

    return types.CPointer(types.{dtype})(n), build
"""
_CUDA_HEAD = """import math
from collections import namedtuple

import numpy as np
from numba import cuda
from numba.cuda import libdevice

fn = cuda.jit(device=True)
entry = cuda.jit(cache=True)
real_floor = libdevice.{floor}
index = np.uint32
Line = namedtuple("Line", "rows first i")
"""
# how a line is spelt: one of n cells in the frame of a function, and cell k of a line
LOCAL = {"cpu": "local_line({n})", "cuda": "Line(cuda.local.array(({n}, 1), {real}), 0, 0)"}
CELL = {"cpu": "line[index({k})]", "cuda": "line.rows[index(line.first + {k}), index(line.i)]"}
STATE = {"cpu": "line_at(S, {row}, i)", "cuda": "Line(S, {row}, i)"}
HEADS = {
    ("cpu", "float64"): _CPU_HEAD.format(dtype="float64", inline="forceinline=True, "),
    ("cpu", "float32"): _CPU_HEAD.format(dtype="float32", inline="forceinline=True, "),
    ("call", "float64"): _CPU_HEAD.format(dtype="float64", inline=""),
    ("cuda", "float64"): _CUDA_HEAD.format(floor="floor"),
    ("cuda", "float32"): _CUDA_HEAD.format(floor="floorf"),
}


class Watched(NamedTuple):
    """A metric and the text of what it looks at: the output `y` or the input `u`, a number in one of them, or a difference of two."""

    metric: Metric
    signal: str = "y"
    windowed: bool = False


class Plan(NamedTuple):
    """Everything that decides the linked text."""

    model: Model | World
    target: str = "cpu"
    dtype: str = "float64"
    outputs: tuple[str, ...] = ()
    watched: tuple[Watched, ...] = ()
    each: tuple[str, ...] = ()  # CUDA only: paths of the parameters that differ between instances


@functools.lru_cache(256)
def text(plan: Plan) -> str:
    """The whole module for a plan."""
    linker = spelling(plan.target, plan.dtype)
    model = plan.model
    step = linker.function(model.step)
    tick = linker.record(Tick)
    tables = [f"T{j}" for j in range(len(layout(model.Params).tables))]
    extra = "".join(f", {name}" for name in tables)
    linker.parts += [
        _load_params(linker, plan, tables),
        _load_state(linker, plan),
        _store_state(model),
        _load_input(linker, model),
        _store_output(plan),
    ]
    watch, unwatch = _watch(linker, plan)
    linker.parts += [watch, unwatch]
    place = "at" if isinstance(model, World) else "dt"
    loop = _LOOP.format(
        step=step,
        tick=tick,
        place=place,
        tables=extra,
        fold="m = watch(W, m, y, u, at)" if plan.watched else "pass",
        fresh=_fresh(linker, plan),
        finish="unwatch(W, m, at, M, i)" if plan.watched else "pass",
        params="P, first, each" if plan.target == "cpu" else "shared, P",
    )
    if plan.target == "cpu":
        linker.parts.append(_CPU.format(step=step, tick=tick, place=place, tables=extra, loop=loop, real=linker.real))
    else:
        linker.parts.append(_CUDA.format(tables=extra, loop=loop, real=linker.real))
    return HEADS[plan.target, plan.dtype] + "\n\n" + "\n\n".join(linker.parts)


def spelling(target: str, dtype: str) -> Linker:
    """A linker that writes for a target."""
    return Linker("float" if dtype == "float64" else "np.float32", LOCAL[target].replace("{real}", f"np.{dtype}"), CELL[target])


def _load_params(linker: Linker, plan: Plan, tables: list[str]) -> str:
    record = plan.model.Params
    where = layout(record)
    table_of = dict(zip(where.tables, tables, strict=True))
    shared = {path: j for j, path in enumerate(p for p in where.rows if p not in plan.each)}
    varied = {path: j for j, path in enumerate(p for p in where.rows if p in plan.each)}

    def leaf(leaf: Leaf) -> str:
        if leaf.path in table_of:
            return table_of[leaf.path]
        if plan.target == "cpu":
            r = where.rows[leaf.path]
            return f"P[index(first[{r}] + i * each[{r}])]"
        return f"P[{varied[leaf.path]}, index(i)]" if leaf.path in varied else f"shared[{shared[leaf.path]}]"

    names = "P, first, each" if plan.target == "cpu" else "shared, P"
    extra = "".join(f", {name}" for name in tables)
    return f"@fn\ndef load_params({names}, i{extra}):\n    return {linker.construct(record, leaf)}\n"


def _load_state(linker: Linker, plan: Plan) -> str:
    record = plan.model.State
    where = layout(record)

    def leaf(leaf: Leaf) -> str:
        if isinstance(leaf.meta, Ring):
            return STATE[plan.target].format(row=where.lines[leaf.path])
        return f"S[{where.rows[leaf.path]}, index(i)]"

    return f"@fn\ndef load_state(S, i):\n    return {linker.construct(record, leaf)}\n"


def _store_state(model: Model | World) -> str:
    rows = layout(model.State).rows
    return "@fn\ndef store_state(S, i, s):\n" + "".join(f"    S[{r}, index(i)] = s{dotted(path)}\n" for path, r in rows.items()) + "    return\n"


def _load_input(linker: Linker, model: Model | World) -> str:
    order = {leaf.path: j for j, leaf in enumerate(numbers(model.In))}
    body = linker.construct(model.In, lambda leaf: f"U[index(k), {order[leaf.path]}, index(i)]")
    return f"@fn\ndef load_input(U, k, i):\n    return {body}\n"


def _store_output(plan: Plan) -> str:
    stores = "".join(f"    Y[index(k), {j}, index(i)] = y{dotted(path)}\n" for j, path in enumerate(plan.outputs))
    return f"@fn\ndef store_output(Y, k, i, y):\n{stores}    return\n"


def _fresh(linker: Linker, plan: Plan) -> str:
    states = "".join(f"{linker.default(w.metric.State)}, " for w in plan.watched)
    return f"({states})" if plan.watched else "0"


def _watch(linker: Linker, plan: Plan) -> tuple[str, str]:
    """`watch` folds one tick into all metrics, `unwatch` stores their results.

    W holds one after another what the metrics need: their parameters, and the first and the last tick of those that have a window.
    """
    if not plan.watched:
        return "", ""
    folds, ends, first = "", "", 0
    for j, (metric, signal, windowed) in enumerate(plan.watched):
        order = {leaf.path: first + k for k, leaf in enumerate(leaves(metric.Params))}
        first += len(order)
        params = linker.construct(metric.Params, lambda leaf, order=order: f"W[{order[leaf.path]}]")  # type: ignore[misc]
        fold = f"{linker.function(metric.fold)}({params}, m[{j}], {signal}, at)"
        if windowed:
            fold = f"{fold} if W[{first}] <= k and k <= W[{first + 1}] else m[{j}]"
            first += 2
        folds += f"{fold}, "
        ends += f"    M[{j}, index(i)] = {linker.function(metric.finish)}({params}, m[{j}], at)\n"
    watch = f"@fn\ndef watch(W, m, y, u, at):\n    k = {linker.real}(at.k)\n    return ({folds})\n"
    return watch, f"@fn\ndef unwatch(W, m, at, M, i):\n{ends}    return\n"


# j counts ticks from the start of this call: inputs and records are indexed by it; `left` counts down to the next record
_LOOP = """
    p = load_params({params}, i{tables})
    s = load_state(S, i)
    m = {fresh}
    last = U.shape[0] - 1
    ui = i * u_each
    left = every
    record = 0
    at = {tick}(k0, dt, seed, i0 + i)
    for j in range(ticks):
        at = {tick}(k0 + j, dt, seed, i0 + i)
        u = load_input(U, j if j < last else last, ui)
        s, y = {step}(p, s, u, {place})
        {fold}
        left -= 1
        if left == 0:
            store_output(Y, record, i, y)
            record += 1
            left = every
    store_state(S, i, s)
    {finish}
"""

_CPU = """@entry
def step_one(P, first, each, S, U, Y, k, dt, seed, instance{tables}):
    dt = {real}(dt)
    at = {tick}(k, dt, seed, instance)
    s, y = {step}(load_params(P, first, each, 0{tables}), load_state(S, 0), load_input(U, 0, 0), {place})
    store_state(S, 0, s)
    store_output(Y, 0, 0, y)


@fn
def run_one(P, first, each, S, U, u_each, Y, M, W, i, k0, ticks, dt, seed, i0, every{tables}):{loop}    return


@entry
def run_range(P, first, each, S, U, u_each, Y, M, W, a, b, k0, ticks, dt, seed, i0, every{tables}):
    dt = {real}(dt)
    for i in range(a, b):
        run_one(P, first, each, S, U, u_each, Y, M, W, i, k0, ticks, dt, seed, i0, every{tables})


@entry
def run_each(P, first, each, S, U, u_each, Y, M, W, which, a, b, k, ticks, dt, seed, instance{tables}):
    dt = {real}(dt)
    for j in range(a, b):
        i = which[j]
        run_one(P, first, each, S, U, u_each, Y, M, W, i, k[i], ticks, dt, seed[i], instance[i] - i, ticks{tables})
"""

_CUDA = """@fn
def run_one(shared, P, S, U, u_each, Y, M, W, i, k0, ticks, dt, seed, i0, every{tables}):{loop}    return


@entry
def kernel(shared, P, S, U, u_each, Y, M, W, k0, ticks, dt, seed, i0, every{tables}):
    i = cuda.grid(1)
    if i < S.shape[1]:
        run_one(shared, P, S, U, u_each, Y, M, W, i, k0, ticks, dt, seed, i0, every{tables})
"""


def plan_outputs(model: Model | World, outputs: Any = None) -> tuple[str, ...]:
    """Paths of the outputs to store: all of them, or the chosen ones."""
    return tuple(leaf.path for leaf in numbers(model.Out)) if outputs is None else tuple(outputs)
