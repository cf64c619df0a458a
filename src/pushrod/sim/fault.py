"""Faults of a scenario, put into the fault records of a world's Params: `faults: [{at: 10 s, channel: steer, kind: stuck}]`."""

from typing import Any

from pushrod.sim.yaml_file import Document


def apply_faults(params: Any, data: Any, document: Document) -> Any:
    for i, _ in enumerate(data if isinstance(data, list) else ()):
        document.add(("faults", i), "this world has no faults")
    return params
