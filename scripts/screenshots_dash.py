"""Pictures of the dashboard: every tab, light and dark, on a screen and on a phone.

python scripts/screenshots_dash.py FOLDER [MACHINE ...]     docs/images/dash_arm.png is dash_arm_control_light_screen.png of it

Needs chromium and Playwright. Nothing is downloaded; the machine is served on loopback in a folder of its own.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SIZES = {"screen": (1440, 900), "phone": (390, 844)}
SOFTWARE = ("--no-sandbox", "--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader")
MOVES = {  # what each machine is asked before its picture is taken: aria-label of a slider, and where to along it
    "arm": (("position", 0.62),),
    "car": (("accel", 0.5), ("steer", 0.53)),
    "boat": (("speed", 0.8), ("heading", 0.6)),
    "quad": (("z", 0.2), ("roll", 0.6)),
    "satellite": (("yaw", 0.6),),
}


def served(machine: str, state: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "pushrod", "serve", machine, "--dash-port", "0", "--guard-limit", "5 s", "--no-log"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PUSHROD_STATE": state, "LOGNAME": "ann"})
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"page at (\S+)", line):
            return process, found[1]
    raise SystemExit(f"{machine} could not be served")


def drive(page: Any, machine: str) -> None:
    page.get_by_role("button", name="Take control").click()
    page.wait_for_selector("text=You have control")
    page.get_by_role("button", name="Arm", exact=True).click()
    page.wait_for_selector("[data-live=state]:text-is('ARMED')")
    if machine == "boat":
        page.get_by_role("button", name="autopilot").click()
    for label, share in MOVES.get(machine, ()):
        slider = page.locator(f'.q-slider[aria-label="{label}"]').first
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2, steps=4)
        page.mouse.up()
    time.sleep(4.0)  # for the lines to have something to show


def pictures(machine: str, folder: Path, browser: Any) -> None:
    with tempfile.TemporaryDirectory() as state:
        process, url = served(machine, state)
        try:
            first = browser.new_page(viewport=dict(zip(("width", "height"), SIZES["screen"], strict=True)), color_scheme="light")
            first.goto(url)
            drive(first, machine)
            for scheme in ("light", "dark"):
                for size, (width, height) in SIZES.items():
                    page = first
                    page.emulate_media(color_scheme=scheme)
                    page.set_viewport_size({"width": width, "height": height})
                    for tab in page.locator(".pr-tabs .q-tab").all():
                        name = tab.inner_text().split()[-1].lower()
                        tab.click()
                        page.wait_for_timeout(1500 if name == "control" else 600)
                        page.evaluate("window.scrollTo(0, 0)")
                        page.screenshot(path=folder / f"dash_{machine}_{name}_{scheme}_{size}.png")
            first.close()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def main() -> None:
    from playwright.sync_api import sync_playwright

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=list(SOFTWARE))
        for machine in sys.argv[2:] or MOVES:
            pictures(machine, folder, browser)
        browser.close()


if __name__ == "__main__":
    main()
