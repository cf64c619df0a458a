"""What holds for every vehicle, whatever its parameters and commands."""

import math

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.check import check, problems
from pushrod.core.purity import offences
from pushrod.core.quantity import Choice
from pushrod.core.record import build, flat, get, numbers, put
from pushrod.vehicles import STATUS, VEHICLES, make

SLOTS = 8
every = pytest.mark.parametrize("name", VEHICLES)
LIMITED = [name for name in VEHICLES if not name.startswith("IDEAL")]
GEARED = [name for name in VEHICLES if ("GEARED" in name and "WO_FALL" not in name) or name.startswith("ACTUATION")]
quick = settings(max_examples=examples(30), suppress_health_check=list(HealthCheck))


def edges(leaf):
    if isinstance(leaf.meta, Choice):
        return [float(i) for i in range(len(leaf.meta.names))]
    return sorted({leaf.meta.lo, leaf.meta.hi, *(x for x in (0.0, 1.0) if leaf.meta.allows(x))})


def somewhere(leaf):
    known = edges(leaf)
    return st.sampled_from(known) if isinstance(leaf.meta, Choice) else st.one_of(st.sampled_from(known), st.floats(known[0], known[-1]))


def params(model, reference):
    """Defaults with some parameters moved, to the edges of their ranges or between; delays fit the queues."""
    leaves = [leaf for leaf in numbers(model.Params) if not leaf.path.endswith("delay") and leaf.path not in ("reference", "sampling_time")]
    leaves = [leaf for leaf in leaves if not leaf.path.startswith("convert_")]

    def moved(changes):
        p = model.Params(reference=reference)
        for path, x in changes:
            p = put(p, path, x)
        return p

    return st.lists(st.one_of([st.tuples(st.just(leaf.path), somewhere(leaf)) for leaf in leaves]), max_size=12).map(moved)


def inputs(model):
    def fill(values):
        rest = iter(values)
        return build(model.In, lambda _: next(rest))

    return st.tuples(*(somewhere(leaf) for leaf in numbers(model.In))).map(fill)


ticks = st.sampled_from([1e-4, 1e-3, 0.01, 0.033, 0.1])


@every
@pytest.mark.parametrize("reference", [0.0, 1.0])
@given(data=st.data())
@quick
def test_finite_at_the_edges_of_every_range(name, reference, data):
    model = make(name, SLOTS)
    p = data.draw(params(model, reference))
    dt = data.draw(ticks)
    s = model.State()
    for u in data.draw(st.lists(inputs(model), min_size=1, max_size=8)):
        s, y = model.step(p, s, u, dt)
        assert all(math.isfinite(x) for x in flat(s) + flat(y)), (s, y)
    assert {type(get(s, leaf.path)) for leaf in numbers(model.State)} == {float}
    if name in STATUS:
        assert all(math.isfinite(x) for x in flat(STATUS[name](p, s)))


