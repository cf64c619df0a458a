"""What actuators move. One file each, one row each."""

from pushrod.core.model import Model
from pushrod.plants import joint, rigid_body, two_link_arm

PLANTS: dict[str, Model] = {
    "joint": joint.JOINT,
    "rigid_body": rigid_body.RIGID_BODY,
    "two_link_arm": two_link_arm.TWO_LINK_ARM,
}
