"""The machine moving, in three dimensions."""

from math import dist, floor

from nicegui import ui

from pushrod.dash.body import Body, body_of
from pushrod.dash.element import box, live, text
from pushrod.dash.told import Told, figure
from pushrod.dash.watch import Watch

LINES = 12  # of the ground, to either side
THIN = 0.02  # of a line, in gaps between two


class ScenePanel:
    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._body: Body | None = body_of(watch)
        self._last: dict[str, object] = {}
        self._to: tuple[float, ...] = self._body.to if self._body is not None else (0.0, 0.0, 0.0)
        with box("pr-card pr-scene"):
            with box("pr-card-head"):
                text("View", "pr-heading")
                live("scene:where", "pr-soft")
            if self._body is None:
                text("There is nothing to draw: the links of this robot have no shapes.", "pr-soft")
                return
            with ui.scene(width=560, height=300, grid=False, background_color="#20262d", fps=12).classes("pr-scene-box") as self._scene:
                self._ground = self._draw_ground(self._body.width / LINES)
                self._parts = self._body.draw(self._scene)
            self._scene.move_camera(*self._body.eye, *self._body.to, duration=0.0)

    def _draw_ground(self, gap: float) -> object:
        with self._scene.group() as ground:
            far = LINES * gap
            for i in range(-LINES, LINES + 1) if gap else ():
                colour = "#808b97" if i % 4 == 0 else "#5d6772"  # seen on light and on dark
                thin = THIN * gap  # solid: software that draws drops plain lines that reach behind the camera
                self._scene.box(thin, 2.0 * far, thin).move(i * gap, 0.0, -thin).material(colour)
                self._scene.box(2.0 * far, thin, thin).move(0.0, i * gap, -thin).material(colour)
        return ground.move(0.0, 0.0, self._body.floor if self._body is not None else 0.0)

    def tell(self, told: Told) -> None:
        body = self._body
        if body is None or not self._watch.alive:
            return
        places = body.pose(self._watch)
        self._follow(body, [at.position for _, at in places])
        for part, at in places:
            place = tuple(round(x, 4) for x in (*at.position, *(x for row in at.rotation for x in row)))
            if self._last.get(part) != place:
                self._last[part] = place
                self._parts[part].move(*at.position).rotate_R([list(row) for row in at.rotation])
        x, y = body.ground(self._watch)
        if body.width:
            gap = 4.0 * body.width / LINES  # every fourth line is brighter: the pattern repeats
            place = (round(-(x - floor(x / gap) * gap), 3), round(-(y - floor(y / gap) * gap), 3), round(body.floor - body.rise(self._watch), 3))
            if self._last.get("ground") != place:
                self._last["ground"] = place
                self._ground.move(*place)  # type: ignore[attr-defined]
        now = self._watch.now
        told.texts["scene:where"] = ", ".join(f"{name} {figure(now[name], 'm', 2)}" for name in ("x", "y", "z") if name in now)

    def _follow(self, body: Body, places: list[tuple[float, float, float]]) -> None:
        """Move the camera after a machine whose parts leave the picture, in the direction it looks."""
        if not places or max(dist(place, self._to) for place in places) <= body.reach:
            return
        self._to = to = tuple(sum(axis) / len(places) for axis in zip(*places, strict=True))
        x, y, z = (e + now - first for e, now, first in zip(body.eye, to, body.to, strict=True))
        self._scene.move_camera(x, y, z, to[0], to[1], to[2], duration=0.5)