@pytest.mark.parametrize("name", LIMITED)
@given(data=st.data())
@quick
def test_without_quirks_no_limit_is_exceeded(name, data):
    model = make(name, SLOTS)
    p = data.draw(params(model, 0.0))
    dt = data.draw(ticks)
    s = model.State()
    for u in data.draw(st.lists(inputs(model), min_size=1, max_size=12)):
        before = s
        s, _ = model.step(p, s, u, dt)
        assert abs(s.vx) <= p.vel_lim
        assert abs(s.steer) <= p.steer_lim
        assert abs(s.steer - before.steer) <= p.steer_rate_lim * dt * (1.0 + 1e-9) + 1e-15
        assert abs(s.accx) <= p.vel_rate_lim * (1.0 + 1e-12)
        assert abs(s.vx - before.vx) <= p.vel_rate_lim * dt * (1.0 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", LIMITED)
def test_the_reference_does_exceed_them(name):
    """The law above can fail: a slope or a scaling factor winds the reference's acceleration up, a bias takes its angle past the limit."""
    model = make(name, SLOTS)
    p = model.Params(reference=1.0, vel_rate_lim=1.0, steer_lim=0.2, steer_bias=-0.1, steer_time_constant=0.05)
    u = model.In(steer_des=0.2)
    if "slope_accx" in model.In._fields:
        u = u._replace(slope_accx=5.0)
    elif "debug_acc_scaling_factor" in model.Params._fields:
        p, u = p._replace(debug_acc_scaling_factor=3.0), u._replace(accx_des=1.0)
    s = model.State()
    for _ in range(100):
        s, _ = model.step(p, s, u, 0.01)
    winds_up = "slope_accx" in model.In._fields or "debug_acc_scaling_factor" in model.Params._fields
    assert abs(s.steer) > 0.2 or (winds_up and abs(s.accx) > 1.0)


@every
@given(data=st.data())
@quick
def test_no_time_changes_nothing(name, data):
    model = make(name, SLOTS)
    p = data.draw(params(model, data.draw(st.sampled_from([0.0, 1.0]))))
    s = model.State()
    for u in data.draw(st.lists(inputs(model), max_size=3)):
        s, _ = model.step(p, s, u, 0.01)
    again, y = model.step(p, s, data.draw(inputs(model)), 0.0)
    assert again == s
    assert all(math.isfinite(x) for x in flat(y))


@every
def test_defaults_are_legal_and_the_step_is_pure(name):
    model = make(name)
    check(model.Params(), name, 0.01)
    assert model.name == name
    assert offences(model.step) == []
    assert model.Params().reference == 1.0
    for record in (model.Params, model.State, model.In, model.Out):
        assert all(leaf.meta.unit for leaf in numbers(record))


@pytest.mark.parametrize("name", GEARED)
@given(data=st.data())
@quick
def test_without_quirks_no_gear_moves_the_wrong_way(name, data):
    model = make(name, SLOTS)
    p = data.draw(params(model, 0.0))
    dt = data.draw(ticks)
    gear, way = data.draw(st.sampled_from([(2.0, 1.0), (19.0, 1.0), (24.0, 1.0), (20.0, -1.0), (21.0, -1.0)]))
    s = model.State()
    for u in data.draw(st.lists(inputs(model), min_size=1, max_size=12)):
        s, _ = model.step(p, s, u._replace(gear=gear), dt)
        assert way * s.vx >= 0.0


@pytest.mark.parametrize("name", GEARED)
@given(data=st.data())
@quick
def test_without_quirks_a_gear_against_the_motion_only_slows_the_car(name, data):
    model = make(name, SLOTS)
    p = data.draw(params(model, 0.0))._replace(wheelbase=20.0)  # so that arcs are as long as their chords
    assume(getattr(p, "vel_lim", 10.0) >= 5.0)
    gear, v = data.draw(st.sampled_from([(0.0, 5.0), (22.0, -5.0), (20.0, 5.0), (2.0, -5.0)]))
    s = model.State(vx=v)
    limit = min(p.stop_deceleration, getattr(p, "vel_rate_lim", math.inf))
    for u in data.draw(st.lists(inputs(model), min_size=1, max_size=12)):
        before = s
        s, _ = model.step(p, s, u._replace(gear=gear), 0.01)
        if before.vx * v > 0.0:
            assert s.vx * v >= 0.0
            assert abs(s.vx) == pytest.approx(max(abs(before.vx) - 0.01 * limit, 0.0), abs=1e-12)
            assert math.hypot(s.x - before.x, s.y - before.y) == pytest.approx(0.005 * abs(s.vx + before.vx), rel=0.05, abs=1e-4)


def test_out_of_range_parameters_are_refused_by_name():
    model = make("ACTUATION_CMD_MECHANICAL")
    p = model.Params()
    for leaf in numbers(model.Params):
        outside = 99.0 if isinstance(leaf.meta, Choice) else math.nextafter(leaf.meta.hi, math.inf)
        assert any(line.startswith(leaf.path) for line in problems(put(p, leaf.path, outside))), leaf.path
