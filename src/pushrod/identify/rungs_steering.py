"""The ladder of a steering, from the tyre angle asked for to that of the tyre: first order, second order, mechanical.

The mechanical one has its torques in a unit of its own, which the inertia sets: that is not fitted.
"""

from pushrod.identify.rung import Kind, Ladder, Range, Rung
from pushrod.sim.worlds import lag
from pushrod.sim.worlds import steering as wheels


def steering(delay: float = 0.3) -> Ladder:
    """`delay`: the longest that is looked for [s]."""
    first = Kind(lag.LAG, {}, {"q": ("q",)})
    second = Kind(wheels.SECOND_ORDER_STEERING, {}, {"q": ("wheel.y",)})
    mechanical = Kind(wheels.MECHANICAL_STEERING, {}, {"q": ("wheel.pos", "wheel.prev_tire_des")})
    late: dict[str, Range] = {"bus.delay": (0.0, delay)}
    lagging: dict[str, Range] = {**late, "lag.T_0": (1e-3, 3.0), "lag.K_0": (0.5, 1.5), "lag.bias": (-0.1, 0.1)}
    swinging: dict[str, Range] = {**late, "wheel.w": (0.5, 100.0), "wheel.z": (0.1, 5.0), "wheel.K": (0.5, 1.5), "wheel.bias": (-0.1, 0.1)}
    return Ladder(
        "steering",
        "from the tyre angle asked for to that of the tyre",
        {"goal": "tyre angle asked for", "v": "speed of the car"},
        ("q",),
        (
            Rung("first", "delay and first-order lag", first, lagging),
            Rung("limited", "+ rate limit and dead band", first, {**lagging, "lag.rate": (0.05, 10.0), "lag.band": (0.0, 0.05)}),
            Rung("second", "delay, second order and rate limit", second, {**swinging, "wheel.rate": (0.05, 10.0)}),
            Rung(
                "mechanical",
                "delay, controller, power steering, wheel with friction and dead zone",
                mechanical,
                {
                    **late,
                    "wheel.kp": (10.0, 5000.0),
                    "wheel.ki": (0.0, 100.0),
                    "wheel.damping": (1.0, 2000.0),
                    "wheel.stiffness": (0.0, 100.0),
                    "wheel.friction": (0.0, 20.0),
                    "wheel.dead_zone_threshold": (0.0, 10.0),
                    "wheel.steering_torque_limit": (1.0, 1000.0),
                },
            ),
        ),
    )
