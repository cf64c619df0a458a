"""Those who look on from processes of their own while a robot is served: the page in the browser, and what Foxglove connects to."""

from pathlib import Path
from typing import TYPE_CHECKING

from pushrod.cli.output import event, say
from pushrod.core.errors import InputError

if TYPE_CHECKING:
    from pushrod.dash.settings import Settings
    from pushrod.dash.starting import Beside

Files = tuple[Path, Path, Path]


def dash_settings(
    robot: str, ends: tuple[str, ...], tls: Files | None, port: int | None, host: str | None, operator: str = "", option: str = "--dash-port"
) -> "Settings":
    """InputError where the port is none; `option` is what it was given by."""
    from pushrod.dash.settings import LOOPBACK, PORT, Settings

    files = None if tls is None else (str(tls[0]), str(tls[1]), str(tls[2]))
    settings = Settings(robot, ends, files, host or LOOPBACK, PORT if port is None else port, operator, option)
    settings.check()
    return settings


class Onlookers:
    def __init__(self, dash: bool, dash_port: int | None, dash_host: str | None, foxglove: bool, foxglove_port: int | None) -> None:
        self._dash, self._dash_port, self._dash_host = dash, dash_port, dash_host
        self._foxglove, self._foxglove_port = foxglove, foxglove_port
        self._running: list[Beside] = []

    def check(self, with_certificates: bool) -> None:
        """What is wrong with what was asked for, before anything is started."""
        if with_certificates and (self._dash or self._foxglove):
            how = "start `pushrod dash --net tls/HOST:PORT --tls AUTHORITY CERTIFICATE KEY` beside it"
            raise InputError(f"--dash and --foxglove: where certificates say who may command, the page needs one of its own; {how}")
        if self._dash:
            dash_settings("", (), None, self._dash_port, self._dash_host)
        if self._foxglove_port is not None and not 0 <= self._foxglove_port <= 65535:
            raise InputError(f"--foxglove-port {self._foxglove_port}: a port is a number from 0 (any that is free) to 65535")

    async def start(self, robot: str, ends: tuple[str, ...]) -> None:
        if self._dash:
            await self._begin("pushrod.dash", "page", robot, dash_settings(robot, ends, None, self._dash_port, self._dash_host))
        if self._foxglove:
            from pushrod.dash.foxglove_live import PORT
            from pushrod.dash.settings import Settings

            port = PORT if self._foxglove_port is None else self._foxglove_port
            await self._begin("pushrod.dash.foxglove_live", "foxglove", robot, Settings(robot, ends, port=port))

    async def _begin(self, module: str, what: str, robot: str, settings: "Settings") -> None:
        """Start an observer; where that fails, the robot runs without it, and a message is printed."""
        from pushrod.dash.starting import Beside

        one = Beside(module, f"the process of the {what}", say)
        self._running.append(one)
        try:
            where = await one.start(settings)
            say(f"{robot}: {what} at {where}")
            event(what, robot=robot, at=where)
        except InputError as error:
            say(f"{robot}: {error}; the robot runs without it")

    async def close(self) -> None:
        for one in self._running:
            await one.close()
