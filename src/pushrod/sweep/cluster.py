"""Chunks on the nodes of a Ray cluster, each on one core or one GPU. A worker or node that is lost costs the chunks it had: they are computed again.

    with on_ray("HOST:PORT") as executor:
        run(study, folder, executor)

Every chunk is asked for until it is there, and counts once: results are taken by their chunk, and a study can be told of one only by whoever holds
its task.
"""

import contextlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from pushrod.core.errors import DeviceError, StudyError
from pushrod.core.names import find
from pushrod.sweep.chunk import Chunk
from pushrod.sweep.on_worker import Failed, compute, packed
from pushrod.sweep.ray_session import LOCAL, connection_errors, session, watch
from pushrod.sweep.study import Study


class Kind(NamedTuple):
    """A kind of device, and what of a node one chunk takes."""

    device: str
    resource: str
    num_cpus: int
    num_gpus: int


CPU = Kind("cpu", "CPU", 1, 0)
GPU = Kind("cuda", "GPU", 0, 1)
KINDS = {"cpu": (CPU,), "cuda": (GPU,), "any": (GPU, CPU)}

AHEAD = 2  # chunks asked for, for each core or GPU: one in work, one that waits for it
TRIES = 5  # a chunk that is lost so often takes its worker with it
PATIENCE = 60.0  # [s] that a cluster may be without any core or GPU to compute on
LOOK = 1.0  # [s] between looks at what there is


@contextlib.contextmanager
def on_ray(
    address: str = LOCAL, device: str = "cpu", told: Callable[[str], None] = lambda text: None, cores: int | None = None
) -> Iterator[Callable[[Study, Iterable[int]], Iterator[Chunk]]]:
    """An executor on a cluster. `device`: cpu, cuda, or any of what each node has; `told` gets what is worth a line."""
    kinds = find(KINDS, device, "device of a cluster")
    with session(address, cores) as ray:
        lost = watch(ray)

        def executor(study: Study, chunks: Iterable[int]) -> Iterator[Chunk]:
            return _computed(ray, study, chunks, kinds, told, lost)

        yield executor


class Flying(NamedTuple):
    k: int
    kind: Kind


def _computed(
    ray: Any,
    study: Study,
    chunks: Iterable[int],
    kinds: tuple[Kind, ...],
    told: Callable[[str], None],
    is_lost: Callable[[], str] = lambda: "",
) -> Iterator[Chunk]:
    """`is_lost` gives the reason why the cluster as a whole is lost, or nothing."""
    try:
        yield from _asked(ray, study, chunks, kinds, told, is_lost)
    except connection_errors(ray) as e:
        raise StudyError(_gone(is_lost() or str(e).strip().partition("\n")[0])) from e


def _gone(why: str) -> str:
    return f"the cluster is lost: {why}; completed parts are kept, and the same command resumes the study"


def _asked(
    ray: Any, study: Study, chunks: Iterable[int], kinds: tuple[Kind, ...], told: Callable[[str], None], is_lost: Callable[[], str]
) -> Iterator[Chunk]:
    waiting, lost = deque(chunks), Counter[int]()
    flying: dict[Any, Flying] = {}
    places = Places(ray, kinds, is_lost)
    asked = {kind: ray.remote(max_retries=0, num_cpus=kind.num_cpus, num_gpus=kind.num_gpus)(compute) for kind in kinds}
    # Sent with each task, a few kB: an object in the store of this node would be restored once the node is lost, and Ray ends this process over it.
    files = packed(study.files)
    try:
        while waiting or flying:
            for kind, room in places.room(flying.values()):
                for _ in range(min(room, len(waiting))):
                    k = waiting.popleft()
                    flying[asked[kind].remote(files, study.digest, study.chunk, k, kind.device)] = Flying(k, kind)
            ready, _ = ray.wait(list(flying), num_returns=1, timeout=LOOK) if flying else ((), None)
            if not flying:
                time.sleep(LOOK)
            for ref in ready:
                k = flying.pop(ref).k
                chunk, why = _result(ray, ref, k, study)
                if chunk is not None:
                    yield chunk
                    continue
                lost[k] += 1
                if lost[k] == TRIES:
                    raise StudyError(
                        f"chunk {k} of {study.name} was lost {TRIES} times, the last time because {why}; a smaller `chunk` needs less memory"
                    )
                told(f"chunk {k} was lost, because {why}; it is computed again")
                waiting.appendleft(k)
    finally:
        if not is_lost():
            for ref in flying:
                with contextlib.suppress(Exception):  # whatever is wrong with the cluster is told already
                    ray.cancel(ref, force=True)


def _result(ray: Any, ref: Any, k: int, study: Study) -> tuple[Chunk | None, str]:
    """A chunk, or why it was lost on the way; StudyError where trying again would not help."""
    e = ray.exceptions
    try:
        found = ray.get(ref)
    except e.NodeDiedError:
        return None, "its node is gone"
    except e.OutOfMemoryError:
        return None, "its node ran out of memory"
    except e.WorkerCrashedError:
        return None, "its worker is gone"
    except e.ObjectLostError:
        return None, "its result went with the node that held it"
    except e.RayTaskError as error:
        cause = error.cause if isinstance(error.cause, BaseException) else error
        raise StudyError(f"chunk {k} of {study.name} failed on the cluster: {type(cause).__name__}: {str(cause).partition(chr(10))[0]}") from error
    if isinstance(found, Failed):
        raise StudyError(found.why)
    assert isinstance(found, Chunk)
    return found, ""


class Places:
    """How many chunks may be asked for, by what the nodes have: looked up now and then, since nodes come and go."""

    def __init__(self, ray: Any, kinds: tuple[Kind, ...], is_lost: Callable[[], str]) -> None:
        self._ray = ray
        self._is_lost = is_lost
        self._kinds = kinds
        self._looked = -LOOK
        self._bare_since: float | None = None
        self._have: dict[Kind, int] = {}
        if not self._look():
            wanted = " or ".join(kind.resource for kind in kinds)
            raise DeviceError(f"no node of the cluster has a {wanted} to compute on; it has {self._resources()}")

    def room(self, flying: Iterable[Flying]) -> Iterator[tuple[Kind, int]]:
        if time.monotonic() - self._looked > LOOK:
            self._look()
        used = Counter(one.kind for one in flying)
        for kind, have in self._have.items():
            yield kind, max(0, AHEAD * have - used[kind])

    def _look(self) -> bool:
        if why := self._is_lost():
            raise StudyError(_gone(why))
        now = self._looked = time.monotonic()
        there = self._ray.cluster_resources()
        self._have = {kind: int(there.get(kind.resource, 0)) for kind in self._kinds}
        some = any(self._have.values())
        self._bare_since = None if some else self._bare_since or now
        if self._bare_since is not None and now - self._bare_since > PATIENCE:
            raise StudyError(
                f"the cluster has had nothing to compute on for {PATIENCE:g} s; the parts that are done are kept, and the same command goes on"
            )
        return some

    def _resources(self) -> str:
        there = self._ray.cluster_resources()
        return ", ".join(f"{name} {amount:g}" for name, amount in sorted(there.items()) if name in ("CPU", "GPU")) or "neither CPU nor GPU"
