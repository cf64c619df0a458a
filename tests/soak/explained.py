"""Mutants that no test can notice, each with the reason why.

One that is listed and noticed after all, or that is a mutant of nothing any more, fails the test that meets it.
"""

from collections.abc import Iterable
from typing import NamedTuple

from mutation import Mutant

from pushrod.safety.state import Event


class Explained(NamedTuple):
    file: str  # below src/pushrod
    line: str  # what stands in that line, or how it begins
    mutant: str  # before -> after; or the line with the fault in it, where the same stands in it twice
    why: str


SINGLE = "only single precision can tell, and plain Python has none"
NEARER = "an upper bound below 0 is nearer to 0 than the lower one"
SIGN = "asked for its sign alone, and the divisor is not 0 there"
MOVES = "the sign of a speed that is not 0 is 1 or -1, and so is its inverse"
ROOM = "no legal links bring the determinant below 2.5 times this floor: only what single precision rounds off reaches it"
FREE = "of a joint without dry friction: multiplied by 0, and else only asked whether it is 0"
ORDER = "the four edges are looked at in another order, and the least is the least"
CORNER = "of a corner, where it matters: the first two edges have led to it, or to less, before"
FLAG = "a flag, asked only whether it is 0"
EXPLAINED = [
    Explained("models/friction.py", "f = -D * sign(u.w) - p.b * u.w if u.w != 0.0", "-D * sign(u.w) -> -D / sign(u.w)", MOVES),
    Explained("models/friction.py", "brake = D * sign(u.w)", "D * sign(u.w) -> D / sign(u.w)", MOVES),
    Explained("plants/joint.py", "brake = p.c * sign(s.w)", "p.c * sign(s.w) -> p.c / sign(s.w)", MOVES),
    Explained("plants/two_link_arm.py", "f = m.m12 * (r.a - c1 * d1)", "c1 * d1 -> c1 / d1", MOVES),
    Explained("plants/two_link_arm.py", "f = m.m12 * (r.b - c2 * d2)", "c2 * d2 -> c2 / d2", MOVES),
    *(Explained("plants/attitude.py", f"{c} = math.cos(0.5", "0.5 -> -0.5", "a cosine is even") for c in ("cr", "cp", "cy")),
    *(
        Explained("plants/two_link_arm.py", "det = maximum(", mutant, ROOM)
        for mutant in ("1e-09 * m.m11 * m.m22 -> 1e-09 * m.m11 / m.m22", "1e-09 * m.m11 -> 1e-09 / m.m11", "1e-09 -> -1e-09")
    ),
    Explained("plants/two_link_arm.py", "side = 1.0 if", "k % 2 == 0 -> not k % 2 == 0", ORDER),
    Explained("plants/two_link_arm.py", "if k < 2:", "k < 2 -> not k < 2", ORDER),
    Explained("plants/two_link_arm.py", "e1 = 0.0 if abs(f1)", "abs(f1) -> f1", CORNER),
    *(Explained("plants/two_link_arm.py", f"d{i} = 1.0 if c{i} == 0.0", "1.0 -> -1.0", FREE) for i in (1, 2)),
    *(
        Explained(f"vehicles/{file}.py", f"per_T = 1.0 / time_constant({T}, 1.0)", f"per_T = 1.0 / time_constant({T}, (-1.0))", FLAG)
        for file, T in (
            ("actuation", "p.accel_time_constant if u.accel > 0.0 else p.brake_time_constant"),
            ("actuation_cmd_steer_map", "p.steer_time_constant"),
            ("actuation_cmd_vgr", "p.steer_time_constant"),
            ("delay_steer_map_acc", "p.acc_time_constant"),
        )
    ),
    *(
        Explained(f"vehicles/{file}.py", line, "1.0 -> -1.0", FLAG)
        for file, line in (
            ("delay_steer_acc", "rate = steering.reference_rate("),
            ("delay_steer_acc", "speed = reference_lag("),
            ("delay_steer_map_acc", "rate = steering.reference_rate("),
            ("delay_steer_pedal", "pedal_accx = c.pedal_accx"),
            ("delay_steer_pedal", "Ts = time_constant(p.steer_time_constant, 1.0)"),
        )
    ),
    Explained("plants/rigid_body.py", "a = rate(J, c, Quaternion(1.0", "1.0 -> -1.0", "a quaternion and its negative are the same turn"),
    *(
        Explained("core/scalar.py", "return (1.0 + 1e-10) - 1.0 == 0.0", mutant, SINGLE)
        for mutant in ("1.0 + 1e-10 - 1.0 -> 1.0 + 1e-10 + 1.0", "1.0 + 1e-10 -> 1.0 - 1e-10", "1.0 -> -1.0", "1e-10 -> -1e-10")
    ),
    Explained("pipeline/n_motor_stage.py", "return MotorParams(1.0, 0.0", "1.0 -> -1.0", "the gain at rest, where 0 is asked"),
    Explained("pipeline/allocate/box.py", "d = 1.0", "1.0 -> -1.0", "of an unknown that is fixed: it is multiplied by 0 alone"),
    Explained("pipeline/two_motor_pipeline.py", "least = maximum(", "abs(p.hw.u_LR_max) -> p.hw.u_LR_max", NEARER),
    Explained("pipeline/n_motor_stage.py", "least = maximum(", "abs(p.hw.u_max[j]) -> p.hw.u_max[j]", NEARER),
    Explained("pipeline/control/heading.py", "pushes = ", "e * u.fb.aw_d_req -> e / u.fb.aw_d_req", SIGN),
    Explained("pipeline/control/pi.py", "pushes = ", "e * aw -> e / aw", SIGN),
    Explained("pipeline/allocate/effectiveness.py", "b = p.B[i * n + j] * 0.5", "0.5 -> -0.5", "it is squared"),
    Explained("pipeline/allocate/box.py", "spent = 5e-6 if single()", "5e-06 -> -5e-06", SINGLE),
    Explained("pipeline/allocate/box.py", "floor = 1e-8 if single()", "1e-08 -> -1e-08", SINGLE),
    Explained("pipeline/allocate/level.py", "small = 1e-5 if single()", "1e-05 -> -1e-05", SINGLE),
    *(
        Explained(
            "safety/state.py",
            f'{event.name} = "{event.value}"',
            f"'{event.value}' -> '{event.value}x'",
            "read in a debugger, compared only to itself",
        )
        for event in Event
    ),
    Explained("runtime/deciding.py", 'T = TypeVar("T")', "'T' -> 'Tx'", "the name of a type variable, read by type checkers alone"),
    *(
        Explained("runtime/deciding.py", line, mutant, "stops and calls are numbered from 1 by one counter, so that no two have the same number")
        for line, mutant in (
            ("self._numbers = itertools.count(1)", "1 -> 2"),
            ("self._newest = dict.fromkeys(self.names, 0)", "0 -> 1"),
            ("elif number > newest:", "number > newest -> number >= newest"),
            ("if stop.number > self._ended[name]:", "stop.number > self._ended[name] -> stop.number >= self._ended[name]"),
        )
    ),
]


def reason(mutant: Mutant) -> Explained | None:
    """The entry of the list for a mutant, if there is one."""
    for entry in EXPLAINED:
        here = entry.file == mutant.place and mutant.source.startswith(entry.line)
        if here and entry.mutant in (f"{mutant.before} -> {mutant.after}", mutant.changed):
            return entry
    return None


def stale(every: Iterable[Mutant], files: Iterable[str]) -> list[Explained]:
    """Entries for these files that are no mutant of them; `every` holds all their mutants."""
    met = {reason(mutant) for mutant in every}
    wanted = set(files)
    return [entry for entry in EXPLAINED if entry.file in wanted and entry not in met]
