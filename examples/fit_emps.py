"""A ball-screw drive from its public recordings (EMPS): mass and friction, found inside its position loop, judged on a run with pulses of force.

    python examples/fit_emps.py FOLDER        with DATA_EMPS.mat and DATA_EMPS_PULSES.mat in it

The recordings are those of Janot, Gautier and Brunot, "Data set and reference models of EMPS" (nonlinearbenchmark.org). The voltage of the
controller is held until the next tick: what was applied over a tick stands at its end here. Nothing but DATA_EMPS is fitted to.
"""

import sys
from pathlib import Path

import numpy as np

from pushrod import log
from pushrod.compiled.rollout import rollout
from pushrod.core.record import put
from pushrod.identify.ladder import Climb, climb
from pushrod.identify.rung import Log
from pushrod.identify.rungs_axis import axis
from pushrod.sim.worlds.linear_axis import LINEAR_AXIS

H = 1e-3  # s, the controller's period
KP, KV, GAIN, U_MAX = 160.18, 243.45, 35.15, 10.0
INITIAL = 20  # samples that the benchmark leaves out of its open-loop figure
NOISE = {"q": 2e-6, "u": 0.06}  # m, V: about what the best rung leaves, so that both count


def read(file: Path) -> dict[str, np.ndarray]:
    table = log.read(file)
    n = len(table["qm"])
    pulses = table["pulses_N"].values if "pulses_N" in table else np.zeros(n)  # volts in truth, and already inside vir
    return {name: table[name].values for name in ("qm", "qg", "vir")} | {"t": H * np.arange(n), "pulses": pulses}


def start(d: dict[str, np.ndarray]) -> dict[str, float]:
    """Position and speed at the first sample, and what the controller's filter saw before it."""
    q, v = float(d["qm"][0]), float(np.polyfit(H * np.arange(4), d["qm"][:4], 2)[1])
    return {"q": q, "v": v, "q_last": q - v * H, "qf_last": q - 1.5 * v * H}


def recording(d: dict[str, np.ndarray], name: str) -> Log:
    columns = {"t": d["t"], "qg": d["qg"], "qm": d["qm"], "pulses": d["pulses"], "held": np.concatenate((d["vir"][:1], d["vir"][:-1]))}
    facts = {"kp": KP, "kv": KV, "gain": GAIN, "u_max": U_MAX}
    return Log(columns, {"ref": "qg", "extra": "pulses", "q": "qm", "u": "held"}, facts, start(d), name)


def simulated(params, d: dict[str, np.ndarray], closed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Position and voltage at every sample."""
    first, state = start(d), LINEAR_AXIS.State()
    for path, name in (("body.q", "q"), ("body.v", "v"), ("q_last", "q_last"), ("qf_last", "qf_last")):
        state = put(state, path, first[name])
    for path, value in {"loop.kp": KP, "loop.kv": KV, "loop.u_max": U_MAX, "loop.closed": float(closed), "gain": GAIN}.items():
        params = put(params, path, value)
    inputs = {"ref": d["qg"], "extra": d["pulses"]} if closed else {"volts": d["vir"]}
    run = rollout(LINEAR_AXIS, params, inputs, steps=len(d["t"]), dt=H, state=put(state, "amplifier.u.u", float(d["vir"][0])))
    return np.concatenate((d["qm"][:1], run["q"][:-1])), run["u"]


def rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x * x)))


def figures(params, d: dict[str, np.ndarray]) -> dict[str, float]:
    """Closed loop: RMS of position [mm] and of force [N] over all samples. Open loop: RMS of position [mm] after the initial samples."""
    q, u = simulated(params, d, closed=True)
    opened, _ = simulated(params, d, closed=False)
    return {"mm": 1e3 * rms(d["qm"] - q), "N": rms(GAIN * (d["vir"] - u)), "open mm": 1e3 * rms((d["qm"] - opened)[INITIAL:])}


def fitted(folder: Path, rungs: list[str] | None = None) -> Climb:
    """Each rung starts where the one before it ended, near enough for least squares alone."""
    parts = [recording(read(folder / f"{name}.mat"), name) for name in ("DATA_EMPS", "DATA_EMPS_PULSES")]
    return climb(axis(mass=100.0, force=100.0, speed=0.5), parts[:1], parts[1:], rungs=rungs, noise=NOISE, loss="linear", dt=H, search=False)


def parameters(values: dict[str, float]) -> dict[str, float]:
    """The names of the literature: viscous and Coulomb friction in each direction."""
    Fv, Fc = values["body.Fv"], values["body.Fc"]
    skew_v, skew_c = values.get("body.skew_v", 0.0), values.get("body.skew_c", 0.0)
    return {"M": values["body.M"], "Fv+": Fv * (1 + skew_v), "Fv-": Fv * (1 - skew_v), "Fc+": Fc * (1 + skew_c), "Fc-": Fc * (1 - skew_c)}


def with_values(values: dict[str, float]):
    params = LINEAR_AXIS.Params()
    for path, value in values.items():
        params = put(params, path, value)
    return params


def main(folder: Path) -> None:
    pulses = read(folder / "DATA_EMPS_PULSES.mat")
    found = fitted(folder)
    for step in found.steps:
        told = ", ".join(f"{name} {value:.2f}" for name, value in parameters(step.fit.values).items())
        extra = ", ".join(
            f"{name} {step.fit.values[name]:.3g}" for name in ("body.drop", "body.v_s", "amplifier.delay", "body.k") if name in step.fit.values
        )
        judged = figures(with_values(step.fit.values), pulses)
        print(f"{step.rung.name:8} {step.rung.about} ({step.fit.seconds:.0f} s)\n         {told} {extra}")
        print(f"         on the pulses: closed loop {judged['mm']:.5f} mm, {judged['N']:.2f} N; open loop {judged['open mm']:.2f} mm")
    print(f"simplest that is not beaten: {found.recommended.rung.name}")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(Path(sys.argv[1]))
    else:
        print("python examples/fit_emps.py FOLDER, with DATA_EMPS.mat and DATA_EMPS_PULSES.mat of the public EMPS benchmark in it")
