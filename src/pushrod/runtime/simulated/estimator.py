"""Where an actuator without feedback should be by now, guessed from what its driver says of its motions.

    BeginMotion    from here on along the announced motion: a trapezoid where acceleration and peak velocity are told, else the chosen easing,
                   counted from the message's own time, not from the time it was received
    EndMotion      at rest where it says. One that was superseded by the next command waits for what that begins
    Stop           for drivers that do not report their motions' ends: at rest at once, or braking at the announced acceleration
Everything else on the topic is ignored.

It publishes JointState with position and velocity `publish_rate` times a second while a motion lasts and the position changes, the target when it
arrives, and the last state again after `max_silence` without news. All in joint space.
"""

import threading
from functools import partial

import msgspec

from pushrod.core.errors import InputError
from pushrod.core.names import find
from pushrod.motion import EASINGS, Easing, Sample, ease, halt, make_limits, sample, trapezoidal
from pushrod.runtime.driver import Context
from pushrod.runtime.message import BeginMotion, EndMotion, JointState, Message, Outcome
from pushrod.runtime.payload import Stop
from pushrod.runtime.simulated.pulse import Cancel, Pulse, nothing, weakly
from pushrod.runtime.simulated.verbs import Path


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """actuator: whose motions. publish_rate [Hz], max_silence [s]. initial: where it is before the first motion, if that is known [rad or m]."""

    actuator: str
    easing: str = "linear"
    publish_rate: float = 50.0
    max_silence: float = 5.0
    initial: float | None = None


class OpenLoopEstimator:
    """Told by `handle_message` what appears on its actuator's topic; publishes on its own."""

    options = Options

    def init(self, context: Context, options: Options) -> None:
        self._listen(context, options)
        self._set_up(context, options)

    def _listen(self, context: Context, options: Options) -> None:
        self._topic: tuple[str, ...] = context.actuator(options.actuator).topic
        context.listen(self._topic)

    def _set_up(self, context: Context, options: Options) -> None:
        if not 0.0 < options.publish_rate <= 1e4:
            raise InputError(f"publish_rate = {options.publish_rate!r} Hz: allowed are numbers above 0, up to 10000")
        if not 0.0 < options.max_silence < float("inf"):
            raise InputError(f"max_silence = {options.max_silence!r} s: allowed are finite numbers above 0")
        self.context = context
        self.settings = options
        self.easing: Easing = find(EASINGS, options.easing, "easing")
        self._lock = threading.RLock()
        self._path: Path | None = None
        self._start = self._arrival = 0.0
        self._target = 0.0
        self._acceleration: float | None = None
        self._reported = float("-inf")  # when the driver last said something about a motion
        self._last: Sample | None = None
        self._pulse = Pulse(options.publish_rate, context.now, context.call_later, self._tick)
        self._arrive: Cancel = nothing
        self._silence: Cancel = nothing
        if options.initial is not None:
            self._publish(Sample(options.initial))

    def handle_options(self, context: Context, options: Options) -> None:
        with self._lock:
            self.terminate("new options")
            last = self._last
            if options.actuator != self.settings.actuator:
                self._listen(context, options)
            self._set_up(context, options)
            self._last = last if options.initial is None else self._last

    def handle_message(self, topic: tuple[str, ...], message: Message) -> None:
        payload = message.payload
        if topic != self._topic:
            return  # it listened to another before
        with self._lock:
            if isinstance(payload, BeginMotion):
                self._reported = message.time
                self._begin(payload, message.time)
            elif isinstance(payload, EndMotion):
                self._reported = message.time
                self._finish(payload.position, quiet=payload.reason == "cancelled" and payload.detail == "superseded")
            elif isinstance(payload, Outcome) and isinstance(payload.command.payload, Stop) and payload.result.ok:
                self._stop(payload.command.payload, payload.command.origin)

    def terminate(self, reason: str) -> None:
        self._pulse.stop()
        self._arrive()
        self._silence()

    def estimate(self, now: float) -> Sample | None:
        """Where it should be at a time; None before the first motion."""
        with self._lock:
            if self._path is None:
                return self._last
            return self._path(now - self._start) if now < self._arrival else Sample(self._target)

    def _begin(self, motion: BeginMotion, time: float) -> None:
        x0, x1, total = motion.initial_position, motion.target_position, motion.expected_arrival - time
        a, peak = motion.acceleration, motion.peak_velocity
        self._acceleration = a
        if a is not None and peak is not None and a > 0.0 and peak > 0.0:
            profile = trapezoidal(x0, motion.initial_velocity or 0.0, x1, make_limits(peak, a), max(total, 0.0))
            self._run(partial(sample, profile), time, motion.expected_arrival, x1)
        else:
            self._run(partial(_eased, self.easing, x0, x1, total), time, motion.expected_arrival, x1)

    def _stop(self, stop: Stop, time: float) -> None:
        now = self.estimate(time)
        if now is None or self._path is None or self._reported >= time:  # a driver that reports its motions has told more than the command does
            return
        if stop.mode == "decelerate" and self._acceleration is not None:
            p = halt(*now, make_limits(a=self._acceleration), 0.0)
            self._run(partial(sample, p), time, time + p.T, p.after.x)
        else:
            self._finish(now.x)

    def _run(self, path: Path, start: float, arrival: float, target: float) -> None:
        self._path, self._start, self._arrival, self._target = path, start, arrival, target
        if arrival <= self.context.now():
            self._finish(target)
        else:
            self._arrive()
            self._arrive = self.context.call_later(arrival - self.context.now(), weakly(self._tick_last))
            self._pulse.start(1)

    def _finish(self, position: float, quiet: bool = False) -> None:
        self._pulse.stop()
        self._arrive()
        self._path = None
        if quiet:
            self._last = Sample(position)
        else:
            self._publish(Sample(position))

    def _tick_last(self) -> None:
        self._tick(0)

    def _tick(self, _: int) -> None:
        with self._lock:
            now = self.context.now()
            if self._path is None:
                return
            if now >= self._arrival - 1e-9:
                self._finish(self._target)
                return
            s = self._path(now - self._start)
            if self._last is None or s.x != self._last.x:
                self._publish(s)

    def _publish(self, s: Sample) -> None:
        self._last = s
        self._silence()
        self._silence = self.context.call_later(self.settings.max_silence, weakly(self._break_silence))
        self.context.publish(JointState((self.context.joint or self._topic[-2],), (s.x,), (s.v,)))  # an actuator's path ends in its joint and itself

    def _break_silence(self) -> None:
        with self._lock:
            now = self.estimate(self.context.now())
            if now is not None:
                self._publish(now)


def _eased(easing: Easing, x0: float, x1: float, total: float, t: float) -> Sample:
    return Sample(*ease(easing, t, x0, x1, total))
