"""Those who look on from processes of their own while a robot is served: the page in the browser."""

from pathlib import Path
from typing import TYPE_CHECKING

from pushrod.cli.output import event, say
from pushrod.core.errors import InputError

if TYPE_CHECKING:
    from pushrod.dash.settings import Settings
    from pushrod.dash.starting import Beside

Files = tuple[Path, Path, Path]


def dash_settings(robot: str, ends: tuple[str, ...], tls: Files | None, port: int | None, host: str | None, operator: str = "") -> "Settings":
    """InputError where the page is not installed."""
    try:
        import nicegui  # noqa: F401
    except ImportError as error:
        raise InputError("the page needs NiceGUI, which is not installed: pip install 'pushrod[dash]'") from error
    from pushrod.dash.settings import LOOPBACK, PORT, Settings

    files = None if tls is None else (str(tls[0]), str(tls[1]), str(tls[2]))
    settings = Settings(robot, ends, files, host or LOOPBACK, PORT if port is None else port, operator)
    settings.check()
    return settings


class Onlookers:
    def __init__(self, dash: bool, dash_port: int | None, dash_host: str | None, tls: Files | None) -> None:
        self._dash, self._dash_port, self._dash_host, self._tls = dash, dash_port, dash_host, tls
        self._running: list[Beside] = []

    def check(self) -> None:
        """What is wrong with what was asked for, before anything is started."""
        if self._dash:
            dash_settings("", (), self._tls, self._dash_port, self._dash_host)

    async def start(self, robot: str, ends: tuple[str, ...]) -> None:
        """A robot whose page does not start goes on without; that is said."""
        if not self._dash:
            return
        from pushrod.dash.starting import Beside

        page = Beside("pushrod.dash", "the page", say)
        self._running.append(page)
        try:
            where = await page.start(dash_settings(robot, ends, self._tls, self._dash_port, self._dash_host))
            say(f"{robot}: page at {where}")
            event("page", robot=robot, at=where)
        except InputError as error:
            say(f"{robot}: {error}; the robot goes on without")

    async def close(self) -> None:
        for one in self._running:
            await one.close()
