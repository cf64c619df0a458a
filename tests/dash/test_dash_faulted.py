"""Requested values, faults and units on the page of a machine, in a real browser: no number is shown that is not in force."""

from math import radians

import pytest
from dash_rig import arm, number, text, until

READABLE = """badge => {
  const at = badge.getBoundingClientRect();
  const inside = [...badge.children].every((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return [...range.getClientRects()].every((r) => r.top >= at.top - 1 && r.bottom <= at.bottom + 1 && r.left >= at.left && r.right <= at.right + 1);
  });
  return inside && badge.scrollHeight <= badge.clientHeight + 1 && at.left >= 0 && at.right <= window.innerWidth;
}"""
SPANS = """() => [...document.querySelectorAll(".pr-plot-box")].map((one) => {
  const plot = getElement(Number(one.id.slice(1)));
  const [low, high] = plot.chart.getModel().getComponent("yAxis", 0).axis.scale.getExtent();
  return [plot.series[0].unit, high - low, plot.data.flat().length];
})"""


def opened(page, tab):
    page.locator(".pr-tabs .q-tab", has_text=tab).click()
    page.wait_for_timeout(300)


def enter(page, card, label, value):
    field = page.locator(card).get_by_label(f"{label}, requested")
    field.fill(str(value))
    field.press("Enter")
    return field


def inject(page, channel, kind, value=None, announced=False):
    card = page.locator(f"#fault-{channel}")
    card.locator(".q-select").click()
    page.get_by_role("option", name=kind, exact=True).click()
    page.locator(".q-menu").wait_for(state="detached")
    if value is not None:
        card.locator("input[type=number]:visible").fill(str(value))
    if announced:
        card.locator(".q-toggle").click()
    card.get_by_role("button", name="Inject").click()
    until(lambda: text(page, f"fault:{channel}").startswith(f"faulted: {kind}"), what=f"the fault of {channel}")


def requested(page, label):
    return page.locator("#card-wheels").get_by_label(f"{label}, requested").input_value()


def achieved_colours(page):
    """The background of each achieved bar that is shown, and the colour of healthy ones."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".pr-stage-ach .pr-bar-fill")].filter((one) => one.offsetParent !== null)
          .map((one) => getComputedStyle(one).backgroundColor)"""
    )


def test_only_the_payload_in_force_has_a_requested_value(serve, look):
    page = look(serve("satellite").url)
    arm(page)
    assert [requested(page, label) for label in ("roll", "yaw", "x", "z")] == [""] * 4, "nothing is requested yet"
    until(lambda: all(points > 20 for _, _, points in page.evaluate(SPANS)), what="plots with data")
    assert all(span >= {"deg": 2.0, "N.m": 0.02}[unit] * 0.99 for unit, span, _ in page.evaluate(SPANS)), "noise is not magnified"
    yaw = enter(page, "#card-wheels", "yaw", 60)
    until(lambda: yaw.input_value() == "60.0", what="the typed number with the digits of the field")
    until(lambda: abs(number(page, "wheels:Torque.z")) > 0.1, what="torque of the attitude controller")
    page.wait_for_timeout(1500)
    assert [requested(page, label) for label in ("roll", "pitch", "yaw")] == ["0.0", "0.0", "60.0"]
    assert [requested(page, label) for label in "xyz"] == [""] * 3
    assert text(page, "motion:yaw:req") == "requested 60.0"
    assert number(page, "motion:pointing_error") > 10.0
    enter(page, "#card-wheels", "x", 0.2)
    until(lambda: requested(page, "yaw") == "" and requested(page, "x") == "0.200", what="the torque in force")
    until(lambda: not page.locator('[data-shown="motion:yaw:req"]').is_visible(), what="no requested heading")
    assert text(page, "motion:pointing_error") == "-"


