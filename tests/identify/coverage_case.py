"""Models with parameters that a recording tells, the truth, and a test that tells them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from fit_rig import rich

from pushrod.core.record import put
from pushrod.models.backlash import BACKLASH
from pushrod.models.dc_motor import DC_MOTOR
from pushrod.models.first_order import FIRST_ORDER
from pushrod.models.friction import FRICTION
from pushrod.models.gear_friction import GEAR_FRICTION
from pushrod.models.rate_limit import RATE_LIMIT
from pushrod.models.saturation import SATURATION
from pushrod.models.second_order import SECOND_ORDER
from pushrod.models.servo import SERVO
from pushrod.models.thruster import THRUSTER
from pushrod.plants.flying_body import FLYING_BODY
from pushrod.plants.joint import JOINT
from pushrod.plants.rigid_body import RIGID_BODY
from pushrod.plants.slide import SLIDE
from pushrod.plants.surface_vessel import SURFACE_VESSEL
from pushrod.plants.two_link_arm import TWO_LINK_ARM
from pushrod.sim.worlds.servo import SERVO as SERVO_WORLD


@dataclass(frozen=True)
class Case:
    """`truth` are the free parameters; `known` others that are not as by default."""

    world: Any
    truth: Mapping[str, float]
    inputs: Mapping[str, Any]
    outputs: tuple[str, ...]
    dt: float = 0.002
    known: Mapping[str, float] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def params(self) -> Any:
        """With what is known; the free ones are as by default."""
        params = self.world.Params()
        for path, value in self.known.items():
            params = put(params, path, value)
        return params

    @property
    def true(self) -> Any:
        params = self.params
        for path, value in self.truth.items():
            params = put(params, path, value)
        return params

    @property
    def free(self) -> dict[str, tuple[float, float] | None]:
        return {path: self.ranges.get(path) for path in self.truth}


def sweep(n: int, top: float) -> Any:
    """There and back, slowly through 0."""
    return top * np.sin(np.arange(n) * 0.021) * np.sin(np.arange(n) * 0.0037 + 0.4)


EDGES = "it changes an output only where a sample crosses an edge: between two of those nothing tells, and a normal interval means nothing"
LEFT_OUT = {
    "quantiser": EDGES,
    "queue": EDGES,
    "dead_zone": EDGES,
    "delay": "by itself it hands on whole samples; behind a lag it is told to a fraction of one (`servo world`)",
    "fault": "switches, not parameters",
    "curve": "a table, not parameters",
    "grid": "a table, not parameters",
}

CASES = {
    "first_order": Case(FIRST_ORDER, {"T": 0.08, "K": 1.7}, {"u": rich(600, 0.002)}, ("y",)),
    "second_order": Case(SECOND_ORDER, {"w": 24.0, "z": 0.5}, {"u": rich(600, 0.002)}, ("y",), known={"rate": 1e3, "lo": -9.0, "hi": 9.0}),
    "thruster": Case(
        THRUSTER,
        {"dead": 0.1, "T_rise": 0.15, "T_fall": 0.12, "F_ahead": 60.0, "F_astern": 33.0, "n_max": 300.0},
        {"u": rich(800, 0.01)},
        ("F", "n"),
        dt=0.01,
    ),
    "rate_limit": Case(RATE_LIMIT, {"rise": 2.2, "fall": 3.1}, {"u": rich(600, 0.002)}, ("y",)),
    "saturation": Case(SATURATION, {"lo": -0.35, "hi": 0.4}, {"u": rich(600, 0.002)}, ("y",), ranges={"lo": (-3.0, 0.0), "hi": (0.0, 3.0)}),
    "backlash": Case(BACKLASH, {"play": 0.13}, {"u": rich(600, 0.002)}, ("y",), ranges={"play": (0.0, 1.0)}),
    "friction": Case(FRICTION, {"c": 0.1, "s": 0.16, "w_s": 0.8, "b": 0.03}, {"w": sweep(900, 8.0), "tau": 0.0, "J": 1.0}, ("f",)),
    "dc_motor": Case(DC_MOTOR, {"R": 3.1, "L": 6e-4, "k": 0.03}, {"v": rich(800, 1e-4, 9.0), "w": rich(800, 1e-4, 120.0, seed=4)}, ("i",), dt=1e-4),
    "joint": Case(JOINT, {"J": 0.03, "b": 0.08, "c": 0.2}, {"u": rich(900, 0.002, 1.5)}, ("q", "w")),
    "servo": Case(
        SERVO,
        {"J": 0.016, "motor.R": 6.5, "motor.k": 0.008, "drag.c": 0.14},
        {"goal": rich(1200, 0.002)},
        ("q", "i"),
        ranges={"motor.k": (1e-4, 1.0)},
    ),
    "servo world": Case(
        SERVO_WORLD,
        {"bus.delay": 0.0137, "lag.T": 0.03, "body.J": 0.03, "body.b": 0.08},
        {"torque_req": rich(1200, 0.001, 2.0)},
        ("torque_ach", "w"),
        dt=0.001,
        ranges={"bus.delay": (0.0, 0.05)},
    ),
    "gear_friction": Case(
        GEAR_FRICTION,
        {"c": 0.1, "b": 0.03, "mu": 0.2, "skew_c": 0.2},
        {"w": sweep(900, 8.0), "m": rich(900, 0.002, 0.5), "e": rich(900, 0.002, 0.5, seed=7), "J": 1.0},
        ("f",),
    ),
    "slide": Case(SLIDE, {"M": 80.0, "Fv": 150.0, "Fc": 25.0, "skew_v": 0.2}, {"u": rich(900, 0.002, 120.0)}, ("q", "v")),
    "rigid_body": Case(
        RIGID_BODY,
        {"Ixx": 0.7, "Iyy": 1.3, "Izz": 1.6},
        {"x": rich(600, 0.01, 0.8), "y": rich(600, 0.01, 0.8, seed=1), "z": rich(600, 0.01, 0.8, seed=2)},
        ("w.x", "w.y", "w.z"),
        dt=0.01,
    ),
    "surface_vessel": Case(
        SURFACE_VESSEL,
        {"m": 36.0, "surge.l": 14.0, "surge.q": 18.0, "yaw.l": 6.0, "yaw.q": 8.0},
        {"X": rich(900, 0.02, 60.0), "N": rich(900, 0.02, 12.0, seed=3)},
        ("ground.u", "ground.v", "ground.r"),
        dt=0.02,
    ),
    "two_link_arm": Case(
        TWO_LINK_ARM,
        {"payload": 0.8, "shoulder.b": 0.4, "elbow.b": 0.2},
        {"tau1": rich(900, 0.002, 6.0), "tau2": rich(900, 0.002, 2.0, seed=5)},
        ("q1", "q2"),
    ),
    "flying_body": Case(FLYING_BODY, {"m": 1.4, "b": 0.3}, {"F": 18.0 + rich(800, 0.005, 6.0)}, ("body.v.z",), dt=0.005),
}
