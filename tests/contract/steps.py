"""Every registered step, and random legal values for its records: what the contract tests run over."""

import random
import re
from typing import Any

import pytest

from pushrod.core.check import problems
from pushrod.core.model import Model, World
from pushrod.core.quantity import Choice
from pushrod.core.record import Leaf, build, get, is_record, put
from pushrod.models import MODELS
from pushrod.pipeline import PIPELINE
from pushrod.plants import PLANTS
from pushrod.sim.worlds import WORLDS
from pushrod.vehicles import VEHICLES, make
from pushrod.vehicles.converter import CONVERTER
from pushrod.vehicles.steer_pid import STEER_PID

STEPS: dict[str, Model | World] = {
    **MODELS,
    **PLANTS,
    **PIPELINE,
    **{name: make(name, slots=32) for name in VEHICLES},
    "converter": CONVERTER,
    "steer_pid": STEER_PID,
    # the vehicles are above; wrapped as a world one of them will do
    **{f"world {name}": world for name, world in WORLDS.items() if name not in VEHICLES or name == "ACTUATION_CMD_VGR"},
}


# they take long to compile and hold nothing that another step does not: the soak looks at them
LONG = {
    "n_motor_pipeline",
    "priority",
    "world car_control",
    "world ACTUATION_CMD_MECHANICAL_BY_CONTROL",
    "world quad",
    "world ACTUATION_CMD_BY_CONTROL",
    "world ACTUATION_CMD_STEER_MAP_BY_CONTROL",
    "world ACTUATION_CMD_VGR_BY_CONTROL",
    "world second_order_steering",
    "world mechanical_steering",
}
# made of steps that are all looked at by themselves; nothing of what is compiled for a GPU is kept, so each costs its whole time again
COMPOSED = {
    "ACTUATION_CMD_STEER_MAP",
    "ACTUATION_CMD_VGR",
    "DELAY_STEER_VEL",
    "DELAY_STEER_MAP_ACC_GEARED",
    "DELAY_STEER_ACC_GEARED_WO_FALL_GUARD",
    "world ACTUATION_CMD_VGR",
    "world boat",
    "world car",
    "world hull",
    "world satellite",
    "world servo_bench",
}


def sampled(left_out: set[str]) -> list[Any]:
    """The names of all steps, those left out for the soak alone."""
    return [pytest.param(name, marks=pytest.mark.soak) if name in left_out else name for name in STEPS]


SAMPLED = sampled(LONG)


def legal(record: Any, rng: random.Random, dt: float) -> Any:
    """A random record near its defaults, within every range and without flaws; the defaults where fifty draws found none."""
    default = record() if is_record(record) else 0.0
    for _ in range(50):
        value = build(record, lambda leaf: _draw(leaf, get(default, leaf.path), rng))
        if not is_record(record):
            return value
        for text in problems(value, "", dt):  # what is wrong goes back to its default: flags that must agree seldom do by chance
            path = re.match(r"[\w.]+", text)[0]  # type: ignore[index]
            value = put(value, path, get(default, path))
        if not list(problems(value, "", dt)):
            return value
    return default


def _draw(leaf: Leaf, default: Any, rng: random.Random) -> Any:
    if isinstance(leaf.meta, Choice):
        return float(rng.randrange(len(leaf.meta.names)))
    if not leaf.is_number:
        return default
    lo, hi = leaf.meta.lo, leaf.meta.hi  # type: ignore[union-attr]
    value = default * rng.uniform(0.5, 1.5) if default else rng.uniform(max(lo, -1.0), min(hi, 1.0))
    return min(max(value, lo), hi)
