"""The words of the pipeline as data: topics, stages, sources, modes, policies. Code, logs and docs take them from here.

choice = position of its name;  stored as a float, compared with the constants below
"""

TOPICS = ("ACTUATOR_REQ", "ACTUATOR_CMD", "ESC_OUTPUT", "MIXER_FEEDBACK")
STAGES = ("req", "cmd", "alloc", "ach")

MODES = ("idle", "manual", "autopilot", "test", "abort")
IDLE, IN_MANUAL, IN_AUTOPILOT, IN_TEST, ABORT = 0.0, 1.0, 2.0, 3.0, 4.0

SOURCES = ("NONE", "AUTOPILOT", "MANUAL", "TEST")
NONE, AUTOPILOT, MANUAL, TEST = 0.0, 1.0, 2.0, 3.0

# why a request is neutral
REASONS = ("none", "idle", "abort", "disarmed", "timeout", "no_pulse", "not_finite", "unknown")
FINE, BY_IDLE, BY_ABORT, BY_DISARM, BY_TIMEOUT, BY_NO_PULSE, BY_NOT_FINITE, BY_UNKNOWN = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0

# what people call the axes of a pipeline: with two motors always, with more by the world it is in
AXES = {"s": "surge", "d": "differential"}
AXES_OF = {"quad": {"a0": "thrust", "a1": "roll", "a2": "pitch", "a3": "yaw"}}

POLICIES = ("ALLOC_SPEED_PRIORITY", "ALLOC_YAW_PRIORITY", "ALLOC_WEIGHTED")
SPEED_PRIORITY, YAW_PRIORITY, WEIGHTED = 0.0, 1.0, 2.0


def axis_name(axis: str, world: str = "") -> str:
    """surge, thrust; axis 0 of a world whose words are not known."""
    return AXES.get(axis) or AXES_OF.get(world, {}).get(axis) or f"axis {axis.removeprefix('a')}"
