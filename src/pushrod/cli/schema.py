"""`pushrod schema`: the JSON Schema of machine, scenario, study and robot files, for editors and for programs that write such files."""

from enum import StrEnum
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say
from pushrod.cli.trust import Trust


class Kind(StrEnum):
    machine = "machine"
    scenario = "scenario"
    robot = "robot"
    study = "study"


def schema(
    kind: A[Kind, typer.Argument(help="Of which kind of file.")] = Kind.machine,
    machine: A[str | None, typer.Option(help="For a scenario or a study: with the channels, parameters and signals of this machine.")] = None,
    trust: Trust = False,
) -> None:
    """Print the JSON Schema of machine, scenario, study or robot files, with units and ranges.

    Exit codes: 0 fine; 2 wrong input.
    """
    import msgspec

    from pushrod.robot import robot_file
    from pushrod.sim import json_schema
    from pushrod.sim import machine as machines
    from pushrod.sim.scenario import actuator_positions
    from pushrod.sim.worlds import WORLDS

    if kind is Kind.machine:
        made = json_schema.machine_schema(WORLDS)
    elif kind is Kind.robot:
        made = robot_file.schema()
    elif kind is Kind.study:
        from pushrod.sweep.json_schema import study_schema

        made = study_schema(None if machine is None else machines.load(machine, trust=trust).world)
    elif machine is None:
        made = json_schema.scenario_schema()
    else:
        what = machines.load(machine, trust=trust)
        made = json_schema.scenario_schema(what.world, actuator_positions(what))
    answer(schema=made)
    say(msgspec.json.format(msgspec.json.encode(made), indent=2).decode())
