"""What is sent is what arrives, for every type that travels; what is not known arrives as data, and nothing is imported for it."""

import math
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.live.payload import Actuation, Torque
from pushrod.net.wire import Foreign, Frame, Kinds, body_of, decode, encode, pack, sent_result
from pushrod.runtime import (
    Accepted,
    BeginMotion,
    Clamped,
    Command,
    Effort,
    EndMotion,
    HardwareError,
    Hold,
    JointState,
    LeaseChanged,
    Message,
    Outcome,
    ParameterChanged,
    Payload,
    Position,
    Refused,
    Stop,
    Trajectory,
    Transition,
    Velocity,
    Waypoint,
)

numbers = st.floats(allow_nan=False)
maybe = st.none() | numbers
words = st.text(max_size=5)
points = st.lists(st.builds(Waypoint, numbers, numbers, maybe, maybe), max_size=3).map(tuple)
payloads = st.one_of(
    st.builds(Position, numbers, maybe, maybe),
    st.builds(Velocity, numbers, maybe),
    st.builds(Effort, numbers, maybe),
    st.builds(Trajectory, points, st.integers(1, 9) | st.just("forever")),
    st.builds(Hold),
    st.builds(Stop, st.sampled_from(["immediate", "decelerate"])),
    st.builds(Actuation, numbers, numbers, numbers, numbers),
    st.builds(Torque, numbers, numbers, numbers),
)
results = st.one_of(
    st.builds(Accepted, st.none() | st.dictionaries(words, numbers, max_size=2)),
    st.builds(Clamped, payloads, payloads, st.none() | words),
    st.builds(Refused, words, words, words, words, words),
)
commands = st.builds(Command, payloads, words, numbers, numbers, st.integers(0, 2**40), st.integers(-5, 5), st.integers(0, 99), st.none() | words)
reports = st.one_of(
    payloads,
    st.builds(Outcome, commands, results),
    st.builds(BeginMotion, numbers, numbers, numbers, st.none() | words, st.none(), maybe, maybe, maybe),
    st.builds(EndMotion, numbers, st.sampled_from(["completed", "fault"]), st.none() | words, st.none() | words, st.none() | words),
    st.builds(JointState, st.lists(words, max_size=2).map(tuple), st.lists(numbers, max_size=2).map(tuple)),
    st.builds(LeaseChanged, st.none() | words, st.none() | words, st.integers(-9, 9), st.just(math.inf) | numbers),
    st.builds(HardwareError, st.lists(words, max_size=2).map(tuple), words),
    st.builds(Transition, words, words, words),
    st.builds(ParameterChanged, words, st.none() | numbers | words | st.booleans(), st.integers(-9, 9), words),
    st.dictionaries(words, numbers, max_size=2),
    words,
    numbers,
)


@given(reports)
def test_a_message_comes_back_as_it_was(payload):
    sent = Message(payload, ("a", "b"), 1.0, 2.0, "r", "s", "f")
    frame = Frame("bus", 1, sent.time, sent.wall_time, sent.source, sent.frame, msgspec.Raw(body_of(payload)))
    assert Kinds().message(decode(encode(frame), Frame), "r", type(payload).__name__, ("a", "b")) == sent


@given(results)
def test_an_answer_comes_back_as_it_was(result):
    kinds = Kinds()
    assert kinds.result(decode(encode(sent_result(result)), type(sent_result(result)))) == result


def test_numbers_of_numpy_and_odd_things_are_sent_as_what_they_mean():
    numpy = pytest.importorskip("numpy")
    told = Accepted({"x": numpy.float32(0.5), "n": numpy.int64(3), "row": numpy.arange(2.0), "set": {1}, "odd": 1j})
    back = Kinds().result(decode(encode(sent_result(told)), type(sent_result(told))))
    assert back == Accepted({"x": 0.5, "n": 3, "row": [0.0, 1.0], "set": [1], "odd": "1j"})


def test_a_name_never_leads_to_an_import():
    before = set(sys.modules)
    packed = pack(Position(1.0))
    odd = Kinds().read("antigravity:Thing", packed.data)
    assert odd == Foreign("antigravity:Thing", {"type": "Position", "position": 1.0, "velocity": None, "duration": None})
    assert set(sys.modules) == before


def test_a_type_that_is_another_one_here_is_told_as_data():
    assert Kinds().read("Transition", encode({"type": "Transition", "from": 5})) == Foreign("Transition", {"type": "Transition", "from": 5})


def test_two_payload_classes_of_one_name_mean_neither_unless_told():
    def make(n):
        class Twin(Payload, frozen=True, gc=False, tag=True):
            x: float = float(n)

        return Twin

    one, two = make(1), make(2)
    data = encode(one(3.0))
    assert isinstance(Kinds().read("Twin", data), Foreign)
    assert Kinds([two]).read("Twin", data) == two(3.0)
