"""`pushrod`: the verbs, and what all of them do with errors and Ctrl-C.

Exit codes: 0 fine; 1 an expectation or a tolerance did not hold, or a motion that was waited for did not complete; 2 wrong input, one message on
stderr; 3 a robot refused, or something of it is not safe; 4 a robot was not reached or did not answer; 130 stopped by Ctrl-C.
"""

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
from pushrod.cli.output import answering, wrong_usage
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

NARROW = 90  # columns below which a table of options would break their names


class Verb(TyperCommand):
    """Its parameters are explained by their text: that one is a <str> or a <bool> tells nobody anything."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        params: list[Any] = self.get_params(ctx)
        for param in params:
            if hasattr(param, "display_type_rich"):
                shown = _value_of(param, str(param.display_type(ctx)))
                vars(param).update(display_type=lambda ctx, shown=shown: shown, display_type_rich=lambda ctx, shown=shown: shown)
        if shutil.get_terminal_size().columns < NARROW:
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


class Verbs(TyperGroup):
    """A command line that cannot be read is told as JSON, too, where it asks for that. A verb may be of two words, such as `sweep one`."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        json = "--json" in args
        try:
            return super().parse_args(ctx, args)
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
def options(version: A[bool, typer.Option("--version", help="Say which version this is.", callback=_version, is_eager=True)] = False) -> None:
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
NEGATIVE = {"ignore_unknown_options": True}  # -0.5 is a number
for _name, _verb in VERBS.items():
    app.command(_name, cls=Verb, context_settings=NEGATIVE if _verb is cmd else None)(answering(_name, _verb))


def main() -> None:
    try:
        app()
    except KeyboardInterrupt:  # before or after a verb
        typer.echo("\nstopped", err=True)
        sys.exit(130)
