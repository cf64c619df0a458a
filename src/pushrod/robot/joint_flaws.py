"""What is wrong with a joint: the fields its kind must have, may have and cannot have, and the numbers in them."""

from collections.abc import Mapping

from pushrod.config.structure import WRONG
from pushrod.config.yaml_file import Keys
from pushrod.robot.findings import Findings
from pushrod.robot.joint import KINDS, Dynamics, Joint, Limits, Mimic, Rules, units
from pushrod.robot.link import Origin


def joint_flaws(at: Keys, joint: Joint, actuator: str | None, f: Findings) -> None:
    """`actuator` is the name of one that drives the joint."""
    origin_flaws((*at, "origin"), joint.origin, f)
    f.choice((*at, "kind"), joint.kind, KINDS)
    if joint.kind not in KINDS:
        return
    rules = KINDS[joint.kind]
    a_kind = f"a {joint.kind} joint"
    if joint.axis is None and rules.axis == "must":
        f.add((*at, "axis"), f"{a_kind} needs the axis its plane stands on")
    elif joint.axis is not None and rules.axis == "none":
        f.add((*at, "axis"), f"{a_kind} has no axis; leave it out")
    elif joint.axis is not None and f.vector((*at, "axis"), joint.axis, 3, "-") == (0.0, 0.0, 0.0):
        f.add((*at, "axis"), "must not be of length 0")
    _limits((*at, "limits"), joint, rules, actuator, f)
    if joint.dynamics is not None and not rules.dynamics:
        f.add((*at, "dynamics"), f"{a_kind} has no dynamics; leave them out")
    elif joint.dynamics is not None and f.is_a((*at, "dynamics"), joint.dynamics, Dynamics):
        f.number((*at, "dynamics", "damping"), joint.dynamics.damping, units(joint.kind)["damping"], lo=0.0)
        f.number((*at, "dynamics", "friction"), joint.dynamics.friction, units(joint.kind)["friction"], lo=0.0)


def origin_flaws(at: Keys, origin: Origin, f: Findings) -> None:
    if f.is_a(at, origin, Origin):
        f.vector((*at, "xyz"), origin.xyz, 3, "m")
        f.vector((*at, "rpy"), origin.rpy, 3, "rad")


def _limits(at: Keys, joint: Joint, rules: Rules, actuator: str | None, f: Findings) -> None:
    a_kind = f"a {joint.kind} joint"
    limits = joint.limits
    if limits is None:
        if rules.limits == "must":
            f.add(at, f"{a_kind} needs limits, at least velocity and effort")
        return
    if rules.limits == "none":
        f.add(at, f"{a_kind} has no limits; leave them out")
        return
    if not f.is_a(at, limits, Limits):
        return
    unit = units(joint.kind)
    bounds: dict[str, float | None] = {}
    for end in ("lower", "upper"):
        x = getattr(limits, end)
        if x is not None and not rules.bounds:
            f.add((*at, end), f"{a_kind} has no {end} limit; leave it out" + (", or make the joint revolute" if joint.kind == "continuous" else ""))
        elif x is not None:
            bounds[end] = f.number((*at, end), x, unit["position"])
    lower, upper = bounds.get("lower"), bounds.get("upper")
    if lower is not None and upper is not None and lower > upper:
        f.add((*at, "lower"), f"lower {lower:g} {unit['position']} exceeds upper {upper:g} {unit['position']}")
    for rate in ("velocity", "acceleration", "effort"):
        x = getattr(limits, rate)
        if x is None and rate != "acceleration":
            f.add((*at, rate), f"a limit of {rate} [{unit[rate]}] is missing")
        elif x is not None and f.number((*at, rate), x, unit[rate], lo=0.0) == 0.0 and actuator is not None:
            f.add((*at, rate), f"is 0 {unit[rate]}, so actuator {actuator!r} could never move the joint")


def mimic_flaws(joints: Mapping[str, Joint], f: Findings) -> None:
    """That a joint which follows another follows one that moves, and never itself."""
    for name, joint in joints.items():
        at: Keys = ("joints", name, "mimic")
        mimic = joint.mimic
        if mimic is None or not f.is_a(at, mimic, Mimic):
            continue
        f.number((*at, "multiplier"), mimic.multiplier, "-")
        f.number((*at, "offset"), mimic.offset, units(joint.kind)["position"])
        for which, kind in ((name, joint.kind), (mimic.joint, joints[mimic.joint].kind if mimic.joint in joints else WRONG)):
            if kind in KINDS and not KINDS[kind].actuated:
                f.add(at, f"joint {which!r} is {kind}; only joints with one degree of freedom follow or are followed")
        if f.known((*at, "joint"), mimic.joint, joints, "joint"):
            _own_tail(at, name, joints, f)


def _own_tail(at: Keys, name: str, joints: Mapping[str, Joint], f: Findings) -> None:
    way = [name]
    while (mimic := joints[way[-1]].mimic) is not None and isinstance(mimic, Mimic) and mimic.joint in joints:
        if mimic.joint == name:
            f.add((*at, "joint"), f"the joints {' -> '.join([*way, name])} follow each other")
        if mimic.joint in way:
            return
        way.append(mimic.joint)
