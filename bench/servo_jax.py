"""The servo world in JAX: one jitted `lax.fori_loop` over the ticks, all instances side by side."""

import time

import jax
import jax.numpy as jnp
from servo_arrays import DELAY, NOISE, SLOTS, State, step


def noise(instances: "jax.Array", k: "jax.Array") -> "jax.Array":
    h = instances * jnp.uint32(0x9E3779B1)
    h = (h ^ (h >> 16)) * jnp.uint32(0x7FEB352D) + k.astype(jnp.uint32)
    h = (h ^ (h >> 15)) * jnp.uint32(0x846CA68B)
    h = (h ^ (h >> 16)) * jnp.uint32(0x7FEB352D)
    h = h ^ (h >> 15)
    return (h >> 8).astype(jnp.float32) * (2.0 / 16777216.0) - 1.0


def run(n: int, ticks: int, dt: float, J: "object", repeats: int = 2) -> tuple[float, "object", "object"]:
    """Best seconds of the repeats, final angles, largest rates."""
    lanes = jnp.arange(n)
    ids = jnp.arange(n, dtype=jnp.uint32)
    inertia = jnp.asarray(J, jnp.float32)
    delay = jnp.full(n, DELAY, jnp.float32)
    zeros, whole = jnp.zeros(n, jnp.float32), jnp.zeros(n, jnp.int32)
    line = jnp.zeros((SLOTS, n), jnp.float32)
    start = State(whole, whole, zeros, zeros, zeros, line, line, line, zeros, zeros, zeros, zeros)

    def body(k: "jax.Array", carry: tuple[State, "jax.Array"]) -> tuple[State, "jax.Array"]:
        s, peak = carry
        u = 1.0 + NOISE * noise(ids, k)
        s = step(jnp, lambda a, j: a[j, lanes], lambda a, j, v: a.at[j, lanes].set(v), inertia, delay, s, u, k.astype(jnp.float32), dt)
        return s, jnp.maximum(peak, jnp.abs(s.w))

    loop = jax.jit(lambda s: jax.lax.fori_loop(0, ticks, body, (s, zeros)))
    jax.block_until_ready(loop(start))
    best = float("inf")
    for _ in range(repeats):
        a = time.perf_counter()
        s, peak = jax.block_until_ready(loop(start))
        best = min(best, time.perf_counter() - a)
    return best, s.q, peak
