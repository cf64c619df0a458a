"""What is to be found, and how far a guess is from the recordings.

    problem = Problem(world, trials, free={"lag.T": None, "bus.delay": (0.0, 0.05)}, offsets=("q",), starts={"drive.body.w": (-1.0, 1.0)})
    problem.losses(Z)       a whole population in one call per log, nothing but losses leaves the kernel     Z [guess, parameter], 0..1
    problem.residuals(z)    weighted residuals of one guess, all logs one after another                      z: parameters, then offsets and starts
    problem.jacobian(z)     by central differences, all of them in one call per log

The guess of a parameter is its value in `params`, of an offset 0, of a state what the trial says. Offsets and starts belong to one log each;
the search over the population leaves them where they are (offsets: where they are best), the least squares after it moves them, too. A world that
has noise of its own is simulated without it (`quiet.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.compiled.rollout import batch
from pushrod.core.check import check, expect
from pushrod.core.errors import InputError
from pushrod.core.model import Model, World
from pushrod.core.names import find
from pushrod.core.record import get, numbers, put
from pushrod.core.validity import parts_to_check
from pushrod.identify import scored
from pushrod.identify.experiment import Measured, Trial
from pushrod.identify.free import Free, narrowed
from pushrod.identify.quiet import quiet
from pushrod.identify.room import parameters_of
from pushrod.identify.where import device_for

Array = NDArray[np.float64]
Range = tuple[float, float] | None
STEPS = 1e-7, 1e-3, 5e-3  # of the searched range: how far central differences look to each side, at least, at first, at most
STEADY = 3.0  # times the noise: by how much residuals change in all over such a step. Less would see the jumps of stick and slip, not the slope
FAR = 1e30  # the loss of what is no number
CELLS = 4_000_000  # outputs kept at a time


class Problem:
    """`noise` is the standard deviation of each output; where none is given, 1 % of its span at first, then what `fit` learns."""

    def __init__(
        self,
        world: Model | World,
        trials: Sequence[Trial],
        free: Mapping[str, Range] | Sequence[str],
        *,
        params: Any = None,
        offsets: Sequence[str] = (),
        starts: Mapping[str, Range] | Sequence[str] = (),
        noise: Mapping[str, float] | None = None,
        loss: str = "linear",
        loss_scale: float = 3.0,
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        params = world.Params() if params is None else params
        expect(params, world.Params, f"params of {world.name}")
        find(dict.fromkeys(scored.LOSSES), loss, "loss")
        if not trials:
            raise InputError("there is no recording to fit to")
        self.trials = tuple(trials)
        self.paths = tuple(trials[0].outputs)
        if any(tuple(one.outputs) != self.paths for one in trials):
            raise InputError(
                "every log must be compared by the same outputs: " + "; ".join(f"{one.name}: {', '.join(one.outputs)}" for one in trials)
            )
        ranges = free if isinstance(free, Mapping) else dict.fromkeys(free)
        if not ranges:
            raise InputError(f"no free parameter: name at least one of {', '.join(leaf.path for leaf in numbers(world.Params))}")
        self.world, self.params, parameters = parameters_of(world, params, ranges, self.trials)
        self.parameters = tuple(parameters)
        self.offsets = tuple(find(dict(zip(self.paths, self.paths, strict=True)), path, "compared output") for path in offsets)
        self.extra = tuple(self._extra(starts if isinstance(starts, Mapping) else dict.fromkeys(starts)))
        self.free = (*self.parameters, *self.extra)
        self.noise = dict(noise) if noise is not None else {path: 0.01 * max(one.outputs[path].span for one in trials) or 1.0 for path in self.paths}
        self.learns_noise = noise is None
        self.loss, self.loss_scale = loss, loss_scale
        self.device, self.threads = device_for(device), threads
        self._steps = np.full(len(self.free), STEPS[1])
        self._left = 1.0  # root mean square of the last residuals
        self.simulated = 0  # runs of a log so far
        self._quiet = quiet(self.world)
        self._scored = scored.of(self._quiet, self.paths)
        self._bases = [self._base(one) for one in self.trials]
        self._shortest = min(one.dt for one in self.trials)
        searched = [(f.lo, f.hi) for f in self.parameters]
        self._contradictory = parts_to_check(self._bases[0], [f.path for f in self.parameters], searched, self._shortest)
        for base, one in zip(self._bases, self.trials, strict=True):
            check(base, f"{one.name or self.world.name}", one.dt)

    def _base(self, one: Trial) -> Any:
        base = self.params
        for path, value in one.constants.items():
            if path in {f.path for f in self.parameters}:
                raise InputError(f"{path} is free and a known constant of {one.name or 'a log'}: it can only be one of the two")
            base = put(base, path, value)
        return base

    def _extra(self, starts: Mapping[str, Range]) -> list[Free]:
        states: dict[str, Any] = {leaf.path: leaf.meta for leaf in numbers(self.world.State)}
        found = []
        for j, one in enumerate(self.trials):
            for path in self.offsets:
                reach = max(one.outputs[path].span, 1e-12)
                found.append(Free(path, _unit(self.world.Out, path), -reach, reach, 0.0, "offset", j))
            for path, asked in starts.items():
                meta = find(states, path, f"state of {self.world.name}")
                guess = one.start.get(path, float(get(self.world.State(), path)))
                lo, hi = narrowed(path, meta, asked, guess, "start")
                found.append(Free(path, meta.unit, lo, hi, min(max(guess, lo), hi), "start", j))
        return found

    @property
    def guess(self) -> Array:
        return np.array([f.place(f.guess) for f in self.free])

    @property
    def samples(self) -> int:
        """Values that are fitted to."""
        return sum(int(np.sum(~one.outputs[path].held_out)) for one in self.trials for path in self.paths)

    def values(self, z: Array) -> dict[str, float]:
        """The parameters by path."""
        return {f.path: float(f.value(x)) for f, x in zip(self.parameters, z, strict=False)}

    def with_values(self, z: Array) -> Any:
        """The record of parameters with the free ones at z; constants of a log are not in it."""
        params = self.params
        for path, value in self.values(z).items():
            params = put(params, path, value)
        return params

    # ---- a population --------------------------------------------------------------------------------------------------

    def losses(self, Z: Array) -> Array:
        """Of each row of Z: sum of rho of the weighted residuals over all logs."""
        Z = np.atleast_2d(np.asarray(Z, float))[:, : len(self.parameters)]
        found, sound = np.full(len(Z), FAR), self._sound(Z)
        if sound.any():
            found[sound] = self._losses(Z[sound])
        return found

    def _sound(self, Z: Array) -> NDArray[np.bool_]:
        valid = np.ones(len(Z), bool)
        for part in self._contradictory:
            columns = [self.parameters[j].value(Z[:, j]).tolist() for j, _ in part.places]
            valid &= np.array([part.is_valid(row, self._shortest) for row in zip(*columns, strict=True)], bool)
        return valid

    def _losses(self, Z: Array) -> Array:
        vary = {f.path: f.value(Z[:, j]) for j, f in enumerate(self.parameters)}
        total = np.zeros(len(Z))
        measures = self._scored.measures(self.loss, self.loss_scale, self.offsets)
        for one, base in zip(self.trials, self._bases, strict=True):
            run = batch(
                self._scored.world,
                base,
                self._compared(one),
                steps=one.steps,
                dt=one.dt,
                vary=vary,
                vary_state={f"s.{path}": np.full(len(Z), value) for path, value in one.start.items()},
                metrics=measures,
                device=self.device,
                threads=self.threads,
            )
            self.simulated += len(Z)
            for values in run.metrics.values():
                total += values
        return np.where(np.isfinite(total), total, FAR)

    def _compared(self, one: Trial) -> dict[str, Any]:
        """Inputs of the scored world: those of the world under u, samples under data."""
        lone = not hasattr(self.world.In, "_fields")
        channels: dict[str, Any] = {"u" if lone else f"u.{path}": values for path, values in one.inputs.items()}
        for j, path in enumerate(self.paths):
            seen, at = one.outputs[path], f"data.{scored.slot(j)}"
            use = ~seen.held_out
            value, weight, a = np.zeros(one.steps), np.zeros(one.steps), np.ones(one.steps)
            value[seen.k[use]], a[seen.k[use]] = seen.value[use], seen.a[use]
            weight[seen.k[use]] = np.sqrt(seen.count[use]) / self.noise[path]
            channels |= {f"{at}.value": value, f"{at}.weight": weight, f"{at}.a": a}
        return channels

    # ---- one guess -----------------------------------------------------------------------------------------------------

    def simulated_outputs(self, z: Array) -> list[dict[str, Array]]:
        """Of each log, each compared output after every tick."""
        return [{path: Y[:, j, 0] for j, path in enumerate(self.paths)} for Y in (self._run(i, np.asarray(z)[None]) for i in range(len(self.trials)))]

    def outputs_with(self, i: int, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """What one log would give with other inputs, at the guess."""
        Y = self._kept(replace(self.trials[i], inputs=inputs), i, self.guess[None])
        return {path: Y[:, j, 0] for j, path in enumerate(self.paths)}

    def errors(self, z: Array, trials: Sequence[Trial] | None = None) -> list[dict[str, Array]]:
        """Of each log and output: simulated less measured, in its unit, at every measured value, also those held out.

        `trials` are the same logs, cut into other ticks.
        """
        found = []
        for i, one in enumerate(self.trials if trials is None else trials):
            Y = self._kept(one, i, np.asarray(z)[None])
            found.append(
                {
                    path: _at(Y[:, j, :], one.outputs[path])[:, 0] + self.offset(z, i, path) - one.outputs[path].value
                    for j, path in enumerate(self.paths)
                }
            )
        return found

    def residuals(self, z: Array) -> Array:
        """Weighted, of what is fitted to: log by log, output by output."""
        found = self.weighed(self.errors(z))
        self._left = float(np.sqrt(np.mean(found * found)))
        return found

    def weighed(self, errors: list[dict[str, Array]]) -> Array:
        parts = []
        for one, error in zip(self.trials, errors, strict=True):
            for path in self.paths:
                seen = one.outputs[path]
                parts.append((error[path] * np.sqrt(seen.count) / self.noise[path])[~seen.held_out])
        flat = np.concatenate(parts)
        return np.where(np.isfinite(flat), flat, 1e6)

    def jacobian(self, z: Array) -> Array:
        """d residuals / dz, by differences to both sides, within the range; how far to look follows from the one before."""
        z = np.asarray(z, float)
        J = np.zeros((self.samples, len(self.free)))
        row = 0
        for i, one in enumerate(self.trials):
            moved = [j for j, f in enumerate(self.free) if f.of != "offset" and f.trial in (None, i)]
            Z = np.repeat(z[None], 2 * len(moved), 0)
            for n, j in enumerate(moved):
                Z[2 * n, j], Z[2 * n + 1, j] = min(z[j] + self._steps[j], 1.0), max(z[j] - self._steps[j], 0.0)
            Z[~self._sound(Z)] = z  # then the difference to the other side counts
            Y = self._run(i, Z)
            for m, path in enumerate(self.paths):
                seen = one.outputs[path]
                use = ~seen.held_out
                at = slice(row, row + int(use.sum()))
                weight = (np.sqrt(seen.count) / self.noise[path])[use]
                predicted = _at(Y[:, m, :], seen)[use]
                for n, j in enumerate(moved):
                    apart = Z[2 * n, j] - Z[2 * n + 1, j]
                    J[at, j] = weight * (predicted[:, 2 * n] - predicted[:, 2 * n + 1]) / (apart or 1.0)
                for j, f in enumerate(self.free):
                    if f.of == "offset" and f.trial == i and f.path == path:
                        J[at, j] = weight * f.slope(z[j])
                row = at.stop
        J = np.where(np.isfinite(J), J, 0.0)
        self._steps = np.clip(STEADY * self._left / np.maximum(np.linalg.norm(J, axis=0), 1e-300), STEPS[0], STEPS[2])
        return J

    def apart_by_noise(self, z: Array, n: int) -> Array:
        """Weighted outputs with the noise of the world less those without it, [value, instance], for n instances, of what is fitted to."""
        Z, parts = np.repeat(np.asarray(z, float)[None], n, 0), []
        for i, one in enumerate(self.trials):
            loud, still = self._simulated(one, i, Z, self.world), self._simulated(one, i, Z[:1])
            for m, path in enumerate(self.paths):
                seen = one.outputs[path]
                weight = np.sqrt(seen.count) / self.noise[path]
                parts.append((weight[:, None] * (_at(loud[:, m, :], seen) - _at(still[:, m, :], seen)))[~seen.held_out])
        found = np.concatenate(parts)
        return np.where(np.isfinite(found), found, 0.0)

    def offset(self, z: Array, i: int, path: str) -> float:
        return sum(float(f.value(x)) for f, x in zip(self.free, z, strict=True) if f.of == "offset" and f.trial == i and f.path == path)

    def _run(self, i: int, Z: Array) -> Array:
        """Outputs [tick, output, guess] of one log, a few guesses at a time where it is long."""
        one = self.trials[i]
        most = max(2, CELLS // (one.steps * len(self.paths)))
        parts = [self._kept(one, i, Z[first : first + most]) for first in range(0, len(Z), most)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, 2)

    def _kept(self, one: Trial, i: int, Z: Array) -> Array:
        """What contradicts itself gives no numbers."""
        sound = self._sound(Z)
        if sound.all():
            return self._simulated(one, i, Z)
        Y = np.full((one.steps, len(self.paths), len(Z)), np.nan)
        if sound.any():
            Y[:, :, sound] = self._simulated(one, i, Z[sound])
        return Y

    def _simulated(self, one: Trial, i: int, Z: Array, world: Model | World | None = None) -> Array:
        vary = {f.path: f.value(Z[:, j]) for j, f in enumerate(self.parameters)}
        state = {path: np.full(len(Z), value) for path, value in one.start.items()}
        state |= {f.path: f.value(Z[:, j]) for j, f in enumerate(self.free) if f.of == "start" and f.trial == i}
        paths = self.paths if hasattr(self.world.Out, "_fields") else ("",)
        run = batch(
            world or self._quiet,
            self._bases[i],
            dict(one.inputs),
            steps=one.steps,
            dt=one.dt,
            vary=vary,
            vary_state=state,
            every=1,
            outputs=paths,
            device=self.device,
            threads=self.threads,
        )
        self.simulated += len(Z)
        return run.data


def _at(Y: Array, seen: Measured) -> Array:
    """The output where each value was measured: on the straight line between the ends of its tick."""
    before = Y[np.maximum(seen.k - 1, 0)]
    return before + seen.a[:, None] * (Y[seen.k] - before)


def _unit(record: Any, path: str) -> str:
    return next(str(leaf.meta.unit) for leaf in numbers(record) if (leaf.path or "y") == path)  # type: ignore[union-attr]
