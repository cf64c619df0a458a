"""`pushrod top` within the lines of a terminal: what matters most is there, and what is not is counted."""

import re

import msgspec
import pytest
from rich.console import Console

pytest.importorskip("zenoh", reason="the extra `net` is not installed: pip install 'pushrod[net]'")

from pushrod.cli.overview import overview_of
from pushrod.net.told import ActuatorNow, LoopNow, Overview, TopicNow
from pushrod.net.watcher import Seen


def seen(actuators: int, topics: int, loops: int, robot: str = "arm") -> Seen:
    def motor(i: int) -> ActuatorNow:
        return ActuatorNow(f"motor_{i}", ("base", f"motor_{i}"), True, "", 0.1, 0.2, 0.3, None, "ann", 0.01, 1000, {"lease": 2}, 0)

    return Seen(
        robot,
        None,
        Overview(
            robot,
            "armed",
            "armed",
            1.0,
            tuple(motor(i) for i in range(actuators)),
            tuple(TopicNow(("actuator", "base", f"motor_{i}"), 1000, 99.9, 0.01, 0) for i in range(topics)),
            tuple(LoopNow(f"loop_{i}", 10_000, 3, 2e-3, 5e-5, 4e-4) for i in range(loops)),
            ("ann",),
        ),
    )


def drawn(robots: list[Seen], width: int, height: int | None) -> list[str]:
    console = Console(width=width, highlight=False, record=True)
    with console.capture() as said:
        console.print(overview_of(robots, width, height))
    return said.get().splitlines()


def test_lateness_is_there_on_a_small_terminal_and_what_is_not_is_counted():
    lines = drawn([seen(3, 8, 2)], 60, 24)
    text = " ".join(" ".join(lines).split())
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 60
    assert "late worst" in text
    assert text.count("50 us 400 us 2 ms") == 2
    assert text.count("position 0.100") == 3
    assert "not shown: 8 topics; make the terminal larger, or: pushrod top --once" in text


@pytest.mark.parametrize(("width", "height"), [(60, 24), (130, 24), (80, 12), (60, 10)])
def test_many_actuators_do_not_hide_the_loops(width, height):
    lines = drawn([seen(32, 40, 3)], width, height)
    text = " ".join(" ".join(lines).split())
    assert len(lines) <= height
    assert "not shown: " in text
    assert "actuators, " in text
    assert "40 topics" in text
    assert (height < 24) or "loop_0" in text


def test_where_there_is_room_all_is_there():
    assert not any("not shown" in line for line in drawn([seen(3, 8, 2)], 60, 200))
    assert drawn([seen(3, 8, 2)], 60, 200) == drawn([seen(3, 8, 2)], 60, None)


def test_of_more_robots_than_lines_those_that_fit_are_there():
    lines = drawn([seen(1, 1, 1, f"robot_{i}") for i in range(50)], 60, 24)
    assert len(lines) <= 24
    assert lines[-1] == f"not shown: {50 - (len(lines) - 1)} robots and all actuators"
    assert lines[0].startswith("robot_0  armed")


def test_eighty_letters_are_enough_for_a_table():
    lines = drawn([seen(3, 8, 2)], 80, 60)
    heading = next(line for line in lines if "actuator" in line and "state" in line)
    assert heading.split() == ["actuator", "state", "position", "velocity", "effort", "commander", "silence", "refused"]
    assert any("without acted, for which there is no room" in line for line in lines), "what is left out is said"
    assert next(line for line in lines if line.strip().startswith("motor_1")).split()[:3] == ["motor_1", "armed", "0.100"]
    assert max(map(len, lines)) <= 80


def test_a_topic_that_fell_silent_has_no_rate_and_what_is_said_of_arming_is_said_once():
    one = seen(1, 1, 1)
    assert one.overview is not None
    topic = msgspec.structs.replace(one.overview.topics[0], rate=0.0, age=60.0)
    now = msgspec.structs.replace(one.overview, why="armed, without a guard, as asked", topics=(topic,))
    lines = drawn([one._replace(overview=now)], 130, None)
    assert lines[0] == "arm  armed (without a guard, as asked); operators: ann"
    assert re.search(r"actuator/base/motor_0 +- +60 s +1000 +0", "\n".join(lines))


def test_two_hosts_of_one_name_are_marked_with_where_they_are():
    one, other = (seen(1, 0, 0)._replace(where=f"robot-pc, pid {n}") for n in (11, 12))
    text = "\n".join(drawn([one, other, seen(1, 0, 0, "leg")], 130, None))
    for n in (11, 12):
        assert f"arm  one of 2 hosts of this name (robot-pc, pid {n}): end all but one;  armed" in text
    assert "leg  armed" in text


def test_what_rounds_to_nothing_has_no_sign():
    one = seen(1, 0, 0)
    assert one.overview is not None
    motor = msgspec.structs.replace(one.overview.actuators[0], position=-1e-9, effort=-0.0, velocity=-0.2)
    text = "\n".join(drawn([one._replace(overview=msgspec.structs.replace(one.overview, actuators=(motor,)))], 130, None))
    assert "-0.000" not in text
    assert text.count(" 0.000") == 2
    assert "-0.200" in text


def changed(one: Seen, **changes) -> Seen:
    assert one.overview is not None
    return one._replace(overview=msgspec.structs.replace(one.overview, **changes))


@pytest.mark.parametrize("width", [60, 80, 130])
def test_an_actuator_that_its_watchdog_holds_is_not_shown_as_armed(width):
    one = seen(2, 0, 0)
    assert one.overview is not None
    motors = one.overview.actuators
    text = " ".join(" ".join(drawn([changed(one, actuators=(msgspec.structs.replace(motors[0], lease="watchdog"), motors[1]))], width, None)).split())
    assert re.search(r"motor_0 held by watchdog\b", text), text
    assert re.search(r"motor_1 armed\b", text), text
    assert "motor_0: its watchdog has tripped. Find out why, then run: pushrod cmd arm/motor_0 clear_watchdog" in text


@pytest.mark.parametrize("width", [60, 130])
def test_what_blocks_arming_is_shown_with_what_to_type(width):
    record = "the guard disarmed arm; inspect the robot, then run on robot-pc: pushrod acknowledge 'arm'"
    lines = drawn([changed(seen(1, 0, 0), state="disarmed", why="requested, by ann")._replace(missing=(record,))], width, 30)
    text = " ".join(" ".join(lines).split())
    assert text.startswith("arm disarmed (requested, by ann); operators: ann arming is blocked: " + record)
    assert max(map(len, lines)) <= width
    assert "arming is blocked" not in "".join(drawn([changed(seen(1, 0, 0), state="disarmed")], width, 30))


@pytest.mark.parametrize(
    ("state", "step"),
    [("estopped", "once the cause is gone, run: pushrod reset arm"), ("error", "inspect the robot, then run: pushrod disarm arm --force")],
)
def test_the_next_step_of_a_stopped_robot_is_shown(state, step):
    lines = drawn([changed(seen(1, 0, 0), state=state, why="smoke, by ann")], 80, 30)
    assert [line.rstrip() for line in lines[:2]] == [f"arm  {state} (smoke, by ann); operators: ann", f"  {step}"]
