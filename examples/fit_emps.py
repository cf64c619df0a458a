"""A ball-screw drive from its public recordings (EMPS): mass and friction, found inside its position loop, judged on a run with pulses of force.

    python examples/fit_emps.py FOLDER        with DATA_EMPS.mat and DATA_EMPS_PULSES.mat in it

The recordings are those of Janot, Gautier and Brunot, "Data set and reference models of EMPS" (nonlinearbenchmark.org). The voltage of the
controller is held until the next tick: what was applied over a tick stands at its end here. Nothing but DATA_EMPS is fitted to: inside the loop, and
then, for who wants to foretell without one, once more as the open axis that the recorded voltage drives.
"""

import sys
from pathlib import Path

import numpy as np

from pushrod import identify, log
from pushrod.compiled.rollout import rollout
from pushrod.core.record import put
from pushrod.identify.ladder import Climb, Step, climb
from pushrod.identify.rung import Log
from pushrod.identify.rungs_axis import axis
from pushrod.sim.worlds.linear_axis import LINEAR_AXIS

H = 1e-3  # s, the controller's period
KP, KV, GAIN, U_MAX = 160.18, 243.45, 35.15, 10.0
INITIAL = 20  # samples that the benchmark leaves out of its open-loop figure
NOISE = {"q": 2e-6, "u": 0.06}  # m, V: about what the best rung leaves, so that both count
OPEN_NOISE = {"q": 2e-3}  # m, likewise of the open axis
MORE = 0.6  # N, to see what the open axis makes of it
SETTLED = 100  # ticks after which a speed counts as steady


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


def refitted(step: Step, d: dict[str, np.ndarray]) -> identify.Fit:
    """A rung, from where the loop left it, by the open axis: the recorded voltage drives it from the first sample to the last."""
    first, params = start(d), with_values(step.fit.values)
    for path, value in {"loop.closed": 0.0, "gain": GAIN}.items():
        params = put(params, path, value)
    columns, states = {"t": d["t"], "vir": d["vir"], "qm": d["qm"]}, {"body.q": first["q"], "body.v": first["v"]}
    run = identify.trial(LINEAR_AXIS, columns, inputs={"volts": "vir"}, outputs={"q": "qm"}, start=states, dt=H, name="open axis")
    return identify.fit(identify.Problem(LINEAR_AXIS, [run], step.rung.free, params=params, noise=OPEN_NOISE), search=False)


def steady(d: dict[str, np.ndarray]) -> dict[float, float]:
    """Mean force [N] at each steady speed asked for [m/s], a tenth of a second after it was reached: friction without any model."""
    v = np.round(np.gradient(d["qg"], H), 4)
    even = np.convolve(np.abs(np.gradient(v, H)) < 1e-6, np.ones(SETTLED), "full")[: len(v)] > SETTLED - 0.5
    speeds = np.unique(np.round(v[even & (np.abs(v) > 0.01)], 3))
    return {float(speed): float(np.mean(GAIN * d["vir"][even & (np.abs(v - speed) < 2e-3)])) for speed in speeds}


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


def tell(values: dict[str, float], pulses: dict[str, np.ndarray]) -> None:
    told = ", ".join(f"{name} {value:.2f}" for name, value in parameters(values).items())
    extra = ", ".join(f"{name} {values[name]:.3g}" for name in ("body.drop", "body.v_s", "amplifier.delay", "body.k") if name in values)
    judged = figures(with_values(values), pulses)
    print(f"         {told} {extra}".rstrip())
    print(f"         on the pulses: closed loop {judged['mm']:.5f} mm, {judged['N']:.2f} N; open loop {judged['open mm']:.2f} mm")


def main(folder: Path) -> None:
    training, pulses = (read(folder / f"{name}.mat") for name in ("DATA_EMPS", "DATA_EMPS_PULSES"))
    found = fitted(folder)
    for step in found.steps:
        print(f"{step.rung.name:8} {step.rung.about} ({step.fit.seconds:.0f} s)")
        tell(step.fit.values, pulses)
    print(f"simplest that is not beaten: {found.recommended.rung.name}")
    by_name = {step.rung.name: step for step in found.steps}
    print("\nslow, fitted once more as the open axis")
    tell(refitted(by_name["slow"], training).values, pulses)
    late = by_name["late"].fit.values
    print(f"\nlate, with {MORE} N more Coulomb friction than DATA_EMPS tells")
    tell(late | {"body.Fc": late["body.Fc"] + MORE}, pulses)
    print("\nmean force at steady speed [N]: DATA_EMPS, DATA_EMPS_PULSES")
    there = steady(pulses)
    for speed, force in steady(training).items():
        print(f"{speed:+7.3f} m/s {force:8.2f} {there[speed]:8.2f}")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(Path(sys.argv[1]))
    else:
        print("python examples/fit_emps.py FOLDER, with DATA_EMPS.mat and DATA_EMPS_PULSES.mat of the public EMPS benchmark in it")
