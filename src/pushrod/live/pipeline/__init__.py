"""The command pipeline behind the runtime: the same step as in a world, with sources that come and go and motors that may refuse."""

from pushrod.live.pipeline.building import controller, parameters
from pushrod.live.pipeline.helm import Helm
from pushrod.live.pipeline.n_motor import NMotorNode
from pushrod.live.pipeline.request import Announce, AutopilotRequest, AxesRequest, ManualRequest, Status, Switch, Switched, TestRequest
from pushrod.live.pipeline.two_motor import TwoMotorNode

__all__ = [
    "Announce",
    "AutopilotRequest",
    "AxesRequest",
    "Helm",
    "ManualRequest",
    "NMotorNode",
    "Status",
    "Switch",
    "Switched",
    "TestRequest",
    "TwoMotorNode",
    "controller",
    "parameters",
]
