"""What actuators move. One file each, one row each."""

from pushrod.core.model import Model
from pushrod.plants import flying_body, joint, rigid_body, slide, surface_vessel, two_link_arm

PLANTS: dict[str, Model] = {
    "flying_body": flying_body.FLYING_BODY,
    "joint": joint.JOINT,
    "rigid_body": rigid_body.RIGID_BODY,
    "slide": slide.SLIDE,
    "surface_vessel": surface_vessel.SURFACE_VESSEL,
    "two_link_arm": two_link_arm.TWO_LINK_ARM,
}
