"""What a page of another site and a robot with an evil name can do to the page, in a real browser: nothing."""

import asyncio
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

from dash_rig import Served, state, until
from page_socket import page_socket

from pushrod.dash.sessions import SOCKETS_PER_ADDRESS


def test_a_page_of_another_site_neither_commands_nor_reads(arm_served, look, browser):
    """In a real browser: a page that was served from elsewhere tries what a page can."""
    served, _ = arm_served
    page = look(served.url)
    other = browser.new_context().new_page()
    other.route("http://evil.test/**", lambda route: route.fulfill(body="<p>hello</p>", content_type="text/html"))
    other.goto("http://evil.test/")
    tried = other.evaluate(
        """async (url) => {
          const post = await fetch(url + "estop", { method: "POST", mode: "no-cors" }).then((r) => r.type, (e) => "failed");
          const read = await fetch(url).then((r) => r.text(), (e) => "failed");
          const ws = url.replace("http", "ws") + "_nicegui_ws/socket.io/?EIO=4&transport=websocket";
          const socket = await new Promise((done) => {
            const s = new WebSocket(ws);
            s.onopen = () => done("open");
            s.onerror = () => done("failed");
          });
          return { post, read, socket };
        }""",
        served.url,
    )
    other.context.close()
    page.wait_for_timeout(300)
    assert tried["read"] == "failed"
    assert tried["socket"] == "failed"
    assert state(page) == "DISARMED"  # the e-stop of a stranger was not done, whatever its page saw


def test_another_site_can_neither_embed_the_page_nor_open_it_without_a_click(arm_served, browser):
    """A session exists where the page has told the server its state; none of these gets that far."""
    url = arm_served[0].url
    context = browser.new_context()
    other = context.new_page()
    other.route("http://evil.test/**", lambda route: route.fulfill(body="<p>hello</p>", content_type="text/html"))
    answers = []
    context.on("response", lambda answer: answers.append((answer.url, answer.status)) if answer.url.startswith(url) else None)
    other.goto("http://evil.test/")
    other.evaluate(
        """(url) => {
          for (const [tag, name] of [["img", "src"], ["iframe", "src"], ["script", "src"], ["embed", "src"]])
            document.body.append(Object.assign(document.createElement(tag), { [name]: url }));
        }""",
        url,
    )
    other.wait_for_timeout(1000)
    assert {status for _, status in answers} <= {403}, answers
    other.evaluate("(url) => { location.href = url }", url)
    other.get_by_role("link", name="Open the dashboard").wait_for()
    assert other.locator("[data-live=state]").count() == 0
    other.get_by_role("link", name="Open the dashboard").click()
    until(lambda: other.locator("[data-live=state]").count() and state(other) == "DISARMED", 15.0, "the dashboard after the click")
    context.close()


def test_a_browser_beyond_the_limit_is_served_when_another_one_closes(arm_served, browser):
    url = arm_served[0].url
    are_open, may_close = threading.Event(), threading.Event()

    async def hold() -> None:
        async with AsyncExitStack() as sockets:
            for _ in range(SOCKETS_PER_ADDRESS):
                await sockets.enter_async_context(page_socket(url))
            are_open.set()
            await asyncio.to_thread(may_close.wait, 30.0)

    page = browser.new_context().new_page()
    with ThreadPoolExecutor(1) as apart:  # Playwright has a loop in this thread
        holding = apart.submit(asyncio.run, hold())
        try:
            assert are_open.wait(30.0)
            assert page.goto(url).status == 503
            assert f"limit of open dashboards is reached ({SOCKETS_PER_ADDRESS} from 127.0.0.1)" in page.inner_text("body")
        finally:
            may_close.set()
            holding.result()
    until(lambda: page.locator("[data-live=state]").count() and state(page), 20.0, "the dashboard after the others were closed")
    page.context.close()


def test_names_of_a_robot_are_text_wherever_they_stand(tmp_path, look, browser):
    evil = "<img src=x onerror=window.hacked=1>"
    (tmp_path / "evil.yaml").write_text(
        f"robot: '{evil}'\n"
        "links: [base, tip]\n"
        "joints: {turn: {kind: revolute, parent: base, child: tip, limits: {lower: -1 rad, upper: 1 rad, velocity: 1 rad/s, effort: 1 N.m}}}\n"
        f"actuators: {{'{evil.replace('/', '')}': {{joint: turn}}}}\n"
        "parameters: {gain: {default: 1.0, lo: 0.0, hi: 2.0, doc: '<script>window.hacked=2</script>'}}\n"
    )
    one = Served(
        str(tmp_path / "evil.yaml"),
        "--simulation",
        "--net",
        "unixsock-stream/" + str(tmp_path / "e.sock"),
        "--dash-port",
        "0",
        "--no-log",
        "--guard-limit",
        "5 s",
    )
    try:
        page = look(one.url)
        until(lambda: evil in page.locator(".pr-name").first.inner_text(), what="the name as text")
        for tab in page.locator(".pr-tabs .q-tab").all():
            tab.click()
            page.wait_for_timeout(200)
        assert page.evaluate("window.hacked") is None
        assert re.search(r"<img", page.title())
    finally:
        one.close()


def test_no_file_is_served_but_the_page_s_own(arm_served, browser):
    context = browser.new_context()
    url = arm_served[0].url
    for path in ("pyproject.toml", "runs/", "../../etc/passwd", "_nicegui/../../../../etc/passwd", "static/../page.py", "openapi.json", "docs"):
        assert "root:" not in (answer := context.request.get(url + path)).text()
        assert answer.status in (404, 403, 421), path
    context.close()
