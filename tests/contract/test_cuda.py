"""On a machine with a GPU: every registered step gives there what it gives on the CPU. Elsewhere: asking for one is answered clearly."""

import random

import numpy as np
import pytest
from steps import STEPS, legal

from pushrod.compiled.rollout import batch
from pushrod.core.errors import DeviceError
from pushrod.core.record import flat, numbers
from pushrod.models.first_order import FIRST_ORDER

TICKS, DT, N = 200, 0.01, 64


def has_gpu() -> bool:
    try:
        from pushrod.compiled.cuda import import_cuda

        return bool(import_cuda().is_available())
    except DeviceError:
        return False


@pytest.mark.skipif(has_gpu(), reason="there is a GPU here, so asking for one works")
def test_asking_for_a_gpu_that_is_not_there() -> None:
    with pytest.raises(DeviceError, match=r"device='cuda' .*(none was found here; use device='cpu'|pip install)"):
        batch(FIRST_ORDER, n=2, steps=3, dt=DT, device="cuda")


@pytest.mark.gpu
@pytest.mark.skipif(not has_gpu(), reason="no CUDA device on this machine; bench/RESULTS.md keeps what was seen on one")
@pytest.mark.parametrize("name", STEPS)
def test_the_gpu_gives_what_the_cpu_gives(name: str) -> None:
    model = STEPS[name]
    rng = random.Random(name)
    params = legal(model.Params, rng, DT)
    held = np.array([flat(legal(model.In, rng, DT), model.In) for _ in range(10)]).repeat(TICKS // 10, axis=0)
    inputs = {leaf.path or "u": held[:, j] for j, leaf in enumerate(numbers(model.In))}
    runs = {}
    for device, dtype in (("cpu", "float64"), ("cuda", "float64"), ("cuda", "float32")):
        runs[device, dtype] = batch(model, params, inputs, n=N, steps=TICKS, dt=DT, seed=7, every=20, dtype=dtype, device=device).data.astype(float)
    truth = runs["cpu", "float64"]
    scale = np.maximum(np.abs(truth).max(axis=(0, 2), keepdims=True), 1.0)
    assert (np.abs(runs["cuda", "float64"] - truth) / scale).max() < 1e-9
    single = np.abs(runs["cuda", "float32"] - truth) / scale
    computed = [j for j, leaf in enumerate(numbers(model.Out)) if not leaf.path.endswith("rounds")]  # how long a solver took depends on rounding
    assert single[:, computed].max() < 1e-2
