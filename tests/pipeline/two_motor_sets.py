"""Random legal parameter sets and requests of the two-motor pipeline."""

from hypothesis import strategies as st

from pushrod.core.check import problems
from pushrod.pipeline.act import Act, Alloc, Hw, Man, Motor, Params, Shp, Slew, Sw, Trim
from pushrod.pipeline.allocate.two_motor import Bounds
from pushrod.pipeline.names import SOURCES
from pushrod.pipeline.topic import ActuatorReq

POLICIES = st.sampled_from([0.0, 1.0, 2.0])
U = st.floats(-1.5, 1.5)


@st.composite
def bounds(draw: st.DrawFn) -> Bounds:
    a_L, b_L = sorted((draw(st.floats(-1.0, 1.0)), draw(st.floats(-1.0, 1.0))))
    a_R, b_R = sorted((draw(st.floats(-1.0, 1.0)), draw(st.floats(-1.0, 1.0))))
    return Bounds(a_L, b_L, a_R, b_R)


@st.composite
def allocs(draw: st.DrawFn) -> Alloc:
    return Alloc(draw(POLICIES), draw(st.floats(0.05, 20.0)), draw(st.floats(0.05, 20.0)))


@st.composite
def params(draw: st.DrawFn) -> Params:
    hw = Hw(draw(st.sampled_from([-1.0, -0.4, 0.0])), draw(st.sampled_from([0.7, 1.0])))
    lo, hi = sorted((draw(st.floats(hw.u_LR_min, hw.u_LR_max)), draw(st.floats(hw.u_LR_min, hw.u_LR_max))))
    sw = Sw(lo, hi, draw(st.floats(-1.0, 0.0)), draw(st.floats(0.0, 1.0)), draw(st.floats(0.0, 1.0)), draw(st.floats(0.0, 1.0)))
    man = Man(draw(st.floats(0.0, 1.5)), draw(st.floats(0.0, 1.5)), draw(st.floats(0.0, 0.5)), draw(st.floats(0.0, 1.0)))
    trim = Trim(draw(st.floats(0.5, 2.0)), draw(st.floats(0.5, 2.0)), draw(st.floats(-0.2, 0.2)), draw(st.floats(-0.2, 0.2)))
    slew = Slew(draw(st.floats(0.1, 50.0)), draw(st.floats(0.1, 50.0)), draw(st.floats(0.1, 2.0)))
    alloc = draw(allocs())._replace(slew_aware=draw(st.sampled_from([0.0, 1.0])))
    p = Params(Act(hw, sw, Shp(man=man), alloc, trim, Motor(draw(st.floats(0.0, 0.2))), slew))
    assert not list(problems(p))
    return p


requests = st.builds(ActuatorReq, U, U, st.sampled_from([float(i) for i in range(len(SOURCES))]))
