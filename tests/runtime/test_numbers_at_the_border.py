"""Numbers are converted once, where a command enters: what reaches a driver and observers holds plain floats and ints."""

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

import msgspec
import numpy as np
import pytest
from rig import Servo, robot, run

from pushrod.core.errors import InputError
from pushrod.core.quantity import Q
from pushrod.live.autopilot import Course
from pushrod.live.payload import Actuation, Flight, Throttle
from pushrod.live.plain_request import understood
from pushrod.robot.description import Parameter
from pushrod.robot.store import Store
from pushrod.runtime import Effort, EndMotion, JointState, Outcome, Payload, Position, Runtime, Trajectory, Velocity, WallClock, Waypoint
from pushrod.runtime.message import BeginMotion, Command

HALF = np.float16(0.5)
NUMBERS = [np.float16(0.5), np.float32(0.5), np.float64(0.5), Fraction(1, 2), np.int64(1), 1, np.uint8(1)]


class Finger(msgspec.Struct, frozen=True):
    angle: float
    turns: int = 0


class Grip(Payload, frozen=True):
    force: float
    count: int = 1
    speed: Annotated[float, Q("m/s", 0.0, 5.0)] = 0.1
    angles: tuple[float, ...] = ()
    pair: tuple[int, float] = (0, 0.0)
    fingers: tuple[Finger, ...] = ()
    either: int | float | None = None
    by_name: dict[str, float] = msgspec.field(default_factory=dict)
    more: Any = None


class Recorder(Servo):
    command_payloads = (Position, Velocity, Effort, Trajectory, Grip, Actuation, Flight, Throttle)

    def __init__(self) -> None:
        super().__init__()
        self.commands: list[Command] = []

    def handle_command(self, payload: Any, command: Any) -> None:
        self.told.append(payload)
        self.commands.append(command)


def foreign(x: Any, at: str = "") -> list[str]:
    """Return where a value holds something else than plain Python data."""
    if isinstance(x, msgspec.Struct):
        return [found for name in x.__struct_fields__ for found in foreign(getattr(x, name), f"{at}.{name}")]
    if type(x) in (tuple, list):
        return [found for i, item in enumerate(x) for found in foreign(item, f"{at}[{i}]")]
    if type(x) is dict:
        return [found for key, item in x.items() for found in foreign(item, f"{at}[{key!r}]")]
    return [] if type(x) in (float, int, str, bool, type(None)) else [f"{at}: {type(x).__name__}"]


def sent(send: Any, clock: Any = None) -> tuple[Any, Recorder]:
    servo = Recorder()

    async def body(rt: Runtime) -> Any:
        rt.arm()
        answer = send(rt)
        return await answer if hasattr(answer, "__await__") else answer

    return run(robot(), {"motor": lambda: servo}, body, clock), servo


@pytest.mark.parametrize("x", NUMBERS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("kind", [Position, Velocity, Effort])
def test_payloads_built_by_hand_are_plain(kind: Any, x: Any) -> None:
    fields = dict.fromkeys(kind.__struct_fields__, x)
    answer, servo = sent(lambda rt: rt["motor"].direct.send(kind(**fields)))
    assert answer.ok
    assert foreign(servo.told[0]) == []
    assert all(type(getattr(servo.told[0], name)) is float for name in fields)
    assert foreign(servo.commands[0]) == []


@pytest.mark.parametrize("way", ["direct", "sync", "publish"])
def test_verbs_and_envelopes_are_plain(way: str) -> None:
    answer, servo = sent(
        lambda rt: getattr(rt["motor"], way).set_velocity(
            HALF, HALF, validity=np.float32(9.0), origin=np.float64(0.0), sequence=np.int64(3), priority=np.int8(0), id="a"
        )
    )
    assert answer.ok
    assert foreign(servo.commands[0]) == []
    assert type(servo.told[0].duration) is float
    assert type(servo.commands[0].sequence) is int


def test_zeros_that_are_not_plain_are_converted() -> None:
    zero = {"validity": np.float32(0.0), "sequence": np.int64(0), "priority": np.int64(0)}
    answer, servo = sent(lambda rt: rt["motor"].direct.set_position(np.float32(0.0), **zero))
    assert answer.ok
    assert foreign(servo.commands[0]) == []


def test_trajectories_are_plain() -> None:
    points = (Waypoint(HALF, np.float32(0.5), np.float16(0.0), np.int64(0)), {"position": np.float32(0.7), "time": 1})
    answer, servo = sent(lambda rt: rt["motor"].direct.follow_trajectory(points, np.int64(2)))
    assert answer.ok
    assert foreign(servo.told[0]) == []
    assert servo.told[0].repeat == 2
    answer, servo = sent(lambda rt: rt.send([("motor", Trajectory((Waypoint(HALF, np.float32(0.5)),)))])[0])
    assert answer.ok
    assert foreign(servo.commands[0]) == []


def test_payloads_of_a_driver_are_plain() -> None:
    grip = Grip(
        np.float32(5.0),
        np.int64(2),
        np.float16(0.5),
        (HALF, 1),
        (np.int64(1), np.int64(2)),
        (Finger(HALF, np.int8(3)),),
        np.int64(4),
        {"a": np.float32(0.5)},
        {"deep": [np.float32(0.5), (np.int64(1),)]},
    )
    answer, servo = sent(lambda rt: rt["motor"].direct.send(grip))
    assert answer.ok
    assert foreign(servo.told[0]) == []
    told = servo.told[0]
    assert (type(told.count), type(told.angles[1]), type(told.pair[0]), type(told.pair[1]), type(told.either)) == (int, float, int, float, int)


@pytest.mark.parametrize("payload", [Actuation(HALF, HALF, np.float32(0.1), np.float32(1.0)), Flight(HALF), Throttle(HALF)])
def test_payloads_of_simulated_machines_are_plain(payload: Any) -> None:
    answer, servo = sent(lambda rt: rt["motor"].direct.send(payload))
    assert answer.ok
    assert foreign(servo.told[0]) == []


@pytest.mark.parametrize("x", [True, Decimal("0.5"), "0.5", np.bool_(True), 1j, np.array(0.5), 10**400, np.float32("nan")], ids=repr)
def test_what_is_no_finite_real_number_is_refused(x: Any) -> None:
    for payload in (Position(0.1, 0.1, x), Velocity(x), Trajectory((Waypoint(x, 1.0),)), Grip(x)):
        answer, servo = sent(lambda rt, payload=payload: rt["motor"].direct.send(payload))
        assert answer.reason == "malformed"
        assert servo.told == []


@pytest.mark.parametrize(
    "envelope", [{"sequence": True}, {"sequence": 1.0}, {"validity": True}, {"validity": Decimal(1)}, {"priority": np.float32(1)}]
)
def test_bad_numbers_on_the_envelope_are_refused(envelope: dict[str, Any]) -> None:
    assert sent(lambda rt: rt["motor"].direct.set_position(0.1, **envelope))[0].reason == "malformed"


def test_observers_receive_plain_numbers() -> None:
    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("actuator",), (Outcome,))
        rt.arm()
        rt["motor"].publish.send(Position(HALF, HALF), sequence=np.int64(1))
        rt.send([("motor", Position(HALF))])
        return [watch.poll().payload for _ in range(2)]

    assert [foreign(outcome) for outcome in run(robot(), {"motor": Servo}, body)] == [[], []]


