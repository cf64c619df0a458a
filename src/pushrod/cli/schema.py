"""`pushrod schema`: the JSON Schema of machine and scenario files, for editors and for programs that write such files."""

from enum import StrEnum
from typing import Annotated as A

import typer


class Kind(StrEnum):
    machine = "machine"
    scenario = "scenario"


def schema(
    kind: A[Kind, typer.Argument(help="Of which kind of file.")] = Kind.machine,
    machine: A[str | None, typer.Option(help="For a scenario: with the channels and signals of this machine.")] = None,
) -> None:
    """Print the JSON Schema of machine or scenario files, with units and ranges."""
    import msgspec

    from pushrod.sim import json_schema
    from pushrod.sim import machine as machines
    from pushrod.sim.worlds import WORLDS

    if kind is Kind.machine:
        made = json_schema.machine_schema(WORLDS)
    else:
        made = json_schema.scenario_schema(None if machine is None else machines.load(machine).world)
    typer.echo(msgspec.json.format(msgspec.json.encode(made), indent=2).decode())
