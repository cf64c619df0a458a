"""A tick of any length: nothing changes in no time, and no tick is too long to end, or gives what is no number."""

import math
import random
import signal
from types import FrameType
from typing import Any

import pytest
from steps import STEPS, legal

from pushrod.core.model import Tick, World
from pushrod.core.record import flat

SECONDS = 20  # far more than any step takes


def ticked(name: str, dt: float) -> tuple[Any, Any, Any]:
    model, rng = STEPS[name], random.Random(1)
    s, u = legal(model.State, rng, 0.01), legal(model.In, rng, 0.01)
    after, y = model.step(model.Params(), s, u, Tick(3, dt) if isinstance(model, World) else dt)
    return s, after, y


@pytest.mark.parametrize("name", STEPS)
def test_in_no_time_nothing_changes(name: str) -> None:
    s, after, y = ticked(name, 0.0)
    assert all(map(math.isfinite, flat(y, STEPS[name].Out)))
    assert flat(after, STEPS[name].State) == flat(s, STEPS[name].State)


@pytest.mark.parametrize("dt", [1e3, 1e9])
@pytest.mark.parametrize("name", STEPS)
def test_however_long_a_tick_is_it_ends(name: str, dt: float) -> None:
    def too_long(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"{name} takes more than {SECONDS} s for a tick of {dt:g} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        _, after, y = ticked(name, dt)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert all(map(math.isfinite, (*flat(after, STEPS[name].State), *flat(y, STEPS[name].Out))))
