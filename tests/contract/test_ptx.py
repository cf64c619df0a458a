"""Every registered step compiles for a GPU that is not here, and its float32 build holds no float64 work."""

import importlib.util

import pytest
from steps import COMPOSED, LONG, STEPS, sampled

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda (pip install 'pushrod[cuda]') has no wheels on this platform"
)


@pytest.mark.parametrize("name", sampled(LONG | COMPOSED))
def test_the_float32_kernel_has_no_float64_instructions(name):
    from pushrod.compiled.ptx import compile_ptx

    ptx = compile_ptx(STEPS[name])
    assert ".entry" in ptx.text
    assert ptx.doubles == []
