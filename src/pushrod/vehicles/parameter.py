"""What the parameters of the vehicle models mean, said once: their units, ranges and one line each. Fields are named as in the reference."""

from typing import Annotated as A

from pushrod.core.quantity import Q, flag

Reference = A[float, flag("1: as the reference computes it, oddities included; 0: as one would expect of a car")]
Wheelbase = A[float, Q("m", 0.1, 20.0, "front to rear axle")]
SpeedLimit = A[float, Q("m/s", 0.1, 200.0, "greatest speed, either way")]
AccelerationLimit = A[float, Q("m/s2", 0.1, 100.0, "greatest acceleration, either way")]
SteerLimit = A[float, Q("rad", 0.01, 1.4, "greatest tyre angle, either way")]
SteerRateLimit = A[float, Q("rad/s", 0.01, 50.0, "greatest tyre angle rate, either way")]
Delay = A[float, Q("s", 0.0, 10.0, "dead time; counted in whole sampling times")]
TimeConstant = A[float, Q("s", 0.0, 10.0, "first-order lag; the reference raises what is below 0.03 s")]
SamplingTime = A[float, Q("s", 1e-4, 1.0, "tick the dead times are counted in: timer_sampling_time_ms / 1000")]
SteerBias = A[float, Q("rad", -0.5, 0.5, "measured minus true tyre angle")]
DeadBand = A[float, Q("rad", 0.0, 0.5, "steering error that moves nothing")]
Scaling = A[float, Q("-", -10.0, 10.0, "factor on the clamped command; below 0 counts as 0")]
StopDeceleration = A[float, Q("m/s2", 0.1, 20.0, "how hard a car in PARK, NONE or the wrong gear stops; not used by the reference")]
ConvertAccel = A[float, flag("the accel command is a pedal position")]
ConvertBrake = A[float, flag("the brake command is a pedal position")]
ConvertSteer = A[float, flag("the steering command is an actuation value, not a tyre angle")]
PublishSteer = A[float, flag("0: the tyre angle is left out of the report; the converter derives it from the actuation status")]
VgrA = A[float, Q("-", 0.1, 100.0, "gear ratio at rest, wheel straight")]
VgrB = A[float, Q("s2/m2", 0.0, 1.0, "growth of the gear ratio with the square of speed")]
VgrC = A[float, Q("1/rad", 0.0, 10.0, "loss of gear ratio with wheel angle")]

# inputs and states
Position = A[float, Q("m")]
Angle = A[float, Q("rad")]
Velocity = A[float, Q("m/s")]
Acceleration = A[float, Q("m/s2")]
YawRate = A[float, Q("rad/s")]
SpeedCommand = A[float, Q("m/s", -200.0, 200.0)]
AccelerationCommand = A[float, Q("m/s2", -100.0, 100.0)]
SlopeAcceleration = A[float, Q("m/s2", -10.0, 10.0, "of gravity along the car, positive forward (downhill)")]
TireCommand = A[float, Q("rad", -1.5, 1.5, "tyre angle, positive to the left")]
WheelCommand = A[float, Q("rad", -50.0, 50.0, "steering wheel angle, positive to the left")]
SteerActuation = A[float, Q("-", -1e3, 1e3, "steering actuation in the unit of the map")]
PedalCommand = A[float, Q("-", -10.0, 10.0, "pedal, 0 released to 1; below 0 the reference reads an acceleration [m/s2]")]
BrakeCommand = A[float, Q("-", 0.0, 10.0, "pedal, 0 released to 1")]
