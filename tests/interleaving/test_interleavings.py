"""No order of arm, disarm, e-stop, reset, force_disarm, crash, guard and commands moves a motor after a stop, loses a latch or omits a disarm.

The code under test is the shipped one; a test that puts a defect back into it shows that the search would find that.
"""

from itertools import combinations_with_replacement
from random import Random

import pytest
from search import explore
from stop_path import OPERATIONS, STARTS, STOPS, Edit, Product, ViolationError

PRODUCT = Product()
POINTS = 12  # no operation passes more of them on its own thread
PAIRS = list(combinations_with_replacement(OPERATIONS, 2))


@pytest.mark.parametrize("start", STARTS)
def test_pairs_where_each_runs_until_it_waits(start: str) -> None:
    for pair in PAIRS:
        explore(PRODUCT, start, [[name] for name in pair], preemptions=0)


CLOSE = (
    ("disarmed", "arm", "disarm"),
    ("disarmed", "arm", "estop"),
    ("disarmed", "arm", "crash"),
    ("armed", "command", "disarm"),
    ("armed", "command", "estop"),
    ("armed", "command", "guard"),
    ("armed", "disarm", "estop"),
    ("error", "force_disarm", "fault"),
    ("error", "force_disarm", "estop"),
    ("estopped", "reset", "estop"),
    ("estopped", "reset", "disarm"),
)


@pytest.mark.parametrize(("start", "first", "second"), CLOSE)
def test_pairs_with_one_preemption(start: str, first: str, second: str) -> None:
    explore(PRODUCT, start, [[first], [second]], preemptions=1)


@pytest.mark.soak
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("start", STARTS)
def test_pairs_in_every_order(start: str, pair: tuple[str, str]) -> None:
    explore(PRODUCT, start, [[name] for name in pair])


@pytest.mark.parametrize("pair", [("arm", "disarm"), ("arm", "estop"), ("command", "estop")], ids="-".join)
def test_two_actuators(pair: tuple[str, str]) -> None:
    for start in ("disarmed", "armed"):
        explore(PRODUCT, start, [[name] for name in pair], actuators=2, preemptions=1)


THREES = {  # three threads with four operations: where the interesting one starts
    (("arm", "command"), ("estop",), ("reset",)): "disarmed",
    (("disarm", "arm"), ("command",), ("estop",)): "armed",
    (("estop", "reset"), ("estop",), ("arm",)): "armed",
    (("fault", "force_disarm"), ("command",), ("arm",)): "armed",
    (("crash", "arm"), ("command",), ("disarm",)): "armed",
    (("guard", "force_disarm"), ("command",), ("arm",)): "armed",
    (("reset", "arm"), ("estop",), ("command",)): "estopped",
    (("disarm", "arm"), ("disarm",), ("arm",)): "armed",
}
Threads = tuple[tuple[str, ...], ...]


def named(threads: Threads) -> str:
    return "|".join(",".join(names) for names in threads)


@pytest.mark.parametrize("threads", THREES, ids=named)
def test_three_threads_where_each_runs_until_it_waits(threads: Threads) -> None:
    for start in ("armed", "estopped"):
        explore(PRODUCT, start, threads, preemptions=0)


@pytest.mark.soak
@pytest.mark.parametrize("threads", THREES, ids=named)
def test_three_threads_with_three_preemptions(threads: Threads) -> None:
    explore(PRODUCT, THREES[threads], threads, preemptions=3)


@pytest.mark.soak
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("threads", THREES, ids=named)
def test_three_threads_with_two_preemptions(start: str, threads: Threads) -> None:
    explore(PRODUCT, start, threads, preemptions=2)


@pytest.mark.soak
@pytest.mark.parametrize("start", STARTS)
def test_any_three_threads_with_one_preemption(start: str) -> None:
    """Four operations of nine on three threads: a sample of the 6561, another for each start."""
    draw = Random(f"three threads, {start}")
    for _ in range(60):
        a, b, c, d = draw.choices(list(OPERATIONS), k=4)
        explore(PRODUCT, start, ((a, b), (c,), (d,)), preemptions=1)


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_stop_from_a_signal_handler_wherever_it_interrupts(name: str, stop: str) -> None:
    """The handler runs on the thread it interrupts, with whatever locks that holds."""
    for start in STARTS:
        for n in range(1, POINTS + 1):
            explore(PRODUCT, start, [[name]], preemptions=0, signal=(n, stop))


@pytest.mark.soak
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_stop_from_a_signal_handler_and_one_preemption(name: str) -> None:
    for start in STARTS:
        for n in range(1, POINTS + 1):
            explore(PRODUCT, start, [[name]], preemptions=1, signal=(n, "estop"))


def test_an_observer_that_raises_changes_nothing() -> None:
    for pair in (("estop", "command"), ("disarm", "arm"), ("estop", "reset")):
        explore(PRODUCT, "armed", [[name] for name in pair], preemptions=1, observer_raises=True)


def test_every_point_is_reached() -> None:
    reached: set[str] = set()
    for start, threads in (("disarmed", [["arm"], ["disarm"]]), ("estopped", [["reset"]]), ("error", [["force_disarm"]]), ("armed", [["command"]])):
        reached |= explore(PRODUCT, start, threads, preemptions=1).points
    assert PRODUCT.points <= reached


