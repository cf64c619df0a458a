"""A study on a cluster is the study: lost workers and nodes cost time, and nothing else."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fake_ray import FakeRay, Ref
from ray import exceptions

from pushrod.core.errors import DeviceError, PushrodError, StudyError
from pushrod.sweep import cluster, on_worker, parts
from pushrod.sweep.cluster import KINDS, _computed, on_ray
from pushrod.sweep.run import run
from small_study import STUDY, small, write

TROUBLE = Path(__file__).parent / "ray_trouble.py"


def computed(ray: Any, study: Any, chunks: Any, device: str = "cpu", said: list[str] | None = None) -> list[Any]:
    return list(_computed(ray, study, chunks, KINDS[device], [].append if said is None else said.append))


def test_each_chunk_comes_once_and_is_what_it_is_alone(tmp_path: Path) -> None:
    study = small(tmp_path).cut(16)
    ray = FakeRay()
    here, there = tmp_path / "here", tmp_path / "there"
    run(study, here)
    outcome = run(study, there, lambda study, chunks: _computed(ray, study, chunks, KINDS["cpu"], print))
    assert outcome.whole
    assert [file.read_bytes() for file in sorted(there.glob("part*"))] == [file.read_bytes() for file in sorted(here.glob("part*"))]
    assert sorted(ref.k for ref in ray.asked) == list(range(13))
    assert ray.most == 4  # two cores: one chunk in work, one that waits, for each


LOSSES = {
    "its worker is gone": exceptions.WorkerCrashedError(),
    "its node is gone": exceptions.NodeDiedError("node 7"),
    "its node ran out of memory": exceptions.OutOfMemoryError("full"),
    "its result went with the node that held it": exceptions.ObjectLostError("0" * 56, None, ""),
}


@pytest.mark.parametrize(("why", "error"), LOSSES.items())
def test_what_is_lost_is_computed_again_and_told(tmp_path: Path, why: str, error: Exception) -> None:
    study = small(tmp_path).cut(50)
    tries = Counter[int]()

    def lost(ref: Ref) -> Exception | None:
        tries[ref.k] += 1
        return error if ref.k in (1, 3) and tries[ref.k] < 3 else None

    said: list[str] = []
    found = computed(FakeRay(lost), study, range(4), said=said)
    assert sorted(chunk.k for chunk in found) == [0, 1, 2, 3]
    assert tries == {0: 1, 1: 3, 2: 1, 3: 3}
    assert sorted(said) == sorted([f"chunk {k} was lost, because {why}; it is computed again" for k in (1, 3) for _ in range(2)])


def test_a_chunk_that_takes_every_worker_with_it_is_given_up(tmp_path: Path) -> None:
    ray = FakeRay(lambda ref: exceptions.WorkerCrashedError() if ref.k == 2 else None)
    with pytest.raises(StudyError, match="chunk 2 of small was lost 5 times, the last time because its worker is gone; a smaller `chunk`"):
        computed(ray, small(tmp_path).cut(50), range(4))


def test_whoever_stops_listening_stops_the_tasks(tmp_path: Path) -> None:
    ray = FakeRay()
    chunks = _computed(ray, small(tmp_path).cut(10), range(20), KINDS["cpu"], print)
    next(chunks)
    chunks.close()
    assert len(ray.cancelled) == 3


def test_a_gpu_takes_what_it_is_given_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No GPU here: which task would go where, and as what it would be kept."""
    ray = FakeRay(resources={"CPU": 1.0, "GPU": 2.0})
    monkeypatch.setattr(cluster, "compute", lambda files, digest, chunk, k, device: on_worker.Failed(f"asked for {device}"))
    for device, first in (("cpu", ("cpu", 1, 0)), ("cuda", ("cuda", 0, 1)), ("any", ("cuda", 0, 1))):
        ray.asked.clear()
        with pytest.raises(StudyError, match="asked for"):
            computed(ray, small(tmp_path).cut(10), range(20), device)
        kinds = Counter((ref.args[4], ref.task.resources["num_cpus"], ref.task.resources["num_gpus"]) for ref in ray.asked)
        assert (ray.asked[0].args[4], *list(ray.asked[0].task.resources.values())[1:]) == first
        assert kinds == {"cpu": {("cpu", 1, 0): 2}, "cuda": {("cuda", 0, 1): 4}, "any": {("cuda", 0, 1): 4, ("cpu", 1, 0): 2}}[device]


