"""Every registered step gives equal bits in plain Python, in a rollout, in a batch and in a Stepper."""

import random

import numpy as np
import pytest
from steps import SAMPLED, STEPS, legal

from pushrod.compiled.rollout import batch, rollout
from pushrod.compiled.stepper import Stepper
from pushrod.core.model import Tick, World
from pushrod.core.record import flat, numbers

TICKS, DT = 200, 0.01


def history(model, rng):
    """Random inputs that change every 20 ticks, as records and as channels."""
    held = [legal(model.In, rng, DT) for _ in range(TICKS // 20)]
    us = [held[k // 20] for k in range(TICKS)]
    rows = np.array([flat(u, model.In) for u in us])
    return us, {leaf.path or "u": rows[:, j] for j, leaf in enumerate(numbers(model.In))}


def plain(model, params, us):
    s, ys = model.State(), []
    for k, u in enumerate(us):
        s, y = model.step(params, s, u, Tick(k, DT, 7, 1) if isinstance(model, World) else DT)
        ys.append(flat(y, model.Out))
    return s, np.array(ys)


@pytest.mark.parametrize("name", SAMPLED)
def test_equal_bits(name):
    model = STEPS[name]
    rng = random.Random(name)
    for _ in range(3):
        params = legal(model.Params, rng, DT)
        us, inputs = history(model, rng)
        s, ys = plain(model, params, us)
        run = rollout(model, params, inputs, steps=TICKS, dt=DT, seed=7, instance=1)
        assert np.array_equal(run.data[:, :, 0], ys, equal_nan=True)
        assert flat(run.state()) == flat(s)
        many = batch(model, params, inputs, n=3, steps=TICKS, dt=DT, seed=7, every=TICKS)
        assert np.array_equal(many.data[0, :, 1], ys[-1], equal_nan=True)
        assert np.array_equal(many.state_rows[:, 1], run.state_rows[:, 0])


@pytest.mark.parametrize("name", ["delay", "rigid_body", "two_motor_pipeline", "world servo", "world car"])
def test_a_stepper_has_equal_bits(name):
    model = STEPS[name]
    rng = random.Random(name)
    params = legal(model.Params, rng, DT)
    us, _ = history(model, rng)
    s, ys = plain(model, params, us)
    stepper = Stepper(model, params, dt=DT, seed=7, instance=1)
    out = np.array([flat(stepper.step(u), model.Out) for u in us])
    assert np.array_equal(out, ys, equal_nan=True)
    assert flat(stepper.state) == flat(s)
