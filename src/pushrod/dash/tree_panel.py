"""The machine as a tree: links and joints, with the actuators and sensors that sit there, and the controllers beside them."""

from typing import Any

from nicegui import ui

from pushrod.dash.element import box, text
from pushrod.dash.told import Told
from pushrod.robot.description import Robot


class TreePanel:
    def __init__(self, robot: Robot | None) -> None:
        with box("pr-card pr-tree"):
            text("Machine", "pr-heading")
            if robot is not None:
                ui.tree(nodes(robot), label_key="label").props("dense no-connectors").expand()

    def tell(self, told: Told) -> None:
        """It stays as it is."""


def nodes(robot: Robot) -> list[dict[str, Any]]:
    children = {joint.child for joint in robot.joints}
    made = [_link(robot, link.name) for link in robot.links if link.name not in children]
    loose = [_leaf(f"sensor {sensor.name}", sensor.name, "sensors") for sensor in robot.sensors if sensor.link is None and sensor.joint is None]
    controllers = [_leaf(f"controller {one.name}", one.name, "settings_suggest") for one in robot.controllers]
    return [{"id": f"robot {robot.name}", "label": robot.name, "icon": "precision_manufacturing", "children": [*made, *loose, *controllers]}]


def _link(robot: Robot, name: str) -> dict[str, Any]:
    below = []
    for joint in (joint for joint in robot.joints if joint.parent == name):
        motors = [_leaf(f"actuator {one.name}", one.name, "bolt") for one in robot.actuators if one.joint == joint.name]
        seen = [_leaf(f"sensor {one.name}", one.name, "sensors") for one in robot.sensors if one.joint == joint.name]
        below.append({
            "id": f"joint {joint.name}",
            "label": f"{joint.name} ({joint.kind})",
            "icon": "sync_alt" if joint.kind != "fixed" else "link",
            "children": [*motors, *seen, _link(robot, joint.child)],
        })  # fmt: skip
    on_it = [_leaf(f"sensor {one.name}", one.name, "sensors") for one in robot.sensors if one.link == name]
    return {"id": f"link {name}", "label": name, "icon": "category", "children": [*on_it, *below]}


def _leaf(key: str, label: str, icon: str) -> dict[str, Any]:
    return {"id": key, "label": label, "icon": icon}
