"""Work off the network's own threads: one thread that does one thing after the other, from a queue that has an end.

A callback of the network must never wait, or nothing more comes in, not even an e-stop. What hangs in one lane does not hold up another.
"""

import logging
import queue
import threading
from collections.abc import Callable

log = logging.getLogger("pushrod.net")
ROOM = 4096  # jobs that may wait


class Lane:
    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def put(self, job: Callable[[], object]) -> bool:
        """False where too much waits already: the job will not be done."""
        if self._closed or self._jobs.qsize() >= ROOM:
            return False
        self._jobs.put(job)
        if self._thread is None:
            self._start()
        return True

    def close(self) -> None:
        self._closed = True
        self._jobs.put(None)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(1.0)

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name=f"pushrod {self._name}", daemon=True)
                thread.start()
                self._thread = thread

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            if self._closed:
                continue  # what still waits is not done any more
            try:
                job()
            except Exception:
                log.exception("%s: a job failed", self._name)
