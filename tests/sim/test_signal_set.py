"""Channels by name: forms of configuration, look-up, arrays of times, and the same numbers inside a compiled run."""

import importlib.util
import math
from typing import Annotated as A
from typing import NamedTuple

import numpy as np
import pytest

from pushrod.compiled.rollout import rollout
from pushrod.core.errors import InputError, SignalError, SignalWarning, UnknownNameError
from pushrod.core.model import Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.signals import Track, value
from pushrod.sim.signal_set import SignalSet

NESTED = {
    "max_intervals": 5,
    "x": {
        "num_intervals": 2,
        "interval_0": {"type": "linear", "t_start": 0.0, "t_end": 5.0, "y_start": 0.0, "y_end": 10.0},
        "interval_1": {"type": "constant", "t_start": 6.0, "t_end": 7.0, "y_start": 2.0},
    },
    "wheel.fl": {"num_intervals": 1, "interval_0": {"type": "constant", "t_start": 0.0, "t_end": 1.0, "y_start": 3.0}},
}
FLAT = {
    "max_intervals": 5,
    "x.num_intervals": 2,
    "x.interval_0.type": "linear",
    "x.interval_0.t_start": 0.0,
    "x.interval_0.t_end": 5.0,
    "x.interval_0.y_start": 0.0,
    "x.interval_0.y_end": 10.0,
    "x.interval_1.type": "constant",
    "x.interval_1.t_start": 6.0,
    "x.interval_1.t_end": 7.0,
    "x.interval_1.y_start": 2.0,
    "wheel.fl.num_intervals": 1,
    "wheel.fl.interval_0.type": "constant",
    "wheel.fl.interval_0.t_end": 1.0,
    "wheel.fl.interval_0.y_start": 3.0,
}
SHORT = {"x": [{"for": 5, "linear": [0, 10]}, {"at": 6, "for": 1, "constant": 2}], "wheel.fl": {"at": 0, "for": 1, "constant": 3}}
RICH = {
    "sum": [
        [
            {"at": 1, "for": 2, "linear": [0, 0.3]},
            {"at": 4, "for": 3, "sine": [0.1, 0.5]},
            {"for": 5, "chirp": {"amplitude": 1, "f_start": 0.1, "f_end": 7, "sweep": "logarithmic"}},
            {"for": 2, "quadratic": [1, 2, 3]},
            {"prbs": 0.1},
        ],
        {"for": 9, "chirp": [1, 0.1, 9]},
        {"steps": [[0, 1], [3, 2]]},
        {"recorded": [[0, 1], [2.5, 3], [3, 1]]},
        {"recorded": {"t": [0, 1, 4], "y": [3, 1, 2], "between": "held"}},
        {"at": 1, "ramp_hold": {"levels": [0, 1, -1], "ramp": 0.3, "hold": 0.2}},
        0.7,
    ]
}


def tracks(config):
    signals = SignalSet(["x", "wheel.fl"], config)
    return [signals.track(name) for name in signals.objects]


def test_nested_flat_and_short_are_equal():
    assert tracks(NESTED) == tracks(FLAT) == tracks(SHORT)


def test_a_dotted_part_completes_a_nested_one():
    half = {"x": {"num_intervals": 2, "interval_0": NESTED["x"]["interval_0"], "interval_1": {"t_start": 6.0, "t_end": 7.0}}}
    assert SignalSet(["x"], half | {"x.interval_1.y_start": 2.0}).track("x") == tracks(NESTED)[0]
    assert half["x"]["interval_1"] == {"t_start": 6.0, "t_end": 7.0}


def test_only_listed_channels_are_loaded():
    signals = SignalSet(["x"], NESTED | {"broken": {"num_intervals": -7}})
    assert signals.objects == ("x",)
    assert signals.get_object_value("wheel.fl", 0.5) == 0.0


def test_a_listed_channel_without_configuration_is_zero():
    assert SignalSet(["nothing"], NESTED).value("nothing", 1.0) == 0.0


def test_the_longer_of_two_listed_names_owns_a_dotted_key():
    signals = SignalSet(["a", "a.b"], {"a.b.num_intervals": 1, "a.b.interval_0.y_start": 4.0, "a": 1.0})
    assert [signals.value("a", 1.0), signals.value("a.b", 1.0)] == [1.0, 4.0]


