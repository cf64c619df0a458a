"""A payload of a driver's own is held to what it declares, without a line of its own; a speed hint is a magnitude."""

import enum
from typing import Annotated as A
from typing import Any, Literal

import numpy as np
import pytest
from msgspec import Meta, Struct
from rig import Servo, robot, run

from pushrod.core.quantity import Q
from pushrod.robot.description import Transmission
from pushrod.runtime import Payload, Position
from pushrod.runtime.well_formed import struct_check

NAN, INF = float("nan"), float("inf")


class Shape(enum.Enum):
    ROUND = "round"
    FLAT = "flat"


class Finger(Struct, frozen=True):
    angle: float
    name: str = "thumb"


class Grip(Payload, frozen=True):
    force: float
    fingers: tuple[float, ...] = ()
    tip: Finger | None = None
    hand: Literal["left", "right"] = "left"
    times: int = 1
    soft: bool = False
    pair: tuple[float, int] = (0.0, 0)
    poses: list[Finger] = []  # noqa: RUF012 (msgspec copies it)
    shape: Shape = Shape.ROUND
    speed: A[float, Q("m/s", 0.0, 2.0)] = 0.0
    share: A[float, Meta(ge=0.0, le=1.0)] | None = None
    either: float | str = 0.0
    notes: Any = None


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (Grip(NAN), "force must be finite, got nan"),
        (Grip("x"), "force must be a number, got 'x'"),
        (Grip(True), "force must be a number, got True"),
        (Grip(1e9, (1, NAN)), "fingers[1] must be finite, got nan"),
        (Grip(1.0, (1, "x")), "fingers[1] must be a number, got 'x'"),
        (Grip(1.0, 5.0), "fingers must be a tuple, got a number 5.0"),
        (Grip(1.0, tip=Finger(INF)), "tip.angle must be finite, got inf"),
        (Grip(1.0, tip=Finger(1.0, 3)), "tip.name must be text, got 3"),
        (Grip(1.0, tip=7), "tip must be a Finger, got 7"),
        (Grip(1.0, hand="middle"), "hand must be one of 'left', 'right', got 'middle'"),
        (Grip(1.0, times=1.5), "times must be a whole number, got 1.5"),
        (Grip(1.0, soft=1), "soft must be true or false, got 1"),
        (Grip(1.0, pair=(1.0,)), "pair must hold 2 values, got 1"),
        (Grip(1.0, pair=(1.0, 2.0)), "pair[1] must be a whole number, got 2.0"),
        (Grip(1.0, poses=[Finger(0.0), Finger(NAN)]), "poses[1].angle must be finite, got nan"),
        (Grip(1.0, shape="round"), "shape must be one of 'ROUND', 'FLAT', got 'round'"),
        (Grip(1.0, speed=3.0), "speed must be within [0, 2] m/s, got 3.0"),
        (Grip(1.0, share=2.0), "share must be at most 1.0, got 2.0"),
        (Grip(1.0, either=None), "either fits none of a number | text: either must be a number, got None"),
        (Grip(1.0, notes={"a": [0.0, NAN]}), "notes['a'][1] must be finite, got nan"),
        (Grip(10**400), "force must be finite, got a whole number that no float can hold"),
    ],
)
def test_every_field_is_held_to_its_declaration(payload: Grip, why: str) -> None:
    assert payload.problem() == why


@pytest.mark.parametrize(
    "payload",
    [
        Grip(1),
        Grip(np.float32(0.5), (1, 2.0, np.float64(3.0))),
        Grip(1.0, tip=Finger(2), hand="right", times=np.int64(3), soft=True, pair=(1, 2), shape=Shape.FLAT, speed=2, share=0.5, either="x"),
        Grip(1.0, share=None, notes={"text": ("a", 1, None)}, poses=[Finger(1.0)]),
    ],
)
def test_what_fits_passes(payload: Grip) -> None:
    assert payload.problem() is None


def test_a_nested_struct_that_knows_more_says_so_itself() -> None:
    class Even(Struct):
        n: int

        def problem(self) -> str | None:
            return "n must be even" if self.n % 2 else None

    class Outer(Struct):
        inner: tuple[Even, ...]

    assert struct_check(Outer)(Outer((Even(2), Even(3)))) == "inner[1].n must be even"


def test_the_gate_refuses_a_malformed_one_by_path() -> None:
    class Hand(Servo):
        command_payloads = (Grip,)

    hand = Hand()

    async def body(rt):
        rt.arm()
        bad, good = rt["motor"].direct.send(Grip(1.0, (0.0, NAN))), rt["motor"].direct.send(Grip(2, (0.0, 1)))
        return bad.reason, bad.detail, good.ok, hand.told

    assert run(robot(), {"motor": lambda: hand}, body) == ("malformed", "fingers[1] must be finite, got nan", True, [Grip(2, (0.0, 1))])


def test_a_speed_hint_is_a_magnitude_in_joint_space_and_has_the_sense_of_the_gearbox_in_motor_space() -> None:
    servo = Servo()

    async def body(rt):
        rt.arm()
        bad = rt["motor"].direct.set_position(0.1, velocity=-1)
        assert (bad.reason, bad.detail) == ("malformed", "velocity says how fast, not which way: it must not be negative, got -1.0")
        assert rt["motor"].direct.set_position(0.1, velocity=0.1).ok
        assert rt["motor"].direct.set_position(0.1, velocity=0.0).ok
        return [payload.velocity for payload in servo.told]

    assert run(robot(Transmission(50.0, 0.0, True)), {"motor": lambda: servo}, body) == [-5.0, 0.0]
    assert Position(0.0, NAN).problem() == "velocity must be finite, got nan"
