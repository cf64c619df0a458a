"""The rules of arming: every state answers every event, and the ones that matter lead where they must."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.safety.lease import Lease, holds, may_take
from pushrod.safety.restart import Budget, spend
from pushrod.safety.state import TABLE, Event, State, follow
from pushrod.safety.watchdog import Watch, Watchdog, look


def test_every_state_answers_every_event() -> None:
    assert set(TABLE) == {(state, event) for state in State for event in Event}


@pytest.mark.parametrize("event", Event)
def test_only_arming_leads_to_armed(event: Event) -> None:
    for state in State:
        step = follow(state, event)
        if step.state is State.ARMED and state is not State.ARMED:
            assert event is Event.ARM
            assert state is State.DISARMED


@pytest.mark.parametrize("state", State)
def test_disarm_and_estop_cannot_be_refused(state: State) -> None:
    assert follow(state, Event.DISARM).refusal == ""
    assert follow(state, Event.DISARM).state is not State.ARMED
    assert follow(state, Event.ESTOP) == (State.ESTOPPED, "")


@pytest.mark.parametrize("event", [event for event in Event if event is not Event.RESET])
def test_an_estop_is_latched(event: Event) -> None:
    assert follow(State.ESTOPPED, event).state is State.ESTOPPED


@pytest.mark.parametrize("event", [event for event in Event if event not in (Event.FORCE_DISARM, Event.ESTOP)])
def test_an_error_stays_until_forced(event: Event) -> None:
    assert follow(State.ERROR, event).state is State.ERROR


def test_the_usual_way() -> None:
    assert follow(State.DISARMED, Event.ARM) == (State.ARMED, "")
    assert follow(State.ARMED, Event.ARM) == (State.ARMED, "already_armed")
    assert follow(State.ARMED, Event.DISARM).state is State.DISARMING
    assert follow(State.DISARMING, Event.ARM).refusal == "disarming"
    assert follow(State.DISARMING, Event.SAFE).state is State.DISARMED
    assert follow(State.DISARMING, Event.UNSAFE).state is State.ERROR
    assert follow(State.ERROR, Event.ARM).refusal == "in_error"
    assert follow(State.ERROR, Event.FORCE_DISARM).state is State.DISARMED
    assert follow(State.ARMED, Event.FORCE_DISARM).refusal == "not_in_error"
    assert follow(State.ARMED, Event.FAULT).state is State.ERROR
    assert follow(State.ESTOPPED, Event.RESET).state is State.DISARMED
    assert follow(State.DISARMED, Event.RESET).refusal == "not_estopped"
    assert follow(State.ESTOPPED, Event.ARM).refusal == "estopped"


def test_a_lease_keeps_others_out_until_it_ends() -> None:
    lease = Lease("planner", 1, until=5.0)
    assert holds(None, "anyone", 0.0)
    assert holds(lease, "planner", 4.9)
    assert not holds(lease, "operator", 4.9)
    assert holds(lease, "operator", 5.0)


def test_taking_over_needs_a_higher_priority() -> None:
    lease = Lease("planner", 1, until=5.0)
    assert may_take(None, Lease("operator"), 0.0)
    assert not may_take(lease, Lease("operator", 1), 0.0)
    assert may_take(lease, Lease("operator", 2), 0.0)
    assert may_take(lease, Lease("planner", 0), 0.0)
    assert may_take(lease, Lease("operator", 0), 5.0)


@given(st.floats(0, 10), st.floats(0.01, 5), st.floats(0, 10))
def test_a_watchdog_bites_after_silence_and_stays(fed: float, silence: float, later: float) -> None:
    dog = Watchdog(silence)
    seen = look(dog, Watch(fed), fed + later)
    assert seen.bitten == (fed + later - fed > silence)
    assert look(dog, Watch(fed, True), fed).bitten
    assert seen.fed == fed


def test_the_restart_budget_counts_within_its_window() -> None:
    budget, spent = Budget(3, 5.0), ()
    allowed = []
    for now in (0.0, 1.0, 2.0, 3.0):
        spent, ok = spend(budget, spent, now)
        allowed.append(ok)
    assert allowed == [True, True, True, False]
    _, ok = spend(budget, (0.0, 1.0, 2.0), 7.5)
    assert ok
