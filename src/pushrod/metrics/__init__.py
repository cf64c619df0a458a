"""Metrics that a run computes while it runs. Adding one touches two files: the new one and this table."""

from pushrod.metrics.crossing import CROSSING_TIME, crossing_time
from pushrod.metrics.extreme import FINAL, MAGNITUDE, MAXIMUM, MINIMUM, final, magnitude, maximum, minimum
from pushrod.metrics.mean import MEAN, mean
from pushrod.metrics.metric import Measure, Metric
from pushrod.metrics.recovery import RECOVERY_TIME, recovery_time
from pushrod.metrics.rms import RMS, rms
from pushrod.metrics.settling import SETTLING_TIME, settling_time

METRICS = {
    "maximum": MAXIMUM,
    "minimum": MINIMUM,
    "magnitude": MAGNITUDE,
    "final": FINAL,
    "mean": MEAN,
    "rms": RMS,
    "settling_time": SETTLING_TIME,
    "recovery_time": RECOVERY_TIME,
    "crossing_time": CROSSING_TIME,
}

__all__ = [
    "METRICS",
    "Measure",
    "Metric",
    "crossing_time",
    "final",
    "magnitude",
    "maximum",
    "mean",
    "minimum",
    "recovery_time",
    "rms",
    "settling_time",
]
