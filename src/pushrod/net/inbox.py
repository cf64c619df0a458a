"""What came in over the network for a runtime on a stepped clock: it waits for a tick, and is done by the thread that moves the clock."""

import queue
from collections.abc import Callable

Job = Callable[[], None]


class Inbox:
    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()

    def put(self, job: Job) -> bool:
        self._jobs.put(job)
        return True

    def serve(self, until: Callable[[], bool], patience: float) -> bool:
        """Do what comes until told otherwise (whoever ends it puts a job, if only to wake this); False where nothing came for so long [s]."""
        while not until():
            try:
                job = self._jobs.get(timeout=patience)
            except queue.Empty:
                return False
            job()
        return True
