"""Pages as a PlotJuggler layout (XML): a tab for each page with plots in it. Load the log first, then the layout.

PlotJuggler names a number /topic/field/field, entries of a list [0], [1]; it has no panel for lines to read.
"""

import xml.etree.ElementTree as ET

from pushrod.config.unit import bracketed
from pushrod.layout.page import Curve, Page

COLOURS = ("#1f77b4", "#d62728", "#1ac938", "#ff7f0e", "#f14cc1", "#9467bd", "#17becf", "#bcbd22")


def layout(pages: list[Page]) -> str:
    root = ET.Element("root")
    window = ET.SubElement(root, "tabbed_widget", {"parent": "main_window", "name": "Main Window"})
    for page in pages:
        if page.panels:
            _tab(window, page)
    ET.SubElement(window, "currentTabIndex", {"index": "0"})
    ET.SubElement(root, "use_relative_time_offset", {"enabled": "1"})
    ET.indent(root, " ")
    return "<?xml version='1.0' encoding='UTF-8'?>\n" + ET.tostring(root, encoding="unicode")


def _tab(window: ET.Element, page: Page) -> None:
    tab = ET.SubElement(window, "Tab", {"tab_name": page.title, "containers": "1"})
    n = len(page.panels)
    sizes = ";".join([f"{1.0 / n:.6f}"] * n)
    splitter = ET.SubElement(ET.SubElement(tab, "Container"), "DockSplitter", {"orientation": "-", "count": str(n), "sizes": sizes})
    for panel in page.panels:
        area = ET.SubElement(splitter, "DockArea", {"name": panel.title + bracketed(panel.unit)})
        plot = ET.SubElement(area, "plot", {"mode": "TimeSeries", "style": "Lines", "flip_x": "false", "flip_y": "false"})
        ET.SubElement(plot, "range", {"left": "0.000000", "right": "1.000000", "bottom": "-0.100000", "top": "1.100000"})
        ET.SubElement(plot, "limitY")
        for i, curve in enumerate(panel.curves):
            ET.SubElement(plot, "curve", {"name": name_of(curve), "color": COLOURS[i % len(COLOURS)]})


def name_of(curve: Curve) -> str:
    if curve.joint:
        return f"{curve.topic}/joints[{curve.place}]/{curve.path}"
    name = curve.topic
    for part in curve.path.split("."):
        name += f"[{part}]" if part.isdigit() else f"/{part}"
    return name
