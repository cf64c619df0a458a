"""The page as an operator meets it, in a real browser: arm, move, be refused, stop, share, and lose the connection."""

import os
import signal
import time

from dash_rig import arm, position, results, state, still, take, text, until


def plotted(page, name):
    """The newest value of a line, as its legend says."""
    keys = page.locator(".pr-legend span", has_text=name).all_inner_texts()
    return [float(words[1]) for key in keys if len(words := key.split()) > 1]


def stands_still(page):
    """The first plot, where it looks the same for a second."""
    before = page.locator(".pr-plot-canvas canvas").first.screenshot()
    page.wait_for_timeout(1000)
    return before if page.locator(".pr-plot-canvas canvas").first.screenshot() == before else None


def opened(page, tab, shows):
    """Whether a tab is open now; a click that comes while a busy page is drawn anew may be lost."""
    page.locator(".pr-tabs .q-tab", has_text=tab).click()
    page.wait_for_timeout(500)
    return page.locator(shows).is_visible()


def drag(page, card, to):
    """The position slider of a card to a share of its length."""
    box = page.locator(f"#card-{card} .q-slider").first.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    for share in (0.55, 0.6, to):
        page.mouse.move(box["x"] + box["width"] * share, y, steps=3)
    page.mouse.up()


def test_arm_move_a_slider_and_see_joint_and_plot_follow(arm_url, look):
    page = look(arm_url)
    assert state(page) == "DISARMED"
    arm(page)
    assert abs(position(page, "shoulder_motor")) < 6.0
    drag(page, "shoulder_motor", 0.7)
    field = page.locator("#card-shoulder_motor input").first  # shows the slider's number a moment after it was let go
    until(lambda: abs(position(page, "shoulder_motor") - float(field.input_value())) < 3.0, what="the joint where the slider is")
    until(lambda: position(page, "shoulder_motor") > 77.0, what="the joint where the slider was let go")
    asked = float(field.input_value())
    until(lambda: any(abs(y - asked) < 6.0 for y in plotted(page, "shoulder.q")), what="the joint in the plot")
    assert "accepted" in results(page, "shoulder_motor")


def test_disarmed_it_refuses_and_says_why_and_what_to_do(arm_url, look):
    page = look(arm_url)
    take(page)
    until(lambda: still(page, "shoulder_motor") and still(page, "elbow_motor"), what="an arm that has swung out since it was let go")
    before = position(page, "elbow_motor")
    drag(page, "elbow_motor", 0.7)
    until(lambda: "REFUSED Position: not armed; arm the robot first" in results(page, "elbow_motor"), what="the refusal on the card")
    assert abs(position(page, "elbow_motor") - before) < 3.0


def test_the_space_bar_stops_everything_also_for_who_only_watches_but_not_while_typing(arm_url, look):
    operator, watcher = look(arm_url), look(arm_url)
    arm(operator)
    field = operator.locator("#card-shoulder_motor input").first
    field.click()
    operator.keyboard.press("Space")
    time.sleep(0.5)  # that nothing happens takes time to see
    assert state(operator) == "ARMED"
    watcher.keyboard.press("Space")
    until(lambda: state(operator) == "E-STOPPED" and state(watcher) == "E-STOPPED", what="the e-stop")
    operator.get_by_role("button", name="Reset").click()
    until(lambda: state(operator) == "DISARMED", what="the reset")


def test_one_browser_has_control_the_others_watch_until_it_is_free(arm_url, look):
    first, second = look(arm_url), look(arm_url)
    arm(first)
    until(lambda: "has control; view only" in text(second, "who"), what="who has control")
    until(lambda: text(second, "shoulder_motor:owner").startswith("leased by dash/"), what="the owner")
    assert second.locator('[data-needs="lease:shoulder_motor"]').first.evaluate("e => e.inert")
    second.get_by_role("button", name="Take control").click()
    until(lambda: "has control; it can be taken" in text(second, "note"), what="the refusal")
    second.locator("#card-shoulder_motor").get_by_role("button", name="Stop now").click()
    until(lambda: "accepted" in results(second, "shoulder_motor"), what="the stop of a watcher")
    first.context.close()  # it vanishes with its lease
    until(lambda: text(second, "shoulder_motor:owner") == "free", 3.0, "the lease of a browser that is gone")
    until(lambda: text(second, "note") == "", what="that nobody has control any more")
    take(second)


