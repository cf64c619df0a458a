"""The element <pushrod> in a URDF file: what URDF has no words for. Numbers are SI, <options> and defaults are JSON.

<pushrod>
  <actuator name="motor" driver="package.module:Class" limit_policy="reject" restart="false">      (its <transmission> stands outside)
    <options>{"id": 3, "current": {"parameter": "motor.current"}}</options>
    <watchdog silence="0.2" reaction="damp"/>
  </actuator>
  <sensor name="encoder" joint="shoulder" driver="..."><transmission reduction="1" offset="0.1" reversed="true"/></sensor>
  <sensor name="imu" link="base" driver="..."><options>{}</options></sensor>
  <controller name="balance" driver="..." simulation="mock"/>
  <parameter path="motor.current" type="float" default="1.5" lo="0" hi="3" unit="A" doc="..."/>
  <reference joint="shoulder" field="limits.velocity" parameter="motion.speed"/>                   (the value given outside is the default)
  <restarts restarts="3" seconds="5"/>
</pushrod>
"""

from dataclasses import replace
from typing import Any

from pushrod.config.structure import WRONG
from pushrod.config.yaml_file import Keys
from pushrod.core.names import unknown
from pushrod.robot.attachment import DIRECT, Actuator, Controller, Sensor
from pushrod.robot.parameter import Parameter, ParameterRef
from pushrod.robot.shape import with_references
from pushrod.robot.transmission import Transmission
from pushrod.robot.urdf_reading import Reading
from pushrod.robot.xml_file import Element
from pushrod.safety.restart import Budget
from pushrod.safety.watchdog import Watchdog

TRANSMISSION = ("transmission.reduction", "transmission.offset", "transmission.reversed")
FIELDS = {
    "joint": ("limits.lower", "limits.upper", "limits.velocity", "limits.acceleration", "limits.effort", "dynamics.damping", "dynamics.friction"),
    "actuator": TRANSMISSION,
    "sensor": TRANSMISSION,
}


def read(e: Element, parts: dict[str, Any], r: Reading) -> dict[str, Any]:
    """The parts of a robot with what the element adds to them."""
    r.at(e, ("pushrod",), (), ("actuator", "sensor", "controller", "parameter", "reference", "restarts"), ours=True)
    actuators = parts["actuators"]
    for child in e.all("actuator"):
        name = r.text(child, "name", ("actuators",))
        if name is not WRONG and name not in [a.name for a in actuators]:
            r.wrong(child, ("actuators", name), unknown({a.name: a for a in actuators if a.name is not WRONG}, name, "<transmission> of an actuator"))
        actuators = tuple(_actuator(child, a, r) if a.name == name else a for a in actuators)
    found = {
        **parts,
        "actuators": actuators,
        "sensors": tuple(_sensor(child, i, r) for i, child in enumerate(e.all("sensor"))),
        "controllers": tuple(_controller(child, i, r) for i, child in enumerate(e.all("controller"))),
        "parameters": tuple(_parameter(child, i, r) for i, child in enumerate(e.all("parameter"))),
    }
    for child in e.all("restarts"):
        r.at(child, ("restarts",), ("restarts", "seconds"), ours=True)
        default = Budget()
        counts = [r.data(child, child.attributes.get(name, str(getattr(default, name))), ("restarts", name)) for name in default._fields]
        found["restarts"] = Budget(*counts)
    for child in e.all("reference"):
        found = _referring(child, found, r)
    return found


def _actuator(e: Element, actuator: Actuator, r: Reading) -> Actuator:
    at: Keys = ("actuators", actuator.name)
    r.at(e, at, ("name", "driver", "limit_policy", "restart"), ("options", "watchdog"), ours=True)
    watchdog = None
    if (w := e.first("watchdog")) is not None:
        here = (*at, "watchdog")
        r.at(w, here, ("silence", "reaction"), ours=True)
        silence = r.parsed(w, text, (*here, "silence")) if (text := w.attributes.get("silence")) else r.text(w, "silence", (*here, "silence"))
        reaction: Any = w.attributes.get("reaction", "hold")
        watchdog = Watchdog(silence, reaction)
    policy: Any = e.attributes.get("limit_policy", "clamp")
    return replace(
        actuator,
        driver=e.attributes.get("driver", ""),
        options=_options(e, at, r),
        limit_policy=policy,
        watchdog=watchdog,
        restart=r.switch(e, "restart", (*at, "restart"), True),
    )


