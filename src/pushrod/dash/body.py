"""What a machine looks like in the 3-D view, and where its parts are: bodies posed from the outputs of its world, or links from its description.

x points forwards or east, z up. Machines that travel stay in the middle and the ground moves below them; from some height on it sinks, too.
"""

from collections.abc import Callable
from math import hypot, inf, pi
from typing import Any, NamedTuple

from pushrod.dash.watch import Watch
from pushrod.robot.description import Robot
from pushrod.robot.kinematics import Transform, forward, placed
from pushrod.robot.link import Box, Cylinder, Origin, Sphere, Vector

AWAY = 1.7  # of its reach, from the camera to the root: the whole reach is within the 75 degrees that the camera sees
CEILING = 0.6  # [m] up to which a multirotor climbs in the picture; then the ground sinks
STEEL, BLUE, ORANGE, DARK, LIGHT = "#9aa5b1", "#3d7fb8", "#d9822b", "#39424d", "#d5dae0"
UPRIGHT = placed(Origin(rpy=(pi / 2, 0.0, 0.0)))  # the cylinders of the scene lie along y


class Placed(NamedTuple):
    """Where a part is now."""

    part: str
    at: Transform


class Body(NamedTuple):
    """`draw(scene)` makes its parts, each a group, by name. `pose(watch)` says where they are. `ground`: where the machine is over it, and how wide a
    stretch of it is shown [m]. `eye`, `to`: from where it is looked at, and where to [m]. `floor`: the height of the ground [m]; `rise`: how far it
    has sunk below that [m]. `reach`: how far from `to` a part is still in the picture [m]; beyond it the camera follows."""

    draw: Callable[[Any], dict[str, Any]]
    pose: Callable[[Watch], list[Placed]]
    ground: Callable[[Watch], tuple[float, float]] = lambda watch: (0.0, 0.0)
    width: float = 2.0
    eye: Vector = (1.2, -1.6, 0.9)
    to: Vector = (0.0, 0.0, 0.2)
    floor: float = 0.0
    rise: Callable[[Watch], float] = lambda watch: 0.0
    reach: float = inf


def body_of(watch: Watch) -> Body | None:
    """Of its world, where that is known; else by the shapes of its links; None where there is nothing to draw."""
    made = BODIES.get(watch.world.machine if watch.world is not None else "")
    robot = watch.described
    if made is not None:
        return made
    return _described(robot) if robot is not None and any(link.visuals for link in robot.links) else None


def _turned(watch: Watch, *names: str) -> Transform:
    """The attitude that three outputs tell: roll, pitch, yaw."""
    roll, pitch, yaw = (watch.now.get(name, 0.0) if name else 0.0 for name in names)
    return placed(Origin(rpy=(roll, pitch, yaw)))


def _cylinder(scene: Any, radius: float, length: float, colour: str) -> Any:
    with scene.group() as group:
        scene.cylinder(radius, radius, length).rotate(pi / 2, 0.0, 0.0).material(colour)
    return group


def _draw_car(scene: Any) -> dict[str, Any]:
    with scene.group() as body:
        scene.box(4.3, 1.75, 0.55).move(1.4, 0.0, 0.6).material(BLUE)
        scene.box(2.1, 1.5, 0.55).move(1.1, 0.0, 1.1).material(DARK)
        wheels = {}
        for name, x, y in (("rear left", 0.0, 0.8), ("rear right", 0.0, -0.8), ("left", 2.79, 0.8), ("right", 2.79, -0.8)):
            with scene.group() as wheel:
                scene.cylinder(0.33, 0.33, 0.22).material(DARK)
            wheels[name] = wheel.move(x, y, 0.33)
    return {"body": body, "left": wheels["left"], "right": wheels["right"]}


def _pose_car(watch: Watch) -> list[Placed]:
    steer = placed(Origin(rpy=(0.0, 0.0, watch.now.get("steer_ach", 0.0))))
    wheels = [Placed(name, Transform((2.79, y, 0.33), steer.rotation)) for name, y in (("left", 0.8), ("right", -0.8))]
    return [Placed("body", _turned(watch, "", "", "yaw")), *wheels]


def _draw_boat(scene: Any) -> dict[str, Any]:
    with scene.group() as body:
        scene.extrusion([[-0.6, -0.26], [0.35, -0.26], [0.75, 0.0], [0.35, 0.26], [-0.6, 0.26]], 0.26).move(0.0, 0.0, -0.05).material(LIGHT)
        scene.box(0.35, 0.3, 0.16).move(-0.1, 0.0, 0.28).material(BLUE)
        for y in (0.35, -0.35):
            _cylinder(scene, 0.05, 0.2, DARK).move(-0.55, y, -0.02).rotate(0.0, pi / 2, 0.0)
    return {"body": body}