def test_a_dead_motor_is_seen_beside_the_stages_of_the_boat(serve, look):
    page = look(serve("boat").url)
    arm(page)
    page.locator("#card-helm").get_by_role("button", name="autopilot").click()
    until(lambda: "autopilot" in text(page, "helm:mode"), what="the mode")
    enter(page, "#card-helm", "speed", 1.5)
    opened(page, "Pipeline")
    until(lambda: number(page, "eff:0:actual") > 0.2, what="the output of a healthy motor")
    healthy = set(achieved_colours(page))
    opened(page, "Faults")
    inject(page, "left", "loss", 0)
    opened(page, "Pipeline")
    until(lambda: number(page, "eff:0:u") > 0.5 and text(page, "eff:0:actual") == "0.000", what="a command without output")
    assert abs(number(page, "eff:1:actual") - number(page, "eff:1:u")) < 0.1
    assert "The stages assume healthy effectors, since the fault of left is not announced." in text(page, "pipe:fault")
    assert not healthy & set(achieved_colours(page))
    opened(page, "Control")
    assert text(page, "left:Throttle.u") == "0.000"
    opened(page, "Faults")
    inject(page, "left", "loss", 0.5, announced=True)
    opened(page, "Pipeline")
    until(lambda: text(page, "pipe:fault").endswith("The stages account for announced faults."), what="an announced fault")
    until(lambda: 0.3 < number(page, "eff:0:actual") / number(page, "eff:0:u") < 0.7, what="half of the command")


def test_the_pipeline_of_the_quad_shows_the_output_of_each_rotor(serve, look):
    page = look(serve("quad").url)
    arm(page)
    enter(page, "#card-controls", "z", 3)
    opened(page, "Pipeline")
    until(lambda: all(number(page, f"eff:{i}:actual") > 0.2 for i in range(4)), what="the output of four rotors")
    opened(page, "Faults")
    inject(page, "e0", "loss", 0)
    opened(page, "Pipeline")
    assert text(page, "eff:0:name") == "e0", "the name of its fault"
    until(lambda: abs(number(page, "eff:0:actual")) < 0.01 < number(page, "eff:0:u"), what="a rotor without thrust")
    assert "The stages assume healthy effectors" in text(page, "pipe:fault")


def test_four_faults_are_readable_in_light_dark_and_on_a_phone(serve, look):
    page = look(serve("quad").url)
    arm(page)
    opened(page, "Faults")
    for channel in ("e0", "e1", "e2", "e3"):
        inject(page, channel, "bias", 0.01)
    until(lambda: text(page, "faults").count("\n") == 3, what="four faults in the badge")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for size in ((1440, 900), (1024, 768), (390, 844), (340, 640)):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.wait_for_timeout(300)
            assert page.locator(".pr-fault").evaluate(READABLE), (theme, size)
    assert page.locator(".pr-fault").inner_text().startswith("4 FAULTS")


def test_the_bias_of_an_angle_and_parameters_of_angles_are_in_the_chosen_unit(serve, look):
    page = look(serve("car").url)
    arm(page)
    opened(page, "Faults")
    inject(page, "steer", "bias", 5)
    card = page.locator("#fault-steer")
    assert card.locator(".pr-unit:visible").inner_text() == "deg"
    until(lambda: text(page, "faults") == "steer: bias +5 deg", what="the bias in the badge")
    opened(page, "Events")
    until(lambda: str(radians(5))[:7] in page.locator("[data-rows=events]").inner_text(), what="a bias that was sent in SI")
    opened(page, "Pipeline")
    until(lambda: text(page, "pipe:fault") == "Fault: steer bias +5 deg.", what="the fault, without a word on stages the car does not have")
    page.get_by_role("button", name="rad", exact=True).click()
    until(lambda: text(page, "faults") == "steer: bias +0.08727 rad", what="the bias in radians")
    opened(page, "Faults")
    assert card.locator(".pr-unit:visible").inner_text() == "rad"
    assert float(card.locator("input[type=number]:visible").input_value()) == pytest.approx(radians(5), rel=1e-3)
    page.get_by_role("button", name="deg", exact=True).click()

    opened(page, "Parameters")
    limit = page.get_by_label("world.wheel_lim", exact=True)
    until(lambda: text(page, "parameter:world.wheel_lim:unit") == "deg", what="the unit")
    limit.fill("90")
    limit.press("Enter")
    opened(page, "Events")
    until(lambda: f"-> {radians(90)}" in page.locator("[data-rows=events]").inner_text(), what="a limit that was sent in SI")
    opened(page, "Parameters")
    assert limit.input_value() == "90"
    page.get_by_role("button", name="rad", exact=True).click()
    until(lambda: limit.input_value() == "1.5708" and text(page, "parameter:world.wheel_lim:unit") == "rad", what="the limit in radians")
