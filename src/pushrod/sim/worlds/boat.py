"""A boat with two fixed thrusters, side by side, driven through the command pipeline.

    set-points -> speed, heading and yaw-rate loops -> u_s_raw, u_d_raw  \\
    RC channels, in microseconds                                          > ACTUATOR_REQ -> ACTUATOR_CMD -> ESC_OUTPUT -> faults -> thrusters -> hull
    what a test asks for                                                  /                       MIXER_FEEDBACK of the last tick -> the loops

    X = F_L + F_R        N = (F_R - F_L) arm

F_L, F_R   thrust of the port and the starboard thruster [N], each `arm` from the middle [m]
u_d > 0    means u_R > u_L: the starboard thruster pushes more and the boat turns to port, psi and r positive (z up, as in plants.surface_vessel)
feedback   0: the loops are told nothing of what was achieved, and wind up

A fault of a motor acts on its command (loss: it does that share of what it is told). Announced, the pipeline knows in the same tick: a weak motor is
asked for more, a dead one not at all. Silent, it shows in `diag.resid_*`, which compares what the rotors do with what they were told; there the
rotors' lag shows as well, while they speed up or slow down.

The loops see speed over ground, heading and yaw rate at the start of the tick, with noise. v is the speed ahead, over ground. Thrusters and hull
are those of the world `hull`, for whom wants to drive them with loops and a pipeline of his own.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag
from pushrod.models import fault, thruster
from pushrod.pipeline import request, two_motor_pipeline
from pushrod.pipeline.act import Act, Alloc, Channel, Man, Rc, Shp, Slew
from pushrod.pipeline.act import Params as ActParams
from pushrod.pipeline.control import autopilot, pi
from pushrod.pipeline.control import heading as heading_loop
from pushrod.pipeline.names import IN_AUTOPILOT, MODES, YAW_PRIORITY
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq, Allocated, Diagnostics, EscOutput, MixerFeedback
from pushrod.plants import surface_vessel
from pushrod.sim.worlds.hull import Faults, Motor, Sensors, moved, push, seen_command, sense


class In(NamedTuple):
    mode: A[float, Choice(MODES, "who owns the motors")] = IN_AUTOPILOT
    armed: A[float, flag()] = 1.0
    v_req: A[float, Q("m/s", -20.0, 20.0, "speed the autopilot is to keep")] = 0.0
    psi_req: A[float, Q("rad", -1e3, 1e3, "heading the autopilot is to keep")] = 0.0
    rc_s: A[float, Q("us", 0.0, 1e5, "RC channel of the surge stick")] = 1500.0
    rc_d: A[float, Q("us", 0.0, 1e5, "RC channel of the yaw stick")] = 1500.0
    u_s_test: A[float, Q("-", -10.0, 10.0)] = 0.0
    u_d_test: A[float, Q("-", -10.0, 10.0)] = 0.0
    age: A[float, Q("s", 0.0, 1e9, "of the owner's last request")] = 0.0


class Params(NamedTuple):
    feedback: A[float, flag("the loops heed MIXER_FEEDBACK")] = 1.0
    control: autopilot.Params = autopilot.Params()
    act: Act = Act(
        shp=Shp(man=Man(u_d_scale=0.6, expo=0.3)),
        alloc=Alloc(policy=YAW_PRIORITY),
        slew=Slew(up=4.0, down=4.0, neutral_time=0.5),
        rc=Rc(Channel(us_dead=20.0), Channel(us_dead=20.0, reverse=1.0)),
    )
    left: thruster.Params = thruster.Params()
    right: thruster.Params = thruster.Params()
    arm: A[float, Q("m", 0.0, 100.0, "from the middle to either thruster")] = 0.35
    hull: surface_vessel.Params = surface_vessel.Params()
    current: surface_vessel.Current = surface_vessel.Current()
    noise: Sensors = Sensors()
    faults: Faults = Faults()


class State(NamedTuple):
    speed: pi.State = pi.State()
    heading: heading_loop.State = heading_loop.State()
    yaw_rate: pi.State = pi.State()
    fb: MixerFeedback = MixerFeedback()
    esc: two_motor_pipeline.State = two_motor_pipeline.State()
    left: Motor = Motor()
    right: Motor = Motor()
    hull: surface_vessel.State = surface_vessel.State()


class Out(NamedTuple):
    """All topics of the pipeline, and the boat at the end of the tick."""

    v_req: A[float, Q("m/s", about="speed asked for; where it is, while the autopilot has no say")] = 0.0
    v: A[float, Q("m/s", about="speed ahead, over ground")] = 0.0
    psi_req: A[float, Q("rad", about="heading asked for, the short way round; where it is, while the autopilot has no say")] = 0.0
    psi: A[float, Q("rad", about="heading, from east to north, not wrapped")] = 0.0
    r_req: A[float, Q("rad/s", about="yaw rate the heading loop asks for")] = 0.0
    r: A[float, Q("rad/s", about="yaw rate, to port")] = 0.0
    req: ActuatorReq = ActuatorReq()
    cmd: ActuatorCmd = ActuatorCmd()
    alloc: Allocated = Allocated()
    esc: EscOutput = EscOutput()
    fb: MixerFeedback = MixerFeedback()
    diag: Diagnostics = Diagnostics()
    I_s: A[float, Q("-", about="integral of the speed loop")] = 0.0
    I_d: A[float, Q("-", about="integral of the yaw-rate loop")] = 0.0
    F_L: A[float, Q("N", about="thrust to port")] = 0.0
    F_R: A[float, Q("N", about="thrust to starboard")] = 0.0
    X: A[float, Q("N", about="surge force of both thrusters")] = 0.0
    N: A[float, Q("N.m", about="yaw moment of both thrusters")] = 0.0
    n_L: A[float, Q("rad/s", about="rotor speed")] = 0.0
    n_R: A[float, Q("rad/s", about="rotor speed")] = 0.0
    x: A[float, Q("m", about="to the east")] = 0.0
    y: A[float, Q("m", about="to the north")] = 0.0
    sway: A[float, Q("m/s", about="speed to port, over ground")] = 0.0
    v_meas: A[float, Q("m/s", about="what the loops saw")] = 0.0
    psi_meas: A[float, Q("rad", about="what the loops saw")] = 0.0
    r_meas: A[float, Q("rad/s", about="what the loops saw")] = 0.0
    left_fault: A[float, Choice(fault.KINDS, "as the motor reports it")] = 0.0
    right_fault: A[float, Choice(fault.KINDS, "as the motor reports it")] = 0.0


@pure
def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
    """A boat with two thrusters, driven through the command pipeline by autopilot, RC or test."""
    dt = at.dt
    t = float(at.k) * dt
    # sense
    seen = sense(p.noise, s.hull, at)
    # control: only what the motors did tells the loops of a limit
    on = u.mode == IN_AUTOPILOT and u.armed != 0.0 and u.age <= p.act.timeout.ap
    nothing = MixerFeedback(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    fb = s.fb if p.feedback != 0.0 else nothing
    kept = autopilot.In(u.v_req, u.psi_req, seen.v, seen.psi, seen.r, fb, 1.0 if on else 0.0)
    loops, c = autopilot.step(p.control, autopilot.State(s.speed, s.heading, s.yaw_rate), kept, dt)
    # the pipeline
    k_L = fault.told_health(p.faults.left, t)
    k_R = fault.told_health(p.faults.right, t)
    known = two_motor_pipeline.Known(
        k_L, k_R, 1.0, seen_command(p.left, s.left.rotor.n, k_L), seen_command(p.right, s.right.rotor.n, k_R)
    )  # fmt: skip
    ask = request.In(u.mode, u.armed, c.u_s_raw, c.u_d_raw, u.age, u.rc_s, u.rc_d, u.age, u.u_s_test, u.u_d_test, u.age)
    esc, y = two_motor_pipeline.step_sources(ActParams(p.act), s.esc, two_motor_pipeline.Sources(ask, known), dt)
    # actuate and move
    L = push(p.left, p.faults.left, s.left, y.esc.u_L, t, dt)
    R = push(p.right, p.faults.right, s.right, y.esc.u_R, t, dt)
    hull = moved(p.hull, p.current, p.arm, s.hull, L.F, R.F, dt)
    # report
    psi_req = seen.psi + c.e_psi if on else hull.psi
    return State(loops.speed, loops.heading, loops.yaw_rate, y.fb if dt > 0.0 else s.fb, esc, L.motor, R.motor, hull), Out(
        u.v_req if on else hull.u, hull.u, psi_req, hull.psi, c.r_d if on else hull.r, hull.r,
        y.req, y.cmd, y.alloc, y.esc, y.fb, y.diag, c.I_s, c.I_d,
        L.F, R.F, L.F + R.F, (R.F - L.F) * p.arm, L.n, R.n, hull.x, hull.y, hull.v, seen.v, seen.psi, seen.r, L.reported, R.reported,
    )  # fmt: skip


BOAT = World("boat", Params, State, In, Out, step)
