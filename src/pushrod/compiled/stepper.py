"""One live instance of a model or world: flat rows and one compiled call of about a microsecond per tick."""

from math import isfinite
from typing import Any

import numpy as np

from pushrod.compiled import rows
from pushrod.compiled.entry import Plan, plan_outputs
from pushrod.compiled.job import DTYPES, checked_params, module
from pushrod.core.check import expect
from pushrod.core.errors import InputError
from pushrod.core.model import Model, World
from pushrod.core.names import find
from pushrod.core.record import flat, numbers, unflat


class Stepper:
    """Holds parameters, state and tick of one instance. `step(u)` takes and gives records; loops in a hurry write `u` and call `advance`."""

    def __init__(
        self, model: Model | World, params: Any = None, *, dt: float, state: Any = None, seed: int = 0, instance: int = 0, dtype: str = "float64"
    ) -> None:
        find(DTYPES, dtype, "number type")
        self.model = model
        self.dt = dt
        self.k = 0
        self.seed = seed
        self.instance = instance
        self.dtype = dtype
        self.u = np.zeros(len(numbers(model.In)), dtype)
        self.y = np.zeros(len(numbers(model.Out)), dtype)
        self._U = self.u.reshape(1, -1, 1)
        self._Y = self.y.reshape(1, -1, 1)
        self._S = rows.pack_state(model, state, {}, 1, dtype, "F")
        self._call = module(Plan(model, "cpu", dtype, plan_outputs(model))).step_one
        self.set_params(params)

    def set_params(self, params: Any) -> None:
        """New parameters from the next tick on; a bad set is refused whole and the old one stays."""
        self.params = checked_params(self.model, params, self.dt)
        packed = rows.pack_params(self.params, {}, self.dtype)
        self._head = (packed.values, packed.first, packed.each, self._S, self._U, self._Y)
        self._tables = packed.tables

    def warm(self) -> None:
        """Compile what the first tick calls, which may take seconds; nothing changes."""
        *params, S, U, Y = self._head
        self._call(*params, S.copy("K"), U, Y.copy("K"), self.k, self.dt, self.seed, self.instance, *self._tables)

    def advance(self) -> None:
        """One tick: reads `u`, writes `y`. Nothing is checked here: it is for loops in a hurry."""
        self._call(*self._head, self.k, self.dt, self.seed, self.instance, *self._tables)
        self.k += 1

    def step(self, u: Any) -> Any:
        """One tick with an In record; gives the Out record."""
        expect(u, self.model.In, f"input of {self.model.name}")
        row = flat(u, self.model.In)
        if not all(map(isfinite, row)):
            raise InputError(f"input of {self.model.name} must be finite, got {u}")
        self.u[:] = row
        self.advance()
        return unflat(self.model.Out, [float(x) for x in self.y])

    @property
    def state(self) -> Any:
        return unflat(self.model.State, [float(x) for x in self._S[:, 0]])

    @state.setter
    def state(self, state: Any) -> None:
        self._S[:, 0] = flat(rows.checked_state(self.model, state), self.model.State)
