"""What an operator does by hand on a card, in a real browser: hold a slider, type a number, be overruled, choose what is plotted."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from dash_rig import arm, number, position, results, state, text, until

from pushrod.net import Link, connect


def elsewhere(at, deed):
    """What somebody at another place does: `deed(arm)`."""

    async def go():
        async with await connect("arm", Link(connect=at), operator="ann") as robot:
            return await deed(robot)

    with ThreadPoolExecutor(1) as apart:  # Playwright has a loop in this thread
        return apart.submit(asyncio.run, go()).result()


def velocity(page, card="elbow_motor"):
    return number(page, f"{card}:velocity")


def rests(page):
    """Whether it is at rest for a while: while it brakes, its velocity may pass through 0."""
    for _ in range(5):
        if abs(velocity(page)) >= 0.5:
            return False
        page.wait_for_timeout(60)
    return True


def springs(page):
    """The elbow's sliders for velocity and effort, unfolded."""
    page.locator("#card-elbow_motor .q-expansion-item .q-item").click()
    spring = page.locator('#card-elbow_motor .q-slider[aria-label="velocity (while held)"]')
    until(lambda: spring.bounding_box() and spring.bounding_box()["width"] > 100, what="the slider")
    return spring


def press(page, spring, share):
    page.wait_for_timeout(200)  # the release before has come to its end: what it sends late must not end this press
    box = spring.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    page.mouse.down()
    for part in (0.3, 0.7, 1.0):  # as slowly as a hand: the page sends 20 places a second
        page.mouse.move(box["x"] + box["width"] * (0.5 + part * (share - 0.5)), box["y"] + box["height"] / 2)
        page.wait_for_timeout(60)


def press_until(page, spring, share, moves, what):
    """Press, and once more where the page has lost the press: on a busy host that happens, and a hand would do the same."""
    for _ in range(2):
        press(page, spring, share)
        try:
            return until(moves, 4.0, what)
        except AssertionError:
            page.mouse.up()
    press(page, spring, share)
    return until(moves, what=what)


def test_a_velocity_lasts_while_it_is_held_and_a_stop_of_anybody_ends_it(arm_served, arm_url, look):
    page = look(arm_url)
    arm(page)
    spring = springs(page)
    page.locator("#card-elbow_motor").get_by_role("button", name="Hold").click()
    until(lambda: "hold accepted" in results(page, "elbow_motor") and rests(page), what="an elbow at rest")
    press_until(page, spring, 0.6, lambda: velocity(page) > 12.0, "an elbow that moves")
    page.wait_for_timeout(700)
    assert velocity(page) > 12.0
    page.mouse.up()
    until(lambda: rests(page), 5.0, "an elbow at rest after the release")

    press(page, spring, 0.4)  # let go at once: the last place is told after the release
    page.mouse.up()
    page.wait_for_timeout(700)
    until(lambda: rests(page), 5.0, "an elbow at rest")

    spring.press("ArrowRight")
    page.wait_for_timeout(700)
    until(lambda: rests(page), 5.0, "an elbow at rest")

    press_until(page, spring, 0.4, lambda: velocity(page) < -12.0, "an elbow that moves back")
    assert elsewhere(arm_served[1], lambda robot: robot["elbow_motor"].sync.stop()).ok
    until(lambda: rests(page), 5.0, "an elbow at rest after a stop, though the slider is held")
    page.wait_for_timeout(700)
    assert abs(velocity(page)) < 0.5
    page.mouse.up()

    press_until(page, spring, 0.6, lambda: velocity(page) > 12.0, "an elbow that moves again")
    page.keyboard.press("Space")
    until(lambda: state(page) == "E-STOPPED", what="the e-stop")
    page.mouse.up()
    page.get_by_role("button", name="Reset").click()
    until(lambda: state(page) == "DISARMED", what="the reset")
    before = results(page, "elbow_motor")
    page.get_by_role("button", name="Arm", exact=True).click()
    until(lambda: state(page) == "ARMED", what="arming")
    page.wait_for_timeout(500)
    assert results(page, "elbow_motor") == before  # nothing was sent anew


def test_a_number_is_sent_as_it_was_typed_or_not_at_all(arm_served, arm_url, look):
    page = look(arm_url)
    arm(page)
    field = page.locator("#card-shoulder_motor input").first
    field.click()
    field.fill("")
    field.press_sequentially("40", delay=300)  # while the joint swings
    assert field.input_value() == "40"
    field.press("Enter")
    until(lambda: "position 40 deg accepted" in results(page, "shoulder_motor"), what="what was typed")
    until(lambda: abs(position(page, "shoulder_motor") - 40.0) < 1.0, what="the joint there")

    field.fill("")
    field.press("Enter")  # nothing is there, and nothing is sent
    field.fill("6")
    field.press("Tab")
    until(lambda: abs(float(field.input_value()) - 40.0) < 1.0, what="where it was asked to be, not what was never sent")
    assert abs(position(page, "shoulder_motor") - 40.0) < 1.0
    field.fill("999")
    field.press("Enter")
    until(lambda: "clamped to the limits" in results(page, "shoulder_motor"), what="what became of a number beyond the limits")


def test_what_others_are_refused_is_shown_and_what_they_took_can_be_taken_again(arm_served, arm_url, look):
    page = look(arm_url)
    arm(page)
    refused = elsewhere(arm_served[1], lambda robot: robot["elbow_motor"].sync.set_position(0.2))
    assert refused.reason == "lease"
    until(
        lambda: "REFUSED Position: lease" in results(page, "elbow_motor") and "[ann]" in results(page, "elbow_motor"), what="the refusal of another"
    )

    async def take_over(robot):
        assert await robot["elbow_motor"].take_lease(0.5, priority=5)
        await asyncio.sleep(1.0)

    elsewhere(arm_served[1], take_over)
    again = page.locator("#card-elbow_motor").get_by_role("button", name="Take again")
    until(again.is_visible, what="the button")
    again.click()
    until(lambda: text(page, "elbow_motor:owner") == "yours", what="the lease")
    assert not again.is_visible()


def test_plots_come_and_go_and_no_menu_covers_the_e_stop(arm_url, look):
    page = look(arm_url)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    cards = page.locator(".pr-plot")
    n = cards.count()
    page.get_by_role("button", name="Add plot").click()
    until(lambda: cards.count() == n + 1, what="one more plot")
    until(lambda: "No channel is chosen yet" in cards.last.inner_text(), what="what to do with it")
    page.set_viewport_size({"width": 1400, "height": 500})  # a menu opens upwards
    for card in cards.all():
        card.locator(".pr-select").click()
        page.locator(".q-menu .q-item").first.wait_for(state="attached")
        box = page.get_by_role("button", name="Emergency stop").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('.q-menu') === null", [x, y])
        page.keyboard.press("Escape")
        page.locator(".q-menu").wait_for(state="detached")
    cards.last.get_by_role("button", name="Remove plot").click()
    until(lambda: cards.count() == n, what="one plot less")
    assert complaints == []
