"""What came in over the network for a runtime on a stepped clock: it waits for a tick, and is done by the thread that moves the clock."""

import queue
import threading
from collections.abc import Callable

from pushrod.net.lane import HELD

Job = Callable[[], None]
ROOM = 16384  # jobs that may wait for a tick


class Inbox:
    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Job, int]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._held = 0  # bytes of requests that waiting jobs keep

    def put(self, job: Job, owner: str = "", urgent: bool = False, size: int = 0) -> bool:
        """Queue a job that keeps a request of `size` bytes, in the order of arrival across all owners; False where too many jobs or bytes wait."""
        with self._lock:
            if self._jobs.qsize() >= ROOM or self._held + size > HELD:
                return False
            self._held += size
            self._jobs.put((job, size))
        return True

    def serve(self, until: Callable[[], bool], patience: float) -> bool:
        """Do what comes until told otherwise (whoever ends it puts a job, if only to wake this); False where nothing came for so long [s]."""
        while not until():
            try:
                job, size = self._jobs.get(timeout=patience)
            except queue.Empty:
                return False
            with self._lock:
                self._held -= size
            job()
        return True
