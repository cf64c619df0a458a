"""Drivers without hardware: a motor that moves ideally, an open-loop guess where a motor is, and sensors that replay signals."""

from pushrod.runtime.simulated.estimator import OpenLoopEstimator
from pushrod.runtime.simulated.kinematic import Kinematic
from pushrod.runtime.simulated.sensors import Imu, ImuReading, WheelSpeedReading, WheelSpeeds

__all__ = ["Imu", "ImuReading", "Kinematic", "OpenLoopEstimator", "WheelSpeedReading", "WheelSpeeds"]