def test_look_up_is_graceful_or_strict():
    signals = SignalSet(["x"], SHORT)
    assert signals.get_object_value("x", 2.5) == signals.value("x", 2.5) == 5.0
    assert signals.get_object_value("nowhere", 2.5) == 0.0
    with pytest.raises(UnknownNameError, match="'y'.*known: x"):
        signals.value("y", 1.0)
    with pytest.raises(UnknownNameError):
        signals.values("y", [1.0])
    with pytest.raises(UnknownNameError):
        signals.track("y")
    with pytest.raises(InputError, match="nan.*'x'"):
        signals.value("x", math.nan)
    with pytest.raises(InputError, match="1 of 2 times"):
        signals.values("x", [0.0, math.nan])


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"x": 1.0, "x.num_intervals": 1}, "x = 1.0 is given whole and again in parts"),
        ({"x": {"num_intervals": 1}, "x.num_intervals": 2}, r"x\.num_intervals is given twice: 1 and 2"),
        ({"x": 1.0, "max_intervals": -1}, "max_intervals = -1"),
        ({"x": 1.0, "max_intervals": 2.5}, "max_intervals = 2.5"),
    ],
)
def test_contradictions_are_refused(config, text):
    with pytest.raises(SignalError, match=text):
        SignalSet(["x"], config)


def test_arguments_of_the_wrong_type_are_refused():
    with pytest.raises(InputError, match="list of channel names"):
        SignalSet("x", {})
    with pytest.raises(InputError, match="config must map"):
        SignalSet(["x"], [1])


def test_max_intervals_counts_for_every_channel():
    with pytest.warns(SignalWarning, match="max_intervals = 1") as caught:
        signals = SignalSet(["x", "wheel.fl"], NESTED | {"max_intervals": 1})
    assert [w.filename for w in caught] == [__file__]
    assert signals.value("x", 50.0) == 10.0


def test_an_array_of_times_gives_the_same_bits_as_one_time_after_another():
    signals = SignalSet(["y"], {"y": RICH})
    ts = np.concatenate([np.linspace(-1.0, 40.0, 4001), [0.0, 1.0, 3.0, 4.0, 7.0, 12.0, 14.0, 1e12, -1e12, np.inf, -np.inf]])
    one_by_one = np.array([signals.value("y", float(t)) for t in ts])
    assert np.isfinite(one_by_one).all()
    assert np.array_equal(signals.values("y", ts), one_by_one)
    assert signals.values("y", ts[:12].reshape(3, 4)).shape == (3, 4)
    assert signals.values("y", 2.0).shape == ()
    assert signals.values("y", []).shape == (0,)


class Params(NamedTuple):
    drive: Track = Track()


class State(NamedTuple):
    total: A[float, Q("m")] = 0.0


class In(NamedTuple):
    extra: A[float, Q("m/s")] = 0.0


class Out(NamedTuple):
    y: A[float, Q("m/s")] = 0.0


@pure
def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
    y = value(p.drive, float(at.k) * at.dt) + u.extra
    return State(s.total + at.dt * y), Out(y)


DRIVEN = World("driven_by_a_signal", Params, State, In, Out, step)


def test_a_compiled_run_sees_the_same_numbers():
    signals = SignalSet(["y"], {"y": RICH})
    params, dt = Params(signals.track("y")), 0.013
    run = rollout(DRIVEN, params, {"extra": 0.0}, steps=1500, dt=dt)
    assert np.array_equal(run["y"], [signals.value("y", float(k) * dt) for k in range(1500)])
    single = rollout(DRIVEN, params, {"extra": 0.0}, steps=200, dt=dt, dtype="float32")
    assert np.max(np.abs(single["y"] - run["y"][:200])) < 1e-4


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda (pip install 'pushrod[cuda]') has no wheels on this platform")
def test_a_signal_in_a_gpu_kernel_needs_no_float64():
    from pushrod.compiled.ptx import compile_ptx

    assert compile_ptx(DRIVEN).doubles == []
