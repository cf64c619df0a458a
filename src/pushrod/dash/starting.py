"""Start the process of the page, or of another onlooker, beside this one: it ends with it, and its own end changes nothing here."""

import asyncio
import sys
from collections.abc import Callable

import msgspec

from pushrod.core.errors import InputError

PATIENCE = 120.0  # [s] for it to report its address: its imports alone take most of a minute on a host with no core free
ENDING = 5.0  # [s] for it to take its leave


class Beside:
    """One process that looks on. `say` is told where it is found, and when it ends by itself."""

    def __init__(self, module: str, what: str, say: Callable[[str], None]) -> None:
        self._module, self._what, self._say = module, what, say
        self._process: asyncio.subprocess.Process | None = None
        self._ending = False
        self._following: asyncio.Task[None] | None = None

    async def start(self, settings: msgspec.Struct) -> str:
        """The line it says first. InputError where it ends instead."""
        pipe = asyncio.subprocess.PIPE
        told = msgspec.json.encode(settings).decode()
        # a group of its own: Ctrl-C is not for it; but the same session, to which Linux gives time as a whole: in one of its own it would have as
        # much claim to a core as the whole control process
        # -P: with -m alone, Python imports from the current folder first
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", self._module, told, stdin=pipe, stdout=pipe, process_group=0
        )
        assert process.stdout is not None
        line = ""
        try:
            line = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode().strip()
            problem = "has ended at its start; see its message above"
        except TimeoutError:
            problem = f"has not started within {PATIENCE:g} s: the host is too busy, or it hangs"
        if line:
            self._following = asyncio.create_task(self._follow(process))
            return line
        await self.close()
        raise InputError(f"{self._what} {problem}")

    async def close(self) -> None:
        """The end of its standard input is its sign to take its leave."""
        self._ending = True
        process = self._process
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), ENDING)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def wait(self) -> int:
        """Until it ends."""
        assert self._process is not None
        return await self._process.wait()

    async def _follow(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while await process.stdout.readline():
            pass
        code = await process.wait()
        if not self._ending:
            self._say(f"{self._what} has ended ({code}); the robot goes on")
