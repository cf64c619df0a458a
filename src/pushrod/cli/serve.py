"""`pushrod serve`: run a robot live on the wall clock, guarded and commanded over the network, until a signal ends it."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from pushrod.cli.onlookers import Onlookers
from pushrod.cli.output import answer, event, plain_error, say
from pushrod.cli.reach import REFUSED, TlsFiles
from pushrod.cli.recorded import LogWish, where
from pushrod.cli.trust import Trust
from pushrod.core.outlet import unblock_streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from pushrod.cli.live_robot import LiveRobot
    from pushrod.guard.settings import Guard
    from pushrod.net import Access, Link
    from pushrod.runtime.bus import Subscription
    from pushrod.runtime.runtime import Runtime

SIGNAL = 0.01  # [s] for the event loop to handle a signal that is pending
RECORDING = ("recording",)  # whose errors are those of the log


def serve(
    machine: A[str, typer.Argument(help="A shipped machine (see `pushrod list`), a machine file, or a robot file (.yaml, .urdf) with its drivers.")],
    net: A[
        list[str] | None, typer.Option("--net", metavar="ENDPOINT", help="Listen at this address; default: a socket of this user. May be repeated.")
    ] = None,
    via: A[str | None, typer.Option(metavar="ENDPOINT", help="Connect to this rendezvous router instead of listening.")] = None,
    patience: A[str, typer.Option(metavar="TIME", help="Longest wait for the router of --via.")] = "30 s",
    tls: TlsFiles = None,
    allow_command: A[
        list[str] | None, typer.Option(metavar="NAME", help="Let the operator with this name in its certificate command; may be repeated.")
    ] = None,
    allow_watch: A[
        list[str] | None, typer.Option(metavar="NAME", help="Let the observer with this name in its certificate watch; may be repeated.")
    ] = None,
    set_: A[list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Override a parameter; may be repeated.")] = None,
    name: A[str | None, typer.Option(help="Serve the robot under another name.")] = None,
    simulation: A[bool, typer.Option("--simulation", help="Replace every driver of a robot file by an ideal motor.")] = False,
    dt: A[str | None, typer.Option(metavar="TIME", help="Tick of a machine's world; default: that of its scenario.")] = None,
    arm: A[bool, typer.Option("--arm", help="Arm the robot at the start.")] = False,
    guard: A[bool, typer.Option("--guard/--no-guard", help="Start a second process that disarms the robot when this one dies or hangs.")] = True,
    guard_limit: A[str, typer.Option(metavar="TIME", help="Time without a heartbeat after which the guard disarms.")] = "250 ms",
    dash: A[bool, typer.Option("--dash", help="Start a dashboard for the browser in a process of its own; its address is printed.")] = False,
    dash_port: A[int | None, typer.Option(metavar="PORT", help="Port of the dashboard; default 8321, 0: any free one. Implies --dash.")] = None,
    dash_host: A[
        str | None, typer.Option(metavar="HOST", help="Open the dashboard to other machines, with the token that is printed. Implies --dash.")
    ] = None,
    foxglove: A[bool, typer.Option("--foxglove", help="Let Foxglove connect on this machine; the address is printed.")] = False,
    foxglove_port: A[int | None, typer.Option(metavar="PORT", help="Port for Foxglove; default 8765, 0: any free one. Implies --foxglove.")] = None,
    realtime: A[bool, typer.Option("--realtime", help="Use real-time scheduling, so that loops are on time; needs root or an rtprio limit.")] = False,
    log: A[bool, typer.Option("--log/--no-log", help="Write an MCAP log in a process of its own.")] = True,
    out: A[Path, typer.Option(help="Folder for the log.")] = Path("runs"),
    log_required: A[bool, typer.Option("--log-required", help="Refuse to arm while the log cannot be written.")] = False,
    trust: Trust = False,
    verbose: A[bool, typer.Option("--verbose", "-v", help="Print connections of operators and other details.")] = False,
) -> None:
    """Run a machine or robot live for operators to command. Ctrl-C or SIGTERM disarms it and ends.

    Exit codes: 0 ended by SIGTERM; 130 by Ctrl-C; 2 wrong input; 3 --arm was refused, or an actuator could not be made safe; 4 the network failed.
    """
    import asyncio
    import logging

    from pushrod.cli.live_robot import live_robot
    from pushrod.cli.nearby import Serving, socket_of
    from pushrod.cli.progress import COMPILING, progress
    from pushrod.cli.reach import network
    from pushrod.cli.via import patience_of
    from pushrod.core.errors import InputError
    from pushrod.runtime.arming import NotSafeError
    from pushrod.runtime.real_time import real_time

    page = dash or dash_port is not None or dash_host is not None
    made = live_robot(machine, set_ or [], name, simulation, dt, trust)
    network(*(["dash"] if page else []), *made.extras)
    from pushrod.net import Access, Link, Tls

    unblock_streams()
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("pushrod.recording").setLevel(logging.CRITICAL)  # its problems are printed below, once
    robot = made.robot.name
    access = Access(tuple(allow_command or ()), tuple(allow_watch or ())) if allow_command or allow_watch else None
    if net and via:
        raise InputError("--net and --via exclude each other: a robot listens by itself, or connects to a router. Give one of them")
    listen = () if via else tuple(net or ()) or (socket_of(robot),)
    link = Link(listen, via or (), None if tls is None else Tls(*tls), access if listen else None, patience_of(patience))
    onlookers = Onlookers(page, dash_port, dash_host, foxglove or foxglove_port is not None, foxglove_port)
    onlookers.check(tls is not None)
    keep = LogWish(log or log_required, out, log_required)
    if made.machine is not None:
        with progress("starting", "worlds", 1, before=COMPILING) as show:  # before others are told that it is being started
            made.machine.warm()
            show(1, 1)
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
    from pushrod.cli.stop_socket import stop_sockets
    from pushrod.core.forked import left_by_its_process_alone
    from pushrod.net import expose
    from pushrod.runtime.message import HardwareError, Requested, Transition
    from pushrod.runtime.runtime import Runtime
    from pushrod.runtime.signals import handle_signals

    loop = asyncio.get_running_loop()
    ending: asyncio.Future[int] = loop.create_future()

    def end(number: int) -> None:
        if not ending.done():
            ending.set_result(number)

    handle_signals((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), end)
    opened = await via.opened(link, made.robot.name, ending)
    if opened is None:
        return 130 if ending.result() == signal.SIGINT else 0
    with opened as bus, ExitStack() as stack:
        rt = Runtime(made.robot, machine=made.machine, simulation=made.simulation, startup=made.startup, bus=bus, guard=guard)
        recording = stack.enter_context(keep.recorded(rt, made))
        stack.enter_context(left_by_its_process_alone())  # a driver may fork while it is set up
        async with rt:
            with expose(rt, access) as exposure, stop_sockets(rt), left_by_its_process_alone():
                looking = asyncio.create_task(via.look(link, rt.robot.name, exposure.instance)) if link.connect else None
                tell((*link.listen, *link.connect)[0])
                await asyncio.wait([ending], timeout=SIGNAL)  # the loop handles a signal that came while drivers were initialized
                refused = _arm(rt) if arm and not ending.done() else 0
                happening = rt.subscribe(
                    (), (Transition, HardwareError, Requested)
                )  # before the state is printed, so that nothing after it is missed
                missing = [] if refused or rt.state == "armed" else rt.missing()
                telling = asyncio.create_task(_tell(rt.robot.name, happening, recording.problem if recording else "", guard))
                say(_first_lines(rt, link, where(recording), missing))
                event(
                    "served",
                    robot=rt.robot.name,
                    state=rt.state,
                    at=[*link.listen, *link.connect],
                    guard=str(rt.guard),
                    actuators=list(rt.hosts),
                    log=where(recording),
                    missing=missing,
                )
                starting = asyncio.create_task(onlookers.start(rt.robot.name, (*link.listen, *link.connect)))
                either: tuple[asyncio.Future[Any], ...] = (starting, ending)
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)  # a page that is slow to start delays no end
                if starting.done():
                    await starting
                ended = 0 if refused else await ending
                telling.cancel()
                if looking is not None:
                    looking.cancel()
                why = "--arm was refused" if refused else "Ctrl-C" if ended == signal.SIGINT else signal.Signals(ended).name
                got = rt.disarm(f"pushrod serve ends: {why}")  # first: an open page may take seconds to end
                starting.cancel()
                await asyncio.wait([starting])
                await onlookers.close()
                if rt.state == "armed":  # by an operator, meanwhile
                    got = rt.disarm(f"pushrod serve ends: {why}")
            answer(robot=made.robot.name, why=why, state=got.state, ok=got.ok, failures=dict(got.failures))
            say(f"{made.robot.name}: ended ({why}); {got.state}{', all actuators are safe' if got.ok else ''}")
    return refused or (130 if ended == signal.SIGINT else 0)


def _arm(rt: "Runtime") -> int:
    from pushrod.cli.arm import refusal_text

    got = rt.arm()
    if got.ok:
        return 0
    answer(refusal=got.refusal, missing=list(got.missing))
    say(refusal_text(rt.robot.name, "arming", got), err=True)
    return REFUSED


def _first_lines(rt: "Runtime", link: "Link", log: str, missing: list[str]) -> str:
    """Return the name, state and address of a robot, its guard, its log, what blocks arming, and the commands to use it."""
    robot = rt.robot.name
    at = ", ".join((*link.listen, *(f"the router at {end}" for end in link.connect)))
    actuator = next(iter(rt.hosts), "ACTUATOR")
    first = "" if rt.state == "armed" else f"pushrod arm {robot}, then "
    how = f"{first}pushrod cmd {robot}/{actuator} ..., pushrod top{_options(link)}"
    blocked = "".join(f"\n  arming is blocked: {text}" for text in missing)
    return f"{robot}: {rt.state}; at {at}\n  guard: {rt.guard}\n  log: {log}{blocked}\n  to command it: {how}"


def _options(link: "Link") -> str:
    """Return the options that verbs need to reach the robot, "" where its name is enough."""
    end = (*link.listen, *link.connect)[0]
    if link.tls is None or not end.startswith("tls/"):
        return ""
    return f", each with --net {link.tls.call(end) if link.listen else end} --tls AUTHORITY CERTIFICATE KEY"


def what_to_do(why: str, limit: float) -> str:
    """Return advice where the guard timed out, which may happen on a busy computer; "" otherwise. Calls of drivers have a limit of their own."""
    from pushrod.guard.judge import ALLOWED
    from pushrod.net.told import GUARD_ACTED

    if not why.startswith(GUARD_ACTED) or ALLOWED not in why or "the driver of" in why:
        return ""
    return f"\n  if the computer was only busy, restart with a longer limit: pushrod serve ... --guard-limit '{4.0 * limit:g} s'"


async def _tell(robot: str, happening: "Subscription", known: str, guard: "Guard | bool") -> None:
    """Print transitions, errors and the requests of operators, a line each; not a problem of the log that the first lines have shown."""
    from pushrod.runtime.asked import SAFETY, safety_request_text
    from pushrod.runtime.message import Requested, Transition

    last = ""  # why of the last transition
    async for message in happening:
        payload = message.payload
        if isinstance(payload, Requested):
            if message.topic == SAFETY:
                event("request", robot=robot, request=payload.kind, by=payload.source, result=payload.result, **payload.payload)
                if last != f"{payload.payload.get('reason', '')}, by {payload.source}":  # else the transition has named both
                    say(f"{robot}: {safety_request_text(payload)}")
        elif isinstance(payload, Transition):
            last = payload.why
            event("transition", robot=robot, to=payload.to, why=payload.why)
            why = f": {payload.why}" if payload.why not in ("", payload.to) else ""
            say(f"{robot}: {payload.to}{why}" + ("" if isinstance(guard, bool) else what_to_do(payload.why, guard.limit)))
        else:
            event("error", robot=robot, path=list(payload.path), error=payload.error)
            if not (known and payload.path == RECORDING and payload.error.endswith(known)):
                say(f"{robot}: error at {'/'.join(payload.path)}: {payload.error}")
