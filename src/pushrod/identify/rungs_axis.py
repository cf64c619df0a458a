"""The ladder of a linear axis inside its position loop: what moves, and how its friction differs by direction and speed.

Known of each recording: kp [1/s], kv [V.s/m] and u_max [V] of the controller, gain of the amplifier [N/V]. Compared are position q and the voltage u
of the controller: inside a good loop the position alone hides what is wrong with a model.
"""

from pushrod.identify.rung import Kind, Ladder, Range, Rung
from pushrod.sim.worlds import linear_axis

KIND = Kind(
    linear_axis.LINEAR_AXIS,
    {"kp": "loop.kp", "kv": "loop.kv", "u_max": "loop.u_max", "gain": "gain", "closed": "loop.closed"},
    {"q": ("body.q",), "v": ("body.v",), "q_last": ("q_last",), "qf_last": ("qf_last",)},
)


def axis(mass: float = 100.0, force: float = 100.0, speed: float = 0.5) -> Ladder:
    """The ladder for axes of about this mass [kg], which forces of this size [N] move at this speed [m/s]."""
    moving: dict[str, Range] = {"body.M": (0.1 * mass, 10.0 * mass), "body.Fv": (0.0, 5.0 * force / speed), "body.Fc": (0.0, force)}
    even: dict[str, Range] = {**moving, "body.offset": (-force, force)}
    uneven: dict[str, Range] = {**moving, "body.skew_v": (-0.9, 0.9), "body.skew_c": (-0.9, 0.9)}
    slow: dict[str, Range] = {"body.drop": (-2.0, 1.0), "body.v_s": (1e-3 * speed, speed)}
    late: dict[str, Range] = {"amplifier.delay": (0.0, 5e-3)}
    pulled: dict[str, Range] = {"body.k": (0.0, force)}
    guess = {"body.M": mass, "body.Fv": 0.3 * force / speed, "body.Fc": 0.2 * force, "body.offset": 0.0}
    at_rest = {"body.offset": 0.0, "body.drop": 0.2, "body.v_s": 0.03 * speed}
    return Ladder(
        "axis",
        "a linear axis inside its position loop",
        {"ref": "position asked for", "extra": "voltage added to the controller's", "volts": "voltage of the open axis"},
        ("q", "u"),
        (
            Rung("even", "mass, viscous and Coulomb friction, offset", KIND, even, guess),
            Rung("uneven", "friction of its own in each direction instead of an offset", KIND, uneven, {"body.offset": 0.0}),
            Rung("slow", "+ other friction at low speed", KIND, {**uneven, **slow}, at_rest),
            Rung("late", "+ delay of the amplifier", KIND, {**uneven, **slow, **late}, {"amplifier.delay": 2e-4}),
            Rung("pulled", "+ stiffness of what pulls it back", KIND, {**uneven, **slow, **late, **pulled}, {"body.k": 0.05 * force}),
        ),
    )
