"""The drive all vehicle speed figures are taken on: pedals and steering follow sines of 4096 ticks, from 8 m/s, gear D, dt 10 ms.

The same inputs as the figures quoted for the reference implementation (2.7 us per step of ACTUATION_CMD, 3.4 us of ACTUATION_CMD_MECHANICAL).
"""

from pathlib import Path
from typing import Any

import numpy as np

from pushrod.core.model import Model
from pushrod.vehicles import make
from pushrod.vehicles.map_file import load_accel_map, load_brake_map

DT = 0.01
GOLDEN_MAPS = Path(__file__).resolve().parents[1] / "tests" / "golden" / "vehicle" / "maps"
STEER = {"ACTUATION_CMD": 0.1, "ACTUATION_CMD_VGR": 1.6, "ACTUATION_CMD_MECHANICAL": 1.6}


def drive(name: str) -> tuple[Model, Any, Any, dict[str, Any]]:
    """Model, parameters, start state and inputs."""
    model = make(name, slots=16)
    maps = {"accel_map": load_accel_map(GOLDEN_MAPS / "accel_map.csv"), "brake_map": load_brake_map(GOLDEN_MAPS / "brake_map.csv")}
    params = model.Params(sampling_time=DT, steer_time_delay=0.1, **maps)
    i = np.arange(4096)
    s = np.sin(2.0 * np.pi * i / 4096.0)
    inputs = {
        "accel_des": np.where(s > 0.0, 0.3 * s, 0.0),
        "brake_des": np.where(s > 0.0, 0.0, -0.3 * s),
        "steer_des": STEER[name] * np.sin(6.0 * np.pi * i / 4096.0),
        "gear": 2.0,
    }
    return model, params, model.State(vx=8.0), inputs
