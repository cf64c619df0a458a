"""A connection to a Ray cluster: one that is there, by its address, or one that is started for the time being on this computer alone.

A started one listens on loopback only, has no dashboard, sends no usage reports, keeps its files in a folder of its own, and ends with the session.

Ray asks for a token where it finds one (RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token). A started cluster gets one that this process keeps
in memory: Ray would otherwise write one into the user's folder, and clusters that are started later would ask for it. Ray offers a token to a cluster
at an address only where RAY_AUTH_MODE is set, although `ray start` asks for any that it finds: the session therefore sets it.
"""

import contextlib
import functools
import importlib
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pushrod.core.errors import InputError, StudyError

LOCAL, AUTO = "local", "auto"
LOOPBACK = "127.0.0.1"
ANSWER = 5.0  # [s] for somebody to listen at an address
REPLY = 10.0  # [s] for a cluster to answer a client
STORE = 256 << 20  # bytes that a started cluster keeps of results: a few hundred chunks
# Ray takes the address of the network card for loopback, unless it is told that this system cannot have a cluster
ENVIRONMENT = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
CLIENT = "ray://"
RECONNECT = "RAY_CLIENT_RECONNECT_GRACE_PERIOD"  # [s] for which a client tries to connect again, while its calls block for longer still
AUTH_MODE, AUTH_TOKEN, AUTH_PATH = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"


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
    with _environment(_token_mode()):
        address = _latest() if address == AUTO else address
        host = _answering(address)
        if address.startswith(CLIENT) and importlib.util.find_spec("grpc") is None:
            raise InputError(f"{address} needs Ray's client, which is not installed here; install it with: pip install 'pushrod[cluster]'")
        settings = {RECONNECT: os.environ.get(RECONNECT, "0")} | (ENVIRONMENT if host in (LOOPBACK, "localhost") else {})
        with _environment(settings), _ended(ray := import_ray()):
            try:
                own = {} if address.startswith(CLIENT) else {"job_config": job_config(ray)}
                ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
            except Exception as e:
                raise StudyError(f"no Ray cluster can be used at {address}: {_first_line(e)}; run `ray status` on one of its nodes") from e
            yield ray


class _WorkerPath(list[str]):
    """The folders that Ray puts first on the import path of its workers, as far as this process imports from them."""

    def extend(self, folders: Iterable[str]) -> None:
        super().extend(folder for folder in folders if folder in sys.path)


def job_config(ray: Any) -> Any:
    """Return the settings of this program for its workers. Ray adds the current folder to their import path: a file in it, named like a module, would
    be executed."""
    config = ray.job_config.JobConfig()
    config._py_driver_sys_path = _WorkerPath()
    return config


def _token_mode() -> dict[str, str]:
    """Return the setting with which Ray offers a token, where there is one and nothing else was said."""
    there = os.environ.get(AUTH_TOKEN) or os.environ.get(AUTH_PATH) or (Path.home() / ".ray" / "auth_token").exists()
    return {AUTH_MODE: "token"} if there and AUTH_MODE not in os.environ else {}


@functools.cache
def _own_token() -> str:
    """Return the token of all clusters that this process starts: Ray reads it once."""
    return secrets.token_hex(32)


def watch(ray: Any) -> Callable[[], str]:
    """Return a function that gives the reason why the cluster is lost, or nothing while it is there.

    Ray itself waits for a lost head for a minute, and then ends this process; a client waits for ever.
    """
    if ray.util.client.ray.is_connected():
        return _watch_client(ray.util.client.ray)
    context = ray.get_runtime_context()
    own = context.get_node_id()
    head, _, port = context.gcs_address.rpartition(":")
    places = [("its head", head, int(port))]
    places += [("the node of this program", n["NodeManagerAddress"], n["NodeManagerPort"]) for n in ray.nodes() if n["NodeID"] == own]

    def lost() -> str:
        for what, host, number in places:
            try:
                socket.create_connection((host, number), ANSWER).close()
            except OSError as e:
                return f"{what} at {host}:{number} does not answer ({e.strerror or e})"
        return "" if any(node["NodeID"] == own and node["Alive"] for node in ray.nodes()) else "the node of this program has left it"

    return lost


