"""The ladder of a position servo that swings a weight: from a lag to a motor with every kind of friction, M1 to M6 of Rhoban's BAM among them.

Known of each recording: kp (duty per radian [1/rad]), m and l of the weight [kg, m], volts of the supply [V]. The ranges follow the load: m g l is
the torque that the servo is known to lift, m l^2 the inertia that it is known to swing.
"""

from collections.abc import Mapping

from pushrod.identify.rung import Kind, Ladder, Range, Rung
from pushrod.sim.worlds import lag, servo_bench

TYPICAL = {"kp": 1.0, "m": 0.5, "l": 0.1, "volts": 7.4}  # where a recording does not say


def servo(facts: Mapping[str, float] = TYPICAL, scheduled: bool = True, delay: float = 0.05) -> Ladder:
    """The ladder for servos of the size that these facts tell. `scheduled`: recordings differ in kp, and the lag may follow it."""
    f = {**TYPICAL, **facts}
    torque = max(f["m"] * servo_bench.G * f["l"], 1e-3)
    inertia = max(f["m"] * f["l"] * f["l"], 1e-6)
    # a servo that lifts this at 10 rad/s looks like volts^2 / power to its supply; one with more than a tenth of that would be no supply
    sagging = 0.1 * f["volts"] * f["volts"] / (10.0 * torque)
    outside = Kind(lag.LAG, {"kp": "lag.k"}, {"q": ("q",)})
    bench = Kind(
        servo_bench.SERVO_BENCH,
        {"kp": "drive.kp", "m": "load.m", "l": "load.l", "volts": "drive.motor.v_max"},
        {"q": ("drive.q",), "w": ("drive.w", "drive.w_g")},
    )
    follows: dict[str, Range] = {"lag.n": (0.0, 2.0), "lag.a": (0.0, 10.0)} if scheduled else {}
    lagging: dict[str, Range] = {"lag.T_0": (1e-3, 10.0), "lag.K_0": (0.05, 2.0), "lag.bias": (-0.5, 0.5), **follows}
    late: dict[str, Range] = {"bus.delay": (0.0, delay)}
    later: dict[str, Range] = {"bus.delay": (0.0, 4.0 * delay)}  # a lag takes what is of higher order for delay
    limited: dict[str, Range] = {"lag.rate": (0.1, 100.0)}
    motor: dict[str, Range] = {
        **late,
        "load.q_0": (-0.1, 0.1),
        "drive.motor.k": (f["volts"] / 100.0, f["volts"]),
        "drive.motor.R": (0.1, 100.0),
        "drive.J": (0.01 * inertia, 5.0 * inertia),
        "drive.drag.c": (0.0, 0.3 * torque),
        "drive.drag.b": (0.0, 0.3 * torque),
    }
    stribeck: dict[str, Range] = {"drive.drag.s": (0.0, 0.3 * torque), "drive.drag.w_s": (0.01, 10.0)}
    loaded: dict[str, Range] = {"drive.drag.mu": (0.0, 0.8)}
    loaded_at_rest: dict[str, Range] = {"drive.drag.mu_s": (0.0, 0.8)}
    sides: dict[str, Range] = {"drive.drag.mu_m": (0.0, 0.8), "drive.drag.mu_e": (0.0, 0.8)}
    quadratic: dict[str, Range] = {"drive.drag.mu_q": (0.0, 2.0 / torque)}
    uneven: dict[str, Range] = {"drive.drag.skew_c": (-0.5, 0.5), "drive.drag.skew_b": (-0.5, 0.5)}
    source: dict[str, Range] = {"drive.R_s": (0.0, sagging)}
    current: dict[str, Range] = {"drive.motor.i_max": (0.05, 20.0)}
    growing: dict[str, Range] = {"drive.heat": (0.0, 10.0)}
    play: dict[str, Range] = {"drive.play": (0.0, 0.1)}
    at = {"lag.k_0": f["kp"]}
    at_once = {"drive.T_r": 0.01}  # with the current, not with the heat of a winding
    m4 = motor | stribeck | loaded | loaded_at_rest
    m6 = m4 | sides | quadratic | uneven
    return Ladder(
        "servo",
        "from the goal of a position servo to the angle of its output, which swings a weight",
        {"goal": "angle asked for", "enabled": "the bridge is switched on"},
        ("q",),
        (
            Rung("lag", "first-order lag" + (", gain and lag by kp" if scheduled else ""), outside, lagging, at),
            Rung("delay", "+ transport delay", outside, lagging | later, at),
            Rung("rate", "+ rate limit", outside, lagging | later | limited, at),
            Rung("band", "+ dead zone", outside, lagging | later | limited | {"lag.band": (0.0, 0.3)}, at),
            Rung("M1", "DC motor, Coulomb and viscous friction", bench, motor),
            Rung("M2", "+ Stribeck friction", bench, motor | stribeck),
            Rung("M3", "+ load-dependent friction", bench, motor | stribeck | loaded),
            Rung("M4", "+ more of that at rest", bench, m4),
            Rung("M5", "+ of the motor's torque and the load's apart", bench, m4 | sides),
            Rung("M6", "+ quadratic in the load, and by direction", bench, m6),
            Rung("source", "M4 + effective supply resistance", bench, m4 | source),
            Rung("current", "M4 + current limit", bench, m4 | current),
            Rung("growth", "M4 + resistance that grows with the current", bench, m4 | growing, at_once),
            Rung("uneven", "+ friction by direction", bench, m4 | growing | uneven, at_once),
            Rung("play", "+ backlash", bench, m4 | growing | uneven | play, at_once),
        ),
    )
