"""Actual output of an effector, as a share of its full output, from what the robot measures."""

from pushrod.dash.watch import Watch
from pushrod.live.world_node import WORLD
from pushrod.models import thruster
from pushrod.sim.worlds.hull import seen_command

STANDING = 2e-3  # share of the full rotor speed below which a rotor counts as standing


def actual_output(watch: Watch, effector: str) -> float | None:
    """Return the output between -1 and 1; None where the robot does not measure it.

    The rotor speed or thrust of a simulated world comes first: a thruster with an announced fault reports its command, not its output.
    """
    now = watch.now
    n, n_max = now.get(f"{effector}.n"), _parameter(watch, f"{effector}.n_max")
    if n is not None and n_max:
        p = thruster.Params(dead=_parameter(watch, f"{effector}.dead") or 0.0, n_max=n_max)
        return float(seen_command(p, n, 1.0)) if abs(n) > STANDING * n_max else 0.0
    thrust, full = now.get(f"F.{effector}"), _parameter(watch, "rotor.F_ahead")
    if thrust is not None and full:
        return thrust / full
    state = watch.thrusters.get(effector)
    if state is None or state.health == 0.0:  # a thruster that reports no health left reports no output either
        return None
    return state.u if state.health is None else state.u * state.health


def _parameter(watch: Watch, path: str) -> float | None:
    """Return the value of a parameter of the simulated world."""
    return next((entry["value"] for entry in watch.parameters if entry["path"] == f"{WORLD}.{path}"), None)
