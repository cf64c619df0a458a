"""Functions that run when they are called. An async function or one with a `yield` only returns an object, and its body does not run."""

import inspect
from typing import Any


def is_deferred(function: Any) -> bool:
    """Return whether a call would only return a coroutine or a generator; also for an object, by its `__call__`."""
    call = function if inspect.isroutine(function) or isinstance(function, type) else getattr(function, "__call__", function)  # noqa: B004
    tests = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
    return any(test(one) for test in tests for one in (function, call))


def discard(result: Any) -> str:
    """Close what a function returned without having run, and return its kind; "" for every other result."""
    if result is None:
        return ""
    if inspect.iscoroutine(result) or inspect.isgenerator(result):
        result.close()
        return "a coroutine" if inspect.iscoroutine(result) else "a generator"
    return "an async generator" if inspect.isasyncgen(result) else "an awaitable" if inspect.isawaitable(result) else ""
