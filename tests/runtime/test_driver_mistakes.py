"""Mistakes in a driver class are told before anything runs: which actuator, which class, what to write; all of them at once."""

import enum
from dataclasses import replace
from typing import Any, Literal

import msgspec
import pytest
from rig import Servo, robot, run

from pushrod.core.errors import InputError
from pushrod.robot import Actuator, Joint, Limits, Robot, Sensor
from pushrod.runtime import DriverError, Runtime

WHO = "base/shoulder/motor: Bad is no driver: "


async def park(options: dict[str, Any]) -> None:
    """As somebody used to asyncio would write it."""


def bad(**attributes: Any) -> Any:
    return type("Bad", (Servo,), attributes)


async def waits(self: Any, *arguments: Any) -> None:
    return None


def yields(self: Any, *arguments: Any) -> Any:
    yield


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"disarm": None}, "disarm must be the import path of a plain function, 'package.module:function', got None"),
        ({"disarm": lambda options: None}, "disarm is a function; it must be named by its import path"),
        ({"disarm": "rig"}, "disarm = 'rig': write the import path of a plain function"),
        ({"disarm": "rig:torque_of"}, "disarm = 'rig:torque_of' cannot be imported"),
        ({"disarm": "no_such_module:f"}, "disarm = 'no_such_module:f' cannot be imported"),
        ({"disarm": f"{__name__}:park"}, "is async or has a yield in it; write a plain function"),
        ({"tick_hz": "fast"}, "tick_hz must be a number of calls a second.* got 'fast'"),
        ({"tick_hz": -1.0}, "tick_hz must be a number"),
        ({"tick_hz": float("nan")}, "tick_hz must be a number"),
        ({"handle_command": waits}, "handle_command is async or has a yield in it"),
        ({"init": waits}, "init is async or has a yield in it"),
        ({"tick": waits, "tick_hz": 10.0}, "tick is async"),
        ({"handle_request": waits}, "handle_request is async"),
        ({"handle_command": yields}, "handle_command is async or has a yield in it"),
        ({"tick": 5}, "tick must be a function, got 5"),
        ({"capabilities": "position_feedback"}, "capabilities must be a tuple of position_feedback"),
        ({"command_payloads": int}, "command_payloads must be a tuple of classes"),
        ({"blocking": "yes"}, "blocking must be True or False, got 'yes'"),
        ({"options": {}}, "options must be a msgspec Struct class, got {}"),
    ],
)
def test_a_mistake_in_a_driver_class_names_the_actuator_and_the_class(attributes: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=f"^{WHO}.*{why}"):
        Runtime(robot(), {"motor": bad(**attributes)})


def test_all_mistakes_of_a_class_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        Runtime(robot(), {"motor": bad(disarm=None, tick_hz="fast", init=waits)})
    assert [line.removeprefix(WHO).split()[0] for line in str(caught.value).splitlines()] == ["init", "disarm", "tick_hz"]


def test_a_rate_that_options_give_is_checked_when_they_are_known() -> None:
    async def body(rt):
        raise AssertionError("it must not start")

    with pytest.raises(InputError, match="base/shoulder/motor: Bad: tick_hz must be a number .* got 'fast'"):
        run(robot(), {"motor": bad(tick=lambda self, now: None, tick_hz=lambda self, options: "fast")}, body)


@pytest.mark.parametrize("given", [5, waits])
def test_what_init_gives_back_is_a_plain_function_or_nothing(given: Any) -> None:
    async def body(rt):
        raise AssertionError("it must not start")

    with pytest.raises(DriverError, match="base/shoulder/motor could not be started: .* init gave back"):
        run(robot(), {"motor": bad(init=lambda self, context, options: given)}, body)


def test_a_class_that_wants_arguments_is_told() -> None:
    class Picky(Servo):
        def __init__(self, port: str) -> None:
            super().__init__()

    with pytest.raises(InputError, match=r"base/shoulder/motor: driver Picky cannot be made: TypeError: .*port.*; it is called without arguments"):
        Runtime(robot(), {"motor": Picky})


