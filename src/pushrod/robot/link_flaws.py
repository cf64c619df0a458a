"""What is wrong with a link: masses, sizes, colours."""

from collections.abc import Callable
from typing import Any

from pushrod.config.structure import WRONG, named
from pushrod.config.yaml_file import Keys
from pushrod.robot.findings import Findings
from pushrod.robot.joint_flaws import origin_flaws
from pushrod.robot.link import Box, Collision, Cylinder, Inertial, Link, Material, Mesh, Sphere, Visual


def link_flaws(at: Keys, link: Link, f: Findings) -> None:
    if link.inertial is not None and f.is_a((*at, "inertial"), link.inertial, Inertial):
        origin_flaws((*at, "inertial", "origin"), link.inertial.origin, f)
        f.number((*at, "inertial", "mass"), link.inertial.mass, "kg", lo=0.0)
        inertia = f.vector((*at, "inertial", "inertia"), link.inertial.inertia, 6, "kg.m2")
        if inertia is not None and min(inertia[0], inertia[3], inertia[5]) < 0.0:
            f.add((*at, "inertial", "inertia"), f"ixx, iyy and izz must be at least 0 kg.m2, got {inertia[0]:g}, {inertia[3]:g} and {inertia[5]:g}")
    for i, visual in enumerate(link.visuals):
        here = (*at, "visuals", i)
        if f.is_a(here, visual, Visual):
            _shape(here, visual, f)
            if visual.material is not None and f.is_a((*here, "material"), visual.material, Material):
                _material((*here, "material"), visual.material, f)
    for i, collision in enumerate(link.collisions):
        if f.is_a((*at, "collisions", i), collision, Collision):
            _shape((*at, "collisions", i), collision, f)


def _shape(at: Keys, part: Visual | Collision, f: Findings) -> None:
    f.text((*at, "name"), part.name)
    origin_flaws((*at, "origin"), part.origin, f)
    at = (*at, "geometry")
    if type(part.geometry) in SHAPES:
        SHAPES[type(part.geometry)](at, part.geometry, f)
    elif part.geometry is not WRONG:
        f.add(at, f"must be a Box, Cylinder, Sphere or Mesh, got {named(part.geometry)}")


def _box(at: Keys, box: Box, f: Findings) -> None:
    f.vector((*at, "size"), box.size, 3, "m", lo=0.0)


def _cylinder(at: Keys, cylinder: Cylinder, f: Findings) -> None:
    f.number((*at, "radius"), cylinder.radius, "m", lo=0.0)
    f.number((*at, "length"), cylinder.length, "m", lo=0.0)


def _sphere(at: Keys, sphere: Sphere, f: Findings) -> None:
    f.number((*at, "radius"), sphere.radius, "m", lo=0.0)


def _mesh(at: Keys, mesh: Mesh, f: Findings) -> None:
    f.text((*at, "file"), mesh.file)
    f.vector((*at, "scale"), mesh.scale, 3, "-")


SHAPES: dict[type, Callable[[Keys, Any, Findings], None]] = {Box: _box, Cylinder: _cylinder, Sphere: _sphere, Mesh: _mesh}


def _material(at: Keys, material: Material, f: Findings) -> None:
    f.text((*at, "name"), material.name)
    if material.texture is not None:
        f.text((*at, "texture"), material.texture)
    if material.color is not None:
        color = f.vector((*at, "color"), material.color, 4, "-", lo=0.0)
        if color is not None and max(color) > 1.0:
            f.add((*at, "color"), f"red, green, blue and opacity are at most 1, got {max(color):g}")