def _sensor(e: Element, i: int, r: Reading) -> Sensor:
    name, at = _name(e, "sensors", i, r)
    r.at(e, at, ("name", "driver", "link", "joint"), ("options", "transmission"), ours=True)
    transmission = DIRECT
    if (t := e.first("transmission")) is not None:
        here = (*at, "transmission")
        r.at(t, here, ("reduction", "offset", "reversed"), ours=True)
        reduction, offset = (r.number(t, field, (*here, field), default) for field, default in (("reduction", 1.0), ("offset", 0.0)))
        transmission = Transmission(reduction, offset, r.switch(t, "reversed", (*here, "reversed"), False))
    return Sensor(name, e.attributes.get("driver", ""), _options(e, at, r), e.attributes.get("link"), e.attributes.get("joint"), transmission)


def _controller(e: Element, i: int, r: Reading) -> Controller:
    name, at = _name(e, "controllers", i, r)
    r.at(e, at, ("name", "driver", "simulation"), ("options",), ours=True)
    simulation: Any = e.attributes.get("simulation", "omit")
    return Controller(name, e.attributes.get("driver", ""), _options(e, at, r), simulation)


def _parameter(e: Element, i: int, r: Reading) -> Parameter:
    path = r.text(e, "path", ("parameters", i))
    at: Keys = ("parameters", path if path is not WRONG else i)
    r.at(e, at, ("path", "type", "default", "lo", "hi", "unit", "doc"), ours=True)
    kind: Any = e.attributes.get("type", "float")
    default, lo, hi = (r.data(e, e.attributes[key], (*at, key)) if key in e.attributes else None for key in ("default", "lo", "hi"))
    return Parameter(path, kind, default, lo, hi, e.attributes.get("unit", "-"), e.attributes.get("doc", ""))


def _name(e: Element, section: str, i: int, r: Reading) -> tuple[Any, Keys]:
    name = r.text(e, "name", (section, i))
    return name, (section, name if name is not WRONG else i)


def _options(e: Element, at: Keys, r: Reading) -> Any:
    o = e.first("options")
    return {} if o is None else with_references(r.data(o, o.text, (*at, "options")))


def _referring(e: Element, parts: dict[str, Any], r: Reading) -> dict[str, Any]:
    """The parts with a field of one of them naming a parameter."""
    r.at(e, ("pushrod", "reference"), ("joint", "actuator", "sensor", "field", "parameter"), ours=True)
    kinds = [kind for kind in FIELDS if kind in e.attributes]
    field = e.attributes.get("field", "")
    if len(kinds) != 1 or field not in FIELDS[kinds[0]]:
        r.wrong(e, ("pushrod", "reference"), f"<reference> names a joint, an actuator or a sensor, and a field of it: {FIELDS}")
        return parts
    section, name = f"{kinds[0]}s", e.attributes[kinds[0]]
    record, _, key = field.partition(".")
    at: Keys = (section, name, record, key)
    path = r.text(e, "parameter", at)
    if not any(item.name == name and getattr(item, record) is not None for item in parts[section]):
        r.wrong(e, at, f"there is no {kinds[0]} {name!r} with {record} in which <reference> could name a parameter")
        return parts
    r.document.lines[at] = e.line
    value = path if path is WRONG else ParameterRef(path)
    changed = (replace(item, **{record: replace(getattr(item, record), **{key: value})}) if item.name == name else item for item in parts[section])
    return {**parts, section: tuple(changed)}
