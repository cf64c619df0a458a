"""The machine and the scenario of `rover_world`, as files."""

from pathlib import Path

from pushrod.sim import machine
from pushrod.sim.machine import Machine

FOLDER = Path(__file__).parent
MACHINE = """
machine: rover
world: {folder}/rover_world.py:ROVER
scenario: climb.yaml
parameters: {{noise: 0.1}}
"""
SCENARIO = """
scenario: climb
duration: 0.5 s
dt: 10 ms
initial: {x: 0.25, v: 1}
signals:
  slope: [{for: 0.2 s, sine: {amplitude: 0.5, frequency: 3 Hz}}, {constant: -0.5}]
"""


def rover(folder: Path, scenario: str = SCENARIO) -> Machine:
    (folder / "rover.yaml").write_text(MACHINE.format(folder=FOLDER))
    (folder / "climb.yaml").write_text(scenario)
    return machine.load(str(folder / "rover.yaml"), trust=True)
