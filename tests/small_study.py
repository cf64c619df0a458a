"""The study most tests run: a noisy servo for a tenth of a second. One set of metrics, so that it is compiled once."""

from pathlib import Path

from pushrod.config import yaml_file
from pushrod.sweep.building import build
from pushrod.sweep.study import Study

SCENARIO = """
scenario: short
duration: 0.1 s
dt: 1 ms
seed: 3
signals: {torque_req: [{constant: 1 N.m}]}
"""
OTHER = """
scenario: long
duration: 0.15 s
dt: 1 ms
initial: {drive: {body: {w: 0.2}}}
signals: {torque_req: [{at: 0.02 s, constant: -2 N.m}]}
"""
STUDY = """
study: small
machine: servo
scenarios: [short.yaml]
runs: 200
design: lhs
seed: 7
chunk: 64
vary:
  bus.delay: {uniform: [2 ms, 12 ms]}
  lag.T: {normal: {mean: nominal, sd: 20 %}}
  body.J: {log_uniform: [50 %, 200 %]}
  noise: {uniform: [0.1, 0.5]}
  initial.drive.body.w: {uniform: [-0.1, 0.1]}
metrics:
  peak: {signal: w, metric: max}
  least: {signal: w, metric: min, until: 0.05 s}
  size: {signal: torque_ach, metric: max_abs, from: 0.0305 s}
  mean: {signal: torque_ach, metric: mean, from: 0.03 s, until: 0.08 s}
  rms: {signal: torque_req, metric: rms}
  end: {signal: q, metric: final, until: 0.09 s}
  error: {signal: torque_ach, to: in.torque_req, metric: rms_error, from: 0.05 s}
  worst: {signal: torque_ach, to: torque_cmd, metric: max_error}
  settled: {signal: torque_ach, metric: settling_time, goal: 1 N.m, band: 0.4 N.m}
  back: {signal: torque_ach, to: torque_req, metric: recovery_time, band: 0.7 N.m, from: 0.02 s}
  reached: {signal: torque_ach, metric: first_above, goal: 0.8 N.m}
  fell: {signal: torque_ach, metric: first_below, goal: -0.5 N.m, from: 0.01 s}
pass:
  - {metric: error, below: 0.25 N.m}
"""


def write(folder: Path, text: str = STUDY) -> Path:
    """The study and its scenarios as files."""
    for name, content in (("small.yaml", text), ("short.yaml", SCENARIO), ("long.yaml", OTHER)):
        (folder / name).write_text(content)
    return folder / "small.yaml"


def small(folder: Path, text: str = STUDY, **how: int) -> Study:
    return build(yaml_file.load(write(folder, text)), **how)
