"""Chunks on the cores of this computer, or on its GPU: one after the other, each of them on all there is."""

from collections.abc import Iterable, Iterator

from pushrod.sweep.chunk import Chunk, run_chunk
from pushrod.sweep.study import Study

GPU_CHUNK = 1 << 18  # samples: fewer leave a large GPU idle
GPU_ROOM = 2_000_000_000  # bytes for the states of a chunk


def on_cores(study: Study, chunks: Iterable[int], threads: int | None = None) -> Iterator[Chunk]:
    for k in chunks:
        yield run_chunk(study, k, "cpu", threads)


def gpu_chunk(study: Study) -> int:
    """Samples that a GPU takes at a time: delay lines may be long."""
    from pushrod.compiled.layout import layout

    size = max(layout(case.world.State).height for case in study.cases) * (8 if study.dtype == "float64" else 4)
    return max(1024, min(GPU_CHUNK, GPU_ROOM // size))


def on_gpu(study: Study, chunks: Iterable[int]) -> Iterator[Chunk]:
    for k in chunks:
        yield run_chunk(study, k, "cuda")
