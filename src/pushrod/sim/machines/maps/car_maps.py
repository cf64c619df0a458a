"""Pedal maps of the shipped car, from a formula: a mid-size electric car with mild lift-off regeneration. Run to write them anew.

    coast(v)    = -(g c_r + r) (1 - exp(-v / v_0)) - k v^2                          released pedals
    accel(p, v) = coast(v) + (0.6 p + 0.4 p^2) min(a_max, P / v)                    torque limit, then power limit
    brake(b, v) = coast(v) - b_max (0.7 b + 0.3 b^2) (1 - q v)                      friction brakes, fading a little with speed

v speed [m/s]; p, b pedals, 0 released to 1 floored; accelerations [m/s2], positive forward. At rest a released pedal neither creeps nor
rolls. The brake map starts where the accel map ends, so that the hand-over from one pedal to the other has no step.
"""

import math
from pathlib import Path

G_CR = 9.81 * 0.009  # [m/s2] rolling resistance, c_r = 0.009
R = 0.25  # [m/s2] regeneration with the pedal released
V_0 = 0.8  # [m/s] below this both fade out
K = 0.5 * 1.2 * 0.62 / 1750.0  # [1/m] air drag: density 1.2 kg/m3, drag area 0.62 m2, mass 1750 kg
A_MAX = 4.2  # [m/s2] of the motor at its torque limit
P = 150e3 / 1750.0  # [m2/s3] motor power per mass
B_MAX = 9.0  # [m/s2] of the brakes at rest
Q = 0.0025  # [s/m] fading

PEDAL = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SPEED = (0.0, 0.4, 0.8, 1.5, 2.5, 4.0, 6.0, 8.0, 11.0, 14.0, 18.0, 22.0, 26.0, 30.0, 35.0, 40.0, 45.0, 50.0)


def coast(v: float) -> float:
    return -(G_CR + R) * (1.0 - math.exp(-v / V_0)) - K * v * v


def accel(p: float, v: float) -> float:
    return coast(v) + (0.6 * p + 0.4 * p * p) * min(A_MAX, P / max(v, 1e-9))


def brake(b: float, v: float) -> float:
    return coast(v) - B_MAX * (0.7 * b + 0.3 * b * b) * (1.0 - Q * v)


MAPS = {"car_accel.csv": accel, "car_brake.csv": brake}


def text(name: str) -> str:
    """The CSV file of that name."""
    lines = ["default," + ",".join(f"{v:g}" for v in SPEED)]
    # adding 0.0 turns a rounded -0.0 into 0.0
    lines += [f"{x:g}," + ",".join(f"{round(MAPS[name](x, v), 4) + 0.0:g}" for v in SPEED) for x in PEDAL]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name in MAPS:
        (Path(__file__).parent / name).write_text(text(name), encoding="utf-8")
