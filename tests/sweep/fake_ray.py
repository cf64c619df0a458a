"""As much of Ray as an executor sees, in one thread: tasks run when they are waited for, and a script says which of them are lost, and how."""

from collections.abc import Callable
from typing import Any

import ray.exceptions


class Remote:
    def __init__(self, of: "FakeRay", function: Callable[..., Any], resources: dict[str, Any]) -> None:
        self.of, self.function, self.resources = of, function, resources

    def remote(self, *args: Any) -> "Ref":
        ref = Ref(self, args)
        self.of.asked.append(ref)
        return ref


class Ref:
    def __init__(self, task: Remote, args: tuple[Any, ...]) -> None:
        self.task, self.args = task, args

    @property
    def k(self) -> int:
        return int(self.args[3])


class FakeRay:
    """`lost(ref)` gives the exception a task ends with, or None."""

    exceptions = ray.exceptions

    def __init__(self, lost: Callable[[Ref], Exception | None] = lambda ref: None, resources: dict[str, float] | None = None) -> None:
        self.lost = lost
        self.resources = {"CPU": 2.0} if resources is None else resources
        self.asked: list[Ref] = []
        self.cancelled: list[Ref] = []
        self.most = 0

    def remote(self, **resources: Any) -> Callable[[Callable[..., Any]], Remote]:
        return lambda function: Remote(self, function, resources)

    def put(self, value: Any) -> Any:
        return value

    def cluster_resources(self) -> dict[str, float]:
        return self.resources

    def wait(self, refs: list[Ref], num_returns: int, timeout: float) -> tuple[list[Ref], list[Ref]]:
        self.most = max(self.most, len(refs))
        return refs[-1:], refs[:-1]  # the newest first: nobody promised an order

    def get(self, ref: Ref) -> Any:
        error = self.lost(ref)
        if error is not None:
            raise error
        return ref.task.function(*ref.args)

    def cancel(self, ref: Ref, force: bool) -> None:
        self.cancelled.append(ref)
