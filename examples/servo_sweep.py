"""How does dead time on the bus change a drive? One run to look at, ten thousand to know.

python examples/servo_sweep.py
"""

import numpy as np

from pushrod import batch, metrics, rollout
from pushrod.sim.worlds.servo import SERVO, Params

request = {"torque_req": np.where(np.arange(2000) < 1000, 1.0, -1.0)}  # N.m, turned round after a second

run = rollout(SERVO, Params(noise=0.02), request, steps=2000, dt=1e-3)
run.plot("torque_req", "torque_ach", "w").write_html("servo.html", include_plotlyjs=True)
print(f"fastest {run['w'].max():.2f} {run.units['w']}; the picture is in servo.html")

delays = np.linspace(0.0, 0.0149, 10_000)
wanted = {"fastest": metrics.maximum("w"), "back": metrics.crossing_time("w", -1.0, falling=True)}
many = batch(SERVO, Params(noise=0.02), request, steps=2000, dt=1e-3, vary={"bus.delay": delays}, metrics=wanted)
fit = np.polyfit(delays, many.metrics["back"], 1)
print(f"{many.n} runs of 2000 ticks in {many.seconds:.2f} s: each ms of delay costs {fit[0]:.2f} ms on the way back")
