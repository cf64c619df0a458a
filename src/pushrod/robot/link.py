"""Links: the rigid bodies of a robot, with what they weigh and how they look. Lengths in m, masses in kg, angles in rad."""

from dataclasses import dataclass
from typing import Any

from pushrod.robot.parameter import real, set_field

Vector = tuple[float, float, float]
ZERO: Vector = (0.0, 0.0, 0.0)


def reals(values: Any) -> Any:
    """A list of numbers as a tuple of floats; anything else as it is."""
    return tuple(real(x) for x in values) if isinstance(values, (list, tuple)) else values


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a frame lies in its parent's frame: xyz [m], then roll, pitch, yaw [rad] about the parent's fixed axes x, y, z in that order."""

    xyz: Vector = ZERO
    rpy: Vector = ZERO

    def __post_init__(self) -> None:
        set_field(self, "xyz", reals(self.xyz))
        set_field(self, "rpy", reals(self.rpy))


HERE = Origin()


@dataclass(frozen=True, slots=True)
class Inertial:
    """Mass [kg] and inertia ixx, ixy, ixz, iyy, iyz, izz [kg.m2] about the centre of mass, which lies at the origin given here."""

    mass: float
    inertia: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    origin: Origin = HERE

    def __post_init__(self) -> None:
        set_field(self, "mass", real(self.mass))
        set_field(self, "inertia", reals(self.inertia))


@dataclass(frozen=True, slots=True)
class Box:
    size: Vector

    def __post_init__(self) -> None:
        set_field(self, "size", reals(self.size))


@dataclass(frozen=True, slots=True)
class Cylinder:
    """About the z axis, its middle at the origin."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        set_field(self, "radius", real(self.radius))
        set_field(self, "length", real(self.length))


@dataclass(frozen=True, slots=True)
class Sphere:
    radius: float

    def __post_init__(self) -> None:
        set_field(self, "radius", real(self.radius))


@dataclass(frozen=True, slots=True)
class Mesh:
    """A file by its name or address; it is not opened here."""

    file: str
    scale: Vector = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        set_field(self, "scale", reals(self.scale))


Geometry = Box | Cylinder | Sphere | Mesh


@dataclass(frozen=True, slots=True)
class Material:
    """Colour as red, green, blue and opacity, each 0 to 1; or the file of a texture."""

    name: str = ""
    color: tuple[float, float, float, float] | None = None
    texture: str | None = None

    def __post_init__(self) -> None:
        set_field(self, "color", reals(self.color))


@dataclass(frozen=True, slots=True)
class Visual:
    """How a link, or a part of it, looks."""

    geometry: Geometry
    origin: Origin = HERE
    material: Material | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Collision:
    """What of a link can be hit."""

    geometry: Geometry
    origin: Origin = HERE
    name: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    inertial: Inertial | None = None
    visuals: tuple[Visual, ...] = ()
    collisions: tuple[Collision, ...] = ()

    def __post_init__(self) -> None:
        set_field(self, "visuals", tuple(self.visuals))
        set_field(self, "collisions", tuple(self.collisions))
