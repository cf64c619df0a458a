"""`pushrod serve`: a robot live on the wall clock, guarded, commanded over the network, until it is told to end."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

from pushrod.cli.onlookers import Onlookers
from pushrod.cli.output import answer, event, plain_error, say
from pushrod.cli.reach import REFUSED, TlsFiles
from pushrod.cli.recorded import LogWish, where

if TYPE_CHECKING:
    from collections.abc import Callable

    from pushrod.cli.live_robot import LiveRobot
    from pushrod.guard.settings import Guard
    from pushrod.net import Access, Link
    from pushrod.runtime.bus import Subscription
    from pushrod.runtime.runtime import Runtime

RECORDING = ("recording",)  # whose errors are those of the log


def serve(
    machine: A[str, typer.Argument(help="A shipped machine (see `pushrod list`), a machine file, or a robot file (.yaml, .urdf) with its drivers.")],
    net: A[
        list[str] | None, typer.Option("--net", metavar="ENDPOINT", help="Listen there instead of at a socket of this user; may be repeated.")
    ] = None,
    via: A[str | None, typer.Option(metavar="ENDPOINT", help="Meet operators at the router there, instead of listening.")] = None,
    patience: A[str, typer.Option(metavar="TIME", help="How long to wait for the router of --via.")] = "30 s",
    tls: TlsFiles = None,
    allow_command: A[list[str] | None, typer.Option(metavar="NAME", help="Whose certificate may command; may be repeated.")] = None,
    allow_watch: A[list[str] | None, typer.Option(metavar="NAME", help="Whose certificate may only watch; may be repeated.")] = None,
    set_: A[list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Put a value over a parameter; may be repeated.")] = None,
    name: A[str | None, typer.Option(help="Serve it under another name, as where several are alike.")] = None,
    simulation: A[bool, typer.Option("--simulation", help="Of a robot file: an ideal motor in the place of every driver.")] = False,
    dt: A[str | None, typer.Option(help="Of a machine: the tick of its world; that of its scenario if left out.")] = None,
    arm: A[bool, typer.Option("--arm", help="Arm it at once.")] = False,
    guard: A[bool, typer.Option("--guard/--no-guard", help="A second process that disarms when this one dies or hangs.")] = True,
    guard_limit: A[str, typer.Option(help="The longest silence the guard bears.")] = "250 ms",
    dash: A[bool, typer.Option("--dash", help="Show it in the browser, from a process of its own; the address is printed.")] = False,
    dash_port: A[
        int | None, typer.Option(metavar="PORT", help="Where the page is; 8321 if left out, 0 for any that is free. Implies --dash.")
    ] = None,
    dash_host: A[
        str | None, typer.Option(metavar="HOST", help="Let other machines see the page, by the token that is printed. Implies --dash.")
    ] = None,
    foxglove: A[bool, typer.Option("--foxglove", help="Let Foxglove connect, on this machine; the address is printed.")] = False,
    foxglove_port: A[int | None, typer.Option(metavar="PORT", help="Where; 8765 if left out, 0 for any. Implies --foxglove.")] = None,
    realtime: A[
        bool, typer.Option("--realtime", help="Go before all other processes, so that loops keep their time; needs root or an rtprio limit.")
    ] = False,
    log: A[bool, typer.Option("--log/--no-log", help="Write an MCAP log, from a process of its own.")] = True,
    out: A[Path, typer.Option(help="Folder for the log.")] = Path("runs"),
    log_required: A[bool, typer.Option("--log-required", help="Do not arm it without a log that can be written.")] = False,
    verbose: A[bool, typer.Option("--verbose", "-v", help="Say who comes and goes.")] = False,
) -> None:
    """Run a machine or robot live and let others command it, until Ctrl-C or SIGTERM; then it is disarmed.

    Exit codes: 0 ended by SIGTERM; 130 by Ctrl-C; 2 wrong input; 3 --arm was refused, or something could not be made safe; 4 the network failed.
    """
    import asyncio
    import logging

    from pushrod.cli.live_robot import live_robot
    from pushrod.cli.nearby import Serving, socket_of
    from pushrod.cli.reach import network
    from pushrod.cli.via import patience_of
    from pushrod.core.errors import InputError
    from pushrod.runtime.arming import NotSafeError
    from pushrod.runtime.real_time import real_time

    network()
    from pushrod.net import Access, Link, Tls

    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("pushrod.recording").setLevel(logging.CRITICAL)  # what fails there is said below, once
    made = live_robot(machine, set_ or [], name, simulation, dt)
    robot = made.robot.name
    access = Access(tuple(allow_command or ()), tuple(allow_watch or ())) if allow_command or allow_watch else None
    if net and via:
        raise InputError("--net and --via: a robot listens by itself, or meets its operators at a router; say one of both")
    listen = () if via else tuple(net or ()) or (socket_of(robot),)
    link = Link(listen, via or (), None if tls is None else Tls(*tls), access if listen else None, patience_of(patience))
    page = dash or dash_port is not None or dash_host is not None
    onlookers = Onlookers(page, dash_port, dash_host, foxglove or foxglove_port is not None, foxglove_port)
    onlookers.check(tls is not None)
    keep = LogWish(log or log_required, out, log_required)
    if realtime:
        real_time()  # now that its world is compiled; the threads of the network, its loops and its guard are started later, and go along
    with Serving(robot) as serving:
        try:
            code = asyncio.run(_serve(made, link, access, serving.tell, arm, _guard(guard, guard_limit), onlookers, keep))
        except NotSafeError as error:
            answer(error=plain_error(error, str(error)))
            say(f"error: {error}", err=True)
            code = REFUSED
    if code:
        raise typer.Exit(code)


def _guard(wanted: bool, limit: str) -> "Guard | bool":
    from pushrod.config.unit import to_si
    from pushrod.core.errors import InputError
    from pushrod.guard.settings import Guard

    try:
        return Guard(limit=to_si(limit, "s")) if wanted else False
    except ValueError as error:
        raise InputError(f"--guard-limit: {error}") from None


async def _serve(
    made: "LiveRobot",
    link: "Link",
    access: "Access | None",
    tell: "Callable[[str], None]",
    arm: bool,
    guard: "Guard | bool",
    onlookers: Onlookers,
    keep: LogWish,
) -> int:
    import asyncio
    import signal

    from pushrod.cli import via
    from pushrod.net import expose
    from pushrod.runtime.message import HardwareError, Transition
    from pushrod.runtime.runtime import Runtime

    loop = asyncio.get_running_loop()
    ending: asyncio.Future[int] = loop.create_future()

    def end(number: int) -> None:
        if not ending.done():
            ending.set_result(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    opened = await via.opened(link, made.robot.name, ending)
    if opened is None:
        return 130 if ending.result() == signal.SIGINT else 0
    with opened as bus, ExitStack() as stack:
        rt = Runtime(made.robot, machine=made.machine, simulation=made.simulation, startup=made.startup, bus=bus, guard=guard)
        recording = stack.enter_context(keep.recorded(rt, made))
        async with rt:
            with expose(rt, access) as exposure:
                looking = asyncio.create_task(via.look(link, rt.robot.name, exposure.instance)) if link.connect else None
                tell((*link.listen, *link.connect)[0])
                refused = _arm(rt) if arm else 0
                happening = rt.subscribe((), (Transition, HardwareError))  # before the state is said, so that nothing after it is missed
                telling = asyncio.create_task(_tell(rt.robot.name, happening, recording.problem if recording else "", guard))
                say(_first_lines(rt, link, where(recording)))
                event(
                    "served",
                    robot=rt.robot.name,
                    state=rt.state,
                    at=[*link.listen, *link.connect],
                    guard=str(rt.guard),
                    actuators=list(rt.hosts),
                    log=where(recording),
                )
                await onlookers.start(rt.robot.name, (*link.listen, *link.connect))
                ended = 0 if refused else await ending
                telling.cancel()
                if looking is not None:
                    looking.cancel()
                why = "--arm was refused" if refused else "Ctrl-C" if ended == signal.SIGINT else signal.Signals(ended).name
                got = rt.disarm(f"pushrod serve ends: {why}")  # first: an open page may take seconds to end
                await onlookers.close()
                if rt.state == "armed":  # by somebody, meanwhile
                    got = rt.disarm(f"pushrod serve ends: {why}")
            answer(robot=made.robot.name, why=why, state=got.state, ok=got.ok, failures=dict(got.failures))
            say(f"{made.robot.name}: ended ({why}); {got.state}{', all is safe' if got.ok else ''}")
    return refused or (130 if ended == signal.SIGINT else 0)


def _arm(rt: "Runtime") -> int:
    from pushrod.cli.arm import not_done

    got = rt.arm()
    if got.ok:
        return 0
    answer(refusal=got.refusal, missing=list(got.missing))
    say(f"{rt.robot.name}: {not_done('arming', got.refusal, got.state, got.missing)}", err=True)
    return REFUSED


def _first_lines(rt: "Runtime", link: "Link", log: str) -> str:
    """Who and where; how guarded, where its log is, and how to command it."""
    robot = rt.robot.name
    at = ", ".join((*link.listen, *(f"the router at {end}" for end in link.connect)))
    actuator = next(iter(rt.hosts), "ACTUATOR")
    first = "" if rt.state == "armed" else f"pushrod arm {robot}, then "
    how = f"{first}pushrod cmd {robot}/{actuator} ..., pushrod top{_options(link)}"
    return f"{robot}: {rt.state}; at {at}\n  guard: {rt.guard}\n  log: {log}\n  to command it: {how}"


def _options(link: "Link") -> str:
    """What each verb needs to reach it, beyond its name: one with certificates is not found by that alone."""
    end = (*link.listen, *link.connect)[0]
    if link.tls is None or not end.startswith("tls/"):
        return ""
    return f", each with --net {link.tls.call(end) if link.listen else end} --tls AUTHORITY CERTIFICATE KEY"


def what_to_do(why: str, limit: float) -> str:
    """A line more where the guard lost its patience: on a busy computer that may be all there was. A driver in one call has a limit of its own."""
    from pushrod.guard.judge import ALLOWED
    from pushrod.net.told import GUARD_ACTED

    if not why.startswith(GUARD_ACTED) or ALLOWED not in why or "the driver of" in why:
        return ""
    return (
        f"\n  if the computer was only busy: end it, and start it again with a longer limit, as pushrod serve ... --guard-limit '{4.0 * limit:g} s'"
    )


async def _tell(robot: str, happening: "Subscription", known: str, guard: "Guard | bool") -> None:
    """What happens to it, a line each; not what was wrong with its log from the start, which its first lines say."""
    from pushrod.runtime.message import Transition

    async for message in happening:
        payload = message.payload
        if isinstance(payload, Transition):
            event("transition", robot=robot, to=payload.to, why=payload.why)
            why = f": {payload.why}" if payload.why not in ("", payload.to) else ""
            say(f"{robot}: {payload.to}{why}" + ("" if isinstance(guard, bool) else what_to_do(payload.why, guard.limit)))
        else:
            event("error", robot=robot, path=list(payload.path), error=payload.error)
            if not (known and payload.path == RECORDING and payload.error.endswith(known)):
                say(f"{robot}: error at {'/'.join(payload.path)}: {payload.error}")
