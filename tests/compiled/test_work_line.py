"""A step that makes a line of its own gives equal bits in plain Python, in a rollout, in a batch and in a Stepper, and compiles for a GPU."""

import importlib.util

import numpy as np
import pytest
from work_line import MEDIAN, N, Params, State, step

from pushrod.compiled.rollout import batch, rollout
from pushrod.compiled.stepper import Stepper
from pushrod.core.record import flat

U = np.random.default_rng(3).normal(size=60)


def plain() -> np.ndarray:
    s, ys = State(), []
    for u in U.tolist():
        s, y = step(Params(), s, u, 0.01)
        ys.append(flat(y))
    return np.array(ys)


def test_equal_bits_everywhere() -> None:
    ys = plain()
    assert np.array_equal(rollout(MEDIAN, Params(), {"u": U}, steps=60, dt=0.01).data[:, :, 0], ys)
    assert np.array_equal(batch(MEDIAN, Params(), {"u": U}, n=5, steps=60, dt=0.01, every=1).data[:, :, 4], ys)
    stepper = Stepper(MEDIAN, Params(), dt=0.01)
    assert np.array_equal([flat(stepper.step(u)) for u in U.tolist()], ys)


def test_it_is_the_median_and_fresh_in_every_step() -> None:
    ys = plain()
    for k in range(N, 60):
        assert ys[k, 0] == np.median(0.9 * U[k - N + 1 : k + 1])
    assert ys[:, 1] == pytest.approx(0.5 - 1.0 + U - 0.5)


def test_single_precision_is_near() -> None:
    run = rollout(MEDIAN, Params(), {"u": U}, steps=60, dt=0.01, dtype="float32")
    assert run.data[:, :, 0] == pytest.approx(plain(), abs=1e-6)


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda (pip install 'pushrod[cuda]') has no wheels on this platform")
def test_it_compiles_for_a_gpu_without_float64() -> None:
    from pushrod.compiled.ptx import compile_ptx

    assert compile_ptx(MEDIAN).doubles == []
