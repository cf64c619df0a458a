"""The loss that leaves the kernel is the one that residuals add up to, and plain Python gives the same."""

import numpy as np
import pytest
from fit_rig import names, recorded, rich

from pushrod import identify
from pushrod.compiled.rollout import rollout
from pushrod.core.model import Tick
from pushrod.core.pick import Pick
from pushrod.core.record import put
from pushrod.identify import scored
from pushrod.models.servo import SERVO
from pushrod.models.servo import Out as ServoOut

DT = 0.002
GOAL = rich(200, DT)


def problem(loss: str = "linear", offsets: tuple[str, ...] = ()) -> identify.Problem:
    data = recorded(SERVO, put(SERVO.Params(), "J", 0.02), {"goal": GOAL}, DT, ("q", "w"))
    uneven = data["t"] + 0.3 * DT * np.sin(np.arange(len(data["t"])))
    one = identify.trial(SERVO, data | {"t": uneven}, **names(SERVO, {"goal": GOAL}, ("q", "w")), dt=DT)
    return identify.Problem(SERVO, [one], {"J": None, "kp": (1.0, 50.0)}, offsets=offsets, loss=loss, loss_scale=1.5)


@pytest.mark.parametrize("loss", scored.LOSSES)
def test_the_loss_of_a_population_is_that_of_its_residuals(loss: str) -> None:
    from scipy.optimize import least_squares

    made = problem(loss)
    Z = np.array([[0.6, 0.5], made.guess, [0.55, 0.3]])
    by_hand = [2.0 * least_squares(lambda x, z=z: made.residuals(z), np.zeros(1), loss=loss, f_scale=1.5, max_nfev=1).cost for z in Z]
    assert made.losses(Z) == pytest.approx(by_hand, rel=1e-9)


def test_with_offsets_it_is_the_least_over_all_of_them() -> None:
    made = problem(offsets=("q", "w"))
    z = made.guess
    errors = made.errors(z)[0]
    best = {path: -float(np.average(e, weights=made.trials[0].outputs[path].count)) for path, e in errors.items()}
    for j, f in enumerate(made.free):
        z[j] = f.place(best[f.path]) if f.of == "offset" else z[j]
    assert made.losses(z[None])[0] == pytest.approx(float(np.sum(made.residuals(z) ** 2)), rel=1e-9)


def test_the_jacobian_is_the_slope_of_the_residuals() -> None:
    made = problem(offsets=("q",))
    z = np.array([0.61, 0.4, 0.5])
    J = made.jacobian(z)
    for j in range(3):
        up, down = z.copy(), z.copy()
        up[j], down[j] = z[j] + 1e-4, z[j] - 1e-4
        slope = (made.residuals(up) - made.residuals(down)) / 2e-4
        assert J[:, j] == pytest.approx(slope, rel=0.05, abs=0.02 * float(np.max(np.abs(slope))))


def test_the_scored_step_is_the_same_in_plain_python() -> None:
    made = scored.of(SERVO, ("q",))
    world = made.world
    ticks = 40
    inputs = {"u.goal": GOAL[:ticks], "data.y0.value": np.sin(np.arange(ticks)), "data.y0.weight": np.ones(ticks), "data.y0.a": np.full(ticks, 0.4)}
    measures = made.measures("linear", 1.0, ())
    run = rollout(world, None, inputs, steps=ticks, dt=DT, metrics=measures)
    (measure,) = measures.values()
    s, m, total = world.State(), measure.metric.State(), None
    for k in range(ticks):
        u = world.In()
        for path, values in inputs.items():
            u = put(u, path, float(values[k]))
        s, y = world.step(world.Params(), s, u, Tick(k, DT))
        m = measure.metric.fold(measure.params, m, y, Tick(k, DT))
        total = measure.metric.finish(measure.params, m, Tick(k, DT))
    assert run.metrics["q"] == total
    assert run["now.y0"][-1] == y.now.y0


def test_a_pick_puts_numbers_of_one_record_into_another() -> None:
    pair = scored._record("Pair", [("a", scored.Sample.__annotations__["value"]), ("b", scored.Sample.__annotations__["value"])], 0.0)
    assert Pick(pair, ("w", "torque"))(ServoOut(q=1.0, w=2.0, torque=3.0)) == (2.0, 3.0)


def test_one_compiled_world_serves_every_problem_of_its_outputs() -> None:
    assert scored.of(SERVO, ("q",)) is scored.of(SERVO, ("q",))
