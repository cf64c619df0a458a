"""The rules of arming: every state answers every event, and the ones that matter lead where they must."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.safety.lease import WATCHDOG, Lease, holds, may_take
from pushrod.safety.restart import Budget, spend
from pushrod.safety.state import TABLE, Event, State, follow
from pushrod.safety.watchdog import Reaction, Watch, Watchdog, look


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


def expected(state: State, event: Event) -> tuple[State, str]:
    """The same rules in other words, event by event."""
    latched = state in (State.ERROR, State.ESTOPPED)
    match event:
        case Event.ARM:
            why = {State.ARMED: "already_armed", State.DISARMING: "disarming", State.ERROR: "in_error", State.ESTOPPED: "estopped"}
            return (State.ARMED, "") if state is State.DISARMED else (state, why[state])
        case Event.DISARM:
            return (State.DISARMING if state is State.ARMED else state), ""
        case Event.SAFE:
            return (State.DISARMED if state is State.DISARMING else state), ""
        case Event.UNSAFE | Event.FAULT:
            return (state if latched else State.ERROR), ""
        case Event.ESTOP:
            return State.ESTOPPED, ""
        case Event.FORCE_DISARM:
            if state is State.ERROR:
                return State.DISARMED, ""
            return state, "estopped" if state is State.ESTOPPED else "not_in_error"
        case Event.RESET:
            return (State.DISARMED, "") if state is State.ESTOPPED else (state, "not_estopped")


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_every_step_of_the_table(state: State, event: Event) -> None:
    assert follow(state, event) == expected(state, event)


def test_what_is_left_unsaid() -> None:
    assert Budget() == (3, 5.0)
    assert Lease("x") == ("x", 0, float("inf"))
    assert Watchdog(1.0).reaction is Reaction.HOLD
    assert not Watch(0.0).bitten
    assert {state.value for state in State} == {"disarmed", "armed", "disarming", "error", "estopped"}
    assert {reaction.value for reaction in Reaction} == {"hold", "ramp", "damp", "release"}
    assert len({event.value for event in Event}) == len(Event)
    assert WATCHDOG == "watchdog"


def test_the_window_of_a_budget_is_half_open_and_forgets() -> None:
    spent, ok = spend(Budget(1, 5.0), (0.0,), 5.0)
    assert (spent, ok) == ((5.0,), True)
    spent, ok = spend(Budget(1, 5.0), (0.0,), 4.999)
    assert (spent, ok) == ((0.0, 4.999), False)


def test_silence_just_as_long_as_allowed_is_borne() -> None:
    assert not look(Watchdog(1.0), Watch(0.0), 1.0).bitten
    assert look(Watchdog(1.0), Watch(0.0), 1.0 + 1e-9).bitten
