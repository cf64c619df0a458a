"""A program: a study on a Ray cluster of three nodes, of which workers are killed and a node is removed in the middle of it. Run by the tests.

python ray_trouble.py STUDY.yaml FOLDER CHUNK KILLS
python ray_trouble.py STUDY.yaml FOLDER CHUNK gcs_server|raylet [client]     that process of the head is killed: prints the error and how long it took
"""

import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pushrod.core.errors import PushrodError
from pushrod.sweep.cluster import on_ray
from pushrod.sweep.ray_session import ENVIRONMENT, LOOPBACK
from pushrod.sweep.run import run
from pushrod.sweep.study import load

os.environ.update(ENVIRONMENT)  # before Ray is imported: it shall stay on loopback


def workers(node: Any) -> list[int]:
    """The processes of a node that are computing a chunk just now."""
    raylets = {info.process.pid for info in node.all_processes["raylet"]}
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent in raylets and (entry / "cmdline").read_text().startswith("ray::compute"):
                found.append(int(entry.name))
        except (OSError, ValueError, IndexError):
            continue
    return found


class Trouble(threading.Thread):
    """As soon as a chunk more is done: another worker is killed in the middle of one. Then a node goes, and of many kills one comes."""

    def __init__(self, cluster: Any, nodes: list[Any], kills: int, options: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self.cluster, self.nodes, self.kills, self.options = cluster, nodes, kills, options
        self.done = 0
        self.over = False

    def run(self) -> None:
        for i in range(self.kills):
            pids = self.busy(self.nodes[i % len(self.nodes)], i)
            if pids:
                os.kill(pids[0], signal.SIGKILL)
        if self.busy(self.nodes[-1], self.kills):
            self.cluster.remove_node(self.nodes.pop(), allow_graceful=False)
        if self.kills > 1 and not self.over:
            self.nodes.append(self.cluster.add_node(**self.options))

    def busy(self, node: Any, done: int) -> list[int]:
        """Its workers that are at a chunk, once so many are done."""
        while not self.over:
            pids = workers(node)
            if self.done > done and pids:
                return pids
            time.sleep(0.005)
        return []


def main(file: str, folder: str, chunk: int, kills: int) -> None:
    from ray.cluster_utils import Cluster

    study = load(file).cut(chunk)
    said: list[str] = []
    options = {"num_cpus": 1, "node_ip_address": LOOPBACK, "include_dashboard": False, "object_store_memory": 80 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=options)
    try:
        trouble = Trouble(cluster, [cluster.add_node(**options) for _ in range(2)], kills, options)
        with on_ray(cluster.address, told=said.append) as executor:

            def watched(study: Any, chunks: Any) -> Any:
                for chunk in executor(study, chunks):
                    trouble.done += 1
                    yield chunk

            trouble.start()
            outcome = run(study, Path(folder), watched)
            trouble.over = True
            trouble.join()
        import ray

        print(json.dumps({"runs": outcome.runs, "computed": outcome.computed, "chunks": trouble.done, "said": said, "still": ray.is_initialized()}))
    finally:
        cluster.shutdown()


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex((LOOPBACK, port)) == 0


def lose(file: str, folder: str, chunk: int, part: str, *client: str) -> None:
    from ray.cluster_utils import Cluster

    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
    options = {"num_cpus": 1, "node_ip_address": LOOPBACK, "include_dashboard": False, "object_store_memory": 80 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=options | ({"ray_client_server_port": port} if client else {}))
    killed = 0.0
    while client and not listens(port):
        time.sleep(0.1)
    try:
        with on_ray(f"ray://{LOOPBACK}:{port}" if client else cluster.address) as executor:

            def watched(study: Any, chunks: Any) -> Any:
                nonlocal killed
                for chunk in executor(study, chunks):
                    if not killed:
                        killed = time.monotonic()
                        os.kill(cluster.head_node.all_processes[part][0].process.pid, signal.SIGKILL)
                    yield chunk

            run(load(file).cut(chunk), Path(folder), watched)
    except PushrodError as e:
        print(json.dumps({"error": str(e), "seconds": time.monotonic() - killed}), flush=True)


if __name__ == "__main__":
    if sys.argv[4].isdigit():
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        lose(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
