"""Chunks on the cores of this computer, or on its GPU: one after the other, each of them on all there is."""

from collections.abc import Iterable, Iterator

from pushrod.sweep.chunk import Chunk, run_chunk
from pushrod.sweep.study import Study

GPU_CHUNK = 1 << 18  # samples: fewer leave a large GPU idle


def on_cores(study: Study, chunks: Iterable[int], threads: int | None = None) -> Iterator[Chunk]:
    for k in chunks:
        yield run_chunk(study, k, "cpu", threads)


def on_gpu(study: Study, chunks: Iterable[int]) -> Iterator[Chunk]:
    for k in chunks:
        yield run_chunk(study, k, "cuda")