class Level(msgspec.Struct, frozen=True):
    height: float
    count: int = 0


@pytest.mark.parametrize(
    "report",
    [
        Level(HALF, np.int64(1)),
        JointState(("shoulder",), (HALF,), (np.float32(0.1),), (1,)),
        BeginMotion(HALF, HALF, np.float32(1.0), "a", "position", HALF, HALF, HALF),
        EndMotion(HALF, "completed", None, None, "a"),
    ],
)
def test_reports_hold_plain_numbers(report: Any) -> None:
    servo = Servo()

    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("actuator",))
        servo.context.publish(report)
        return foreign(watch.poll().payload)

    assert run(robot(), {"motor": lambda: servo}, body) == []


def test_a_delay_of_low_precision_is_kept_on_the_clock() -> None:
    clock = WallClock()
    clock.open()
    try:
        timers: list[float] = []
        clock._timers.add = lambda when, function: timers.append(when)  # type: ignore[method-assign, assignment, return-value, func-returns-value]
        clock.later(np.float16(1000.0), lambda: None)
        assert type(timers[0]) is float
        assert timers[0] == pytest.approx(clock.now() + 1000.0, abs=0.5)
    finally:
        clock.close()


def test_requests_hold_plain_numbers() -> None:
    assert foreign(understood(Course(HALF, np.float32(0.1)), (Course,))) == []


def test_leases_rates_and_time_limits_are_plain() -> None:
    async def body(rt: Runtime) -> Any:
        assert rt["motor"].take_lease(np.float16(0.5), np.int64(1)).ok
        lease = rt["motor"].lease
        cadence = rt.loop(np.float32(50.0))(lambda k: None)
        rt.arm()
        await rt["motor"].sync.set_position(0.1, timeout=np.float32(1.0))
        for seconds, priority in ((True, 0), ("1", 0), (1.0, 1.5), (1.0, True)):
            with pytest.raises(InputError):
                rt["motor"].take_lease(seconds, priority)
        return type(lease.until), type(lease.priority), type(cadence.period)

    assert run(robot(), {"motor": Servo}, body, WallClock()) == (float, int, float)


def test_parameters_are_plain() -> None:
    store = Store((Parameter("n", "int", np.int64(1)), Parameter("x", "float", np.float32(0.5))))
    store.set("n", np.int64(2))
    assert (type(store.get("n")), type(store.get("x"))) == (int, float)


@pytest.mark.parametrize("ahead", [0.002, 10.0, 1e9])
def test_an_origin_in_the_future_does_not_extend_a_validity(ahead: float) -> None:
    answer, servo = sent(lambda rt: rt["motor"].direct.set_position(0.1, validity=0.1, origin=rt.clock.now() + ahead))
    assert answer.reason == "stale"
    assert "ahead" in answer.detail
    assert servo.told == []


def test_an_origin_within_the_tolerance_of_the_clock_is_accepted() -> None:
    assert sent(lambda rt: rt["motor"].direct.set_position(0.1, validity=0.1, origin=rt.clock.now() + 0.0009))[0].ok


LONE = "half\ud800"


def test_text_that_cannot_be_encoded_is_refused() -> None:
    assert sent(lambda rt: rt["motor"].direct.set_position(0.1, id=LONE))[0].reason == "malformed"
    assert sent(lambda rt: rt["motor"].host.gate(Command(Position(0.1), LONE, 0.0)))[0].reason == "malformed"
    assert sent(lambda rt: rt["motor"].direct.send(Grip(1.0, more={"a": [LONE]})))[0].reason == "malformed"
    assert sent(lambda rt: rt["motor"].direct.send(Grip(1.0, by_name={LONE: 1.0})))[0].reason == "malformed"
    assert sent(lambda rt: rt["motor"].direct.set_position(0.1, id="größe"))[0].ok
    with pytest.raises(InputError):
        sent(lambda rt: rt.handle("motor", LONE))
