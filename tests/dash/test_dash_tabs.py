"""Which tabs there are, and how a parameter of a pipeline is shown."""

from pushrod.core.quantity import Choice
from pushrod.dash.page import tabs_of
from pushrod.dash.watch import Watch
from pushrod.live.pipeline.act_parameters import declaration
from pushrod.live.world_sensor import WorldTold
from pushrod.net.link import Link
from pushrod.pipeline.names import POLICIES, axis_name


def entry(path, value="none"):
    return {"path": path, "value": value}


def watch(*parameters, outputs=()):
    made = Watch("arm", Link(), "test")
    made.world = WorldTold("arm", "arm", tuple(outputs), ("rad",) * len(outputs), ("",) * len(outputs), ((),) * len(outputs))
    made.now = dict.fromkeys(outputs, 0.0)
    made.parameters = list(parameters)
    return made


def test_a_tab_is_there_only_where_it_has_content():
    assert tabs_of(watch()) == ["Control", "Events", "Timing"]
    assert tabs_of(watch(entry("fault.steer.kind"))) == ["Control", "Faults", "Events", "Timing"]
    assert tabs_of(watch(entry("world.arm.payload", 0.5))) == ["Control", "Parameters", "Events", "Timing"]
    assert tabs_of(watch(outputs=("steer_req", "steer_ach"))) == ["Control", "Pipeline", "Events", "Timing"]


def test_a_choice_of_a_pipeline_has_its_words_and_a_pulse_its_unit():
    policy = declaration("act.alloc.policy")
    assert isinstance(policy, Choice)
    assert policy.names == POLICIES
    assert [getattr(declaration(path), "unit", None) for path in ("act.esc.us_min", "act.esc.us_min.e0", "act.slew.up", "motion.speed")] == [
        "us",
        "us",
        "1/s",
        None,
    ]


def test_an_axis_is_called_as_its_world_calls_it():
    assert [axis_name(axis, "quad") for axis in ("a0", "a3", "s")] == ["thrust", "yaw", "surge"]
    assert axis_name("a1", "some_other") == "axis 1"
