"""What stands on a tab that has nothing to show, and how a parameter of a pipeline is shown."""

from pushrod.core.quantity import Choice
from pushrod.dash import faults_panel, parameters_panel
from pushrod.dash.watch import Watch
from pushrod.live.pipeline.act_parameters import declaration
from pushrod.live.world_sensor import WorldTold
from pushrod.net.link import Link
from pushrod.pipeline.names import POLICIES, axis_name


def watch(simulated):
    made = Watch("arm", Link(), "test")
    made.world = WorldTold("arm", "arm", (), (), (), ()) if simulated else None
    return made


def test_of_a_simulated_machine_it_says_where_its_parameters_are_set():
    assert "pushrod serve arm --set PATH=VALUE" in parameters_panel.nothing(watch(True))
    assert "simulated world" not in parameters_panel.nothing(watch(False))


def test_it_says_which_of_both_reasons_there_is_for_having_no_faults():
    assert "the simulated world of this machine (arm) has no faults" in faults_panel.nothing(watch(True))
    assert "there is no simulated world" in faults_panel.nothing(watch(False))


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
