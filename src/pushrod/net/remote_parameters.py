"""The parameters of a robot elsewhere: as `Store`, but asked for over the network. Values in SI; the host checks them as a whole."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pushrod.core.errors import InputError

if TYPE_CHECKING:
    from pushrod.net.remote import RemoteRobot


class RemoteParameters:
    def __init__(self, remote: "RemoteRobot") -> None:
        self._remote = remote

    async def get(self, path: str) -> Any:
        """None where it has no value yet. InputError where there is none of that path."""
        for entry in await self.list(path):
            if entry["path"] == path:
                return entry["value"]
        known = [entry["path"] for entry in await self.list()]
        raise InputError(f"{self._remote.robot} has no parameter {path!r}; it has {', '.join(known) or 'none'}")

    async def list(self, prefix: str = "") -> list[dict[str, Any]]:
        """Of each: path, value, source, unit, lo, hi, doc."""
        return list(await self._remote.tell("parameters", prefix=prefix))

    async def set(self, path: str, value: Any) -> None:
        await self.set_many({path: value})

    async def set_many(self, values: Mapping[str, Any]) -> None:
        """All at once, or none: ParameterError names each that is not allowed."""
        await self._remote.do("set_parameters", values=dict(values))
