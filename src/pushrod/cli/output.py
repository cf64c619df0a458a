"""What a verb says: words for people, or with --json one object on stdout and nothing else there.

A verb tells what it found once, by `answer(robot="arm", ...)`, and puts it in words by `say` and on the `console()`, which are silent with --json.
Verbs that run on tell `event`s, one object a line, before the last one. Numbers are in SI; what has no fixed unit has a `unit` beside it. An object
always has `verb` and `exit_code`, and `error` where there was one.
"""

import functools
import inspect
import os
import signal
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from typing import Annotated as A

import typer

from pushrod.cli.reach import UNREACHED, said
from pushrod.core.errors import PushrodError

if TYPE_CHECKING:
    from rich.console import Console

Json = A[bool, typer.Option("--json", help="Print one JSON object, and nothing else on stdout.")]
STOPPED = 130  # by Ctrl-C
NOT_DONE = {"estop": "NOT STOPPED", "disarm": "NOT DISARMED"}  # begins every failure of a stop
INTERRUPTED = "interrupted before an answer came; the outcome is unknown. Check the robot."
UNFOLDED = 10_000  # columns


@dataclass
class Spoken:
    json: bool = False
    found: dict[str, Any] = field(default_factory=dict)


_spoken: ContextVar[Spoken | None] = ContextVar("spoken", default=None)


def as_json() -> bool:
    spoken = _spoken.get()
    return spoken is not None and spoken.json


def say(text: str, err: bool = False) -> None:
    """A line for people. What goes to stderr goes there with --json, too."""
    if err or not as_json():
        typer.echo(text, err=err)


def console() -> "Console":
    """Where tables for people are drawn; with --json nowhere. What is no terminal gets whole lines, unless COLUMNS says how long they may be."""
    from rich.console import Console

    made = Console(highlight=False, quiet=as_json())
    return made if made.is_terminal or "COLUMNS" in os.environ else Console(highlight=False, quiet=as_json(), width=UNFOLDED)


def answer(**found: Any) -> None:
    """Keys of the object that --json prints."""
    spoken = _spoken.get()
    if spoken is not None:
        spoken.found |= found


def event(name: str, **found: Any) -> None:
    """Something that happened while a verb runs on: an object on a line of its own, at once."""
    if as_json():
        _print({"event": name, **found})


def answering(verb: str, function: Callable[..., None]) -> Callable[..., None]:
    """The verb with --json, and with its errors as messages, not tracebacks."""

    @functools.wraps(function)
    def call(*args: Any, json: bool = False, **options: Any) -> None:
        spoken = Spoken(json)
        before = _spoken.set(spoken)
        code = 0
        try:
            function(*args, **options)
        except typer.Exit as e:
            code = e.exit_code
            raise
        except PushrodError as e:
            code = UNREACHED if isinstance(e, (ConnectionError, TimeoutError)) else 2
            _fail(e, f"{NOT_DONE.get(verb, 'error')}: {said(e, verb)}", said(e, verb), code)
        except MemoryError as e:
            code = 2
            text = "not enough memory. Give less input, or use a computer with more"
            _fail(e, f"{NOT_DONE.get(verb, 'error')}: {text}", text, code)
        except KeyboardInterrupt as e:
            code = STOPPED
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is ending: a second one would only cut its last words
            text = f"{NOT_DONE[verb]}: {INTERRUPTED}" if verb in NOT_DONE else "stopped"
            _fail(e, f"\n{text}", text, code)
        except BaseException as e:
            spoken.json = False  # a defect of Pushrod: the traceback shows it
            if verb in NOT_DONE:
                say(f"{NOT_DONE[verb]}: {type(e).__name__}: {e}", err=True)
            raise
        finally:
            if spoken.json:
                _print({"verb": verb, "exit_code": code, **spoken.found})
            _spoken.reset(before)

    shape = inspect.signature(function)
    option = inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json)
    call.__signature__ = shape.replace(parameters=[*shape.parameters.values(), option])  # type: ignore[attr-defined]
    call.__annotations__ = {**function.__annotations__, "json": Json}
    return call


def _fail(error: BaseException, line: str, message: str, code: int) -> NoReturn:
    answer(error=plain_error(error, message))
    say(line, err=True)
    raise typer.Exit(code) from error


def plain_error(error: BaseException, text: str) -> dict[str, Any]:
    """Its type, what it says, and where it knows of several problems, each of them."""
    problems = getattr(error, "problems", None)
    return {"type": type(error).__name__, "message": text} | ({"problems": list(problems)} if problems else {})


def wrong_usage(verb: str, error: Any) -> NoReturn:
    """What cannot be read as a command line, told as JSON."""
    _print({"verb": verb, "exit_code": error.exit_code, "error": {"type": "UsageError", "message": error.format_message()}})
    raise typer.Exit(error.exit_code) from error


def _print(found: dict[str, Any]) -> None:
    """Numbers that are not finite are null, as JSON has none. What is no text in UTF-8, such as a cause or a path from the shell, is escaped."""
    import msgspec

    try:
        text = msgspec.json.encode(found, enc_hook=_plain)
    except UnicodeEncodeError:
        text = msgspec.json.encode(_encodable(msgspec.to_builtins(found, enc_hook=_plain)))
    sys.stdout.write(text.decode() + "\n")
    sys.stdout.flush()


def _encodable(value: Any) -> Any:
    from pushrod.runtime.stop import encodable

    if isinstance(value, dict):
        return {_encodable(name): _encodable(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(inner) for inner in value]
    return encodable(value) if isinstance(value, str) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # of numpy
        return value.tolist()
    raise TypeError(f"{value!r} cannot be told as JSON")
