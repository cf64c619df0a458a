"""A pipeline in the description of a robot: its controller, and its parameters."""

from collections.abc import Sequence
from typing import Any

from pushrod.live.pipeline.act_parameters import declared, named
from pushrod.pipeline import n_act
from pushrod.pipeline.act import Act
from pushrod.robot.attachment import Controller
from pushrod.robot.parameter import Parameter

TWO = "pushrod.live.pipeline:TwoMotorNode"
MANY = "pushrod.live.pipeline:NMotorNode"


def controller(name: str = "pipeline", motors: Sequence[str] = ("left", "right"), act: Act | n_act.Act | None = None, **options: Any) -> Controller:
    """The controller that drives these motors. Its options name every parameter of `parameters(act)`; it runs in simulation too.

    `act` says which pipeline it is: that of two motors (`pipeline.act.Act`), or that of n effectors (`pipeline.n_act.Act`).
    """
    act = Act() if act is None else act
    return Controller(name, TWO if isinstance(act, Act) else MANY, {"motors": list(motors), "act": named(act), **options}, simulation="start")


def parameters(act: Act | n_act.Act | None = None) -> tuple[Parameter, ...]:
    """`act.*` for the store of the robot, with these values as defaults."""
    return declared(Act() if act is None else act)
