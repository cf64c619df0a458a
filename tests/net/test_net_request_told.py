"""What an operator elsewhere asks of a controller is told to observers with his name and what became of it."""

import pytest

from pushrod.core.errors import InputError
from pushrod.net.service import Service
from pushrod.robot import Controller, Robot
from pushrod.runtime import Runtime, SteppedClock, run
from pushrod.runtime.message import Requested


class Pilot:
    def init(self, context, options):
        pass

    def handle_request(self, request):
        if request == {"type": "Course", "v_req": -1.0}:
            raise InputError("v_req = -1: astern is not kept")
        return None


class Seats:
    def asked(self, who, part):
        pass


def test_the_seat_stands_beside_what_was_asked():
    clock = SteppedClock()
    rt = Runtime(Robot("boat", links=["hull"], joints=[], controllers=[Controller("pilot")]), {"pilot": Pilot}, clock=clock, guard=False)

    async def main():
        async with rt:
            watch = rt.subscribe("controller", (Requested,))
            service = Service(rt, Seats())
            for request in ({"type": "Course", "v_req": 1.0}, {"type": "Course", "v_req": -1.0}, "course"):
                arguments = {"part": "pilot", "request": request, "timeout": 1.0}
                if isinstance(request, dict) and request["v_req"] < 0.0:
                    with pytest.raises(InputError):
                        service.do("request", "ann/2", arguments)
                else:
                    service.do("request", "ann/2", arguments)
            return [watch.poll() for _ in range(3)]

    first, second, third = run(main(), clock)
    assert first.topic == ("controller", "pilot", "request")
    assert first.payload == Requested("Course", {"type": "Course", "v_req": 1.0}, "ann/2", "accepted")
    assert (second.payload.source, second.payload.result, second.payload.reason) == ("ann/2", "refused", "v_req = -1: astern is not kept")
    assert third is None  # a question is no deed