def _draw_quad(scene: Any) -> dict[str, Any]:
    with scene.group() as body:
        scene.box(0.16, 0.1, 0.05).material(BLUE)
        scene.box(0.05, 0.03, 0.03).move(0.1, 0.0, 0.0).material(ORANGE)
        for x, y in ((0.16, 0.16), (0.16, -0.16), (-0.16, -0.16), (-0.16, 0.16)):
            scene.line([0.0, 0.0, 0.0], [x, y, 0.0]).material(STEEL)
            _cylinder(scene, 0.11, 0.008, STEEL).move(x, y, 0.03)
            _cylinder(scene, 0.02, 0.04, DARK).move(x, y, 0.01)
    return {"body": body}


def _pose_quad(watch: Watch) -> list[Placed]:
    return [Placed("body", Transform((0.0, 0.0, watch.now.get("z", 0.0) - _risen(watch) + 0.03), _turned(watch, "roll", "pitch", "yaw").rotation))]


def _risen(watch: Watch) -> float:
    return max(watch.now.get("z", 0.0) - CEILING, 0.0)


def _draw_satellite(scene: Any) -> dict[str, Any]:
    with scene.group() as body:
        scene.box(0.9, 0.9, 1.1).material(STEEL)
        scene.box(0.12, 0.5, 0.5).move(0.5, 0.0, 0.0).material(ORANGE)
        for side in (1, -1):
            scene.box(0.7, 1.9, 0.03).move(0.0, side * 1.5, 0.0).material("#274b7a")
    return {"body": body}


def _over_ground(watch: Watch) -> tuple[float, float]:
    return watch.now.get("x", 0.0), watch.now.get("y", 0.0)


def _upright(watch: Watch) -> list[Placed]:
    return [Placed("body", _turned(watch, "", "", "psi"))]


def _in_space(watch: Watch) -> list[Placed]:
    return [Placed("body", _turned(watch, "roll", "pitch", "yaw"))]


BODIES: dict[str, Body] = {
    "car": Body(_draw_car, _pose_car, _over_ground, 24.0, (-9.0, -7.0, 6.0)),
    "boat": Body(_draw_boat, _upright, _over_ground, 8.0, (-1.5, -1.4, 1.2)),
    "quad": Body(_draw_quad, _pose_quad, _over_ground, 4.0, (-1.3, -1.3, 1.5), (0.0, 0.0, 0.4), rise=_risen),
    "satellite": Body(_draw_satellite, _in_space, width=0.0, eye=(4.0, -3.5, 2.5), to=(0.0, 0.0, 0.0)),
}


def _described(robot: Robot) -> Body:
    """Links as their description shows them, joints as they are reported. Meshes are not drawn: no file of a robot is served."""
    shapes = {
        f"{link.name} {i}": (link.name, placed(visual.origin), visual.geometry) for link in robot.links for i, visual in enumerate(link.visuals)
    }

    def draw(scene: Any) -> dict[str, Any]:
        made = {}
        for i, (part, (_, _, shape)) in enumerate(shapes.items()):
            with scene.group() as group:
                colour = (BLUE, ORANGE, STEEL)[i % 3]
                if isinstance(shape, Box):
                    scene.box(*shape.size).material(colour)
                elif isinstance(shape, Sphere):
                    scene.sphere(shape.radius).material(colour)
                elif isinstance(shape, Cylinder):
                    _cylinder(scene, shape.radius, shape.length, colour)
                    for end in (0.5, -0.5):
                        scene.sphere(shape.radius * 1.25).move(0.0, 0.0, end * shape.length).material(DARK)
            made[part] = group
        scene.box(0.12, 0.12, 0.06).move(0.0, 0.0, 0.05).material(STEEL)  # what it is fixed to
        return made

    def pose(watch: Watch) -> list[Placed]:
        known = {joint.name for joint in robot.joints if joint.kind not in ("fixed", "floating", "planar")}
        joints = {name: state.positions[0] for name, state in watch.joints.items() if name in known and state.positions}
        frames = forward(robot, joints)
        return [Placed(part, frames[link].then(at)) for part, (link, at, _) in shapes.items()]

    far = reach(robot) or 0.5
    low = min(at.position[2] for at in forward(robot).values())
    x, y, z = (AWAY * far * part for part in (0.55, -0.8, 0.25))  # a direction of about length 1
    return Body(draw, pose, width=3.0 * far, eye=(x, y, z), to=(0.0, 0.0, 0.0), floor=low - 0.1 * far, reach=1.05 * far)


def reach(robot: Robot) -> float:
    """The farthest that any link can be from the root, however its joints turn [m]: the lengths between joints, and how far slides move."""
    length = {link.name: 0.0 for link in robot.links}
    for _ in robot.joints:  # once for each place in the longest chain
        for joint in robot.joints:
            limits = joint.limits
            ends = [abs(end) for end in (limits.lower, limits.upper) if isinstance(end, float)] if limits is not None else []
            slide = max(ends, default=0.0) if joint.kind == "prismatic" else 0.0
            length[joint.child] = length[joint.parent] + hypot(*joint.origin.xyz) + slide
    return max(length.values(), default=0.0)