def test_a_page_without_its_server_says_so_at_once(serve, look):
    one = serve("arm")
    page = look(one.url)
    os.kill(one.page, signal.SIGKILL)
    killed = time.monotonic()
    page.wait_for_selector("#pr-banner:not([hidden])")
    assert time.monotonic() - killed < 1.5
    assert "STALE" in page.locator("#pr-banner").inner_text()
    assert page.locator("[data-needs=alive]").first.evaluate("e => e.inert")
    page.keyboard.press("Space")
    page.wait_for_selector("text=E-STOP WAS NOT DELIVERED")
    assert one.process.poll() is None  # the machine goes on


def test_an_e_stop_that_is_not_confirmed_says_so_and_is_done_when_it_can_be(serve, look):
    one = serve("arm")
    page = look(one.url)
    arm(page)
    pid = one.page
    os.kill(pid, signal.SIGSTOP)
    try:
        page.wait_for_selector("#pr-banner:not([hidden])")
        assert text(page, "who") == "Who has control is not known while the page is stale"
        assert page.locator("[data-needs=alive]", has_text="Give back").first.evaluate("e => e.inert")
        page.keyboard.press("Space")
        pressed = time.monotonic()
        page.wait_for_selector("text=E-STOP IS NOT CONFIRMED")
        assert time.monotonic() - pressed < 2.0
        time.sleep(1.5)  # long enough for the host to give the page up
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: state(page) == "E-STOPPED", what="the e-stop, late")
    until(lambda: "was lost" in text(page, "lost"), what="that control was lost")
    page.get_by_role("button", name="Dismiss").click()
    until(lambda: not page.locator(".pr-lost").is_visible(), what="that it was read")


def test_who_watches_is_told_to_take_control_before_arming_and_before_a_reset(arm_url, look):
    page = look(arm_url)
    until(lambda: text(page, "missing") == "ready: take control to arm it", what="what to do")
    page.get_by_role("button", name="Arm", exact=True).click()
    until(lambda: "take control first" in text(page, "refusal"), what="why it does not arm")
    take(page)
    until(lambda: text(page, "refusal") == "", what="that it may now")
    page.get_by_role("button", name="Give back").click()
    page.keyboard.press("Space")
    until(lambda: "take control and reset" in text(page, "why"), what="what to do after an e-stop")
    page.get_by_role("button", name="Reset").click()
    until(lambda: "take control first" in text(page, "refusal"), what="why it is not reset")
    assert state(page) == "E-STOPPED"


def test_all_sliders_of_a_card_can_be_taken(arm_url, look):
    page = look(arm_url)
    take(page)
    page.locator("#card-shoulder_motor .q-expansion-item .q-item").click()
    sliders = page.locator("#card-shoulder_motor .q-slider")
    until(lambda: all(one.bounding_box() and one.bounding_box()["width"] > 100 for one in sliders.all()), what="sliders with a length")
    assert sliders.count() == 3


def test_a_page_whose_server_has_lost_the_host_says_so_at_once(serve, look):
    one = serve("arm")
    page = look(one.url)
    os.kill(one.process.pid, signal.SIGSTOP)
    stopped = time.monotonic()
    page.wait_for_selector("#pr-banner:not([hidden])")
    assert time.monotonic() - stopped < 2.0
    assert state(page) == "NOT CONNECTED"
    os.kill(one.process.pid, signal.SIGCONT)
    page.wait_for_selector("#pr-banner", state="hidden")


