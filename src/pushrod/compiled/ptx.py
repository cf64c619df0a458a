"""Compile a step's kernel to PTX without a GPU, and look for what would make it slow: float64 in a float32 build."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from pushrod.compiled.cuda import cuda_module, import_cuda
from pushrod.compiled.entry import Plan, plan_outputs
from pushrod.compiled.job import watched
from pushrod.compiled.layout import layout
from pushrod.core.model import Model, World
from pushrod.metrics.metric import Measure

# the argument reduction inside single-precision sin, cos and tan: an integer, times 2^-64 pi/2, rounded back
_TRIG = re.compile(
    r"cvt\.rn\.f64\.s64\s+(?P<a>%fd\d+), %rd\d+;\s*"
    r"mul\.f64\s+(?P<b>%fd\d+), (?P=a), 0d3BF921FB54442D19;\s*"
    r"cvt\.rn\.f32\.f64\s+%f\d+, (?P=b);"
)


class Ptx(NamedTuple):
    text: str

    @property
    def doubles(self) -> list[str]:
        """The instructions that work on float64, other than those inside sin, cos and tan."""
        return re.findall(r"^\s*[\w.]*\.f64[\w.]*\s[^;]*;", _TRIG.sub("", self.text), re.MULTILINE)


def compile_ptx(
    model: Model | World,
    dtype: str = "float32",
    compute_capability: tuple[int, int] = (9, 0),
    each: tuple[str, ...] = (),
    metrics: Iterable[Measure] = (),
) -> Ptx:
    """The kernel of a model as PTX for a GPU that need not be there."""
    cuda = import_cuda()
    from numba import types as untyped_types
    from numba.cuda import dispatcher as untyped

    types: Any = untyped_types
    plan = Plan(model, "cuda", dtype, plan_outputs(model), tuple(watched(measure, model) for measure in metrics), each)
    kernel = cuda_module(plan).kernel
    real = getattr(types, dtype)
    where = layout(model.Params)
    array = [types.Array(real, d, "C") for d in range(4)]
    integer = types.int64
    dispatcher: Any = untyped
    shared = types.UniTuple(real, max(1, len(where.rows) - len(each)))
    signature: tuple[Any, ...] = (
        *(shared, array[2], array[2], array[3], integer, array[3], array[2], array[1]),
        *(integer, integer, real, integer, integer, integer),
        *(array[1] for _ in where.tables),
    )

    class Device:
        """What numba asks of the current GPU while it compiles a callee; there is none."""

    device: Any = Device()
    device.compute_capability = compute_capability
    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: device
    try:
        text, _ = cuda.compile(kernel.py_func, signature, device=False, abi="numba", cc=compute_capability)
    finally:
        dispatcher.get_current_device = asked
    return Ptx(text if isinstance(text, str) else text.decode())
