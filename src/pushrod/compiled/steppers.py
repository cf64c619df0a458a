"""Many live instances of a model or world: rows that stay packed between calls, and one compiled call for a few ticks of all or some of them.

Each instance is at its own tick, with its own seed and number, so that some may begin anew while others go on.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.compiled import rows
from pushrod.compiled.entry import Plan, plan_outputs
from pushrod.compiled.job import DTYPES, checked_params, module, watched
from pushrod.compiled.layout import layout
from pushrod.compiled.rollout import cores
from pushrod.core.errors import InputError
from pushrod.core.model import Model, World
from pushrod.core.names import find
from pushrod.core.record import flat, get, is_record, leaves, numbers
from pushrod.metrics.metric import Measure

Array = NDArray[Any]
WORTH = 512  # ticks that one thread should have to do, below which handing them over costs more than it saves


class Steppers:
    """Loops write `u`, call `advance` and read `y`: nothing is checked there, as with `Stepper`.

    u         inputs [tick, channel, instance]; with one tick (`ticks=1`, or `held`) it is held for the whole call
    y         the chosen outputs [output, instance] after the last tick
    m         metrics [metric, instance], of the ticks of the last call alone
    k, seed, instance     where each of them is
    """

    def __init__(
        self,
        model: Model | World,
        params: Any = None,
        *,
        n: int,
        dt: float,
        ticks: int = 1,
        held: bool = True,
        outputs: tuple[str, ...] | None = None,
        vary: tuple[str, ...] = (),
        metrics: tuple[Measure, ...] = (),
        dtype: str = "float64",
        threads: int | None = None,
    ) -> None:
        find(DTYPES, dtype, "number type")
        if any(one.windowed for one in metrics):
            raise InputError("a metric here is of the ticks of one call; leave its window out")
        if n < 1 or ticks < 1:
            raise InputError(f"n = {n}, ticks = {ticks}; at least one instance and one tick are needed")
        params = checked_params(model, params, dt)
        self.model = model
        self.dt = dt
        self.n = n
        self.ticks = ticks
        self.outputs = plan_outputs(model, outputs)
        known = {leaf.path: leaf for leaf in numbers(model.Out)}
        for path in self.outputs:
            find(known, path, f"output of {model.name}")
        rest = flat(model.In(), model.In) if is_record(model.In) else [0.0]
        self.u = np.empty((1 if held else ticks, len(rest), n), dtype)
        self.u[:] = np.array(rest)[:, None]
        self.y = np.zeros((len(self.outputs), n), dtype)
        self.m = np.zeros((len(metrics), n), dtype)
        self.k = np.zeros(n, np.int64)
        self.seed = np.zeros(n, np.int64)
        self.instance = np.arange(n, dtype=np.int64)
        self.rows = rows.pack_state(model, None, {}, n, dtype, "F")
        record: Any = type(params)
        nominal = {path: np.full(n, float(get(params, path))) for path in vary}
        P = rows.pack_params(params, rows.checked_vary(record, nominal, f"{model.name}.Params"), dtype)
        self._values = P.values
        self._place = {path: slice(int(P.first[row]), int(P.first[row]) + n) for path, row in layout(record).rows.items() if path in nominal}
        weights = [float(get(one.params, leaf.path)) for one in metrics for leaf in leaves(one.metric.Params)]
        self._head = (P.values, P.first, P.each, self.rows, self.u, 1, self.y[None], self.m, np.array(weights or [0.0], dtype))
        self._tables = P.tables
        self._all = np.arange(n)
        self._call = module(Plan(model, "cpu", dtype, self.outputs, tuple(watched(one, model) for one in metrics))).run_each
        self._threads = cores() if threads is None else threads
        self._pool: ThreadPoolExecutor | None = None

    def begin(self, which: Array, state: Array, params: Mapping[str, Array], seed: Array, instance: Array) -> None:
        """Instances start at tick 0 with these state rows [row, which], varied parameters (checked by whoever drew them), seeds and numbers."""
        self.rows[:, which] = state
        for path, values in params.items():
            self._values[self._place[path]][which] = values
        self.k[which] = 0
        self.seed[which] = seed
        self.instance[which] = instance

    def advance(self, which: Array | None = None) -> None:
        """`ticks` ticks of all, or of those chosen."""
        which = self._all if which is None else which
        self._run(which, self.k, self.ticks, self.dt)
        self.k[which] += self.ticks

    def look(self, which: Array) -> None:
        """The outputs of those chosen as they stand: a tick of no length, and with noise of its own (tick k - 1). Nothing else changes."""
        kept = self.rows[:, which]
        self._run(which, self.k - 1, 1, 0.0)
        self.rows[:, which] = kept  # should a step be none that stands still

    def _run(self, which: Array, k: Array, ticks: int, dt: float) -> None:
        m = len(which)
        parts = max(1, min(self._threads, m * ticks // WORTH))
        if parts == 1:
            self._call(*self._head, which, 0, m, k, ticks, dt, self.seed, self.instance, *self._tables)
            return
        if self._pool is None:
            self._call(*self._head, which, 0, 0, k, ticks, dt, self.seed, self.instance, *self._tables)  # compiles, before there are other threads
            self._pool = ThreadPoolExecutor(self._threads)
        ends = [m * part // parts for part in range(parts + 1)]

        def go(part: int) -> None:
            self._call(*self._head, which, ends[part], ends[part + 1], k, ticks, dt, self.seed, self.instance, *self._tables)

        list(self._pool.map(go, range(parts)))

    def close(self) -> None:
        """End the threads; they come back when needed."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
