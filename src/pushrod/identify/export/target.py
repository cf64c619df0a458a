"""The table of simulators and stacks that parameters can be exported for."""

from pushrod.identify.export import autoware, mujoco, ros2_control
from pushrod.identify.export.exported import Target

TARGETS: dict[str, Target] = {
    "mujoco": Target("mujoco", "a joint and its actuator as MJCF", mujoco.export),
    "ros2_control": Target("ros2_control", "a joint with its limits and transmission as URDF, and joint_limits YAML", ros2_control.export),
    "autoware": Target("autoware", "the parameters of Autoware's simple planning simulator as YAML", autoware.export),
}