def test_an_import_path_that_is_nearly_right_is_answered_with_the_right_one() -> None:
    with pytest.raises(InputError, match="driver 'rig:Srvo' cannot be imported: module 'rig' has no 'Srvo'; did you mean 'Servo'"):
        Runtime(robot(driver="rig:Srvo"))


def test_everything_that_has_no_driver_or_a_bad_one_is_named_at_once() -> None:
    names = ("a", "b", "c")
    two = Robot(
        "r",
        links=["base", *(f"l{n}" for n in names)],
        joints=[Joint(f"j{n}", "continuous", "base", f"l{n}", limits=Limits(velocity=1.0, effort=1.0)) for n in names],
        actuators=[Actuator(n, f"j{n}", "rig:Srvo" if n == "c" else "") for n in names],
        sensors=[Sensor("s")],
    )
    with pytest.raises(InputError) as caught:
        Runtime(two, {"s": object, "nobody": Servo})
    said = str(caught.value).splitlines()
    assert [line.split(":")[0] for line in said] == [
        "drivers for what r does not have",
        "base/jc/c",
        "actuators a, b of r name no driver; give drivers={'a'",
        "s",
    ]
    assert "give drivers={'a': ..., 'b': ...}, or simulation=True" in said[2]


@pytest.mark.parametrize(("what", "why"), [("arm.yaml", r"load it first: Runtime\(pushrod\.robot\.load\(file\)\)"), (None, "make one with")])
def test_a_runtime_of_something_that_is_no_robot_says_what_to_do(what: Any, why: str) -> None:
    with pytest.raises(InputError, match=f"a runtime needs a Robot, got .*{why}"):
        Runtime(what)


@pytest.mark.parametrize("kind", ["async", "async generator"])
def test_a_loop_is_a_plain_function(kind: str) -> None:
    async def coroutine(k: int) -> None: ...

    async def generator(k: int) -> Any:
        yield

    async def body(rt):
        with pytest.raises(InputError, match="loop control: .* is async or has a yield in it; write a plain function"):
            rt.loop(hz=10, name="control")(coroutine if kind == "async" else generator)

    run(robot(), {"motor": Servo}, body)


class Mode(enum.Enum):
    SLOW = "slow"
    FASTER = "faster"


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    port: str
    baud: int = 57600


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mode: Mode = Mode.SLOW
    side: Literal["left", "right"] = "left"
    line: Line | None = None
    gains: tuple[float, ...] = ()
    names: list[str] = []
    rate: float = 1.0


class Optional(Servo):
    options = Options


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"mode": "fast"}, ["options.mode: must be one of slow, faster, got text 'fast'; did you mean 'faster'?"]),
        ({"side": "lft"}, ["options.side: must be one of left, right, got text 'lft'; did you mean 'left'?"]),
        ({"nonsense": 1}, ["options.nonsense: unknown key; known here: mode, side, line, gains, names, rate"]),
        ({"rat": 1.0}, ["options.rat: unknown key; did you mean 'rate'? known here: mode, side, line, gains, names, rate"]),
        ({"line": {"baud": 9600}}, ["options.line: port is missing"]),
        ({"line": {"port": "a", "bad": 1}}, ["options.line.bad: unknown key; did you mean 'baud'? known here: port, baud"]),
        ({"line": {"port": 5}}, ["options.line.port: must be text, got a whole number 5"]),
        ({"gains": [1.0, "x"]}, ["options.gains[1]: must be a number, got text 'x'"]),
        ({"names": ["a", 5]}, ["options.names[1]: must be text, got a whole number 5"]),
        ({"rate": None}, ["options.rate: Expected float, got null"]),
        ({"mode": "fast", "rate": "1"}, ["options.mode: must be", "options.rate: must be a number, got text '1'"]),
    ],
    ids=str,
)
def test_options_that_do_not_fit_are_told_by_path_with_what_is_allowed(options: dict[str, Any], why: list[str]) -> None:
    from pushrod.core.errors import ConfigError

    with pytest.raises(ConfigError) as caught:
        Runtime(replace(robot(), actuators=(Actuator("motor", "shoulder", options=options),)), {"motor": Optional})
    said = str(caught.value).splitlines()
    assert len(said) == len(why)
    for line, text in zip(said, why, strict=True):
        assert line.startswith(f"base/shoulder/motor: {text}"), line