def _watch_client(client: Any) -> Callable[[], str]:
    rpc_error: type[Exception] = importlib.import_module("grpc").RpcError
    messages: Any = importlib.import_module("ray.core.generated.ray_client_pb2")
    why = ""

    def lost() -> str:
        nonlocal why
        if not why:  # asked once: each answer that does not come takes its time
            try:
                if client.is_connected():
                    client.get_context().client_worker.get_cluster_info(messages.ClusterInfoType.CLUSTER_RESOURCES, timeout=REPLY)
                else:
                    why = "its head does not answer"
            except (rpc_error, ValueError):  # ValueError: the channel is closed
                why = f"its head has not answered for {REPLY:g} s, or closed the connection"
        return why

    return lost


def connection_errors(ray: Any) -> tuple[type[Exception], ...]:
    """Return what calls of Ray raise where the cluster is lost. Calls of a client let errors of gRPC through."""
    found = (ConnectionError, ray.exceptions.RayError)
    if importlib.util.find_spec("grpc") is None:
        return found
    rpc_error: type[Exception] = importlib.import_module("grpc").RpcError
    return (*found, rpc_error)


def _latest() -> str:
    """Return the address of RAY_ADDRESS, or of the cluster that was started last on this computer."""
    try:
        return str(import_ray()._private.services.get_ray_address_from_environment(AUTO, None))
    except ConnectionError as e:
        raise StudyError("no Ray cluster was found on this computer; start one with `ray start --head`, or use `local`") from e


def _answering(address: str) -> str:
    """The host of an address. Ray itself would wait for minutes where nobody listens."""
    host, _, port = address.removeprefix(CLIENT).rpartition(":")
    if not host or not port.isdigit():
        return ""  # Ray reports what is wrong with it
    try:
        socket.create_connection((host, int(port)), ANSWER).close()
    except OSError as e:
        raise StudyError(f"no Ray cluster answers at {address}: {e.strerror or e}; start one with `ray start --head`, or use `local`") from e
    return host


@contextlib.contextmanager
def _started(cores: int | None) -> Iterator[Any]:
    from pushrod.compiled.rollout import cores as cores_here

    with _own_folder() as folder, _environment({**ENVIRONMENT, AUTH_TOKEN: os.environ.get(AUTH_TOKEN) or _own_token()}):
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
                    job_config=job_config(ray),
                    _node_ip_address=LOOPBACK,
                    _temp_dir=folder,
                )
            except Exception as e:  # Ray raises a plain one where a node does not start in time
                raise StudyError(f"no Ray cluster can be started here: {_first_line(e)}") from e
            outside = [node["NodeManagerAddress"] for node in ray.nodes() if node["NodeManagerAddress"] != LOOPBACK]
            if outside:
                raise StudyError(f"Ray would listen at {outside[0]} and not on loopback alone; start a cluster by hand and give its address")
            yield ray


@contextlib.contextmanager
def _ended(ray: Any) -> Iterator[None]:
    """End the connection whatever happens.

    What Ray writes of lost workers and nodes goes to the standard output, where results may go: the executor reports them. A call after the
    connection is lost must fail, where Ray would look for another cluster or start one.
    """
    worker, hook = ray._private.worker, ray._private.auto_init_hook
    before = getattr(worker, "_worker_logs_enabled", True), hook.enable_auto_connect
    worker._worker_logs_enabled = hook.enable_auto_connect = False
    try:
        yield
    finally:
        if ray.util.client.ray.get_context().client_worker is None:
            ray.shutdown()
        else:  # Ray waits for the server without a limit, which may be lost
            ending = threading.Thread(target=ray.shutdown, daemon=True)
            ending.start()
            ending.join(ANSWER)
        worker._worker_logs_enabled, hook.enable_auto_connect = before


@contextlib.contextmanager
def _own_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="pushrod-")  # short: names of sockets in it may not be long
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """For Ray and the processes it starts; for a Ray that was imported before, too. Ray sets the mode of tokens itself: that is put back as well."""
    before = {name: os.environ.get(name) for name in (*settings, AUTH_MODE)}
    os.environ.update(settings)
    constants: Any = sys.modules.get("ray._private.ray_constants") if "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER" in settings else None
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
                os.environ.pop(name, None)
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
    """Return the first line, and the next one where the first only announces it."""
    first, _, rest = str(error).strip().partition("\n")
    return f"{first} {rest.strip().partition(chr(10))[0]}" if first.endswith(":") and rest else first
