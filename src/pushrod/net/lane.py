"""Work off the network's own threads: one thread that runs one job after another, from bounded queues.

A callback of the network must never wait, or nothing more comes in, not even an e-stop. A job that hangs in one lane does not hold up another lane.
Owners take turns, so that one that queues many jobs delays those of another by one job at most.
"""

import logging
import queue
import threading
from collections import OrderedDict, deque
from collections.abc import Callable

log = logging.getLogger("pushrod.net")
ROOM = 16384  # jobs that may wait in one lane
SHARE = 2048  # of one owner
URGENT = 64  # of one owner, ahead of all others
HELD = 64 * 2**20  # bytes of requests that the waiting jobs of one owner keep
Job = Callable[[], object]


class Lane:
    """`start` starts the thread at once, for jobs that must run when no thread can be started any more; else the first job does."""

    def __init__(self, name: str, *, start: bool = False, share: int = SHARE) -> None:
        self._name = name
        self._share = share
        self._wake: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, deque[tuple[Job, int]]] = OrderedDict()  # by owner, the next to be served first; with their bytes
        self._held: dict[str, int] = {}  # bytes, by owner
        self._urgent: deque[tuple[str, Job]] = deque()
        self._count = 0
        self._thread: threading.Thread | None = None
        self._closed = False
        if start:
            self._start()

    def put(self, job: Job, owner: str = "", urgent: bool = False, size: int = 0) -> bool:
        """Queue a job that keeps a request of `size` bytes; False where it will not run: too many jobs or bytes wait, the lane is closed, or no
        thread can be started."""
        if self._closed or (self._thread is None and not self._is_started()):
            return False
        with self._lock:
            if urgent:
                if sum(waiting == owner for waiting, _ in self._urgent) >= URGENT:
                    return False
                self._urgent.append((owner, job))
            elif self._count >= ROOM or len(self._waiting.get(owner, ())) >= self._share or self._held.get(owner, 0) + size > HELD:
                return False
            else:
                self._waiting.setdefault(owner, deque()).append((job, size))
                self._held[owner] = self._held.get(owner, 0) + size
                self._count += 1
        self._wake.put(True)
        return True

    def close(self) -> None:
        self._closed = True
        self._wake.put(False)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(1.0)

    def _is_started(self) -> bool:
        try:
            self._start()
        except RuntimeError as error:  # no memory or process slot for a thread
            log.warning("%s: %s; the request is refused", self._name, error)
        return self._thread is not None

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name=f"pushrod {self._name}", daemon=True)
                thread.start()
                self._thread = thread

    def _next(self) -> Job:
        with self._lock:
            if self._urgent:
                return self._urgent.popleft()[1]
            owner, jobs = next(iter(self._waiting.items()))
            job, size = jobs.popleft()
            self._count -= 1
            self._held[owner] -= size
            if jobs:
                self._waiting.move_to_end(owner)
            else:
                del self._waiting[owner], self._held[owner]
            return job

    def _run(self) -> None:
        while self._wake.get() and not self._closed:
            try:
                self._next()()
            except BaseException:  # SystemExit too: a job does not end the lane
                log.exception("%s: a job failed", self._name)
