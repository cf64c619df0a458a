"""A stop accepts any reason and any time limit: neither may delay it, raise, or run foreign code."""

import math
import threading
import time
from typing import Any

import numpy as np
import pytest
from stop_bench import Bench

from pushrod.runtime.stop import LIMIT, Latch, Stop, encodable, error_text, reason_text, time_limit_of
from pushrod.safety.state import Event, State


class Text(str):
    def __str__(self) -> str:
        raise AssertionError("foreign code")

    def __getitem__(self, key: Any) -> str:
        raise AssertionError("foreign code")


class Hanging:
    def __str__(self) -> str:
        raise AssertionError("foreign code")

    __repr__ = __str__


class OwnTextError(Exception):
    def __str__(self) -> str:
        raise AssertionError("foreign code")


class OwnFormatError(Exception):
    def __format__(self, spec: str) -> str:
        raise AssertionError("foreign code")


class OwnArgsError(Exception):
    @property
    def args(self) -> Any:  # type: ignore[override]
        raise AssertionError("foreign code")


class Meta(type):
    @property
    def __name__(cls) -> str:
        raise AssertionError("foreign code")


class Misnamed(metaclass=Meta):
    pass


class Proxy:
    """Stands for an object that is not there, as the context objects of web frameworks do."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("foreign code")


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("button", "button"),
        ("", "no reason given"),
        (None, "no reason given"),
        (Text("button"), "button"),
        (7, "7"),
        (0.5, "0.5"),
        (True, "True"),
        (b"x", "b'x'"),
        (10**18 - 1, "999999999999999999"),
        (1 - 10**18, "-999999999999999999"),
        (10**18, "a number beyond 1e18"),
        (-(10**18), "a number beyond 1e18"),
        (10**400, "a number beyond 1e18"),
        ("é", "é"),
        ("\ud800", "\\ud800"),
        (Text("\ud800"), "\\ud800"),
        (OSError("\ud800"), "OSError: \\ud800"),
        (Misnamed(), "Misnamed"),
        (OSError("no link"), "OSError: no link"),
        (OSError(5, "no link"), "OSError: 5, no link"),
        (KeyError(), "KeyError"),
        (ValueError(Hanging()), "ValueError"),
        (ValueError("x", Hanging(), 2), "ValueError: x, 2"),
        (OwnTextError("x"), "OwnTextError: x"),
        (OwnTextError(), "OwnTextError"),
        (OwnFormatError("x"), "OwnFormatError: x"),
        (OwnArgsError("x"), "OwnArgsError: x"),
        (OSError(2, "no file", "/dev/x"), "FileNotFoundError: 2, no file"),
        (OSError(2, "no file", Hanging()), "FileNotFoundError: 2, no file"),
        (OSError(2, "no file", "/dev/x", None, Hanging()), "FileNotFoundError: 2, no file"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Hanging(), "Hanging"),
        (Hanging, "type"),
    ],
)
def test_a_reason_becomes_text_without_foreign_code(reason: Any, text: str) -> None:
    got = reason_text(reason)
    assert got == text
    assert type(got) is str


def test_a_reason_that_is_not_what_it_seems_stops_the_robot(bench: Bench) -> None:
    bench.arming.arm()
    assert bench.arming.estop(Proxy()) == (True, State.ESTOPPED, {}, "Proxy")
    assert bench.epochs == [0, 0]


def test_an_error_has_the_text_of_its_first_arguments() -> None:
    assert reason_text(OSError(*map(str, range(10**5)))) == "OSError: 0, 1, 2, 3, 4, 5, 6, 7"


class Foreign(type):
    """A comparison of such a type is foreign code."""

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("compared")

    def __hash__(cls) -> int:
        raise RuntimeError("hashed")


class Compared(metaclass=Foreign):
    pass


@pytest.mark.parametrize("reason", ["x" * 1000, Text("x" * 1000), b"x" * 1000, ValueError("x" * 1000)])
def test_a_long_reason_is_cut(reason: Any) -> None:
    assert len(reason_text(reason)) == 500


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        (0, 0.0),
        (0.0, 0.0),
        (0.5, 0.5),
        (1, 1.0),
        (12.5, 12.5),
        (threading.TIMEOUT_MAX / 2, threading.TIMEOUT_MAX / 2),
        (threading.TIMEOUT_MAX, 5.0),
        (-0.001, 5.0),
        (-1, 5.0),
        (math.nan, 5.0),
        (math.inf, 5.0),
        (-math.inf, 5.0),
        (True, 5.0),
        (None, 5.0),
        ("1", 5.0),
        (Hanging(), 5.0),
        (Compared(), 5.0),
        (10**400, 5.0),
        *((kind(2), 2.0) for kind in (np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8)),
        (np.bool_(True), 5.0),
    ],
)
def test_a_time_limit_is_a_number_of_seconds_or_the_usual_limit(given: Any, limit: float) -> None:
    got = time_limit_of(given)
    assert got == limit
    assert type(got) is float


def test_a_new_stop_has_everything_before_it() -> None:
    stop = Stop(Event.DISARM, "button", ("a", "b"))
    assert (stop.event, stop.why, stop.names, stop.limit) == (Event.DISARM, "button", ("a", "b"), LIMIT)
    assert (stop.fault, stop.then, stop.begun, stop.woken) == (False, None, False, False)
    assert (list(stop.left), stop.answers, stop.served, stop.failures) == (["a", "b"], {}, set(), {})
    assert (stop.ends, stop.number, stop.caller, stop.awaiting, stop.posted) == (math.inf, 0, threading.get_ident(), set(), False)
    assert not stop.called.is_set
    assert not stop.done.is_set
    assert not stop.reported.is_set
    assert not hasattr(stop, "__dict__")  # no name can be misspelled


def test_options_of_a_stop() -> None:
    stop = Stop(None, "a failed", ("a",), 2.0, True, then=list)
    assert (stop.limit, stop.fault, stop.then) == (2.0, True, list)


class RaisingTextError(Exception):
    def __str__(self) -> str:
        raise OSError("foreign code")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(5, "no link"), "OSError: [Errno 5] no link"),
        (KeyError("a"), "KeyError: 'a'"),
        (ValueError("\ud800"), "ValueError: \\ud800"),
        (RaisingTextError("x"), "RaisingTextError: x"),
        (ValueError("x" * 1000), f"ValueError: {'x' * 488}"),
    ],
)
def test_an_error_of_what_is_safe_already_gives_its_own_text(error: BaseException, text: str) -> None:
    assert error_text(error) == text


@pytest.mark.parametrize(("text", "encoded"), [("", ""), ("abc", "abc"), ("é", "é"), ("a\udcffb", "a\\udcffb")])
def test_text_can_be_encoded(text: str, encoded: str) -> None:
    assert encodable(text) == encoded
    assert encodable(text).encode().decode() == encoded


def test_a_latch_is_set_once_and_for_all() -> None:
    latch = Latch()
    assert (latch.is_set, latch.wait(0.0)) == (False, False)
    latch.set()
    latch.set()
    assert latch.is_set is True
    assert [latch.wait(0.0) for _ in range(3)] == [True] * 3  # every waiter passes
    assert not hasattr(latch, "__dict__")


def test_a_latch_wakes_all_that_wait_and_gives_up_in_time() -> None:
    latch, answers = Latch(), []
    begun = time.monotonic()
    assert not latch.wait(0.01)
    assert 0.009 <= time.monotonic() - begun < 1.0
    waiters = [threading.Thread(target=lambda: answers.append(latch.wait(5.0)), daemon=True) for _ in range(3)]
    for waiter in waiters:
        waiter.start()
    latch.set()
    for waiter in waiters:
        waiter.join(5.0)
    assert answers == [True] * 3
