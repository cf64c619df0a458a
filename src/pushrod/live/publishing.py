"""What simulated drivers have in common that publish what they do `feedback_hz` times a second, and make themselves safe when they end."""

import threading
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from pushrod.core.errors import InputError
from pushrod.runtime.driver import Context
from pushrod.runtime.simulated.pulse import Pulse


class Publishing(ABC):
    """Its options have `feedback_hz`, 0 for none."""

    in_process: ClassVar[bool] = True

    def begin(self, context: Context, options: Any) -> None:
        """To be called by `init`, before anything else can be asked of it."""
        self._lock = threading.RLock()
        self._pulse: Pulse | None = None
        self.handle_options(context, options)

    @abstractmethod
    def make_safe(self) -> None: ...

    @abstractmethod
    def _publish(self, _: int) -> None: ...

    def handle_options(self, context: Context, options: Any) -> None:
        if not 0.0 <= options.feedback_hz <= 1e4:
            raise InputError(f"feedback_hz = {options.feedback_hz!r} Hz: allowed are 0 (none) to 10000")
        with self._lock:
            self.context = context
            self.settings = options
            self._silence()
            if options.feedback_hz > 0.0:
                self._pulse = Pulse(options.feedback_hz, context.now, context.call_later, self._publish)
                self._pulse.start(1)

    def terminate(self, reason: str) -> None:
        self.make_safe()
        with self._lock:
            self._silence()

    def _silence(self) -> None:
        if self._pulse is not None:
            self._pulse.stop()
        self._pulse = None
