"""Stage 0: one owner, fresh requests, calibrated sticks; no feasibility and no motors."""

import inspect
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.record import leaves
from pushrod.pipeline import request
from pushrod.pipeline.act import Channel, Rc, Timeouts
from pushrod.pipeline.names import MODES, REASONS, SOURCES
from pushrod.pipeline.request import In, Params, select, stick
from pushrod.pipeline.topic import ActuatorReq

EVERY = In(u_s_raw=0.1, u_d_raw=0.2, rc_s=1700.0, rc_d=1400.0, u_s_test=0.5, u_d_test=0.6)


def selected(u: In, p: Params = Params()) -> tuple[str, str, float, float]:  # noqa: B008
    y = select(p, u)
    return SOURCES[int(y.src)], REASONS[int(y.reason)], y.u_s_req, y.u_d_req


def mode(name: str) -> float:
    return float(MODES.index(name))


@pytest.mark.parametrize(
    ("name", "source", "reason", "u_s", "u_d"),
    [
        ("idle", "NONE", "idle", 0.0, 0.0),
        ("manual", "MANUAL", "none", 0.4, -0.2),
        ("autopilot", "AUTOPILOT", "none", 0.1, 0.2),
        ("test", "TEST", "none", 0.5, 0.6),
        ("abort", "NONE", "abort", 0.0, 0.0),
    ],
)
def test_the_mode_says_who_owns_the_actuators(name: str, source: str, reason: str, u_s: float, u_d: float) -> None:
    got = selected(EVERY._replace(mode=mode(name)))
    assert got[:2] == (source, reason)
    assert got[2:] == pytest.approx((u_s, u_d))


@pytest.mark.parametrize("name", ["manual", "autopilot", "test"])
def test_disarmed_nobody_owns_them(name: str) -> None:
    assert selected(EVERY._replace(mode=mode(name), armed=0.0)) == ("NONE", "disarmed", 0.0, 0.0)
    assert selected(EVERY._replace(mode=mode("abort"), armed=0.0))[1] == "abort"


@pytest.mark.parametrize(("name", "age"), [("autopilot", "ap_age"), ("manual", "man_age"), ("test", "test_age")])
def test_a_request_that_is_too_old_is_neutral(name: str, age: str) -> None:
    p = Params(timeout=Timeouts(0.3, 0.3, 0.3))
    u = EVERY._replace(mode=mode(name))
    assert selected(u._replace(**{age: 0.3}), p)[1] == "none"
    assert selected(u._replace(**{age: 0.301}), p) == ("NONE", "timeout", 0.0, 0.0)
    assert selected(u._replace(**{age: math.nan}), p)[1] == "timeout"
    others = {"ap_age", "man_age", "test_age"} - {age}
    assert selected(u._replace(**dict.fromkeys(others, 99.0)), p)[1] == "none", "only the owner's age counts"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_no_request(bad: float) -> None:
    for field in ("u_s_raw", "u_d_raw"):
        assert selected(EVERY._replace(mode=mode("autopilot"), **{field: bad})) == ("NONE", "not_finite", 0.0, 0.0)
    assert selected(EVERY._replace(mode=mode("test"), u_d_test=bad))[1] == "not_finite"
    assert selected(EVERY._replace(mode=mode("manual"), rc_s=bad))[1] == "no_pulse"
    assert request.sound(ActuatorReq(bad, 0.0, 1.0)) == ActuatorReq(0.0, 0.0, 0.0, float(REASONS.index("not_finite")))


def test_a_lost_pulse_is_neutral() -> None:
    for us in (0.0, 799.0, 2201.0):
        assert selected(EVERY._replace(mode=mode("manual"), rc_d=us)) == ("NONE", "no_pulse", 0.0, 0.0)


def test_a_stick_is_mapped_by_its_calibration() -> None:
    c = Channel(1100.0, 1480.0, 1900.0, 20.0, 0.5)
    assert stick(c, 1480.0) == stick(c, 1500.0) == stick(c, 1460.0) == 0.0
    assert stick(c, 1900.0) == 1.0
    assert stick(c, 1100.0) == -1.0
    assert stick(c, 2100.0) == 1.0
    assert stick(c, 1700.0) == pytest.approx(0.5 * 0.5 + 0.5 * 0.5**3)  # half way from 1500 to 1900
    assert stick(c._replace(reverse=1.0), 1900.0) == -1.0


@given(st.floats(800.0, 2200.0), st.floats(800.0, 2200.0), st.floats(0.0, 1.0), st.floats(0.0, 100.0))
def test_a_stick_never_goes_backwards_nor_too_far(a: float, b: float, expo: float, dead: float) -> None:
    c = Channel(us_dead=dead, expo=expo)
    x, y = sorted((a, b))
    assert -1.0 <= stick(c, x) <= stick(c, y) <= 1.0


def test_stage_0_knows_no_limit_and_writes_no_motor() -> None:
    known = {leaf.path.split(".")[0] for leaf in leaves(Params)}
    assert known == {"rc", "timeout"}, "no limit, no allocator"
    assert {leaf.path for leaf in leaves(request.REQUEST.Out)} == {"u_s_req", "u_d_req", "src", "reason"}
    for stage in ("allocate", "motor_stage", "esc", "feedback", "shaping"):
        assert f"pushrod.pipeline.{stage}" not in inspect.getsource(request)
    for u in (5.0, -3.0):  # passed on as it is, whether or not it can be done
        assert selected(EVERY._replace(mode=mode("autopilot"), u_s_raw=u, u_d_raw=-u)) == ("AUTOPILOT", "none", u, -u)


def test_windows_that_cut_into_a_stick_are_refused() -> None:
    assert any("us_lost_below" in text for text in Rc(us_lost_below=1001.0).flaws(None))
    assert any("us_mid" in text for text in Channel(1500.0, 1500.0, 2000.0).flaws(None))


@pytest.mark.parametrize("strange", [0.5, 2.5, 3.4, 9.0, -1.0, math.nan, math.inf])
def test_what_is_no_mode_and_no_source_owns_nothing(strange: float) -> None:
    assert selected(EVERY._replace(mode=strange)) == ("NONE", "unknown", 0.0, 0.0)
    assert request.sound(ActuatorReq(0.7, 0.1, strange)) == ActuatorReq(0.0, 0.0, 0.0, float(REASONS.index("unknown")))
