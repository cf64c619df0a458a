"""ros2_control: a joint with limits, friction and transmission as URDF, and the joint_limits YAML that controllers read.

The limits of effort and speed are those of the drive: full effort, and the speed at which it settles under it without load. The acceleration is what
full effort gives to the drive alone; a load makes it less.
"""

import math
import xml.etree.ElementTree as ET

from pushrod.core.errors import InputError
from pushrod.identify.export.drive import Drive, drive_of
from pushrod.identify.export.exported import Exported, Wanted
from pushrod.identify.export.xml_text import child, comment, number, text

STATES = ("position", "velocity", "effort")


def urdf(drive: Drive, name: str, joint: str, span: tuple[float, float] | None) -> str:
    root = ET.Element("robot", {"name": name})
    comment(root, f"{name}, exported by pushrod. SI units, all at the joint; the back-EMF of a motor is in its damping.")
    for words in drive.left_out:
        comment(root, f"left out: {words}")
    for link in ("base", "output"):
        child(root, "link", name=link)
    kind = "prismatic" if drive.slides else "revolute" if span is not None else "continuous"
    made = child(root, "joint", name=joint, type=kind)
    child(made, "parent", link="base")
    child(made, "child", link="output")
    child(made, "axis", xyz="0 0 1")
    limit = child(made, "limit", effort=drive.effort, velocity=drive.velocity)
    if span is not None:
        limit.set("lower", number(span[0]))
        limit.set("upper", number(span[1]))
    child(made, "dynamics", damping=drive.damping, friction=drive.friction)
    control = child(root, "ros2_control", name=name, type="system")
    comment(control, "put the plugin of your hardware here")
    child(child(control, "hardware"), "plugin", "mock_components/GenericSystem")
    driven = child(control, "joint", name=joint)
    ranges = {"position": span, "effort": (-drive.effort, drive.effort)}
    asked = child(driven, "command_interface", name=drive.command)
    for side, value in zip(("min", "max"), ranges[drive.command] or (), strict=False):
        child(asked, "param", number(value), name=side)
    for state in STATES:
        child(driven, "state_interface", name=state)
    transmission = child(control, "transmission", name=f"{joint}_transmission")
    child(transmission, "plugin", "transmission_interface/SimpleTransmission")
    child(transmission, "actuator", name=f"{joint}_motor", role="actuator1")
    child(child(transmission, "joint", name=joint, role="joint1"), "mechanical_reduction", number(drive.ratio))
    return text(root)


def joint_limits(drive: Drive, joint: str, span: tuple[float, float] | None) -> str:
    lines = ["joint_limits:", f"  {joint}:", f"    has_position_limits: {'true' if span is not None else 'false'}"]
    if span is not None:
        lines += [f"    min_position: {real(span[0])}", f"    max_position: {real(span[1])}"]
    for what, value in (("velocity", drive.velocity), ("acceleration", drive.effort / drive.armature), ("effort", drive.effort)):
        lines += [f"    has_{what}_limits: true", f"    max_{what}: {real(value)}"]
    return "\n".join(lines) + "\n"


def real(x: float, digits: int = 7) -> str:
    """A number that ROS takes for a double: it has a point. With 17 digits, as short as it can be without losing a bit."""
    written = f"{x:.{digits}g}" if digits < 17 else repr(x)
    return written if "." in written else f"{written}.0" if "e" not in written else written.replace("e", ".0e")


def export(asked: Wanted) -> Exported:
    drive = drive_of(asked.machine)
    if drive.slides and asked.span is None:
        raise InputError(f"{asked.name} slides, and URDF wants to know from where to where; say so, such as --range '0..0.25 m'")
    if not math.isfinite(drive.effort) or not math.isfinite(drive.velocity):
        raise InputError(f"{asked.name} has no limit of its effort or its speed, which URDF asks for; export a drive that has, such as a servo")
    files = {
        f"{asked.name}.urdf": urdf(drive, asked.name, asked.joint, asked.span),
        f"{asked.name}_joint_limits.yaml": joint_limits(drive, asked.joint, asked.span),
    }
    more = ((drive.delay > 0.0, f"the delay of {drive.delay * 1e3:.3g} ms"), (drive.stiffness > 0.0, f"the stiffness of {drive.stiffness:.3g}"))
    return Exported(files, (*drive.left_out, *(words for there, words in more if there)))
