"""Stage 1 for m axes: the feel of each request as in `shaping`, then the envelope of each command.

cmd_i = clamp(k_i f(req_i), a_min_i, a_max_i)
"""

from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.scalar import clamp
from pushrod.pipeline.allocate.axes import M_MOST, Axes, axis_line, from_axes, to_axes
from pushrod.pipeline.n_act import Act
from pushrod.pipeline.names import NONE
from pushrod.pipeline.request import finite, is_source
from pushrod.pipeline.shaping import Feel, feel


class Shaped(NamedTuple):
    req: Axes = Axes()
    before: Axes = Axes()
    cmd: Axes = Axes()


@pure
def felt(p: Act, x: float, src: float, i: int) -> Feel:
    return feel(x, src, p.shp.ap.scale[i], p.shp.man.scale[i], p.shp.man.deadband, p.shp.man.expo)


@pure
def asked(req: Axes, src: float, m: int) -> bool:
    """Is there a request, and is it a number on every axis?"""
    v = from_axes(axis_line.empty(), req)
    fine = is_source(src)
    for i in range(m):
        fine = fine and finite(axis_line.get(v, i))
    return fine


@pure
def shape(p: Act, req: Axes, src: float, m: int) -> Shaped:
    x = from_axes(axis_line.empty(), req)
    before = axis_line.empty()
    cmd = axis_line.empty()
    for i in range(M_MOST):
        f = felt(p, axis_line.get(x, i), src, i) if i < m else Feel(0.0, 1.0)
        before = axis_line.put(before, i, f.u)
        cmd = axis_line.put(cmd, i, clamp(f.u, p.sw.a_min[i], p.sw.a_max[i]) if i < m and src != NONE else 0.0)
        x = axis_line.put(x, i, axis_line.get(x, i) if i < m else 0.0)
    return Shaped(to_axes(x), to_axes(before), to_axes(cmd))
