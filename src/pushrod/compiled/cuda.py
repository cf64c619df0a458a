"""The CUDA side of a batch: one thread per instance, the whole time loop in one kernel.

State lives in registers, delay lines in global memory [row, instance], so that neighbouring threads touch neighbouring words.
"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from pushrod.compiled import rows
from pushrod.compiled.entry import Plan, text
from pushrod.compiled.layout import layout
from pushrod.compiled.module import load
from pushrod.compiled.verified_cache import Compiler
from pushrod.core.errors import DeviceError
from pushrod.core.record import get

if TYPE_CHECKING:
    from pushrod.compiled.job import Arrays, Job

BLOCK = 128  # threads per block


def import_cuda() -> Any:
    """numba.cuda, or a DeviceError that says what to install."""
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # numba-cuda 0.30 still asks for it, numpy 2.5 dropped it
    try:
        from numba import cuda
    except ImportError as error:
        raise DeviceError(f"device='cuda' needs numba-cuda: pip install 'pushrod[cuda]' ({error})") from error
    from numba.cuda.core import config

    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # who runs few knows that a GPU has room for more
    return cuda


@functools.lru_cache(64)
def cuda_module(plan: Plan) -> ModuleType:
    import_cuda()
    import numba_cuda
    from numba.cuda.serialize import dumps

    return load(text(plan), f"{plan.model.name}_cuda", Compiler(numba_cuda.__version__, dumps))


def run_kernel(plan: Plan, job: "Job", a: "Arrays") -> tuple["Arrays", Callable[[], rows.Array], float]:
    """The arrays after the run, how to get the state rows, and the seconds the kernel took.

    With delay lines in them the rows are by far the most there is, and few ask for them: they stay where they are until somebody does.
    """
    cuda = import_cuda()
    if not cuda.is_available():
        raise DeviceError("device='cuda' asks for an NVIDIA GPU and its driver, and none was found here; use device='cpu'")
    real = np.dtype(plan.dtype).type
    shared, varied = split_params(plan, job.params, job.vary, real)
    kernel = cuda_module(plan).kernel
    d_P, d_S, d_U, d_Y, d_M, d_W = (cuda.to_device(np.ascontiguousarray(x)) for x in (varied, a.S, a.U, _filled(a.Y), _filled(a.M), a.W))
    if a.S.shape[1] < job.n:
        column, d_S = d_S, cuda.device_array((len(a.S), job.n), a.S.dtype)
        d_S[:] = column
    tables = [cuda.to_device(table) for table in rows.pack_tables(job.params, plan.dtype)]
    start, end = cuda.event(), cuda.event()
    start.record()
    launch = kernel[(job.n + BLOCK - 1) // BLOCK, BLOCK]
    launch(shared, d_P, d_S, d_U, a.u_each, d_Y, d_M, d_W, job.k0, job.steps, real(job.dt), job.seed, job.instance, job.every, *tables)
    end.record()
    end.synchronize()
    done = a._replace(Y=d_Y.copy_to_host() if a.Y.size else a.Y, M=d_M.copy_to_host() if a.M.size else a.M)
    return done, d_S.copy_to_host, cuda.event_elapsed_time(start, end) / 1e3


def split_params(plan: Plan, params: Any, vary: dict[str, rows.Array], real: Any) -> tuple[tuple[Any, ...], rows.Array]:
    """Shared numbers as a tuple (kernel arguments), varied ones as rows [number, instance], both in the order the text expects."""
    record: Any = type(params)
    paths = layout(record).rows
    shared = tuple(real(get(params, path)) for path in paths if path not in plan.each) or (real(0.0),)
    varied = [vary[path] for path in paths if path in plan.each]
    return shared, np.array(varied, real) if varied else np.zeros((1, 1), real)


def _filled(array: rows.Array) -> rows.Array:
    """An array that is never empty: a kernel argument must point somewhere."""
    return array if array.size else np.zeros((1,) * array.ndim, array.dtype)
