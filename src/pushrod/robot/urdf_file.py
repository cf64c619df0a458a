"""A robot from a URDF file, as other tools write it.

Links with inertial, visual and collision; joints with origin, axis (x if not given), limit, dynamics and mimic; simple transmissions, each an
actuator. A reduction below 0 is how URDF says reversed. What else may stand in such a file is left out with a warning. What URDF cannot say stands in
attributes and elements of our own, which other tools pass over:

    <limit acceleration="1" unbounded="lower upper" ...>     an acceleration limit; ends that are open (URDF takes an end that is not given for 0)
    <pushrod>                                                see urdf_extension.py
"""

from pathlib import Path
from typing import Any

from pushrod.config.structure import WRONG
from pushrod.config.yaml_file import Document, Keys
from pushrod.robot import urdf_extension, xml_file
from pushrod.robot.description import (
    Actuator,
    Box,
    Collision,
    Cylinder,
    Dynamics,
    Inertial,
    Joint,
    Limits,
    Link,
    Material,
    Mesh,
    Mimic,
    Origin,
    Robot,
    Sphere,
    Transmission,
    Visual,
)
from pushrod.robot.link import HERE
from pushrod.robot.robot_file import sound
from pushrod.robot.urdf_reading import Reading
from pushrod.robot.xml_file import Element

INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
SHAPES = ("box", "cylinder", "sphere", "mesh")
SECTIONS = {"link", "joint", "transmission", "material", "pushrod"}


def load_urdf(file: Path) -> Robot:
    return read_urdf(xml_file.load(file), str(file))


def read_urdf(root: Element, file: str = "<text>") -> Robot:
    """The robot an XML tree describes; ConfigError names everything wrong with it, by file, line and path."""
    return read_with_lines(root, file)[0]


def read_with_lines(root: Element, file: str) -> tuple[Robot, Document]:
    """The same, and the document that knows on which line each path stands."""
    r = Reading(file)
    if root.tag != "robot":
        r.wrong(root, (), f"the file must hold a <robot>, got <{root.tag}>")
        r.document.raise_problems()
    if any(child.tag.startswith("xacro:") for child in root.children):
        r.wrong(root, (), "this is a xacro file: expand it into URDF first")
        r.document.raise_problems()
    r.at(root, (), ("name", "version"), SECTIONS)
    name = r.text(root, "name", ("robot",))
    colours = {e.attributes.get("name", ""): _material(e, (), r) for e in root.all("material")}
    parts: dict[str, Any] = {
        "links": tuple(_link(e, at, colours, r) for e, at in _each(root, "link", "links", r)),
        "joints": tuple(_joint(e, at, r) for e, at in _each(root, "joint", "joints", r)),
        "actuators": tuple(_actuator(e, i, r) for i, e in enumerate(root.all("transmission"))),
    }
    ours = list(root.all("pushrod"))
    if ours:
        parts = urdf_extension.read(ours[0], parts, r)
    for e in ours[1:]:
        r.wrong(e, ("pushrod",), "<pushrod> is given twice")
    robot = sound(r.document, name, parts)
    r.warn()
    return robot, r.document


def _each(root: Element, tag: str, section: str, r: Reading) -> list[tuple[Element, Keys]]:
    """The elements of that tag with their paths; one without a name, or with one that is taken, is noted and left out."""
    found: dict[str, Element] = {}
    for i, e in enumerate(root.all(tag)):
        name = r.text(e, "name", (section, i))
        if name is WRONG:
            continue
        if name in found:
            r.document.problems.append((e.line, f"{r.document.file}:{e.line}: {section}.{name}: given twice; first on line {found[name].line}"))
            continue
        found[name] = e
    return [(e, (section, name)) for name, e in found.items()]


def _link(e: Element, at: Keys, colours: dict[str, Material], r: Reading) -> Link:
    r.at(e, at, ("name",), ("inertial", "visual", "collision"))
    inertial = None
    if (i := e.first("inertial")) is not None:
        inertial = _inertial(i, (*at, "inertial"), r)
    visuals: list[Visual] = []
    for v in e.all("visual"):
        here = (*at, "visuals", len(visuals))
        r.at(v, here, ("name",), ("geometry", "origin", "material"))
        m = v.first("material")
        material = None if m is None else _material(m, (*here, "material"), r)
        if material is not None and material.color is None and material.texture is None:
            material = colours.get(material.name, material)
        visuals.append(Visual(_geometry(v, here, r), _origin(v, here, r), material, v.attributes.get("name", "")))
    collisions: list[Collision] = []
    for c in e.all("collision"):
        here = (*at, "collisions", len(collisions))
        r.at(c, here, ("name",), ("geometry", "origin"))
        collisions.append(Collision(_geometry(c, here, r), _origin(c, here, r), c.attributes.get("name", "")))
    return Link(e.attributes["name"], inertial, tuple(visuals), tuple(collisions))


def _inertial(e: Element, at: Keys, r: Reading) -> Inertial:
    r.at(e, at, (), ("origin", "mass", "inertia"))
    mass, inertia = e.first("mass"), e.first("inertia")
    for child, names in ((mass, ("value",)), (inertia, INERTIA)):
        if child is not None:
            r.at(child, (*at, child.tag), names)
    kg = r.wrong(e, (*at, "mass"), "<inertial> has no <mass>") if mass is None else r.number(mass, "value", (*at, "mass"), WRONG)
    if mass is not None and "value" not in mass.attributes:
        r.wrong(mass, (*at, "mass"), "<mass> has no value")
    six: Any = tuple(0.0 if inertia is None else r.number(inertia, name, (*at, "inertia", i), 0.0) for i, name in enumerate(INERTIA))
    return Inertial(kg, six, _origin(e, at, r))