def test_a_cluster_without_what_is_asked_for_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = small(tmp_path).cut(50)
    with pytest.raises(DeviceError, match="no node of the cluster has a GPU to compute on; it has CPU 2"):
        computed(FakeRay(), study, range(4), "cuda")
    with pytest.raises(PushrodError, match="no device of a cluster named 'gpu'"), on_ray(device="gpu"):
        pass
    monkeypatch.setattr(cluster, "LOOK", 0.0)
    monkeypatch.setattr(cluster, "PATIENCE", 0.01)
    ray = FakeRay()
    chunks = _computed(ray, study.cut(10), range(20), KINDS["cpu"], print)
    next(chunks)
    ray.resources = {}
    with pytest.raises(StudyError, match="nothing to compute on for 0.01 s; the parts that are done are kept"):
        list(chunks)


def test_errors_of_a_worker_are_told_in_words(tmp_path: Path) -> None:
    study = small(tmp_path)
    found = on_worker.compute(on_worker.packed(study.files), "0" * 64, 50, 0, "cpu")
    assert isinstance(found, on_worker.Failed)
    assert "makes another study of these files; install the same version on all nodes" in found.why
    found = on_worker.compute(on_worker.packed(study.files), study.digest, 50, 99, "cpu")
    assert isinstance(found, on_worker.Failed)
    assert found.why.startswith("chunk 99; the study small has the chunks 0 to 3")
    error = exceptions.RayTaskError("compute", "long\ntraceback", ModuleNotFoundError("No module named 'pushrod'"))
    with pytest.raises(StudyError, match="chunk . of small failed on the cluster: ModuleNotFoundError: No module named 'pushrod'"):
        computed(FakeRay(lambda ref: error), study, range(4))
    with pytest.raises(StudyError, match="the cluster is lost"):
        computed(FakeRay(lambda ref: exceptions.RaySystemError("the head is gone")), study, range(4))


@pytest.mark.parametrize("call", ["wait", "cluster_resources", "get"])
def test_a_cluster_that_is_lost_ends_the_study_in_one_sentence(tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever call is the first to fail: the driver's own node is gone, or the head."""
    monkeypatch.setattr(cluster, "LOOK", 0.0)
    ray = FakeRay()
    chunks = _computed(ray, small(tmp_path).cut(10), range(20), KINDS["cpu"], print)
    next(chunks)

    def failing(*args: Any, **kwargs: Any) -> Any:
        raise exceptions.LocalRayletDiedError

    monkeypatch.setattr(ray, call, failing)
    with pytest.raises(StudyError, match="the cluster is lost: .*; completed parts are kept, and the same command resumes the study$"):
        list(chunks)


def test_a_lost_cluster_is_detected_before_ray_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray would wait for its head for a minute, and to cancel tasks as well."""
    monkeypatch.setattr(cluster, "LOOK", 0.0)
    ray, why = FakeRay(), [""]
    chunks = _computed(ray, small(tmp_path).cut(10), range(20), KINDS["cpu"], print, lambda: why[0])
    next(chunks)
    why[0] = "its head at 10.0.0.5:6379 does not answer (Connection refused)"
    with pytest.raises(StudyError, match=r"the cluster is lost: its head at 10.0.0.5:6379 does not answer \(Connection refused\); completed parts"):
        list(chunks)
    assert not ray.cancelled


def test_a_client_address_without_the_client_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with (
            pytest.raises(PushrodError, match=r"ray://127.0.0.1:\d+ needs Ray's client, .* pip install 'pushrod\[cluster\]'"),
            on_ray(f"ray://127.0.0.1:{server.getsockname()[1]}"),
        ):
            pass


@pytest.mark.parametrize("address", ["auto", "127.0.0.1:{port}", "ray://127.0.0.1:{port}"])
def test_an_address_where_no_cluster_listens_is_an_error_at_once(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where Ray finds the address: it would try to connect for minutes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{port}")
    started = time.monotonic()
    says = rf"no Ray cluster answers at (ray://)?127.0.0.1:{port}: Connection refused"
    with pytest.raises(StudyError, match=says), on_ray(address.format(port=port)):
        pass
    assert time.monotonic() - started < 10.0


@pytest.mark.parametrize(
    ("address", "says"), [("local", "no Ray cluster can be started here: the node timed out"), ("{}", "no Ray cluster can be used at")]
)
def test_whatever_ray_raises_at_its_start_is_one_sentence(address: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray raises a plain Exception where a node does not start in time."""
    import ray

    def failing(**options: Any) -> Any:
        raise Exception("the node timed out\nand more")

    monkeypatch.setattr(ray, "init", failing)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(StudyError, match=says),
        on_ray(address.format(f"127.0.0.1:{server.getsockname()[1]}")),
    ):
        pass


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PushrodError, match=r"pip install 'pushrod\[cluster\]'"), on_ray("127.0.0.1:6379"):
        pass


