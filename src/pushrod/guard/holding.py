"""The disarm functions a guard holds: imported when they are registered, each with a thread that waits for its moment."""

import importlib
import importlib.util
import sys
import threading
import time
from typing import Any

from pushrod.core.plain_function import discard

OK, FAILED, TIMED_OUT, ELSEWHERE = "ok", "failed", "timed out", "in the process"
GONE = "what it drives is simulated in the process itself: there is nothing to make safe outside"
MAIN = "__mp_main__"  # a script that was started by its file goes by this name in other processes


def find(module: str, function: str, file: str) -> Any:
    """The function, by the name of its module; where that is not found, by its file."""
    if module == MAIN:
        return getattr(_load(module, file), function)
    try:
        found = importlib.import_module(module)
    except ImportError:
        import site  # the guard starts without it; packages installed in place may need what it brings in

        before = list(sys.path)
        site.main()
        sys.path[:] = before + [entry for entry in sys.path if entry not in before]
        try:
            found = importlib.import_module(module)
        except ImportError:
            if not file:
                raise
            found = _load(module, file)
    return getattr(found, function)


def _load(name: str, file: str) -> Any:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


class Held:
    """One disarm function, with the options it is to be called with."""

    def __init__(self, path: str, name: str, function: Any, go: threading.Event) -> None:
        self.name = name  # its import path
        self.function = function
        self.options: dict[str, Any] = {}
        self.dropped = False
        self.began = 0.0  # [s, monotonic] when it was called
        self.result, self.detail, self.seconds = TIMED_OUT, "", 0.0
        self._go = go
        self.thread = threading.Thread(target=self._run, name=path, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        self._go.wait()
        if self.dropped:
            return
        self.began = time.monotonic()
        try:
            unrun = discard(self.function(self.options))
            result, detail = (FAILED, f"returned {unrun}, so that nothing ran: disarm must be a plain function") if unrun else (OK, "")
        except BaseException as error:
            result, detail = FAILED, f"{type(error).__name__}: {error}"
        self.seconds = time.monotonic() - self.began
        self.detail, self.result = detail, result

    def told(self, now: float) -> dict[str, Any]:
        """What became of it so far; one that has not come back has had so long."""
        given = now - self.began if self.began else 0.0
        seconds = given if self.result == TIMED_OUT else self.seconds
        return {"disarm": self.name, "result": self.result, "detail": self.detail, "seconds": round(seconds, 6)}


class Holding:
    """All of them, by the path of their actuator."""

    def __init__(self) -> None:
        self._held: dict[str, Held] = {}
        self._elsewhere: list[str] = []
        self._go = threading.Event()
        self.problems: dict[str, str] = {}

    def hold(self, path: str, module: str, function: str, file: str, options: dict[str, Any]) -> None:
        """Known ones only get their new options. No module: there is nothing to hold."""
        if not module:
            self._elsewhere.append(path)
            return
        name = f"{module}:{function}"
        held = self._held.get(path)
        if held is None or held.name != name:
            self.drop(path)
            try:
                found = find(module, function, file)
            except BaseException as error:  # SystemExit too: a module does not end the guard
                self.problems[path] = f"the guard cannot import its disarm function {name!r}: {type(error).__name__}: {error}"
                return
            held = self._held[path] = Held(path, name, found, self._go)
        held.options = options

    def drop(self, path: str) -> None:
        self.problems.pop(path, None)
        held = self._held.pop(path, None)
        if held is not None:
            held.dropped = True

    def go(self) -> None:
        """Call all of them, now."""
        self._go.set()

    def wait(self, until: float) -> bool:
        """True where all are done by then [s, monotonic]."""
        for held in self._held.values():
            held.thread.join(max(0.0, until - time.monotonic()))
        return not any(held.thread.is_alive() for held in self._held.values())

    def results(self) -> dict[str, dict[str, Any]]:
        """What became of each so far."""
        found = {path: {"disarm": "", "result": ELSEWHERE, "detail": GONE, "seconds": 0.0} for path in self._elsewhere}
        now = time.monotonic()
        return found | {path: held.told(now) for path, held in self._held.items()}
