"""Two runtimes of one name in a process: a disarm function could not tell their motors apart, so there is one at a time."""

from dataclasses import replace

import pytest

from pushrod.core.errors import InputError
from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import Position, Runtime, SteppedClock, run

ARM = Robot(
    "arm",
    links=["base", "link"],
    joints=[Joint("j", "continuous", "base", "link", limits=Limits(velocity=1.0, effort=1.0))],
    actuators=[Actuator("m", "j")],
)


def test_the_second_is_refused_and_the_first_goes_on_undisturbed():
    async def main():
        async with Runtime(ARM, simulation=True) as rt:
            assert rt.arm().ok
            with pytest.raises(InputError, match=r"a robot 'arm' runs in this process already.*replace\(robot, name='arm_2'\)"):
                async with Runtime(ARM, simulation=True):
                    pass
            assert rt["m"].direct.send(Position(1.0)).ok
            async with Runtime(replace(ARM, name="arm_2"), simulation=True) as other:
                assert other.arm().ok
            assert rt["m"].direct.send(Position(0.5)).ok, "the other one's disarming has not reached it"

    run(main(), SteppedClock())


def test_one_after_the_other_they_may_run_also_after_one_that_could_not_be_started():
    class Broken:
        disarm = "pushrod.runtime.simulated.kinematic:disarm"

        def init(self, context, options):
            raise OSError("no such port")

        def handle_command(self, payload, command): ...

    async def main():
        with pytest.raises(RuntimeError, match="no such port"):
            async with Runtime(ARM, {"m": Broken}):
                pass
        for _ in range(2):
            async with Runtime(ARM, simulation=True) as rt:
                assert rt.arm().ok

    run(main(), SteppedClock())