def program(words: list[str], **environment: str) -> "subprocess.CompletedProcess[str]":
    """A program in a session of its own that is ended whatever happens. Ray makes sockets in its folder, so that has a short name."""
    with tempfile.TemporaryDirectory(prefix="pr", ignore_cleanup_errors=True) as rays:
        process = subprocess.Popen(
            [sys.executable, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "RAY_TMPDIR": rays, **environment},
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=280)
        finally:
            end(process.pid)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def trouble(folder: Path, text: str, chunk: int, kills: int) -> dict[str, Any]:
    study = write(folder, text)
    process = program([str(TROUBLE), str(study), str(folder / "there"), str(chunk), str(kills)])
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert len(lines) == 1, process.stdout  # Ray itself writes nothing where results go
    found: dict[str, Any] = json.loads(lines[0])
    return found


def test_a_started_cluster_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    """No token above all: Ray would ask for it from then on, and other clusters of this user could not be used."""
    study, home = write(tmp_path), tmp_path / "home"
    home.mkdir()
    code = "import os; from pushrod.cli.main import main\ntry: main()\nfinally: print(sorted(k for k in os.environ if k.startswith('RAY_AUTH')))"
    process = program(["-c", code, "sweep", str(study), "--out", str(tmp_path / "out"), "--cluster", "local", "--threads", "1"], HOME=str(home))
    assert process.returncode == 0, process.stderr
    assert "200 of 200 runs" in process.stdout
    assert process.stdout.splitlines()[-1] == "[]"
    assert not (home / ".ray").exists()


@pytest.mark.soak
@pytest.mark.parametrize(
    ("part", "why"),
    [
        (["gcs_server"], r"its head at 127.0.0.1:\d+ does not answer"),
        (["raylet"], "the node of this program"),
        (["gcs_server", "client"], "its head"),
        (["raylet", "client"], "its head|The task's local raylet died"),
    ],
    ids=["head", "node", "head of a client", "node of a client"],
)
def test_a_cluster_that_dies_ends_the_study_in_one_sentence(tmp_path: Path, part: list[str], why: str) -> None:
    study = write(tmp_path, STUDY.replace("runs: 200", "runs: 4000000"))
    process = program([str(TROUBLE), str(study), str(tmp_path / "there"), "20000", *part])
    assert process.stdout, (process.returncode, process.stderr)
    told = json.loads(process.stdout.splitlines()[-1])
    assert re.search(f"the cluster is lost: ({why}).*; completed parts are kept", told["error"]), (told, process.stderr)
    assert told["seconds"] < (40.0 if "client" in part else 20.0)
    assert "Traceback" not in process.stderr


def end(session: int) -> None:
    """All processes of a session."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getsid(int(entry.name)) == session:
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue


def changes_no_bit(folder: Path, runs: int, chunk: int, kills: int) -> None:
    text = STUDY.replace("runs: 200", f"runs: {runs}")
    run(small(folder, text).cut(chunk), folder / "here")
    found = trouble(folder, text, chunk, kills)
    assert found["runs"] == found["computed"] == runs
    assert found["chunks"] == runs // chunk
    assert sum("its worker is gone" in line for line in found["said"]) >= kills
    assert any("its node is gone" in line or "went with the node" in line for line in found["said"])
    assert not found["still"]
    assert sorted(parts.read(folder / "there")["index"]) == list(range(runs))
    mine, others = (sorted((folder / where).glob("part*")) for where in ("here", "there"))
    assert [file.read_bytes() for file in mine] == [file.read_bytes() for file in others]


def test_a_killed_worker_and_a_removed_node_change_no_bit(tmp_path: Path) -> None:
    changes_no_bit(tmp_path, 120_000, 10_000, 1)


@pytest.mark.soak
def test_workers_that_die_all_the_time_and_nodes_that_come_and_go_change_no_bit(tmp_path: Path) -> None:
    changes_no_bit(tmp_path, 2_400_000, 40_000, 12)


def test_workers_import_from_the_folders_of_this_process_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray adds the current folder and that of the program."""
    import ray

    from pushrod.sweep.ray_session import job_config

    monkeypatch.setattr(sys, "path", ["/program", *sys.path])
    config = job_config(ray)
    config._py_driver_sys_path.extend(["/program", str(tmp_path)])
    assert list(config._get_proto_job_config().py_driver_sys_path) == ["/program"]
