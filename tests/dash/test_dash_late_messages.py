"""What an operator does by hand while messages from page to server are late, as on a busy host: nothing that is pressed or typed is lost.

What happens while messages are kept back happens within the page, in one call: a round trip may take longer than the server waits for a browser.
"""

import pytest
from dash_rig import arm, position, results, still, text, until
from test_dash_hands import press, rests, springs, velocity

KEEP_BACK = """
const send = WebSocket.prototype.send;
let kept = null;
WebSocket.prototype.send = function (message) { kept ? kept.push([this, message]) : send.call(this, message); };
window.keep = () => { kept = []; };
window.deliver = () => { const all = kept; kept = null; for (const [socket, message] of all) send.call(socket, message); };
const every = window.setInterval;
window.mute = false; // whether sliders that are pressed from now on do not confirm it
window.setInterval = (act, ms) => every(() => window.mute && ms === 100 && act.toString().includes("hold") ? null : act(), ms);
window.sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
"""
RELEASE_AND_PRESS = """async (slider) => {
    const box = slider.getBoundingClientRect();
    const at = { bubbles: true, cancelable: true, clientX: box.x + 0.55 * box.width, clientY: box.y + box.height / 2, button: 0, buttons: 1 };
    keep();
    document.body.dispatchEvent(new PointerEvent("pointerup", at));
    document.body.dispatchEvent(new MouseEvent("mouseup", at));
    await sleep(100);
    const at_rest = slider.getAttribute("aria-valuenow");
    slider.firstElementChild.dispatchEvent(new PointerEvent("pointerdown", at));
    slider.firstElementChild.dispatchEvent(new MouseEvent("mousedown", at));
    await sleep(200);
    deliver();
    return at_rest;
}"""
TYPE = """async (field) => {
    keep();
    field.focus();
    field.select();
    document.execCommand("insertText", false, "4");
    await sleep(700);
    document.execCommand("insertText", false, "2");
    const typed = field.value;
    deliver();
    await sleep(700);
    return [typed, field.value];
}"""
STAND_STILL = """async () => {
    const seen = [];
    const look = new MutationObserver(() => seen.push(document.body.classList.contains("pr-stale")));
    look.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    for (let i = 0; i < 5; i++) {
        const end = performance.now() + 900;
        while (performance.now() < end);
        await sleep(300);
    }
    return seen.some((one) => one);
}"""


@pytest.fixture
def late(look, arm_url):
    """A page in control of an armed arm, whose messages can be kept back."""
    page = look(arm_url, before=lambda page: page.add_init_script(KEEP_BACK))
    arm(page)
    return page


def test_a_second_press_at_the_same_place_is_taken_while_the_release_is_under_way(late):
    page = late
    spring = springs(page)
    page.locator("#card-elbow_motor").get_by_role("button", name="Hold").click()
    until(lambda: "hold accepted" in results(page, "elbow_motor") and rests(page), what="an elbow at rest")
    for _ in range(2):
        press(page, spring, 0.55)
        until(lambda: velocity(page) > 8.0, what="an elbow that moves")
        assert float(spring.evaluate(RELEASE_AND_PRESS) or 0.0) == 0.0, "the slider is at rest as soon as it is released"
        page.wait_for_timeout(800)  # longer than what was sent before lasts
        until(lambda: velocity(page) > 8.0, what="an elbow that moves by the second press")
        page.mouse.up()
        until(lambda: rests(page), 5.0, "an elbow at rest after the release")
        assert float(spring.get_attribute("aria-valuenow") or 0.0) == 0.0


def test_a_press_that_is_not_confirmed_any_more_ends(late):
    page = late
    spring = springs(page)
    press(page, spring, 0.55)
    until(lambda: velocity(page) > 8.0, what="an elbow that moves")
    page.evaluate("window.mute = true")
    until(lambda: rests(page), 5.0, "an elbow at rest, though the slider is held")
    assert "You have control" in text(page, "who")
    page.evaluate("window.mute = false")
    until(lambda: velocity(page) > 8.0, what="an elbow that moves again")
    page.mouse.up()
    until(lambda: rests(page), 5.0, "an elbow at rest")


def test_a_number_that_is_being_typed_is_left_alone_while_the_focus_is_under_way(late):
    page = late
    field = page.locator("#card-shoulder_motor input").first
    field.fill("60")
    field.press("Enter")
    until(lambda: abs(position(page, "shoulder_motor") - 60.0) < 3.0, what="the joint there")
    field.press("Tab")
    page.get_by_role("button", name="Disarm").click()
    until(lambda: not still(page, "shoulder_motor"), what="a joint that swings, and the number with it")
    assert field.evaluate(TYPE) == ["42", "42"]
    field.press("Enter")
    until(lambda: "REFUSED Position" in results(page, "shoulder_motor"), what="the refusal of a number for a disarmed arm")


def test_a_browser_that_stood_still_itself_does_not_call_the_page_stale(late):
    """Its timer runs before the messages that wait: what is pressed in that moment would be lost."""
    assert not late.evaluate(STAND_STILL)
