"""What Ray costs: a study of chunks of some 2 s, on a cluster started here, against the compiled loops alone.

python bench/cluster.py
"""

import os
import shutil
import tempfile
import time
from pathlib import Path

from pushrod.sweep.chunk import run_chunk
from pushrod.sweep.cluster import on_ray
from pushrod.sweep.run import run
from pushrod.sweep.study import Study, load

SECONDS = 2.0  # of a chunk, on one core
CHUNKS = 12


def sized() -> Study:
    """The study with chunks of about that length, found by trying one."""
    study = load("servo_tolerance", runs=2000).cut(2000)
    run_chunk(study, 0, threads=1)  # compiles
    took = min(run_chunk(study, 0, threads=1).seconds for _ in range(3))
    size = max(1, round(2000 * SECONDS / took))
    return load("servo_tolerance", runs=CHUNKS * size).cut(size)


def main() -> None:
    study = sized()
    folder = Path(tempfile.mkdtemp(prefix="pushrod-"))
    cores = len(os.sched_getaffinity(0))
    try:
        started = time.perf_counter()
        with on_ray() as executor:
            up = time.perf_counter() - started
            run(
                study.cut(100), folder / "warm", lambda study, chunks: executor(study, list(chunks)[: 4 * cores])
            )  # every worker has loaded what it needs
            started = time.perf_counter()
            outcome = run(study, folder / "timed", executor)
            took = time.perf_counter() - started
    finally:
        shutil.rmtree(folder)
    each = outcome.inside / study.chunks
    alone = outcome.inside / cores
    print(f"{study.n} runs in {study.chunks} chunks of {each:.2f} s on {cores} cores: {took:.2f} s, of which the loops need {alone:.2f} s")
    print(f"overhead {100.0 * (took / alone - 1.0):.1f} %; the cluster was there after {up:.1f} s")


if __name__ == "__main__":
    main()
