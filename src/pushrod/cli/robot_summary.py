"""A valid robot in a few lines: its joints with their limits, what drives them and where, and its parameters."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushrod.robot import Actuator, Joint, Parameter, Robot

NAMES_NO_DRIVER = "names no driver"


def robot_summary(robot: "Robot", verdict: str = "ok") -> str:
    """Return a line with the verdict and how much there is, and a line for each part."""
    from pushrod.core.names import count
    from pushrod.robot import paths

    parts = {"link": robot.links, "joint": robot.joints, "actuator": robot.actuators, "sensor": robot.sensors, "controller": robot.controllers}
    counts = [count(len(items), what) for what, items in {**parts, "parameter": robot.parameters}.items() if items]
    where = paths(robot)
    rows = [
        *(("joint", joint.name, _joint(joint)) for joint in robot.joints),
        *(("actuator", "/".join(where[actuator.name]), _actuator(actuator)) for actuator in robot.actuators),
        *(("sensor", "/".join(where[sensor.name]), sensor.driver or NAMES_NO_DRIVER) for sensor in robot.sensors),
        *(("controller", controller.name, controller.driver or NAMES_NO_DRIVER) for controller in robot.controllers),
        *(("parameter", parameter.path, _parameter(parameter)) for parameter in robot.parameters),
    ]
    width = max((len(name) for _, name, _ in rows), default=0)
    return "\n".join(
        [f"{verdict}, robot {robot.name}: {', '.join(counts) or 'empty'}", *(f"  {kind:<10}  {name:<{width}}  {text}" for kind, name, text in rows)]
    )


def _joint(joint: "Joint") -> str:
    from pushrod.robot.joint import units

    unit, limits = units(joint.kind), joint.limits
    said = [f"{joint.kind}, {joint.parent} to {joint.child}"]
    if limits is not None:
        if limits.lower is not None or limits.upper is not None:
            said.append(f"{_value(limits.lower, 'open')} to {_value(limits.upper, 'open')} {unit['position']}")
        rates = ((limits.velocity, "velocity"), (limits.acceleration, "acceleration"), (limits.effort, "effort"))
        said += [f"{_value(value)} {unit[name]}" for value, name in rates if value is not None]
    return ", ".join(said)


def _actuator(actuator: "Actuator") -> str:
    t, dog = actuator.transmission, actuator.watchdog
    said = [actuator.driver or NAMES_NO_DRIVER]
    said += [f"reduction {_value(t.reduction)}"] * (t.reduction != 1.0) + [f"offset {_value(t.offset)}"] * (t.offset != 0.0)
    said += ["reversed"] * (t.reversed is True) + ["rejects what is beyond its limits"] * (actuator.limit_policy == "reject")
    said += [f"{dog.reaction.value} after {dog.silence:g} s of silence"] if dog is not None else []
    return ", ".join(said)


def _parameter(parameter: "Parameter") -> str:
    unit = "" if parameter.unit == "-" else f" {parameter.unit}"
    value = "has no value until it is set" if parameter.default is None else f"{_value(parameter.default)}{unit}"
    bounds = "" if parameter.lo is None and parameter.hi is None else f" ({_value(parameter.lo, 'open')} to {_value(parameter.hi, 'open')})"
    return f"{value}{bounds}" + (f", {parameter.doc}" if parameter.doc else "")


def _value(x: Any, none: str = "") -> str:
    """A number, or the parameter that stands for it."""
    if x is None:
        return none
    return f"{x:g}" if isinstance(x, float) else f"{{{x.path}}}" if hasattr(x, "path") else str(x)
