"""What must end soon, ends: by the processor's time, so that a busy machine is not taken for a hang."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class TooLongError(BaseException):
    """Not an Exception: nobody is to catch it on the way."""


@contextmanager
def soon(limit: float) -> Iterator[None]:
    """TooLongError where what is inside takes more than this [s of the processor]."""

    def ring(_: int, __: object) -> None:
        raise TooLongError(f"not done after {limit:g} s of the processor's time")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