DEFECTS: dict[str, tuple[list[Edit], str, list[list[str]], dict[str, object]]] = {
    "observers run before anything is made safe": (
        [
            Edit(
                "deciding",
                "            self._begun.append(stop)  # point: stop begun\n",
                "            self._changed(self.state, self.state, '')\n            self._begun.append(stop)\n",
            )
        ],
        "armed",
        [["estop"]],
        {"observer_raises": True},
    ),
    "a stop waits for arming": (
        [
            Edit(
                "arming",
                "        return self._wait(self._begin(Event.ESTOP, ",
                "        with self._door.lock:\n            pass\n        return self._wait(self._begin(Event.ESTOP, ",
            )
        ],
        "disarmed",
        [["arm"], ["estop"]],
        {},
    ),
    "an e-stop takes a lock that the interrupted thread holds": (
        [
            Edit("door", "threading.RLock()", "threading.Lock()"),
            Edit(
                "arming",
                "        return self._wait(self._begin(Event.ESTOP, ",
                "        with self._door.lock:\n            pass\n        return self._wait(self._begin(Event.ESTOP, ",
            ),
        ],
        "disarmed",
        [["arm"]],
        {"signal": (2, "estop")},
    ),
    "an e-stop during a reset is lost": (
        [Edit("deciding", '        if self.stops != stops:\n            return Armed(False, self.state, "stopped", self.causes)\n', "")],
        "estopped",
        [["reset"], ["estop"]],
        {},
    ),
    "a reset succeeds while an e-stop is making safe": (
        [Edit("deciding", "        if self.is_stopping() or self.unsafe:", "        if self.unsafe:")],
        "estopped",
        [["estop"], ["reset"]],
        {},
    ),
    "arming succeeds although a stop came meanwhile": (
        [
            Edit("deciding", '"stopped" if self.stops != stops or self.is_stopping() else', '"stopped" if self.is_stopping() else'),
            Edit("gate", "        if self.closed_by is not since:", "        if False:"),
        ],
        "disarmed",
        [["arm"], ["disarm"]],
        {},
    ),
    "a stop marks the gate after it has revoked": (
        [
            Edit("gate", "        gate.closed_by = stop  # point: stop marked\n", ""),
            Edit(
                "gate",
                "        gate.permit.epoch = 0  # point: permit revoked\n",
                "        gate.permit.epoch = 0  # point: permit revoked\n        gate.closed_by = stop  # point: stop marked\n",
            ),
        ],
        "disarmed",
        [["arm"], ["disarm"]],
        {},
    ),
    "the epoch is not checked before the driver is called": (
        [
            Edit(
                "gate",
                "            if not permit.epoch or self.fuse[0]:  # point: before the driver",
                "            if False:  # point: before the driver",
            )
        ],
        "armed",
        [["command"], ["estop"]],
        {},
    ),
    "a command outlives its arming": (
        [
            Edit("gate", "        if permit is not self.permit or (command.epoch", "        if (command.epoch"),
            Edit("gate", "            if not permit.epoch or self.fuse[0]:  # point: before the driver", "            if self.fuse[0]:"),
            Edit(
                "gate",
                '"""Act on a command that came under a permit, or refuse it."""\n        me = get_ident()',
                '"""Act on a command that came under a permit, or refuse it."""\n        me = get_ident()  # point: door',
            ),
        ],
        "armed",
        [["command"], ["disarm", "arm"]],
        {},
    ),
    "arming does not wait for a call in flight": (
        [Edit("arming", "self._checks() or self._in_flight(out) or", "self._checks() or")],
        "armed",
        [["command"], ["disarm", "force_disarm", "arm"]],
        {},
    ),
    "a disarm function is not started": (
        [
            Edit(
                "deciding",
                "        self._disarming.put(partial(_serve_at_once, disarmers, stop))  # point: disarm started",
                "        [self._answered(stop, name, None) for name in stop.names]  # point: disarm started",
            )
        ],
        "armed",
        [["estop"]],
        {},
    ),
    "a crash during arming lowers the guard": (
        [
            Edit(
                "deciding",
                "        if stop.event is not None or (self.state is State.DISARMING and last):  # a stop",
                "        if self.state is not State.ARMED:  # a stop",
            )
        ],
        "disarmed",
        [["arm"], ["crash"]],
        {"actuators": 2},
    ),
    "arming ignores a stop that has only begun": (
        [Edit("deciding", "        return bool(self._begun or self.open_stops)", "        return bool(self.open_stops)")],
        "armed",
        [["disarm"], ["arm"]],
        {},
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_that_is_put_back_is_found(defect: str) -> None:
    edits, start, threads, how = DEFECTS[defect]
    product = Product(edits)
    with pytest.raises(ViolationError):
        _deepening(product, start, threads, how)


def _deepening(product: Product, start: str, threads: list[list[str]], how: dict[str, object]) -> None:
    for preemptions in (0, 1, 2, 3):
        explore(product, start, threads, **{"preemptions": preemptions, **how})
