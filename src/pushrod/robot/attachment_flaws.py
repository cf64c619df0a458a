"""What is wrong with an actuator, a sensor or a controller."""

import math
from collections.abc import Mapping
from typing import Any

from pushrod.config.structure import WRONG, named
from pushrod.config.yaml_file import Keys
from pushrod.robot.attachment import DIRECT, Actuator, Controller, Sensor
from pushrod.robot.findings import Findings
from pushrod.robot.joint import Joint, actuated, units
from pushrod.robot.link import Link
from pushrod.robot.parameter import ParameterRef
from pushrod.robot.transmission import Transmission
from pushrod.safety.watchdog import Reaction, Watchdog

RESERVED = {
    "context": "the framework hands the context to a driver beside its options",
    "motor_profile": "the framework works out the motor's limits itself; a driver finds them in its context",
    "parameter": "a mapping with this key stands for the value of a parameter",
}


def actuator_flaws(at: Keys, actuator: Actuator, joints: Mapping[str, Joint], f: Findings) -> None:
    joint = joints[actuator.joint] if f.known((*at, "joint"), actuator.joint, joints, "joint") else None
    if joint is not None and joint.kind is not WRONG and not actuated(joint.kind):
        f.add((*at, "joint"), f"joint {joint.name!r} is {joint.kind}, which no actuator can drive; revolute, continuous and prismatic joints can be")
    f.text((*at, "driver"), actuator.driver)
    _options((*at, "options"), actuator.options, f)
    _transmission((*at, "transmission"), actuator.transmission, joint, f)
    f.choice((*at, "limit_policy"), actuator.limit_policy, ("clamp", "reject"))
    if actuator.watchdog is not None and f.is_a((*at, "watchdog"), actuator.watchdog, Watchdog):
        f.number((*at, "watchdog", "silence"), actuator.watchdog.silence, "s", above=0.0)
        f.choice((*at, "watchdog", "reaction"), actuator.watchdog.reaction, Reaction)
    f.switch((*at, "restart"), actuator.restart)


def sensor_flaws(at: Keys, sensor: Sensor, links: Mapping[str, Link], joints: Mapping[str, Joint], f: Findings) -> None:
    if sensor.link is not None and sensor.joint is not None:
        f.add((*at, "link"), "a sensor is on a link or on a joint, not on both")
    if sensor.link is not None:
        f.known((*at, "link"), sensor.link, links, "link")
    joint = joints[sensor.joint] if sensor.joint is not None and f.known((*at, "joint"), sensor.joint, joints, "joint") else None
    f.text((*at, "driver"), sensor.driver)
    _options((*at, "options"), sensor.options, f)
    movable = joint is not None and (joint.kind is WRONG or actuated(joint.kind))
    if sensor.transmission not in (DIRECT, WRONG) and not movable and (joint is not None or sensor.joint is None):
        f.add((*at, "transmission"), "only a sensor on a revolute, continuous or prismatic joint has a transmission")
    _transmission((*at, "transmission"), sensor.transmission, joint, f)


def controller_flaws(at: Keys, controller: Controller, f: Findings) -> None:
    f.text((*at, "driver"), controller.driver)
    _options((*at, "options"), controller.options, f)
    f.choice((*at, "simulation"), controller.simulation, ("omit", "mock", "start"))


def _transmission(at: Keys, transmission: Transmission, joint: Joint | None, f: Findings) -> None:
    if not f.is_a(at, transmission, Transmission):
        return
    r = f.number((*at, "reduction"), transmission.reduction, "-")
    if r is not None and r <= 0.0:
        hint = "; for a motor that turns the other way set reversed" if r < 0.0 else ""
        f.add((*at, "reduction"), f"must be above 0, got {r:g}{hint}")
    f.number((*at, "offset"), transmission.offset, units("revolute" if joint is None or joint.kind is WRONG else joint.kind)["position"])
    f.switch((*at, "reversed"), transmission.reversed)


def _options(at: Keys, options: Any, f: Findings) -> None:
    if options is WRONG:
        return
    if not isinstance(options, Mapping):
        f.add(at, f"must be a mapping of option names to values, got {named(options)}")
        return
    for key in options:
        if key in RESERVED:
            f.add((*at, key), f"is a reserved name: {RESERVED[key]}")
    _plain(at, options, f)


def _plain(at: Keys, value: Any, f: Findings) -> None:
    """Plain data all the way down: it must reach another process, and a file."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if isinstance(key, str):
                _plain((*at, key), part, f)
            else:
                f.add(at, f"the name of an option is text, got {named(key)}")
    elif isinstance(value, tuple):
        for i, part in enumerate(value):
            _plain((*at, i), part, f)
    elif isinstance(value, ParameterRef):
        f.reference(at, value)
    elif isinstance(value, float) and not math.isfinite(value):
        f.add(at, f"{value!r} is not a finite number")
    elif not isinstance(value, (str, bool, int, float, type(None))):
        f.add(at, f"must be a number, text, true or false, a list or a mapping, got {named(value)}")
