"""How well a request was followed, from two sampled signals r (request) and a (achieved).

error      e = r - a: rms and largest |e|
delay      the shift d for which r(t - d), r held before its start, correlates best with a(t); dead time and lag together
rise time  10 % to 90 % of the largest step of the request (a move between two levels it holds)
overshoot  how far a goes beyond the new level, as a share of that step
settling   from the start of that step until a stays within 5 % of it around the new level, for as long as the request keeps that
saturation time during which a stands at a limit, moves at its rate limit, or is told to be limited by what lies between r and a

r[k] is given at the start of tick k and held through it; a[k] is what there is at its end.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Signal = NDArray[np.float64]

ENOUGH_CORRELATION = 0.5  # below this a shift explains nothing
LONGEST_DELAY = 0.25  # share of the run that is searched for a delay
SHORTEST_HOLD = 0.02  # seconds a request must stand still to count as a level,
FEWEST_HELD = 5  # and ticks
LONGEST_MOVE = 100.0  # seconds from one level to the next
LEVEL = 0.05  # share of a step by which the request may wander on either level
SMALLEST_STEP = 0.1  # share of the range of the request that counts as a step
ROUNDING = 8.0 * float(np.finfo(np.float64).eps)  # of a few sums and products, as a share of the largest value
AT_LIMIT = 1e-3  # share of the range that counts as being at its end


class Response(NamedTuple):
    error_rms: float
    error_max: float
    delay: float | None
    rise_time: float | None
    overshoot: float | None
    saturation_time: float | None
    settling_time: float | None


class Step(NamedTuple):
    """A move of the request: it leaves its level at sample `first`, is at the new one, `goal`, from `arrived` on, and keeps it until `last`.

    `start` is where the achieved signal was at `first`.
    """

    first: int
    arrived: int
    last: int
    start: float
    goal: float


def respond(
    r: Signal,
    a: Signal,
    dt: float,
    low: float | None = None,
    high: float | None = None,
    rate: float | None = None,
    acting: NDArray[np.bool_] | None = None,
) -> Response:
    e = r - a
    late = delay(r, a, dt)
    step = largest_step(r, a, dt, late)
    return Response(
        error_rms=float(np.sqrt(np.mean(e * e))),
        error_max=float(np.max(np.abs(e))),
        delay=late,
        rise_time=None if step is None else rise_time(a, step, dt),
        overshoot=None if step is None else overshoot(r, a, step),
        saturation_time=saturation_time(a, dt, low, high, rate, acting),
        settling_time=None if step is None else step_settling_time(a, step, dt),
    )


def delay(r: Signal, a: Signal, dt: float) -> float | None:
    """The shift [s] of best correlation, refined between ticks by a parabola; None where a shift explains little."""
    n = len(r)
    most = int(LONGEST_DELAY * n)
    if most < 1 or np.ptp(r) == 0.0 or np.ptp(a) == 0.0:
        return None
    x, y = r - r[0], a - np.mean(a)  # x is 0 before the run, so that a shift needs no end treatment
    size = 1 << (2 * n - 1).bit_length()
    cross = np.fft.irfft(np.fft.rfft(y, size) * np.conj(np.fft.rfft(x, size)), size)[: most + 1]
    d = np.arange(most + 1)
    total, square = np.cumsum(x)[n - 1 - d], np.cumsum(x * x)[n - 1 - d]
    spread = np.sqrt(np.maximum(square - total * total / n, 0.0) * np.sum(y * y))
    c = np.divide(cross, spread, out=np.zeros(most + 1), where=spread > 0.0)
    best = int(np.argmax(c))
    if c[best] < ENOUGH_CORRELATION:
        return None
    if _is_copy(r, a, best):
        return best * dt
    shift = best + 0.5  # r is held through the tick that a is the end of: on average half a tick
    if 0 < best < most:
        bend = c[best - 1] - 2.0 * c[best] + c[best + 1]
        shift += 0.5 * (c[best - 1] - c[best + 1]) / bend if bend < 0.0 else 0.0
    return shift * dt


def _is_copy(r: Signal, a: Signal, shift: int) -> bool:
    """Whether a is r itself but for rounding, some ticks later: held through the tick like r, so that the shift is the delay."""
    moves = np.diff(r[: len(r) - shift])
    rounding = ROUNDING * max(float(np.max(np.abs(r))), float(np.max(np.abs(a))))
    changed = np.abs(moves) > rounding
    return bool(np.any(changed)) and float(np.mean(np.abs(np.diff(a[shift:])[changed] - moves[changed]) <= rounding)) > 0.5


class Move(NamedTuple):
    """The request at samples i and i + w, which stays near either for `hold` samples before and after."""

    size: float
    i: int
    w: int
    hold: int


def largest_step(r: Signal, a: Signal, dt: float, late: float | None = None) -> Step | None:
    """The largest move of the request from one level to another, each of them kept about as long as the move took (two thirds of it at least).

    `late`: by how much a follows r. Of a machine that takes its time, what comes at once has another cause (a car that has stopped
    brakes no more, whatever is asked), and is no answer to the request.
    """
    for move in sorted(_moves(r, dt), key=lambda m: (-m.size, m.i)):
        step = _step(r, a, move)
        if late is None or late < 2.0 * dt or not _is_at_once(r, a, step, 0.25 * late / dt):
            return step
    return None


def _moves(r: Signal, dt: float) -> list[Move]:
    """Every move between two levels, found from the quickest to the slowest; a slower one must not contain a quicker one.

    Whether there is a move depends on what the request does about then, not on how long the run goes on.
    """
    span = float(np.ptp(r))
    hold = 1 << (max(FEWEST_HELD, math.ceil(SHORTEST_HOLD / dt - 1e-9)) - 1).bit_length()
    longest = int(min(len(r) / 2, LONGEST_MOVE / dt))
    lead = max(hold, longest)
    x = np.concatenate((np.full(lead, r[0]), r))  # before the run the request held its first value
    top, bottom, length = x, x, 1  # of the window of that length that begins at each sample
    taken = np.zeros(len(x) + 1, np.int32)
    found: list[Move] = []
    for w in _widths(longest if span > 0.0 else 0):
        hold = max(hold, 1 << (w.bit_length() - 1))
        while length < hold and len(top) > length:
            top, bottom, length = np.maximum(top[:-length], top[length:]), np.minimum(bottom[:-length], bottom[length:]), 2 * length
        width = top - bottom
        i = np.arange(lead - 1, len(x) - w - hold + 1)
        if length < hold or len(i) == 0:
            break
        size = np.abs(x[i + w] - x[i])
        room = LEVEL * size
        good = (size >= SMALLEST_STEP * span) & (width[i - hold + 1] <= room) & (width[i + w] <= room) & (taken[i + w] == taken[i])
        i, size = i[good], size[good]
        if len(i):
            for part in np.split(np.arange(len(i)), np.flatnonzero(np.diff(i) > w) + 1):
                best = part[int(np.argmax(size[part]))]
                found.append(Move(float(size[best]), int(i[best]) - lead, w, hold))
            inside = np.zeros(len(x) + 1, np.int32)
            np.add.at(inside, i, 1)
            np.add.at(inside, i + w, -1)
            taken += np.concatenate(([0], np.cumsum(np.cumsum(inside)[:-1] > 0))).astype(np.int32)
    return found


def _widths(longest: int) -> list[int]:
    """1, 2, 3, 4, 6, 8, 12 ...: fine enough that a move is found whatever the tick."""
    return [w for p in range(longest.bit_length()) for w in sorted({1 << p, 3 << p >> 1}) if w <= longest]


def _step(r: Signal, a: Signal, move: Move) -> Step:
    """A move with its levels followed to their ends."""
    i, j = max(move.i, 0), move.i + move.w
    before, goal = float(r[max(move.i - move.hold // 2, 0)]), float(r[j + move.hold // 2])
    room = LEVEL * move.size
    while i > 0 and abs(r[i] - before) > 0.02 * room:
        i -= 1
    while i + 1 < j and abs(r[i + 1] - before) <= 0.02 * room:
        i += 1
    away = np.flatnonzero(np.abs(r[i : j + 1] - goal) > room)
    arrived = i + int(away[-1]) + 1 if len(away) else j
    left = np.flatnonzero(np.abs(r[j:] - goal) > room)
    last = j + int(left[0]) - 1 if len(left) else len(r) - 1
    return Step(i, arrived, max(last, j), float(a[i]), goal)


def _is_at_once(r: Signal, a: Signal, step: Step, ticks: float) -> bool:
    """Whether a gets half of the way less than so many ticks after r."""
    way = slice(step.first, step.last + 1)
    if step.goal in (step.start, r[step.first]):
        return False
    asked = _crossing((r[way] - r[step.first]) / (step.goal - r[step.first]), 0.5)
    done = _crossing((a[way] - step.start) / (step.goal - step.start), 0.5)
    return asked is not None and done is not None and done - asked < ticks


def rise_time(a: Signal, step: Step, dt: float) -> float | None:
    """10 % to 90 % of the step, between samples by straight lines; None where 90 % is not reached."""
    size = step.goal - step.start
    if size == 0.0:
        return None
    share = (a[step.first : step.last + 1] - step.start) / size
    first, last = _crossing(share, 0.1), _crossing(share, 0.9)
    return None if first is None or last is None else (last - first) * dt


def overshoot(r: Signal, a: Signal, step: Step) -> float | None:
    """How far a goes beyond all that the request is at its new level, as a share of the step."""
    size = step.goal - step.start
    if size == 0.0:
        return None
    held = slice(step.arrived, step.last + 1)
    return max(0.0, float(np.max(a[held] / size) - np.max(r[held] / size)))


def step_settling_time(a: Signal, step: Step, dt: float) -> float | None:
    """Until a stays near the new level; None where it is not near it when the request leaves that."""
    held = a[step.first : step.last + 1]
    outside = np.flatnonzero(~(np.abs(held - step.goal) <= LEVEL * abs(step.goal - step.start)))
    if len(outside) == 0:
        return 0.0
    return None if outside[-1] == len(held) - 1 else float(outside[-1] + 1) * dt


def saturation_time(
    a: Signal, dt: float, low: float | None, high: float | None, rate: float | None, acting: NDArray[np.bool_] | None = None
) -> float | None:
    """Time [s] at a limit, or while one is told to act; None where no limit is known."""
    at = saturated(a, dt, low, high, rate, acting)
    return None if at is None else float(np.count_nonzero(at)) * dt


def saturated(
    a: Signal, dt: float, low: float | None, high: float | None, rate: float | None, acting: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_] | None:
    """At which samples that is so."""
    if low is None and high is None and rate is None and acting is None:
        return None
    at = np.zeros(len(a), bool) if acting is None else acting.copy()
    room = AT_LIMIT * (high - low if low is not None and high is not None else abs(high if high is not None else low or 0.0))
    if high is not None:
        at |= a >= high - room
    if low is not None:
        at |= a <= low + room
    if rate is not None:
        at[1:] |= np.abs(np.diff(a)) >= (1.0 - AT_LIMIT) * rate * dt
    return at


def settling_time(a: Signal, t: Signal, goal: float | Signal, band: float) -> float:
    """The time [s] after which a stays within goal +- band; infinite if it is outside at the end."""
    outside = np.flatnonzero(~(np.abs(a - goal) <= band))
    if len(outside) == 0:
        return 0.0
    return math.inf if outside[-1] == len(a) - 1 else float(t[outside[-1] + 1])


def crossing_time(a: Signal, t: Signal, goal: float) -> float:
    """The first time [s] at which a is at or above the goal; infinite if it never is."""
    reached = np.flatnonzero(a >= goal)
    return float(t[reached[0]]) if len(reached) else math.inf


def _crossing(share: Signal, level: float) -> float | None:
    """Where a signal first reaches a level, in samples."""
    reached = np.flatnonzero(share >= level)
    if len(reached) == 0:
        return None
    i = int(reached[0])
    if i == 0:
        return 0.0
    return i - 1 + float((level - share[i - 1]) / (share[i] - share[i - 1]))
