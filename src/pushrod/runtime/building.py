"""From a description to its supervised parts: which driver each one gets, its options checked, its parameters in place."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pushrod.core.errors import InputError
from pushrod.robot.description import Controller, Robot, Sensor
from pushrod.robot.path import paths
from pushrod.robot.reference import resolve
from pushrod.robot.store import Store
from pushrod.runtime.bus import Bus
from pushrod.runtime.clock import Clock
from pushrod.runtime.driver import check_driver_class
from pushrod.runtime.host import Host
from pushrod.runtime.machine import Machine
from pushrod.runtime.node import Node, StandIn
from pushrod.runtime.part import ACTUATOR, NODE, Source
from pushrod.runtime.simulated.kinematic import Kinematic

EMPTY: dict[str, Any] = {}


def described_nodes(robot: Robot) -> dict[str, Sensor | Controller]:
    return {sensor.name: sensor for sensor in robot.sensors} | {controller.name: controller for controller in robot.controllers}


class Sources(NamedTuple):
    """Drivers by the name of what they drive; actuators in the order of their paths, sensors before controllers."""

    actuators: Mapping[str, Source]
    nodes: Mapping[str, Source]

    def flaws(self, values: Mapping[str, Any]) -> list[str]:
        return [text for source in (*self.actuators.values(), *self.nodes.values()) for text in source.flaws(values)]


def sources(robot: Robot, drivers: Mapping[str, Any], machine: Machine | None, simulation: bool) -> Sources:
    """What drives what: what the caller says, else the machine, else the simulation, else the description."""
    if not isinstance(robot, Robot):
        how = (
            "load it first: Runtime(pushrod.robot.load(file))"
            if isinstance(robot, (str, Path))
            else "make one with pushrod.robot.Robot, or load a file"
        )
        raise InputError(f"a runtime needs a Robot, got {robot!r:.60}; {how}")
    where = paths(robot)
    wrong: list[str] = []
    known = [*(actuator.name for actuator in robot.actuators), *described_nodes(robot)]
    strange = sorted(set(drivers) - set(known))
    if strange:
        wrong.append(f"drivers for what {robot.name} does not have: {', '.join(strange)}; it has {', '.join(known) or 'no actuators'}")
    actuators, undriven = {}, []
    for actuator in sorted(robot.actuators, key=lambda a: where[a.name]):
        name, options = actuator.name, actuator.options
        make = drivers.get(name) or (machine.drivers.get(name) if machine is not None else None)
        if make is None and simulation:
            make, options = Kinematic, EMPTY  # the options are those of the driver it stands for
        if not (make or actuator.driver):
            undriven.append(name)
            continue
        try:
            actuators[name] = _source("/".join(where[name]), make or actuator.driver, options, ACTUATOR)
        except InputError as error:
            wrong.append(str(error))
    if undriven:
        which = f"actuator {undriven[0]} of {robot.name} names" if len(undriven) == 1 else f"actuators {', '.join(undriven)} of {robot.name} name"
        wrong.append(f"{which} no driver; give drivers={{{', '.join(f'{name!r}: ...' for name in undriven)}}}, or simulation=True")
    nodes = {}
    for what in described_nodes(robot).values():
        make, options = drivers.get(what.name) or (machine.drivers.get(what.name) if machine is not None else None), what.options
        if make is None and isinstance(what, Controller) and (simulation or machine is not None) and what.simulation != "start":
            make, options = (StandIn if what.simulation == "mock" else None), EMPTY
        else:
            make = make or what.driver
        if make:
            try:
                nodes[what.name] = _source("/".join(where[what.name]), make, options, NODE)
            except InputError as error:
                wrong.append(str(error))
    if wrong:
        raise InputError("\n".join(wrong))
    return Sources(actuators, nodes)


def _source(name: str, make: Any, options: Mapping[str, Any], needs: tuple[str, ...]) -> Source:
    """Return the source of a driver. An import path is checked to name a driver class before that is called: descriptions come from files."""
    if isinstance(make, str):
        check_driver_class(make, needs, name)
    return Source.of(name, make, options, needs)


def hosts(robot: Robot, found: Sources, store: Store, clock: Clock, bus: Bus) -> dict[str, Host]:
    where = paths(robot)
    made = {}
    for name, source in found.actuators.items():
        actuator = robot.actuator(name)
        made[name] = Host(robot.name, where[name], actuator, robot.joint(actuator.joint), source, lambda v: resolve(v, store), clock, bus)
    return made


def nodes(robot: Robot, found: Sources, store: Store, clock: Clock, bus: Bus) -> dict[str, Node]:
    where = paths(robot)
    described = described_nodes(robot)
    made = {}
    for name, source in found.nodes.items():
        what = described[name]
        seat = what.joint if isinstance(what, Sensor) else None
        limits = robot.joint(seat).limits if seat else None
        joints = (seat,) if seat else tuple(joint.name for joint in robot.joints)
        made[name] = Node(robot.name, where[name], what, limits, joints, source, lambda v: resolve(v, store), clock, bus)
    return made