def test_a_car_is_driven_broken_and_looked_back_at(serve, look):
    page = look(serve("car").url)
    arm(page)
    slider = page.locator('.q-slider[aria-label="steer"]').bounding_box()
    page.mouse.click(slider["x"] + slider["width"] * 0.8, slider["y"] + slider["height"] / 2)
    until(lambda: any(y > 3.0 for y in plotted(page, "steer_ach")), what="the wheels turned")
    page.locator(".pr-tabs .q-tab", has_text="Faults").click()
    page.get_by_role("button", name="Inject").last.click()
    until(lambda: text(page, "fault:steer") == "faulted: stuck", what="the fault")
    until(lambda: opened(page, "Events", "[data-rows=events]"), what="the events")
    until(lambda: "none -> stuck" in page.locator("[data-rows=events]").inner_text(), what="the fault among the events")
    page.locator(".pr-tabs .q-tab", has_text="Control").click()
    page.get_by_role("button", name="Pause all").click()
    still = until(lambda: stands_still(page), what="a plot that stands still")
    page.get_by_role("button", name="Live", exact=True).click()
    until(lambda: page.locator(".pr-plot-canvas canvas").first.screenshot() != still, what="the plot moving again")


def test_a_driver_whose_browser_is_gone_is_missed_and_the_car_brakes(serve, look):
    one = serve("car")
    driver, other = look(one.url), look(one.url)
    arm(driver)
    slider = driver.locator('.q-slider[aria-label="accel"]').bounding_box()
    driver.mouse.click(slider["x"] + slider["width"] * 0.5, slider["y"] + slider["height"] / 2)
    until(lambda: int(text(other, "controls:accepted")) > 20, what="commands again and again, though nobody moves the slider")
    assert text(other, "controls:owner").startswith("leased by dash/"), "no watchdog has missed them"
    driver.context.close()
    until(lambda: text(other, "controls:owner") == "leased by watchdog", 3.0, "the watchdog")
    other.locator(".pr-tabs .q-tab", has_text="Events").click()
    until(lambda: "has vanished; watchdogs act on" in other.locator("[data-rows=events]").inner_text(), what="why, among the events")
    other.locator(".pr-tabs .q-tab", has_text="Control").click()
    take(other)
    other.get_by_role("button", name="Clear watchdog").click()
    until(lambda: text(other, "controls:owner") == "yours", what="the car, taken over")
    pedal = other.locator('.q-slider[aria-label="accel"]')
    until(lambda: pedal.get_attribute("aria-valuenow") in (None, "0"), 3.0, "a pedal at 0, not where the lost operator left it")


def test_the_helm_of_a_boat_can_be_moved_in_autopilot_and_goes_idle_with_its_browser(serve, look):
    one = serve("boat")
    helmsman, other = look(one.url), look(one.url)
    arm(helmsman)
    sliders = helmsman.locator("[data-needs='helm:steers']")
    assert sliders.evaluate("e => e.inert")
    assert text(helmsman, "helm:hint") == "idle: choose autopilot to set a course"
    helmsman.locator("#card-helm").get_by_role("button", name="autopilot").click()
    until(lambda: not sliders.evaluate("e => e.inert"), what="the sliders")
    until(lambda: text(other, "helm:mode").startswith("autopilot"), what="the mode")
    helmsman.context.close()
    until(lambda: text(other, "helm:mode") == "idle; owner NONE", 3.0, "the helm at rest")


def test_from_other_machines_the_page_needs_the_token_that_was_printed(serve, look, browser):
    one = serve("arm", "--dash-host", "0.0.0.0")
    address, _, token = one.url.partition("?token=")
    port = address.rstrip("/").rpartition(":")[2]
    here = f"http://127.0.0.1:{port}/"
    stranger = browser.new_context()
    assert stranger.request.get(here).status == 401
    assert stranger.request.post(f"{here}estop", headers={"origin": here.rstrip("/")}).status == 401
    stranger.close()
    page = look(f"{here}?token={token}")
    assert token not in page.url
    assert page.evaluate("document.cookie") == ""  # no script reads it
    page.keyboard.press("Space")
    until(lambda: state(page) == "E-STOPPED", what="the e-stop of a watcher")
    one.close()
    assert sum(token in line for line in one.lines) == 1
