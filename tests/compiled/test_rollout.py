"""One source, the same numbers: plain Python, rollout, Stepper and batch."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from lag_world import LAG_WORLD, Curve, In, Lag, Params, State

from pushrod import metrics
from pushrod.compiled import job
from pushrod.compiled.rollout import batch, rollout
from pushrod.compiled.stepper import Stepper
from pushrod.core.errors import CacheError, InputError, ParameterError, UnknownNameError
from pushrod.core.model import Tick
from pushrod.models import MODELS
from pushrod.models.first_order import FIRST_ORDER

STEPS, DT = 300, 1e-3


def plain(params: Params, us: np.ndarray, seed: int = 0, instance: int = 0) -> tuple[list[float], State]:
    s, ys = State(), []
    for k, u in enumerate(us):
        s, y = LAG_WORLD.step(params, s, In(float(u)), Tick(k, DT, seed, instance))
        ys.append(y.y)
    return ys, s


US = np.sin(np.arange(STEPS) * 0.05)


def test_rollout_has_the_bits_of_plain_python() -> None:
    run = rollout(LAG_WORLD, Params(), {"u": US}, steps=STEPS, dt=DT, seed=5, instance=3)
    ys, s = plain(Params(), US, 5, 3)
    assert np.array_equal(run["y"], ys)
    assert run.state() == s
    assert run.units == {"y": "V", "u_late": "V"}
    assert run.t[0] == DT
    assert run.t[-1] == STEPS * DT


def test_stepper_has_the_bits_of_plain_python() -> None:
    stepper = Stepper(LAG_WORLD, Params(), dt=DT, seed=5)
    ys, s = plain(Params(), US, 5)
    assert [stepper.step(In(float(u))).y for u in US] == ys
    assert stepper.state == s


def test_a_stepper_that_was_warmed_up_is_as_it_was() -> None:
    warmed, other = (Stepper(LAG_WORLD, Params(), dt=DT, seed=5) for _ in range(2))
    for _ in range(3):
        warmed.warm()
        assert (warmed.k, warmed.state, warmed.y.tolist()) == (other.k, other.state, other.y.tolist())
        for one in (warmed, other):
            one.advance()
    assert warmed.state == other.state != Stepper(LAG_WORLD, Params(), dt=DT, seed=5).state


def test_every_instance_of_a_batch_has_the_bits_of_its_own_rollout() -> None:
    T = np.linspace(0.01, 0.2, 150)
    many = batch(LAG_WORLD, Params(), {"u": US}, steps=STEPS, dt=DT, vary={"lag.T": T}, every=1, seed=5, threads=2)
    for i in (0, 77, 149):
        one = rollout(LAG_WORLD, Params(lag=Lag(float(T[i]))), {"u": US}, steps=STEPS, dt=DT, seed=5, instance=i)
        assert np.array_equal(many["y"][:, i], one["y"])
        assert many.state(i) == one.state()


def test_ctrl_c_while_it_compiles_leaves_no_other_thread_that_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []

    def run_range(*_: object) -> None:
        called.append(threading.current_thread())
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "module", lambda plan: SimpleNamespace(run_range=run_range))
    with pytest.raises(KeyboardInterrupt):
        batch(LAG_WORLD, Params(), {"u": US}, steps=STEPS, dt=DT, vary={"lag.T": np.linspace(0.01, 0.2, 150)}, threads=4)
    assert called == [threading.current_thread()]


def test_per_instance_inputs_and_start_states() -> None:
    U = np.outer(US, np.array([1.0, -0.5, 0.25]))
    y0 = np.array([0.0, 1.0, -1.0])
    many = batch(LAG_WORLD, Params(noise=0.0), {"u": U}, steps=STEPS, dt=DT, vary_state={"y": y0}, every=3)
    for i in range(3):
        one = rollout(LAG_WORLD, Params(noise=0.0), {"u": U[:, i]}, steps=STEPS, dt=DT, state=State(y=y0[i]), every=3)
        assert np.array_equal(many["y"][:, i], one["y"])


def test_going_on_from_where_a_run_stopped_changes_nothing() -> None:
    whole = rollout(LAG_WORLD, None, {"u": US}, steps=STEPS, dt=DT)
    first = rollout(LAG_WORLD, None, {"u": US[:100]}, steps=100, dt=DT)
    rest = rollout(LAG_WORLD, None, {"u": US[100:]}, steps=STEPS - 100, dt=DT, state=first.state_rows, k0=100)
    assert np.array_equal(whole["y"], np.concatenate([first["y"], rest["y"]]))
    assert np.array_equal(whole.t, np.concatenate([first.t, rest.t]))


def test_inputs_hold_their_last_value_and_default() -> None:
    short = rollout(LAG_WORLD, None, {"u": [1.0, 0.5]}, steps=STEPS, dt=DT)
    full = rollout(LAG_WORLD, None, {"u": np.r_[1.0, np.full(STEPS - 1, 0.5)]}, steps=STEPS, dt=DT)
    assert np.array_equal(short["y"], full["y"])
    assert np.array_equal(rollout(LAG_WORLD, None, None, steps=5, dt=DT)["y"], rollout(LAG_WORLD, None, In(), steps=5, dt=DT)["y"])


def test_decimation_and_choice_of_outputs() -> None:
    whole = rollout(LAG_WORLD, None, {"u": US}, steps=STEPS, dt=DT)
    some = rollout(LAG_WORLD, None, {"u": US}, steps=STEPS, dt=DT, every=7, outputs=("y",))
    assert some.names == ("y",)
    assert np.array_equal(some["y"], whole["y"][6::7])
    assert np.array_equal(some.t, whole.t[6::7])


def test_float32_stays_close_to_float64() -> None:
    a = rollout(LAG_WORLD, None, {"u": US}, steps=STEPS, dt=DT)
    b = rollout(LAG_WORLD, None, {"u": US}, steps=STEPS, dt=DT, dtype="float32")
    assert b["y"].dtype == np.float32
    assert np.abs(a["y"] - b["y"]).max() < 1e-5


def test_tables_of_another_length_need_no_new_compilation() -> None:
    longer = Params(curve=Curve((-2.0, -1.0, 0.0, 1.0, 2.0), (-2.0, -1.0, 0.0, 1.25, 2.5)))
    a = rollout(LAG_WORLD, longer, {"u": US}, steps=STEPS, dt=DT)
    b = rollout(LAG_WORLD, Params(), {"u": US}, steps=STEPS, dt=DT)
    assert np.allclose(a["y"], b["y"], atol=1e-14)


def test_noise_depends_on_seed_and_instance_only() -> None:
    def end(seed: int, instance: int) -> float:
        return float(rollout(LAG_WORLD, None, {"u": 1.0}, steps=50, dt=DT, seed=seed, instance=instance)["y"][-1])

    assert end(1, 2) == end(1, 2)
    assert len({end(1, 2), end(1, 3), end(2, 2)}) == 3


def test_new_parameters_of_a_stepper_are_taken_whole_or_not_at_all() -> None:
    stepper = Stepper(LAG_WORLD, Params(noise=0.0), dt=DT)
    before = stepper.params
    with pytest.raises(ParameterError, match=r"lag_world\.lag\.T = 5 s .* \[0\.001, 1\] s"):
        stepper.set_params(Params(lag=Lag(5.0)))
    assert stepper.params is before


@pytest.mark.parametrize(
    ("kwargs", "error", "says"),
    [
        ({"steps": 0}, InputError, "steps = 0"),
        ({"dt": 0.0}, InputError, "dt = 0"),
        ({"dt": float("nan")}, InputError, "dt = nan"),
        ({"every": -1}, InputError, "every = -1"),
        ({"inputs": {"v": 1.0}}, InputError, "no input of lag_world named 'v'"),
        ({"inputs": {"u": [0.0, float("nan")]}}, InputError, r"'u' is nan at index \[1\]"),
        ({"inputs": {"u": np.zeros((2, 3))}}, InputError, "holds 3 instances, the run has 1"),
        ({"outputs": ("z",)}, UnknownNameError, "no output of lag_world named 'z'"),
        ({"dtype": "float16"}, UnknownNameError, "did you mean 'float"),
        ({"params": Params(lag=Lag(5.0))}, ParameterError, r"lag\.T = 5 s"),
    ],
)
def test_bad_arguments_of_a_rollout(kwargs: dict, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        rollout(LAG_WORLD, **{"steps": 10, "dt": DT, **kwargs})


@pytest.mark.parametrize(
    ("kwargs", "error", "says"),
    [
        ({}, InputError, "how many instances"),
        ({"vary": {"lag.T": [0.1, 0.2]}, "n": 3}, InputError, "lag.T has 2, n has 3"),
        ({"vary": {"lag.t": [0.1]}}, InputError, "did you mean 'lag.T'"),
        ({"vary": {"lag.T": [0.1, -1.0]}}, ParameterError, r"vary\['lag.T'\]\[1\] = -1 s .* \(1 of 2 are\)"),
        ({"n": 2, "device": "tpu"}, UnknownNameError, "no device named 'tpu'"),
    ],
)
def test_bad_arguments_of_a_batch(kwargs: dict, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        batch(LAG_WORLD, **{"steps": 10, "dt": DT, **kwargs})


def test_asking_a_run_for_what_it_did_not_store() -> None:
    run = rollout(LAG_WORLD, None, None, steps=3, dt=DT, outputs=("y",))
    with pytest.raises(UnknownNameError, match="output stored by this run"):
        run["u_late"]


def test_plot_has_one_row_per_unit_and_a_line_per_output() -> None:
    fig = rollout(LAG_WORLD, None, {"u": US}, steps=STEPS, dt=DT).plot()
    assert [trace.name for trace in fig.data] == ["y", "u_late"]
    assert fig.layout.yaxis.title.text == "[V]"


def test_a_model_of_a_lone_number_takes_it_bare() -> None:
    a = rollout(FIRST_ORDER, None, US, steps=STEPS, dt=DT)
    b = rollout(FIRST_ORDER, None, {"u": US}, steps=STEPS, dt=DT)
    s, ys = FIRST_ORDER.State(), []
    for u in US:
        s, y = FIRST_ORDER.step(FIRST_ORDER.Params(), s, float(u), DT)
        ys.append(y)
    assert np.array_equal(a["y"], ys)
    assert np.array_equal(b["y"], ys)
    assert rollout(FIRST_ORDER, None, 1.0, steps=3, dt=DT, metrics={"end": metrics.final("y")}).metrics["end"] > 0.0
    many = batch(FIRST_ORDER, None, np.outer(US, [1.0, 2.0]), steps=STEPS, dt=DT, every=STEPS)
    assert many["y"][0, 0] == ys[-1]


SEGFAULTS = [
    lambda: rollout(LAG_WORLD, FIRST_ORDER.Params(), {"u": 1.0}, steps=5, dt=DT),
    lambda: batch(LAG_WORLD, FIRST_ORDER.Params(), {"u": 1.0}, n=2, steps=5, dt=DT),
    lambda: Stepper(LAG_WORLD, FIRST_ORDER.Params(), dt=DT),
    lambda: Stepper(LAG_WORLD, dt=DT).set_params(FIRST_ORDER.Params()),
    lambda: rollout(LAG_WORLD, {"noise": 0.0}, {"u": 1.0}, steps=5, dt=DT),
    lambda: rollout(LAG_WORLD, Params(lag=FIRST_ORDER.Params()), {"u": 1.0}, steps=5, dt=DT),
    lambda: rollout(LAG_WORLD, None, FIRST_ORDER.State(), steps=5, dt=DT),
    lambda: rollout(LAG_WORLD, None, None, steps=5, dt=DT, state=FIRST_ORDER.State()),
    lambda: Stepper(LAG_WORLD, dt=DT).step(1.0),
]


@pytest.mark.parametrize("call", SEGFAULTS)
def test_records_of_another_model_are_refused(call) -> None:
    with pytest.raises(InputError, match="must be a"):
        call()


@pytest.mark.parametrize("value", [1e7, -1.0, float("nan")])
def test_a_state_outside_its_range_never_reaches_compiled_code(value: float) -> None:
    queue = MODELS["queue"]
    state = queue.State()._replace(i=value)
    with pytest.raises(ParameterError, match="queue.State.i"):
        rollout(queue, None, None, steps=5, dt=0.01, state=state)
    rows = rollout(queue, None, None, steps=5, dt=0.01).state_rows
    rows[0, 0] = value
    with pytest.raises(InputError, match="queue.State.i of instance 0"):
        rollout(queue, None, None, steps=5, dt=0.01, state=rows)
    stepper = Stepper(queue, dt=0.01)
    with pytest.raises(ParameterError):
        stepper.state = state


@pytest.mark.parametrize(
    ("kwargs", "says"),
    [
        ({"inputs": {"u": 5.0}}, r"'u' is 5 V at index \[0\], outside its legal range; allowed \[-2, 2\] V"),
        ({"inputs": In(u=-9.0)}, "'u' is -9 V"),
        ({"steps": 1.5}, "steps = 1.5; it must be a whole number"),
        ({"seed": 0.5}, "seed = 0.5"),
        ({"metrics": {"a": "max"}}, r"metrics\['a'\] = 'max'; give one of pushrod.metrics"),
        ({"metrics": {"a": metrics.settling_time("y", 1.0, -1.0)}}, "band = -1"),
    ],
)
def test_more_bad_arguments(kwargs: dict, says: str) -> None:
    with pytest.raises((InputError, ParameterError), match=says):
        rollout(LAG_WORLD, **{"steps": 10, "dt": DT, **kwargs})


@pytest.mark.parametrize(
    ("kwargs", "error"), [({"dt": 0.0}, InputError), ({"dt": float("nan")}, InputError), ({"dt": DT, "dtype": "f4"}, UnknownNameError)]
)
def test_a_stepper_checks_what_a_rollout_checks(kwargs: dict, error: type[Exception]) -> None:
    with pytest.raises(error):
        Stepper(LAG_WORLD, **kwargs)


def test_a_stepper_refuses_what_is_not_finite_and_stays_where_it_was() -> None:
    stepper = Stepper(LAG_WORLD, dt=DT)
    with pytest.raises(InputError, match="must be finite"):
        stepper.step(In(float("nan")))
    assert stepper.k == 0


def test_a_run_is_told_in_one_line() -> None:
    run = rollout(LAG_WORLD, None, {"u": US}, steps=STEPS, dt=DT, metrics={"peak": metrics.maximum("y")})
    assert repr(run) == "<Run of lag_world: 300 ticks of 0.001 s, 300 records of y, u_late, metrics peak>"


def test_a_cache_folder_that_cannot_be_used_is_said(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PUSHROD_CACHE", str(tmp_path / "file"))
    with pytest.raises(CacheError, match="set PUSHROD_CACHE to a folder"):
        rollout(LAG_WORLD, None, None, steps=3, dt=DT, outputs=("u_late",), dtype="float32")
