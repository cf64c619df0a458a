"""Stage 1: the feel of a request, then the envelope of the command.

    MANUAL:     y = sign(x) (|x| - db) / (1 - db) beyond db, 0 within;   u = k ((1 - e) y + e y^3)
    AUTOPILOT:  u = k x          TEST:  u = x
    u_cmd = clamp(u, envelope)

x   request, u before the envelope, u_cmd command [-];  k scale, db dead band, e expo [-]

`slope` is du/dx: what a small change of the request does to the command, by which a residual of commands is turned into one of requests.
A neutral request (source NONE) passes by the envelope: at rest is at rest.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, dead_band
from pushrod.pipeline.act import Shp, Sw
from pushrod.pipeline.names import AUTOPILOT, MANUAL, NONE
from pushrod.pipeline.request import expo, sound
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq


class Params(NamedTuple):
    shp: Shp = Shp()
    sw: Sw = Sw()


class State(NamedTuple):
    pass


In = ActuatorReq


class Feel(NamedTuple):
    """A request after shaping, before the envelope, and the slope there."""

    u: A[float, Q("-")] = 0.0
    slope: A[float, Q("-", 0.0)] = 1.0


class Out(NamedTuple):
    cmd: ActuatorCmd = ActuatorCmd()
    s: Feel = Feel()
    d: Feel = Feel()


@pure
def stretched(x: float, db: float) -> float:
    return dead_band(x, db) / (1.0 - db)


@pure
def manual(x: float, scale: float, db: float, e: float) -> Feel:
    y = stretched(x, db)
    slope = 0.0 if abs(x) <= db and db > 0.0 else scale * ((1.0 - e) + 3.0 * e * y * y) / (1.0 - db)
    return Feel(scale * expo(y, e), slope)


@pure
def feel(x: float, src: float, ap_scale: float, man_scale: float, db: float, e: float) -> Feel:
    if src == MANUAL:
        return manual(x, man_scale, db, e)
    k = ap_scale if src == AUTOPILOT else 1.0
    return Feel(k * x, k)


@pure
def shape(shp: Shp, sw: Sw, req: ActuatorReq) -> Out:
    s = feel(req.u_s_req, req.src, shp.ap.u_s_scale, shp.man.u_s_scale, shp.man.deadband, shp.man.expo)
    d = feel(req.u_d_req, req.src, shp.ap.u_d_scale, shp.man.u_d_scale, shp.man.deadband, shp.man.expo)
    if req.src == NONE:
        return Out(ActuatorCmd(0.0, 0.0), s, d)
    return Out(ActuatorCmd(clamp(s.u, sw.u_s_min, sw.u_s_max), clamp(d.u, -sw.u_d_max_neg, sw.u_d_max_pos)), s, d)


@pure
def step(p: Params, s: State, u: ActuatorReq, dt: float) -> tuple[State, Out]:
    return s, shape(p.shp, p.sw, sound(u))


SHAPING = Model("shaping", Params, State, In, Out, step)
