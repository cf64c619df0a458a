"""The command pipeline: request, shape, allocate, mix, limit, achieved. Each stage is a pure step; a new one is its file and its row in PIPELINE."""

from pushrod.pipeline.allocate.priority import PRIORITY
from pushrod.pipeline.allocate.rank import RANK
from pushrod.pipeline.allocate.two_motor import TWO_MOTOR_ALLOCATION
from pushrod.pipeline.allocate.weighted import WEIGHTED
from pushrod.pipeline.control.autopilot import AUTOPILOT
from pushrod.pipeline.control.heading import HEADING
from pushrod.pipeline.control.pi import PI
from pushrod.pipeline.control.pid import PID
from pushrod.pipeline.control.speed import SPEED
from pushrod.pipeline.control.yaw_rate import YAW_RATE
from pushrod.pipeline.esc import ESC
from pushrod.pipeline.motor_stage import MOTOR_STAGE
from pushrod.pipeline.n_motor_pipeline import N_MOTOR_PIPELINE
from pushrod.pipeline.request import REQUEST
from pushrod.pipeline.shaping import SHAPING
from pushrod.pipeline.two_motor_pipeline import TWO_MOTOR, TWO_MOTOR_PIPELINE

PIPELINE = {
    m.name: m
    for m in (
        REQUEST,
        SHAPING,
        TWO_MOTOR_ALLOCATION,
        MOTOR_STAGE,
        ESC,
        TWO_MOTOR,
        TWO_MOTOR_PIPELINE,
        RANK,
        PRIORITY,
        WEIGHTED,
        N_MOTOR_PIPELINE,
        PI,
        PID,
        SPEED,
        YAW_RATE,
        HEADING,
        AUTOPILOT,
    )
}
