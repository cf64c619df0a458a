"""The servo world in eager PyTorch: one Python step per tick, all instances side by side."""

import time

import torch
from servo_arrays import DELAY, NOISE, SLOTS, State, step

MASK = 0xFFFFFFFF


def noise(instances: torch.Tensor, k: int) -> torch.Tensor:
    h = (instances * 0x9E3779B1) & MASK
    h = ((h ^ (h >> 16)) * 0x7FEB352D + k) & MASK
    h = ((h ^ (h >> 15)) * 0x846CA68B) & MASK
    h = ((h ^ (h >> 16)) * 0x7FEB352D) & MASK
    h = h ^ (h >> 15)
    return (h >> 8).to(torch.float32) * (2.0 / 16777216.0) - 1.0


def take(line: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    return line.gather(0, j.unsqueeze(0)).squeeze(0)


def place(line: torch.Tensor, j: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return line.scatter(0, j.unsqueeze(0), v.unsqueeze(0))


def run(n: int, ticks: int, dt: float, J: object, device: str = "cuda") -> tuple[float, object, object]:
    """Seconds, final angles, largest rates. A few ticks are run first to warm up."""
    ids = torch.arange(n, device=device)
    inertia = torch.as_tensor(J, dtype=torch.float32, device=device)
    delay = torch.full((n,), DELAY, device=device)
    zeros, whole = torch.zeros(n, device=device), torch.zeros(n, dtype=torch.int64, device=device)
    line = torch.zeros((SLOTS, n), device=device)
    start = State(whole, whole, zeros, zeros, zeros, line, line, line, zeros, zeros, zeros, zeros)

    def loop(count: int) -> tuple[State, torch.Tensor]:
        s, peak = start, zeros
        for k in range(count):
            u = 1.0 + NOISE * noise(ids, k)
            s = step(torch, take, place, inertia, delay, s, u, float(k), dt)
            peak = torch.maximum(peak, s.w.abs())
        return s, peak

    def wait() -> None:
        if device == "cuda":
            torch.cuda.synchronize()

    loop(3)
    wait()
    a = time.perf_counter()
    s, peak = loop(ticks)
    wait()
    return time.perf_counter() - a, s.q, peak
