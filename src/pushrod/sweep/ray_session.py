"""A connection to a Ray cluster: one that is there, by its address, or one that is started for the time being on this computer alone.

A started one listens on loopback only, has no dashboard, reports to nobody, keeps its files in a folder of its own, and is ended whatever happens.
"""

import contextlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

from pushrod.core.errors import InputError, StudyError

LOCAL = "local"
LOOPBACK = "127.0.0.1"
ANSWER = 5.0  # [s] for somebody to listen at an address
STORE = 256 << 20  # bytes that a started cluster keeps of results: a few hundred chunks
# Ray takes the address of the network card for loopback, unless it is told that this system cannot have a cluster
ENVIRONMENT = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}


def import_ray() -> Any:
    try:
        import ray
    except ImportError as e:
        raise InputError("Ray is not installed here; install it with: pip install 'pushrod[cluster]'") from e
    return ray


@contextlib.contextmanager
def session(address: str = LOCAL, cores: int | None = None) -> Iterator[Any]:
    """The module of Ray, connected. One that this program uses already stays as it is.

    `address` is HOST:PORT, ray://HOST:PORT, "auto", or "local" for a cluster of so many cores on this computer.
    """
    if "ray" in sys.modules and import_ray().is_initialized():
        yield import_ray()
        return
    with _signals() as ours, _started(cores) if address == LOCAL else _connected(address) as ray:
        ours()
        yield ray


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Any]:
    host = _answering(address)
    with _environment() if host in (LOOPBACK, "localhost") else contextlib.nullcontext(), _ended(ray := import_ray()):
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError, OSError) as e:
            raise StudyError(f"no Ray cluster can be used at {address}: {_first_line(e)}; `ray status` on one of its nodes says how it is") from e
        yield ray


def _answering(address: str) -> str:
    """The host of an address. Ray itself would wait for minutes where nobody listens."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return ""  # "auto", or what Ray has to say something about
    try:
        socket.create_connection((host, int(port)), ANSWER).close()
    except OSError as e:
        raise StudyError(f"no Ray cluster answers at {address}: {e.strerror or e}; start one with `ray start --head`, or use `local`") from e
    return host


@contextlib.contextmanager
def _started(cores: int | None) -> Iterator[Any]:
    from pushrod.compiled.rollout import cores as cores_here

    with _own_folder() as folder, _environment():
        ray = import_ray()
        with _ended(ray):
            try:
                ray.init(
                    address=LOCAL,
                    num_cpus=cores or cores_here(),
                    include_dashboard=False,
                    object_store_memory=STORE,
                    log_to_driver=False,
                    logging_level="ERROR",
                    _node_ip_address=LOOPBACK,
                    _temp_dir=folder,
                )
            except (ConnectionError, RuntimeError, ValueError, OSError) as e:
                raise StudyError(f"no Ray cluster can be started here: {_first_line(e)}") from e
            outside = [node["NodeManagerAddress"] for node in ray.nodes() if node["NodeManagerAddress"] != LOOPBACK]
            if outside:
                raise StudyError(f"Ray would listen at {outside[0]} and not on loopback alone; start a cluster by hand and give its address")
            yield ray


@contextlib.contextmanager
def _ended(ray: Any) -> Iterator[None]:
    """Ended for sure. What Ray writes of lost workers and nodes goes to the standard output, where results may go: we tell of them ourselves."""
    worker = ray._private.worker
    before = getattr(worker, "_worker_logs_enabled", True)
    worker._worker_logs_enabled = False
    try:
        yield
    finally:
        ray.shutdown()
        worker._worker_logs_enabled = before


@contextlib.contextmanager
def _own_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="pushrod-")  # short: names of sockets in it may not be long
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """For Ray and the processes it starts; for a Ray that was imported before, too."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    constants: Any = sys.modules.get("ray._private.ray_constants")
    spread = getattr(constants, "ENABLE_RAY_CLUSTER", True)
    if constants is not None:
        constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        if constants is not None:
            constants.ENABLE_RAY_CLUSTER = spread
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _signals() -> Iterator[Callable[[], None]]:
    """Ray takes SIGTERM for itself and aborts. Once it is up, what is given takes it back: the program leaves and ends the cluster on its way."""
    mine = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if mine else None

    def ours() -> None:
        if mine:
            signal.signal(signal.SIGTERM, _leave if before is signal.SIG_DFL else before)

    try:
        yield ours
    finally:
        if mine:
            signal.signal(signal.SIGTERM, before)


def _leave(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