def _origin(e: Element, at: Keys, r: Reading) -> Origin:
    o = e.first("origin")
    if o is None:
        return HERE
    at = (*at, "origin")
    r.at(o, at, ("xyz", "rpy"))
    return Origin(r.numbers(o, "xyz", (*at, "xyz"), HERE.xyz), r.numbers(o, "rpy", (*at, "rpy"), HERE.rpy))


def _geometry(e: Element, at: Keys, r: Reading) -> Any:
    at = (*at, "geometry")
    g = e.first("geometry")
    shapes = [child for child in g.children if child.tag in SHAPES] if g is not None else []
    if g is None or len(shapes) != 1 or len(g.children) != 1:
        return r.wrong(g or e, at, f"must hold one of {', '.join(f'<{name}>' for name in SHAPES)}")
    s = shapes[0]
    if s.tag == "box":
        r.at(s, at, ("size",))
        return Box(r.numbers(s, "size", (*at, "size"), ()))
    if s.tag == "mesh":
        r.at(s, at, ("filename", "scale"))
        return Mesh(r.text(s, "filename", (*at, "file")), r.numbers(s, "scale", (*at, "scale"), (1.0, 1.0, 1.0)))
    names = ("radius", "length") if s.tag == "cylinder" else ("radius",)
    r.at(s, at, names)
    sizes = [r.parsed(s, text, (*at, name)) if (text := s.attributes.get(name)) else r.text(s, name, (*at, name)) for name in names]
    return Cylinder(*sizes) if s.tag == "cylinder" else Sphere(*sizes)


def _material(e: Element, at: Keys, r: Reading) -> Material:
    color, texture = e.first("color"), e.first("texture")
    return Material(
        e.attributes.get("name", ""),
        None if color is None else r.numbers(color, "rgba", (*at, "color"), None),
        None if texture is None else texture.attributes.get("filename", ""),
    )


def _joint(e: Element, at: Keys, r: Reading) -> Joint:
    r.at(e, at, ("name", "type"), ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"))
    kind = r.text(e, "type", (*at, "kind"))
    r.document.lines[(*at, "kind")] = e.line
    ends = {}
    for end in ("parent", "child"):
        child = e.first(end)
        ends[end] = r.wrong(e, (*at, end), f"<joint> has no <{end}>") if child is None else r.text(child, "link", (*at, end))
        if child is not None:
            r.at(child, (*at, end), ("link",))
    axis = None
    if kind not in ("fixed", "floating"):  # many tools write an axis there too, which means nothing
        a = e.first("axis")
        axis = (1.0, 0.0, 0.0) if a is None else r.numbers(a, "xyz", (*at, "axis"), (1.0, 0.0, 0.0))
    dynamics = None
    if (d := e.first("dynamics")) is not None:
        here = (*at, "dynamics")
        r.at(d, here, ("damping", "friction"))
        dynamics = Dynamics(*(r.number(d, name, (*here, name), 0.0) for name in ("damping", "friction")))
    mimic = None
    if (m := e.first("mimic")) is not None:
        here = (*at, "mimic")
        r.at(m, here, ("joint", "multiplier", "offset"))
        numbers = [r.number(m, name, (*here, name), default) for name, default in (("multiplier", 1.0), ("offset", 0.0))]
        mimic = Mimic(r.text(m, "joint", (*here, "joint")), *numbers)
    limits = None if (limit := e.first("limit")) is None else _limits(limit, kind, (*at, "limits"), r)
    return Joint(e.attributes["name"], kind, ends["parent"], ends["child"], _origin(e, at, r), axis, limits, dynamics, mimic)


def _limits(e: Element, kind: str, at: Keys, r: Reading) -> Limits:
    r.at(e, at, ("lower", "upper", "velocity", "acceleration", "effort", "unbounded"))
    found = {name: r.number(e, name, (*at, name)) for name in ("lower", "upper", "velocity", "acceleration", "effort")}
    unbounded = e.attributes.get("unbounded", "").split()
    if kind in ("revolute", "prismatic"):
        if not unbounded and found["lower"] is None and found["upper"] is None:
            r.wrong(e, at, 'lower and upper are missing, which URDF takes for 0 and 0; give them, or say unbounded="lower upper"')
        for end in ("lower", "upper"):
            if found[end] is None and end not in unbounded:
                found[end] = 0.0  # what URDF says of an end that is not given
    return Limits(**found)


def _actuator(e: Element, i: int, r: Reading) -> Actuator:
    joints, actuators = list(e.all("joint")), list(e.all("actuator"))
    name = actuators[0].attributes.get("name") if actuators else None
    at: Keys = ("actuators", name if name else i)
    r.at(e, at, ("name", "type"), ("type", "joint", "actuator", "mechanicalReduction"))
    kind = e.attributes.get("type", "") + "".join(t.text.strip() for t in e.all("type"))
    if not kind.endswith("SimpleTransmission") or len(joints) != 1 or len(actuators) != 1:
        r.wrong(e, at, f"only a SimpleTransmission of one <joint> and one <actuator> is taken, got {kind or 'no type'}")
    joint = r.text(joints[0], "name", (*at, "joint")) if joints else WRONG
    here = (*at, "transmission")
    reductions = [child for parent in (e, *joints, *actuators) for child in parent.all("mechanicalReduction")]
    offsets = [child for parent in joints for child in parent.all("offset")]
    reduction = r.parsed(reductions[0], reductions[0].text.strip(), (*here, "reduction")) if reductions else 1.0
    offset = r.parsed(offsets[0], offsets[0].text.strip(), (*here, "offset")) if offsets else 0.0
    backwards = reduction is not WRONG and reduction < 0.0
    return Actuator(name or WRONG, joint, transmission=Transmission(-reduction if backwards else reduction, offset, backwards))
