"""What a worker of a cluster does: one chunk of a study, which it makes again from its files the first time it is asked."""

import json
import tempfile
import zlib
from importlib.metadata import version
from typing import Any

from pushrod.core.errors import PushrodError
from pushrod.sweep.chunk import Chunk, run_chunk
from pushrod.sweep.files import from_files
from pushrod.sweep.study import Study

_known: dict[str, Study] = {}  # by digest; a worker lives as long as the session that asks it


class Failed:
    """Why a chunk cannot be computed, here or anywhere: plain text, since errors of a library do not all survive a journey."""

    def __init__(self, why: str) -> None:
        self.why = why


def packed(files: dict[str, str]) -> bytes:
    """Return the files of a study as they travel."""
    return zlib.compress(json.dumps(files).encode())


def compute(files: bytes, digest: str, chunk: int, k: int, device: str) -> Chunk | Failed:
    """Chunk k of the study of these files, in chunks of so many samples, on one core or the GPU that was given."""
    try:
        study = _study(files, digest)
        if study.digest != digest:
            return Failed(
                f"on the node {_node()} pushrod {version('pushrod')} makes another study of these files; install the same version on all nodes"
            )
        return run_chunk(study.cut(chunk), k, device, threads=1)
    except PushrodError as e:
        return Failed(f"{e} (on the node {_node()})")


def _study(files: bytes, digest: str) -> Study:
    if digest not in _known:
        tempfile.tempdir = _folder() or tempfile.tempdir
        _known.clear()
        _known[digest] = from_files(json.loads(zlib.decompress(files)))
    return _known[digest]


def _folder() -> str | None:
    """The folder of the session: workers are ended without a chance to clear away what they wrote elsewhere."""
    import ray

    node: Any = getattr(ray._private.worker.global_worker, "node", None)
    return None if node is None else str(node.get_session_dir_path())


def _node() -> str:
    import ray

    util: Any = ray.util
    return str(util.get_node_ip_address())
