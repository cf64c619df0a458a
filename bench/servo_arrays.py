"""The servo world written for whole arrays, once for JAX and eager PyTorch alike: what a user without Pushrod would write.

Same equations, same sub-step delay line, same noise as pushrod.sim.worlds.servo; every branch becomes a `where`. The caller hands in the array
module (`jax.numpy` or `torch`) and the two operations that the modules spell differently.
"""

from typing import Any, NamedTuple

SLOTS = 16
RISE, T, LIMIT, J, B, C, DELAY, NOISE = 50.0, 0.02, 3.0, 0.02, 0.05, 0.1, 0.0073, 0.05


class State(NamedTuple):
    first: Any
    count: Any
    last_n: Any
    last_h: Any
    u: Any
    line_n: Any  # [slot, instance]
    line_h: Any
    line_u: Any
    ramp: Any
    lag: Any
    q: Any
    w: Any


def phi2(xp: Any, x: Any) -> Any:
    a = 1.0 / 3628800.0 - x * (1.0 / 39916800.0 - x * (1.0 / 479001600.0 - x * (1.0 / 6227020800.0)))
    a = 1.0 / 5040.0 - x * (1.0 / 40320.0 - x * (1.0 / 362880.0 - x * a))
    a = 1.0 / 120.0 - x * (1.0 / 720.0 - x * a)
    series = 0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * a))
    safe = xp.where(x >= 0.25, x, xp.ones_like(x))
    return xp.where(x >= 0.25, (1.0 - (1.0 - xp.exp(-safe)) / safe) / safe, series)


def coast(xp: Any, J: Any, q: Any, w: Any, tau: Any, dt: Any) -> tuple[Any, Any]:
    x = B * dt / J
    a = (tau - B * w) / J
    p2 = phi2(xp, x)
    return q + dt * (w + a * dt * p2), w + a * dt * (1.0 - x * p2)


def dead_band(xp: Any, x: Any, d: float) -> Any:
    return xp.sign(x) * xp.clip(xp.abs(x) - d, 0.0, None)


def move(xp: Any, J: Any, s: State, cmd: Any, dt: Any) -> State:
    ramp = xp.minimum(xp.maximum(cmd, s.ramp - RISE * dt), s.ramp + RISE * dt)
    x = dt / T
    lag = s.lag + (ramp - s.lag) * x * (1.0 - x * phi2(xp, x))
    tau = xp.clip(lag, -LIMIT, LIMIT)
    rest = s.w == 0.0
    pushed = xp.where(rest, dead_band(xp, tau, C), tau - C * xp.sign(s.w))
    q, w = coast(xp, J, s.q, s.w, pushed, dt)
    stops = ~rest & (w * s.w <= 0.0) & (dt > 0.0)
    t = xp.where(stops, dt * s.w / xp.where(stops, s.w - w, xp.ones_like(w)), xp.zeros_like(w))
    q2, w2 = coast(xp, J, s.q + 0.5 * t * s.w, xp.zeros_like(w), dead_band(xp, tau, C), dt - t)
    return s._replace(ramp=ramp, lag=lag, q=xp.where(stops, q2, q), w=xp.where(stops, w2, w))


def step(xp: Any, take: Any, place: Any, J: Any, delay: Any, s: State, u: Any, n: Any, dt: float) -> State:
    """One tick of all instances; n is the tick number as a float."""
    m = xp.floor(delay / dt + 1e-9)
    at, h = n + m, xp.clip(delay - m * dt, 0.0, dt)
    replace = (s.count > 0) & ((at < s.last_n) | ((at == s.last_n) & (h <= s.last_h)))
    at, h = xp.where(replace, s.last_n, at), xp.where(replace, s.last_h, h)
    count = xp.where(replace, s.count, s.count + 1)
    slot = (s.first + count - 1) % SLOTS
    line_n, line_h, line_u = place(s.line_n, slot, at), place(s.line_h, slot, h), place(s.line_u, slot, u)
    due = (count > 0) & (take(line_n, s.first) == n)
    after = xp.where(due, take(line_u, s.first), s.u)
    until = xp.where(due, take(line_h, s.first), xp.full_like(h, dt))
    a = move(xp, J, s, s.u, until)
    b = move(xp, J, a, after, dt - until)
    first = xp.where(due, (s.first + 1) % SLOTS, s.first)
    return b._replace(first=first, count=xp.where(due, count - 1, count), last_n=at, last_h=h, u=after, line_n=line_n, line_h=line_h, line_u=line_u)
