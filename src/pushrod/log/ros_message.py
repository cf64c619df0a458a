"""ROS 2 messages as plain data, by the definition of their type that comes with them. Needs the extra `ros`.

A message with one field `data` is what is in it; `header` gives the time and is left out. Units are those of REP 103, where a type has any.
"""

import dataclasses
import math
from typing import Any

from pushrod.log.topic_columns import Decode

ADVICE = "messages of ROS 2 are read with the extra ros: pip install 'pushrod[ros]'"
ENCODINGS = ("cdr",)
LONGEST = 4096  # entries of an array that are looked at: the rest is an image or a cloud of points
DEEPEST = 16

# by type of message: what a path begins with, and its unit
TWIST = {"linear": "m/s", "angular": "rad/s"}
ACCEL = {"linear": "m/s2", "angular": "rad/s2"}
WRENCH = {"force": "N", "torque": "N.m"}
POSE = {"position": "m"}
UNITS: dict[str, dict[str, str]] = {
    "geometry_msgs/msg/Twist": TWIST,
    "geometry_msgs/msg/TwistStamped": {f"twist.{path}": unit for path, unit in TWIST.items()},
    "geometry_msgs/msg/Accel": ACCEL,
    "geometry_msgs/msg/AccelStamped": {f"accel.{path}": unit for path, unit in ACCEL.items()},
    "geometry_msgs/msg/Wrench": WRENCH,
    "geometry_msgs/msg/WrenchStamped": {f"wrench.{path}": unit for path, unit in WRENCH.items()},
    "geometry_msgs/msg/Pose": POSE,
    "geometry_msgs/msg/PoseStamped": {f"pose.{path}": unit for path, unit in POSE.items()},
    "geometry_msgs/msg/Vector3": {},
    "sensor_msgs/msg/Imu": {"angular_velocity": "rad/s", "linear_acceleration": "m/s2"},
    "nav_msgs/msg/Odometry": {"pose.pose.position": "m", **{f"twist.twist.{path}": unit for path, unit in TWIST.items()}},
}


def unit_of(kind: str, path: str) -> tuple[str, str]:
    found = UNITS.get(kind, {})
    return next((unit for start, unit in found.items() if path == start or path.startswith(f"{start}.")), ""), ""


def decoder(kind: str, definition: bytes, form: str, encoding: str) -> Decode | None:
    """What makes plain data of the messages of a type; None without the extra, or where its definition cannot be understood."""
    try:
        from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore
    except ImportError:
        return None
    store = get_typestore(Stores.EMPTY)
    try:
        text = definition.decode()
        store.register(get_types_from_idl(text) if form == "ros2idl" else get_types_from_msg(text, kind))
    except Exception:  # the library raises many kinds of what it cannot parse
        return None

    def decode(data: bytes) -> Any:
        try:
            return plain(store.deserialize_cdr(data, kind))
        except Exception as e:  # again many kinds: struct, index, type, its own
            raise ValueError(f"{type(e).__name__}: {e}") from e

    return decode


def plain(message: Any, depth: int = 0) -> Any:
    """Dataclasses as dicts, arrays as lists; a lone `data` is what it holds."""
    if dataclasses.is_dataclass(message) and depth < DEEPEST:
        names = [f.name for f in dataclasses.fields(message) if f.name != "__msgtype__"]
        if "data" in names and set(names) <= {"data", "layout"} and depth == 0:
            return plain(getattr(message, "data"), depth + 1)  # noqa: B009 (its type is of the bag)
        return {name: plain(getattr(message, name), depth + 1) for name in names}
    if hasattr(message, "tolist"):
        return message[:LONGEST].tolist() if getattr(message, "ndim", 0) else message.tolist()
    if isinstance(message, (list, tuple)):
        return [plain(item, depth + 1) for item in message[:LONGEST]]
    return message


def stamp(row: Any) -> int | None:
    """The time [ns] in the header of a message, which is taken out of it; None where there is none, or it was never set."""
    if not isinstance(row, dict) or not isinstance(row.get("header"), dict):
        return None
    found = row.pop("header").get("stamp")
    if not isinstance(found, dict):
        return None
    sec, nanosec = found.get("sec", 0), found.get("nanosec", 0)
    whole = sec * 10**9 + nanosec if all(isinstance(x, int) and math.isfinite(x) for x in (sec, nanosec)) else 0
    return whole if whole > 0 else None
