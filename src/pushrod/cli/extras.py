"""Optional dependencies of verbs: every extra that is missing is named in one message, with one command that installs them all."""

import importlib.util

from pushrod.core.errors import InputError

EXTRAS = {  # the module that each extra installs, and what it is for
    "net": ("zenoh", "network"),
    "dash": ("nicegui", "dashboard"),
    "cluster": ("ray", "cluster"),
    "cuda": ("numba_cuda", "GPU"),
    "mujoco": ("mujoco", "MuJoCo check"),
    "dynamixel": ("dynamixel_sdk", "Dynamixel servos"),
}


def require(*extras: str) -> None:
    """Raise InputError unless all of these extras are installed."""
    missing = [extra for extra in extras if importlib.util.find_spec(EXTRAS[extra][0]) is None]
    if not missing:
        return
    modules = " and ".join(f"{EXTRAS[extra][0]} ({EXTRAS[extra][1]})" for extra in missing)
    verb = "is" if len(missing) == 1 else "are"
    raise InputError(f"{modules} {verb} not installed. Install with: pip install 'pushrod[{','.join(missing)}]'")
