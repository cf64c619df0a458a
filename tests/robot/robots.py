"""Any sound robot, for hypothesis: a random tree of links with everything attached that can be."""

from hypothesis import strategies as st

from pushrod.robot import (
    Actuator,
    Box,
    Budget,
    Collision,
    Controller,
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
    Parameter,
    ParameterRef,
    Reaction,
    Robot,
    Sensor,
    Sphere,
    Transmission,
    Visual,
    Watchdog,
)
from pushrod.robot.joint import units

KINDS = ("revolute", "continuous", "prismatic", "planar", "floating", "fixed")
numbers = st.floats(-1e3, 1e3)
positive = st.floats(1e-3, 1e3)
sizes = st.floats(0.0, 1e3)
vectors = st.tuples(numbers, numbers, numbers)
axes = vectors.filter(lambda v: max(map(abs, v)) > 1e-3)
origins = st.builds(Origin, vectors, vectors)
one_line = st.text(st.characters(categories=("L", "N", "P", "S")), max_size=6)
names = st.text(st.characters(categories=("L", "N", "P", "S"), exclude_characters="/"), min_size=1, max_size=6)
shapes = st.one_of(
    st.builds(Box, st.tuples(sizes, sizes, sizes)),
    st.builds(Cylinder, sizes, sizes),
    st.builds(Sphere, sizes),
    st.builds(Mesh, one_line.filter(bool), vectors),
)
shade = st.floats(0.0, 1.0)
materials = st.builds(Material, one_line, st.none() | st.tuples(shade, shade, shade, shade), st.none() | one_line)
scalars = st.none() | st.booleans() | st.integers() | numbers | st.text(max_size=4)
keys = st.text(max_size=4).filter(lambda key: key not in ("context", "motor_profile", "parameter"))


@st.composite
def links(draw, name):
    inertial = st.builds(Inertial, sizes, st.tuples(sizes, numbers, numbers, sizes, numbers, sizes), origins)
    visuals = st.lists(st.builds(Visual, shapes, origins, st.none() | materials, one_line), max_size=1)
    collisions = st.lists(st.builds(Collision, shapes, origins, one_line), max_size=1)
    return Link(name, draw(st.none() | inertial), draw(visuals), draw(collisions))


@st.composite
def limits(draw, kind):
    lower, upper = sorted((draw(numbers), draw(numbers)))
    bounded = kind in ("revolute", "prismatic")
    return Limits(
        draw(st.just(lower) | st.none()) if bounded else None,
        draw(st.just(upper) | st.none()) if bounded else None,
        draw(positive),
        draw(st.none() | positive),
        draw(positive),
    )


@st.composite
def joints(draw, name, parent, child):
    kind = draw(st.sampled_from(KINDS))
    has_limits = kind in ("revolute", "prismatic") or (kind in ("continuous", "planar") and draw(st.booleans()))
    has_axis = kind not in ("floating", "fixed") and (kind == "planar" or draw(st.booleans()))
    has_dynamics = kind not in ("floating", "fixed") and draw(st.booleans())
    return Joint(
        name,
        kind,
        parent,
        child,
        draw(origins),
        draw(axes) if has_axis else None,
        draw(limits(kind)) if has_limits else None,
        Dynamics(draw(sizes), draw(sizes)) if has_dynamics else None,
    )


@st.composite
def parameters(draw, path):
    kind = draw(st.sampled_from(("float", "int", "bool", "str")))
    if kind in ("bool", "str"):
        values = st.booleans() if kind == "bool" else st.text(st.characters(exclude_categories=("Cs",)), max_size=4)
        return Parameter(path, kind, draw(st.none() | values), doc=draw(one_line))
    values = numbers if kind == "float" else st.integers(-100, 100)
    low, default, high = sorted((draw(values), draw(values), draw(values)))
    ends = [draw(st.none() | st.just(x)) for x in (default, low, high)]
    return Parameter(path, kind, *ends, draw(st.sampled_from(("-", "rad", "N.m", "m/s2"))), draw(one_line))


def options(paths):
    values = scalars | st.sampled_from([ParameterRef(path) for path in paths]) if paths else scalars
    nested = st.recursive(values, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2), max_leaves=4)
    return st.dictionaries(keys, nested, max_size=2)


GEARS = (
    Parameter("gear.ratio", "float", 3.0, 1.0),
    Parameter("gear.back", "bool", True),
    Parameter("gear.rad", "float", None, unit="rad"),
    Parameter("gear.m", "float", 0.5, unit="m"),
)


@st.composite
def transmissions(draw, joint):
    """Every field a value, or the name of a parameter that fits."""
    offset = ParameterRef("gear.rad" if joint.angular else "gear.m")
    return Transmission(
        draw(positive | st.just(ParameterRef("gear.ratio"))),
        draw(numbers | st.just(offset)),
        draw(st.booleans() | st.just(ParameterRef("gear.back"))),
    )


@st.composite
def robots(draw):
    free = iter(draw(st.lists(names, min_size=14, max_size=14, unique=True)))
    count = draw(st.integers(0, 4))
    link_names = [next(free) for _ in range(count)]
    tree = [draw(joints(next(free), link_names[draw(st.integers(0, i - 1))], link_names[i])) for i in range(1, count)]
    movable = [j for j in tree if j.kind in ("revolute", "continuous", "prismatic")]
    if len(movable) > 1 and draw(st.booleans()):
        follower = movable[-1]
        mimicking = Joint(*(getattr(follower, f) for f in follower.__slots__[:-1]), mimic=Mimic(movable[0].name, draw(numbers), draw(numbers)))
        tree = [mimicking if j is follower else j for j in tree]
        movable = movable[:-1]
    declared = [draw(parameters(path)) for path in ("a.b", "a.c", "_x")[: draw(st.integers(0, 3))]]
    extra = {kind: Parameter(f"speed.{kind}", "float", 2.0, 1.0, None, units(kind)["velocity"]) for kind in KINDS[:3]}
    declared += [*extra.values(), *GEARS]
    paths = [p.path for p in declared]
    driven = []
    for joint in movable[:2]:
        dog = draw(st.none() | st.builds(Watchdog, positive, st.sampled_from(list(Reaction))))
        policy = draw(st.sampled_from(("clamp", "reject")))
        driven.append(
            Actuator(next(free), joint.name, draw(one_line), draw(options(paths)), draw(transmissions(joint)), policy, dog, draw(st.booleans()))
        )
    if movable and movable[0].limits is not None and draw(st.booleans()):
        old = movable[0].limits
        at = ParameterRef(f"speed.{movable[0].kind}")
        referring = Limits(old.lower, old.upper, at, old.acceleration, old.effort)
        tree = [Joint(j.name, j.kind, j.parent, j.child, j.origin, j.axis, referring, j.dynamics, j.mimic) if j is movable[0] else j for j in tree]
    on = [{}, *({"link": name} for name in link_names), *({"joint": j.name} for j in tree)]
    sensors = [Sensor(next(free), draw(one_line), draw(options(paths)), **draw(st.sampled_from(on))) for _ in range(draw(st.integers(0, 2)))]
    if movable and draw(st.booleans()):
        sensors.append(Sensor(next(free), joint=movable[-1].name, transmission=draw(transmissions(movable[-1]))))
    how = st.sampled_from(("omit", "mock", "start"))
    controllers = [Controller(next(free), draw(one_line), draw(options(paths)), draw(how)) for _ in range(draw(st.integers(0, 1)))]
    budget = draw(st.builds(Budget, st.integers(0, 9), positive))
    return Robot(draw(names), [draw(links(name)) for name in link_names], tree, driven, sensors, controllers, declared, budget)
