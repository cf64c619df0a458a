"""MuJoCo: a drive as MJCF, a file that loads by itself; its <joint> and its <actuator> are what goes into a model of one's own.

armature, damping, frictionloss   of the joint; the back-EMF of the motor is in the damping
position (kp, kv), general        the actuator, with forcerange, delay and lag
Friction in MuJoCo is a soft constraint that creeps; solreffriction and solimpfriction make it hold (measured: 8 % of a small step without them).
"""

import math
import xml.etree.ElementTree as ET

from pushrod.identify.export.drive import Drive, drive_of
from pushrod.identify.export.exported import Exported, Wanted
from pushrod.identify.export.xml_text import child, comment, number, text

TIMESTEP = 1e-3  # [s]
BODY = 1e-4  # of the armature: what the body weighs. With less a slide loses its friction, which MuJoCo makes as soft as the body is light


def mjcf(drive: Drive, name: str, joint: str, span: tuple[float, float] | None = None) -> str:
    root = ET.Element("mujoco", {"model": name})
    geared = f": the ratio of {drive.ratio:g} is in the numbers, so gear is 1" if drive.ratio != 1.0 else ""
    comment(root, f"{name}, exported by pushrod. SI units, all at the joint{geared}.")
    for words in drive.left_out:
        comment(root, f"left out: {words}")
    child(root, "compiler", angle="radian")
    child(root, "option", timestep=TIMESTEP, integrator="implicitfast")
    body = child(child(root, "worldbody"), "body", name="output")
    kind, axis = ("slide", "1 0 0") if drive.slides else ("hinge", "0 0 1")  # gravity, which is along -z, does nothing
    made = child(body, "joint", name=joint, type=kind, axis=axis, armature=drive.armature, damping=drive.damping)
    if drive.friction > 0.0:
        made.set("frictionloss", number(drive.friction))
        made.set("solreffriction", f"{number(2.0 * TIMESTEP)} 1")
        made.set("solimpfriction", "0.9999 0.9999 0.001 0.5 2")
    if drive.stiffness > 0.0:
        made.set("stiffness", number(drive.stiffness))
    if span is not None:
        made.set("range", f"{number(span[0])} {number(span[1])}")
        made.set("limited", "true")
    comment(body, "a body must weigh something; put your own here")
    small = BODY * drive.armature
    child(body, "inertial", pos="0 0 0", mass=small, diaginertia=" ".join([number(small)] * 3))
    actuators = child(root, "actuator")
    if drive.command == "position":
        actuator = child(actuators, "position", name=f"{joint}_motor", joint=joint, kp=drive.kp, kv=drive.kd, gear="1")
    else:
        actuator = child(actuators, "general", name=f"{joint}_motor", joint=joint, gainprm=drive.gain, gear="1")
        if drive.lag > 0.0:
            actuator.set("dyntype", "filterexact")
            actuator.set("dynprm", number(drive.lag))
    if math.isfinite(drive.lo) and math.isfinite(drive.hi):
        actuator.set("forcerange", f"{number(drive.lo)} {number(drive.hi)}")
        actuator.set("forcelimited", "true")
    if drive.delay > 0.0:
        comment(actuators, "delay needs MuJoCo 3.5 or newer; nsample times the timestep must be longer than the delay")
        actuator.set("delay", number(drive.delay))
        actuator.set("nsample", str(math.ceil(drive.delay / TIMESTEP) + 1))
    return text(root)


def export(asked: Wanted) -> Exported:
    drive = drive_of(asked.machine)
    return Exported({f"{asked.name}.xml": mjcf(drive, asked.name, asked.joint, asked.span)}, drive.left_out)
