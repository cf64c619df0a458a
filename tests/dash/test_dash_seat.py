"""Who has control keeps it while the host knows him and his browser is heard of, whatever else is slow."""

import asyncio
import time

from net.net_rig import HostProcess
from pushrod.dash.seat import SILENCE, Desk
from pushrod.dash.watch import Watch


class Delayed:
    """A connection on which an answer that was right when it was given comes late: by then control has been taken."""

    def __init__(self, remote, meanwhile):
        self._remote, self._meanwhile = remote, meanwhile

    async def overview(self):
        found = await self._remote.overview()
        await self._meanwhile()
        return found


def at_a_desk(body):
    async def main():
        with HostProcess() as host:
            watch = Watch("arm", host.link(), "dash")
            await watch.open()
            await body(watch, Desk(watch, "dash"))
            await watch.close()

    asyncio.run(main())


def test_an_answer_that_is_older_than_control_does_not_take_it_away():
    async def body(watch, desk):
        seat = desk.sit()

        async def take():
            assert await seat.take() == ""

        await watch._asked(Delayed(watch.remote, take))
        assert seat.holds("shoulder_motor")
        assert not seat.is_gone(SILENCE)
        await watch._asked(watch.remote)
        assert seat.holds("shoulder_motor"), "the next answer says so too"
        await seat.give_back()

    at_a_desk(body)


def test_a_browser_that_is_silent_loses_control_but_not_while_the_page_itself_stood_still():
    async def body(watch, desk):
        seat = desk.sit()
        looking = asyncio.create_task(desk.run())
        assert await seat.take() == ""
        await asyncio.sleep(0.2)
        time.sleep(1.5 * SILENCE)  # nothing runs here: the browser may have said much
        await asyncio.sleep(0.25)
        assert seat.in_control
        seat.beat()
        await asyncio.sleep(0.7 * SILENCE)
        assert seat.in_control
        end = time.monotonic() + SILENCE
        while seat.in_control:
            assert time.monotonic() < end
            await asyncio.sleep(0.02)
        assert desk.holder is None
        looking.cancel()
        assert seat.lost == f"Control as {seat.name} was lost: this browser was not heard for 1 s"
        assert desk.why_lost(seat.key) == seat.lost, "also where its page was loaded anew"
        assert await seat.take() == ""
        assert seat.lost == ""
        assert desk.why_lost(seat.key) is None, "it has control"
        await seat.give_back()
        assert seat.lost == ""

    at_a_desk(body)


def test_who_is_not_known_to_the_host_any_more_has_no_control():
    async def body(watch, desk):
        seat = desk.sit()
        assert await seat.take() == ""
        for name in watch.leases:
            watch.note_lease(name, None)
        assert not seat.is_gone(0.5 * SILENCE)
        seat.beat()
        assert seat.is_gone(0.6 * SILENCE)
        await seat.vanish(seat.why_gone)
        assert "the host took the link for lost" in seat.lost

    at_a_desk(body)
