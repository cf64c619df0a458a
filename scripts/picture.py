"""Draw the picture of the first page of the docs: the shipped car's default scenario. Needs chromium on the PATH for the PNG.

python scripts/picture.py        writes docs/images/car.html (not kept) and docs/images/car.png
"""

import shutil
import subprocess
import sys
from pathlib import Path

from plotly.subplots import make_subplots

from pushrod.sim import machine, scenario
from pushrod.sim.run import simulate

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
COLOURS = {"_req": "#9aa0a6", "_cmd": "#e8a33d", "_ach": "#1f6feb", "_meas": "#57ab5a"}
ROWS = (
    ("tyre angle [rad]", ("steer_req", "steer_cmd", "steer_ach")),
    ("acceleration [m/s²]", ("acc_req", "acc_cmd", "acc_ach")),
    ("speed [m/s]", ("speed",)),
)


def main() -> None:
    car = machine.load("car")
    result = simulate(car, scenario.load(None, car))
    fig = make_subplots(rows=len(ROWS), cols=1, shared_xaxes=True, vertical_spacing=0.05)
    for j, (title, names) in enumerate(ROWS, 1):
        for name in names:
            suffix = f"_{name.rpartition('_')[2]}"
            line = {"color": COLOURS.get(suffix, "#1f6feb"), "width": 2.2 if suffix == "_ach" else 1.6}
            label = {"_req": "requested", "_cmd": "commanded", "_ach": "achieved"}.get(suffix, name)
            fig.add_scatter(x=result.t, y=result.columns[name], mode="lines", name=label, line=line, showlegend=j == 1, row=j, col=1)
        fig.update_yaxes(title_text=title, row=j, col=1)
    fig.update_xaxes(title_text="time [s]", row=len(ROWS), col=1)
    legend = {"orientation": "h", "x": 0.0, "y": 1.06}
    fig.update_layout(template="plotly_white", width=1100, height=680, margin={"l": 70, "r": 20, "t": 50, "b": 50}, legend=legend, font={"size": 14})
    page = IMAGES / "car.html"
    fig.write_html(page, include_plotlyjs=True, config={"displayModeBar": False})
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit(f"the picture is in {page}; chromium, which would turn it into a PNG, is not on the PATH")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking", "--window-size=1120,700"]
    subprocess.run(
        [chromium, *flags, "--virtual-time-budget=5000", f"--screenshot={IMAGES / 'car.png'}", page.as_uri()], check=True, capture_output=True
    )


if __name__ == "__main__":
    main()
