"""`pushrod`: the verbs, and what all of them do with errors and Ctrl-C.

Exit codes: 0 fine; 1 an expectation or a tolerance did not hold, or a motion that was waited for did not complete; 2 wrong input, one message on
stderr; 3 a robot refused, or something of it is not safe; 4 a robot was not reached or did not answer; 5 standard output could not be written;
130 stopped by Ctrl-C; 141 the reader of standard output was gone.
"""

import functools
import shutil
import sys
from collections.abc import Callable
from typing import Annotated as A
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from pushrod.cli.acknowledge import acknowledge
from pushrod.cli.arm import arm
from pushrod.cli.check import check
from pushrod.cli.cmd import cmd
from pushrod.cli.dash import dash
from pushrod.cli.disarm import disarm
from pushrod.cli.estop import estop
from pushrod.cli.excite import excite
from pushrod.cli.export import export
from pushrod.cli.fit import fit
from pushrod.cli.layout import layout
from pushrod.cli.list import list_
from pushrod.cli.log import log
from pushrod.cli.new import new
from pushrod.cli.output import INTERRUPTED, NOT_DONE, STOPPED, answering, wrong_usage
from pushrod.cli.replay import replay
from pushrod.cli.report import report
from pushrod.cli.reset import reset
from pushrod.cli.router import router
from pushrod.cli.run import run
from pushrod.cli.schema import schema
from pushrod.cli.serve import serve
from pushrod.cli.sweep import sweep
from pushrod.cli.sweep_one import sweep_one
from pushrod.cli.sweep_report import sweep_report
from pushrod.cli.top import top
from pushrod.cli.urdf import urdf
from pushrod.cli.verify import verify
from pushrod.core.outlet import exit_code, protect_streams, unblock_streams

NARROW = 90  # columns below which a table of options would break their names
NAMES = 14  # columns of names beside their texts, on a narrow terminal; the text of a longer name begins below it


class Verb(TyperCommand):
    """Explains parameters by their text, not by their Python types."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        params: list[Any] = self.get_params(ctx)
        for param in params:
            if hasattr(param, "display_type_rich"):
                shown = _value_of(param, str(param.display_type(ctx)))
                vars(param).update(display_type=lambda ctx, shown=shown: shown, display_type_rich=lambda ctx, shown=shown: shown)
        if shutil.get_terminal_size().columns < NARROW:
            formatter.write_dl = functools.partial(formatter.write_dl, col_max=NAMES)
            super(TyperCommand, self).format_help(ctx, formatter)  # in plain lines
        else:
            super().format_help(ctx, formatter)


def _value_of(param: Any, kind: str) -> str:
    """What stands for the value of a parameter: its choices, else of an option its name; of an argument and a flag nothing."""
    if "|" in kind:
        return kind.strip("<>").replace("|", ", ")
    if param.param_type_name == "argument" or param.is_flag:
        return ""
    return str(param.metavar or str(param.name).strip("_").upper())


UsageError: Any = typer.BadParameter.__bases__[0]


class StopVerb(Verb):
    """A stop is carried out whatever is written: options that cannot be read are reported and ignored. Output that is not taken delays no stop."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        unblock_streams()
        try:
            return super().parse_args(ctx, list(args))
        except UsageError as e:
            typer.echo(f"ignored: {e.format_message()}", err=True)
            return super().parse_args(ctx, [word for word in args if not word.startswith("-") or word == "--json"])


def _stop_first(args: list[str]) -> list[str]:
    """Return the words of a stop with its verb first: options before it, which no verb has there, prevent no stop. Asking for help stops nothing."""
    at = next((i for i, word in enumerate(args) if word in VERBS), 0)
    if not at or VERBS[args[at]] not in STOPS or set(args[:at]) & {"--help", "-h", "--version"}:
        return args
    if ignored := [word for word in args[:at] if word != "--json"]:
        typer.echo(f"ignored: {' '.join(ignored)}", err=True)
    return [args[at], *(["--json"] if "--json" in args[:at] else []), *args[at + 1 :]]


class Verbs(TyperGroup):
    """Reports a usage error as JSON if --json is given. A verb may have two words, such as `sweep one`."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        json = "--json" in args
        try:
            return super().parse_args(ctx, _stop_first(args))
        except UsageError as e:
            if json:
                wrong_usage("", e)
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        two = " ".join(args[:2])
        return (two, self.commands[two], args[2:]) if len(args) > 1 and two in self.commands else super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except UsageError as e:
            if json:
                wrong_usage(ctx.invoked_subcommand or "", e)
            raise


app = typer.Typer(
    cls=Verbs,
    name="pushrod",
    help="Everything between 'the controller asks' and 'the machine moves'.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"pushrod {version('pushrod')}")
        raise typer.Exit


@app.callback()
def options(version: A[bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)] = False) -> None:
    """Everything between 'the controller asks' and 'the machine moves'."""


VERBS: dict[str, Callable[..., None]] = {
    "run": run,
    "replay": replay,
    "report": report,
    "fit": fit,
    "excite": excite,
    "export": export,
    "sweep": sweep,
    "sweep report": sweep_report,
    "sweep one": sweep_one,
    "log": log,
    "layout": layout,
    "list": list_,
    "check": check,
    "schema": schema,
    "new": new,
    "urdf": urdf,
    "verify": verify,
    "serve": serve,
    "router": router,
    "dash": dash,
    "top": top,
    "cmd": cmd,
    "arm": arm,
    "disarm": disarm,
    "estop": estop,
    "reset": reset,
    "acknowledge": acknowledge,
}
LENIENT = {"ignore_unknown_options": True}  # for cmd -0.5 is a number
STOPS = (disarm, estop)
for _name, _verb in VERBS.items():
    _settings = LENIENT if _verb is cmd or _verb in STOPS else None
    app.command(_name, cls=StopVerb if _verb in STOPS else Verb, context_settings=_settings)(answering(_name, _verb))


def main() -> None:
    protect_streams()
    code: Any = 0
    try:
        app()
    except SystemExit as e:
        code = e.code
    except KeyboardInterrupt:  # before or after a verb
        text = next((f"{NOT_DONE[word]}: {INTERRUPTED}" for word in sys.argv[1:2] if word in NOT_DONE), "stopped")
        typer.echo(f"\n{text}", err=True)
        code = STOPPED
    sys.exit(exit_code(code))
