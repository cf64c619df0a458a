"""A hobby servo on a pendulum bench, from its recordings: a ladder of models, each judged on the gain that it was not fitted to.

    python examples/fit_xl330.py FOLDER                     the rungs that matter, leaving out one kp after the other
    python examples/fit_xl330.py FOLDER delay,M3,growth 2     these rungs, 2 seeds

The recordings are JSON files as Rhoban's BAM writes them (one `entries` record a sample; kp, mass, length and vin beside them). They are put on one
grid of 5 ms by straight lines, as the public fits do. The error of a recording is the mean absolute difference of position over all of it, of one run
from its first position and speed that is told the goal and the switch alone.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np

from pushrod import log
from pushrod.identify.ladder import Climb, Step, climb
from pushrod.identify.rung import Log, Rung
from pushrod.identify.rungs_servo import servo
from pushrod.identify.search import Progress

GRID = 0.005  # s
DUTY = 4096.0 / (2.0 * np.pi) / (256.0 * 885.0)  # duty per radian at kp = 1: counts a turn, over the scale of the gain and of the PWM
RUNGS = ("delay", "M4", "M6", "source", "growth", "uneven")
NOISE = {"q": 0.01}  # rad: half of it is where an error begins to count by its size rather than its square


def recording(file: Path) -> Log:
    table = log.read(file)
    about = table.metadata["file"]
    t = np.arange(0.0, table["position"].t[-1], GRID)

    def on_grid(name: str) -> np.ndarray:
        one = table[name]
        slope = (one.values[1] - one.values[0]) / (one.t[1] - one.t[0])
        return np.where(t < one.t[0], one.values[0] + slope * (t - one.t[0]), np.interp(t, one.t, one.values))

    q, w = on_grid("position"), on_grid("speed")
    columns = {"t": t, "q": q, "goal": on_grid("goal_position"), "on": (on_grid("torque_enable") > 0.5).astype(float)}
    facts = {"kp": float(about["kp"]) * DUTY, "m": float(about["mass"]), "l": float(about["length"]), "volts": float(about["vin"])}
    start = {"q": float(q[0]), "w": float(w[0])}
    return Log(
        columns,
        {"goal": "goal", "enabled": "on", "q": "q"},
        facts,
        start,
        f"kp {about['kp']} {about['trajectory']}",
        {"trajectory": about["trajectory"]},
    )


def recordings(folder: Path) -> list[Log]:
    return [recording(file) for file in sorted(folder.glob("*.json"))]


def without(logs: list[Log], kp: float, rungs: tuple[str, ...] = RUNGS, seeds: int = 5, **how) -> Climb:
    """The ladder fitted to all recordings but those with this gain, which judge it."""
    fitted = [one for one in logs if one.facts["kp"] != kp]
    judging = [one for one in logs if one.facts["kp"] == kp]
    return climb(servo(fitted[0].facts), fitted, judging, rungs=rungs, noise=NOISE, loss="soft_l1", loss_scale=0.5, dt=GRID, seeds=seeds, **how)


def main(folder: Path, rungs: tuple[str, ...] = RUNGS, seeds: int = 5) -> None:
    logs = recordings(folder)
    gains = sorted({one.facts["kp"] for one in logs})
    heads = [f"kp {kp / DUTY:.0f} left out" for kp in gains]
    climbs = [without(logs, kp, rungs, seeds, told=partial(tell, head)) for kp, head in zip(gains, heads, strict=True)]
    print(f"error [rad] on what was left out of the training in turn: on the gain left out, by the seed so chosen (min, median, max of {seeds})")
    print(f"{'rung':8}" + "".join(f"{head:>42}" for head in heads) + f"{'mean':>9}{'longest fit':>13}")
    for i, name in enumerate(rungs):
        steps = [one.steps[i] for one in climbs]
        print(f"{name:8}" + "".join(f"{cell(s):>42}" for s in steps), end="")
        print(f"{np.mean([s.held_error for s in steps]):9.4f}{max(s.fit.seconds for s in steps):11.0f} s")
    chosen = [one.recommended for one in climbs]
    errors = ", ".join(f"{step.rung.name} {step.held_error:.4f} (median of its seeds {np.median(step.held_by_seed):.4f})" for step in chosen)
    print(f"recommended with each gain left out: {errors}; mean {np.mean([step.held_error for step in chosen]):.4f}")


def cell(s: Step) -> str:
    spread = ", ".join(f"{error:.4f}" for error in (min(s.held_by_seed), np.median(s.held_by_seed), max(s.held_by_seed)))
    return f"{s.left_out_error:.4f}: {s.held_error:.4f} ({spread})"


def tell(head: str, rung: Rung, progress: Progress) -> None:
    if progress.done == 1.0 and progress.seed + 1 == progress.seeds:
        print(f"{head}: {rung.name}, loss {progress.loss:.4f}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]), *([tuple(sys.argv[2].split(","))] if len(sys.argv) > 2 else []), *map(int, sys.argv[3:4]))
    else:
        print("python examples/fit_xl330.py FOLDER, with recordings of a servo on a pendulum bench (JSON of Rhoban's BAM) in it")
