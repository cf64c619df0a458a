"""The page of every machine, in a real browser: what a new user does first, and what must be seen then."""

import re

import pytest
from dash_rig import arm, number, text, until

MACHINES = {  # an actuator, the channel that is broken, tabs, a figure of its motion
    "arm": ("shoulder_motor", "shoulder", ""),
    "boat": ("left", "left", "motion:v"),
    "car": ("controls", "steer", "motion:speed"),
    "quad": ("controls", "e0", "motion:z"),
    "satellite": ("wheels", "torque_x", "motion:yaw"),
}


def opened(page, tab):
    page.locator(".pr-tabs .q-tab", has_text=tab).click()
    page.wait_for_timeout(300)


@pytest.mark.parametrize("name", MACHINES)
def test_an_injected_fault_is_seen_at_once_and_nothing_looks_healthy(name, serve, look):
    actuator, channel, motion = MACHINES[name]
    page = look(serve(name).url)
    assert [tab.inner_text().split()[-1] for tab in page.locator(".pr-tabs .q-tab").all()] == [
        "Control", "Pipeline", "Parameters", "Faults", "Events", "Timing",
    ]  # fmt: skip
    assert not page.locator(".pr-fault").is_visible()
    if motion:
        until(lambda: re.match(r"-?\d+\.\d+ \S+", text(page, motion)), what="how it moves")
    arm(page)
    opened(page, "Faults")
    card = page.locator(f"#fault-{channel}")
    assert text(page, f"fault:{channel}") == "healthy"
    card.get_by_role("button", name="Inject").click()
    until(lambda: text(page, f"fault:{channel}") == "faulted: stuck", 2.0, "the fault on its card")
    until(lambda: text(page, "faults") == f"{channel}: stuck", 2.0, "the fault in the strip")
    assert "pr-marked" in (card.get_attribute("class") or "")
    opened(page, "Pipeline")
    until(lambda: text(page, "pipe:fault").startswith(f"Fault: {channel} stuck"), what="the fault beside the stages")
    for tab in ("Events", "Control"):
        opened(page, tab)
        assert page.locator(".pr-fault").is_visible(), tab
    until(lambda: text(page, f"{actuator}:fault") == f"Fault: {channel} stuck", what="the fault on the card of its actuator")
    assert page.locator("[data-live]", has_text=re.compile(r"(^|\s)-0\.?0*(\s|$)")).count() == 0
    page.locator(".pr-fault").click()  # leads to where it is cleared
    card.get_by_role("button", name="Clear fault").click()
    until(lambda: not page.locator(".pr-fault").is_visible(), what="a strip without a fault")
    assert text(page, f"fault:{channel}") == "healthy"


def test_a_fault_that_would_change_nothing_is_refused(serve, look):
    page = look(serve("car").url)
    arm(page)
    opened(page, "Faults")
    card = page.locator("#fault-steer")
    card.locator(".q-select").click()
    page.get_by_role("option", name="bias").click()
    field = card.get_by_role("spinbutton").first
    field.fill("0")
    card.get_by_role("button", name="Inject").click()
    until(lambda: "changes nothing" in text(page, "fault:steer:refusal"), what="the refusal")
    assert not page.locator(".pr-fault").is_visible()


def test_what_the_pipeline_commands_is_on_the_card_of_each_thruster_and_the_mode_is_marked(serve, look):
    page = look(serve("boat").url)
    arm(page)
    helm = page.locator("#card-helm")
    helm.get_by_role("button", name="autopilot").click()
    until(lambda: "pr-marked" in helm.get_by_role("button", name="autopilot").get_attribute("class"), what="the mode")
    assert "pr-marked" not in helm.get_by_role("button", name="idle").get_attribute("class")
    speed = helm.get_by_label("speed, requested")
    speed.fill("3")
    speed.press("Enter")
    until(lambda: number(page, "left:requested Throttle.u") > 0.9, what="what the pipeline asks of the left thruster")
    until(lambda: number(page, "left:Throttle.u") > 0.8, what="what the left thruster gives")
    assert page.locator("#card-left .q-slider").count() == 0
    heading = helm.get_by_label("heading, requested")
    heading.fill("30")
    heading.press("Enter")
    until(lambda: 25.0 < number(page, "helm:psi_req") < 35.0, 20.0, "a heading of 30 degrees")
    page.get_by_role("button", name="rad", exact=True).click()
    until(lambda: text(page, "helm:psi_req").endswith(" rad"), what="radians")
    until(lambda: abs(float(heading.input_value()) - 0.524) < 0.01, what="the asked heading in radians")


def test_a_parameter_of_the_world_is_set_while_it_runs(serve, look):
    page = look(serve("arm").url)
    arm(page)
    opened(page, "Parameters")
    payload = page.get_by_label("world.arm.payload")
    payload.fill("2")
    payload.press("Enter")
    until(lambda: text(page, "parameter:world.arm.payload") == "", what="no refusal")
    opened(page, "Events")
    until(lambda: "0.5 -> 2.0" in page.locator("[data-rows=events]").inner_text(), what="the change")
