"""Metrics that a run computes while it runs. Adding one touches two files: the new one and this table."""

from pushrod.metrics.crossing import CROSSING_TIME, crossing_time
from pushrod.metrics.extreme import FINAL, MAXIMUM, MINIMUM, final, maximum, minimum
from pushrod.metrics.metric import Measure, Metric
from pushrod.metrics.rms import RMS, rms
from pushrod.metrics.settling import SETTLING_TIME, settling_time

METRICS = {
    "maximum": MAXIMUM,
    "minimum": MINIMUM,
    "final": FINAL,
    "rms": RMS,
    "settling_time": SETTLING_TIME,
    "crossing_time": CROSSING_TIME,
}

__all__ = ["METRICS", "Measure", "Metric", "crossing_time", "final", "maximum", "minimum", "rms", "settling_time"]
