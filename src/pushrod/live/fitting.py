"""A machine whose controllers are nodes of its robot: each gets its share of the machine's parameters, and ticks with the world."""

from dataclasses import replace
from typing import Any

from pushrod.core.quantity import Choice
from pushrod.core.record import fields, is_record
from pushrod.live.autopilot import Autopilot
from pushrod.live.pipeline.act_parameters import FLAG, declared, named
from pushrod.live.pipeline.node import PipelineNode
from pushrod.robot.attachment import Controller
from pushrod.robot.description import Robot
from pushrod.runtime.driver import find_driver


def part_of(kind: Any, whole: Any) -> Any:
    """The fields of a record that another one has too; itself where it is of that kind."""
    return whole if isinstance(whole, kind) else kind(*(getattr(whole, name) for name in kind._fields))


def fitted(robot: Robot, params: Any, dt: float) -> Robot:
    """The robot with its pipeline and its autopilot as a machine has them: by `act`, which become parameters of the robot, `control`, `feedback`."""
    return Robot(
        robot.name,
        robot.links,
        robot.joints,
        robot.actuators,
        robot.sensors,
        [_with_options(controller, params, dt) for controller in robot.controllers],
        [*robot.parameters, *(declared(params.act) if hasattr(params, "act") else ())],
        robot.restarts,
    )


def _with_options(controller: Controller, params: Any, dt: float) -> Controller:
    driver = find_driver(controller.driver)
    more: dict[str, Any] = {}
    if isinstance(driver, type) and issubclass(driver, PipelineNode):
        more = {"act": named(params.act)}
    elif driver is Autopilot:
        more = {"control": nested(params.control), "feedback": params.feedback != 0.0}
    return replace(controller, options={**controller.options, "hz": 1.0 / dt, **more}) if more else controller


def nested(record: Any) -> dict[str, Any]:
    """A record as options: flags true or false, choices by their names."""
    made: dict[str, Any] = {}
    kind: Any = type(record)
    for name, inner, meta in fields(kind):
        value = getattr(record, name)
        if is_record(inner):
            made[name] = nested(value)
        elif isinstance(meta, Choice):
            made[name] = bool(value) if meta.names == FLAG else meta.names[int(value)]
        else:
            made[name] = list(value) if isinstance(value, tuple) else value
    return made
