"""Dynamixel servos on a pseudo-terminal: they speak protocol 2.0 byte by byte, hold a control table, and move Pushrod's own servo model in real time.

The wire side is written from the protocol alone (own parser, own CRC, own byte stuffing), so that a mistake of the SDK or of the driver shows.
`bus.spoil(...)` makes the answers bad, `bus.cut()` pulls the plug.
"""

import os
import select
import threading
import time
import tty
from collections.abc import Callable, Iterator

from pushrod.core.scalar import wrap_angle
from pushrod.drivers.dynamixel.register import CENTRE, PULSE, REGISTERS, RPM, RPM2
from pushrod.models import dc_motor, servo
from pushrod.motion import Profile, make_limits, move, ramp_to, sample

PING, READ, WRITE, REBOOT, STATUS = 0x01, 0x02, 0x03, 0x08, 0x55
EVERYONE = 0xFE
HEADER = b"\xff\xff\xfd\x00"
SIZE = 662
Spoiler = Callable[[bytes], list[bytes | float]]  # a packet to what is sent in its place: bytes, and pauses in seconds


def crc16(data: bytes) -> int:
    """CRC-16/BUYPASS: polynomial 0x8005, start 0, not reflected. Bit by bit."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x8005 if crc & 0x8000 else crc << 1
            crc &= 0xFFFF
    return crc


def packet(id: int, instruction: int, body: bytes) -> bytes:
    """Stuffed, counted and signed."""
    stuffed = (bytes([instruction]) + body).replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
    head = HEADER + bytes([id]) + (len(stuffed) + 2).to_bytes(2, "little") + stuffed
    return head + crc16(head).to_bytes(2, "little")


def packets(buffer: bytearray) -> Iterator[tuple[int, int, bytes]]:
    """Id, instruction and parameters of all whole and sound packets in the buffer, which keeps the rest."""
    while (start := buffer.find(HEADER)) >= 0:
        del buffer[:start]
        if len(buffer) < 7:
            return
        size = 7 + int.from_bytes(buffer[5:7], "little")
        again = buffer.find(HEADER, 1)
        if 0 < again < size:  # a header inside a packet: what came before it was torn (or was not stuffed)
            del buffer[:again]
            continue
        if len(buffer) < size:
            return
        raw = bytes(buffer[:size])
        del buffer[:size]
        if crc16(raw[:-2]) == int.from_bytes(raw[-2:], "little"):
            body = raw[7:-2].replace(b"\xff\xff\xfd\xfd", b"\xff\xff\xfd")
            yield raw[4], body[0], body[1:]


class FakeServo:
    """One servo. Its motor is Pushrod's servo model, stiffer than the factory's, and without a load."""

    # quick and strong, so that tests are short; the firmware loop runs every 2 ms
    PARAMS = servo.Params(kp=60.0, kd=1.0, period=2e-3, J=0.002, motor=dc_motor.Params(R=8.4, L=1e-3, k=0.0066, v_max=12.0, i_max=2.0))

    def __init__(self, id: int, model: int = 1200, firmware: int = 52, position: float = 0.0) -> None:
        self.id = id
        self.table = bytearray(SIZE)
        self.ampere = {1200: 1e-3, 1190: 1e-3, 1060: None, 1040: 1.34e-3}.get(model, 2.69e-3)
        self.model = model
        self.firmware = firmware
        self.state = servo.State(q=position)
        self.out = servo.Out()
        self.alive = True
        self.asleep = 0.0  # until when it reboots
        self.torque_history: list[int] = []
        self.writes: list[tuple[int, bytes]] = []
        self.refuse: dict[int, int] = {}  # address -> error number with which a write there is answered
        self._plan: Profile | None = None
        self._planned_at = 0.0
        self._now = self._heard = time.monotonic()
        self.set("id", id)
        self.set("operating_mode", 3)
        self.set("homing_offset", 0)
        self.set("velocity_limit", 445)
        self.set("max_position_limit", 4095)
        self.set("pwm_limit", 885)
        self.set("shutdown", 53)
        if self.ampere is not None:
            self.set("current_limit", 1193)
        self.boot()

    def boot(self) -> None:
        self.table[64:] = bytes(SIZE - 64)
        self.set("model_number", self.model)
        self.set("firmware_version", self.firmware)
        self.set("status_return_level", 2)
        self.set("present_temperature", 31)
        self.set("present_input_voltage", 50)
        self._reset_goals()

    def get(self, name: str) -> int:
        r = REGISTERS[name]
        return r.unpack(bytes(self.table[r.address : r.address + r.size]))

    def set(self, name: str, raw: int) -> None:
        r = REGISTERS[name]
        self.table[r.address : r.address + r.size] = r.pack(raw)

    def fail(self, bits: int) -> None:
        """A hardware error: reported, latched until it is rebooted, and torque goes off if Shutdown says so."""
        self.set("hardware_error_status", bits)
        if bits & self.get("shutdown"):
            self.set("torque_enable", 0)

    def handle(self, instruction: int, body: bytes) -> tuple[int, bytes] | None:
        """The error number and the parameters of the answer; None for no answer."""
        self.move()
        self._heard = self._now
        if not self.alive or time.monotonic() < self.asleep:
            return None
        if instruction == PING:
            return 0, self.table[0:2] + self.table[6:7]
        if instruction == READ and len(body) == 4:
            start, size = int.from_bytes(body[:2], "little"), int.from_bytes(body[2:], "little")
            return (0, bytes(self.table[start : start + size])) if start + size <= SIZE else (7, b"")
        if instruction == WRITE and len(body) > 2:
            error = self._write(int.from_bytes(body[:2], "little"), body[2:])
            return (error, b"") if self.get("status_return_level") == 2 else None
        if instruction == REBOOT:
            self.boot()
            self.asleep = time.monotonic() + 0.05
            return 0, b""
        return 2, b""

    def _write(self, start: int, data: bytes) -> int:
        end = start + len(data)
        if start in self.refuse:
            return self.refuse[start]
        covered = [(name, r) for name, r in REGISTERS.items() if start <= r.address < end and name != "present_load"]
        if any(not r.writable for _, r in covered) or (start < 64 and self.get("torque_enable")):
            return 7
        if self.get("bus_watchdog") == -1 and any(name.startswith("goal_") for name, _ in covered):
            return 4
        new = {name: r.unpack(data[r.address - start : r.address - start + r.size]) for name, r in covered}
        limits = {"goal_velocity": "velocity_limit", "goal_current": "current_limit", "goal_pwm": "pwm_limit"}
        if any(name in new and abs(new[name]) > self.get(limit) for name, limit in limits.items()):
            return 6
        goal = new.get("goal_position", CENTRE)
        if self.get("operating_mode") == 3 and not self.get("min_position_limit") <= goal <= self.get("max_position_limit"):
            return 6
        self.writes.append((start, data))
        if new.get("torque_enable") and self.get("hardware_error_status"):
            return 7  # after a shutdown only a reboot brings torque back
        old_mode = self.get("operating_mode")
        self.table[start:end] = data
        if "torque_enable" in new:
            self.torque_history.append(new["torque_enable"])
            if new["torque_enable"] and self.get("operating_mode") == 3:  # it counts within one turn again
                self.state = self.state._replace(q=wrap_angle(self.state.q))
        if self.get("operating_mode") != old_mode:
            self._reset_goals()
        if new.keys() & {"goal_position", "goal_velocity", "torque_enable"}:
            self._replan()
        return 0

    def _reset_goals(self) -> None:
        self.set("goal_pwm", self.get("pwm_limit"))
        self.set("goal_current", self.get("current_limit"))
        self.set("profile_velocity", 0)
        self.set("profile_acceleration", 0)
        self._plan = None

    def _replan(self) -> None:
        """The profile generator: from where the shaft is to the goal."""
        v, a = self.get("profile_velocity") * RPM, self.get("profile_acceleration") * RPM2
        bounds = make_limits(v or 100.0, a or 1e5)
        here = self.state
        self._planned_at = self._now
        if self.get("operating_mode") == 1:
            self._plan = ramp_to(here.q, here.w, 0.0, self.get("goal_velocity") * RPM, bounds)
        else:
            self._plan = move(here.q, self._goal(), bounds, v0=here.w)

    def _goal(self) -> float:
        return (self.get("goal_position") - CENTRE - self.get("homing_offset")) * PULSE

    def move(self) -> None:
        """Up to now, in steps of at most 10 ms."""
        end = time.monotonic()
        while self._now < end:
            dt = min(end - self._now, 0.01)
            self._now += dt
            if self.get("torque_enable") and self.get("bus_watchdog") > 0 and self._now - self._heard > 0.02 * self.get("bus_watchdog"):
                self.set("bus_watchdog", -1)
            self.state, self.out = servo.step(self.PARAMS, self.state, self._input(), dt)
        self._report()

    def _input(self) -> servo.In:
        mode, p = self.get("operating_mode"), self.PARAMS
        K = p.ratio * p.motor.k
        if not self.get("torque_enable") or self.get("bus_watchdog") == -1:
            return servo.In(enabled=0.0)
        if mode == 0:
            return servo.In(tau=K * self.get("goal_current") * (self.ampere or 0.0), enabled=0.0)
        if mode == 16:
            return servo.In(tau=K * (self.get("goal_pwm") / 885.0 * p.motor.v_max - K * self.state.w) / p.motor.R, enabled=0.0)
        if self._plan is None:
            return servo.In(goal=self.state.q)
        ahead = sample(self._plan, self._now - self._planned_at)
        return servo.In(goal=ahead.x + p.kd / p.kp * ahead.v)

    def _report(self) -> None:
        self.set("present_position", round(self.state.q / PULSE) + CENTRE + self.get("homing_offset"))
        self.set("present_velocity", round(self.state.w / RPM))
        if self.ampere is not None:
            self.set("present_current", round(self.out.i / self.ampere))
        else:
            self.set("present_load", round(1000.0 * self.out.d))
        self.set("moving", int(abs(self.state.w) > 0.02))


class FakeBus:
    """A line with servos on it, at `path`; one thread. `with FakeBus(FakeServo(1)) as bus:`."""

    def __init__(self, *servos: FakeServo) -> None:
        self.servos = {s.id: s for s in servos}
        self.lock = threading.Lock()
        self.heard: list[bytes] = []  # everything that arrived, as it arrived
        self.count = 0  # sound packets among it
        self._spoilers: list[Spoiler] = []
        self._always: Spoiler | None = None

    def __enter__(self) -> "FakeBus":
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.path = os.ttyname(self._slave)
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._run, name="fake servo bus")
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.cut()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def spoil(self, *spoilers: Spoiler, always: Spoiler | None = None) -> None:
        """Each spoiler is for one answer, in order; `always` for all that follow."""
        with self.lock:
            self._spoilers, self._always = list(spoilers), always

    def heal(self) -> None:
        self.spoil()

    def cut(self) -> None:
        """The adapter is pulled."""
        if self._thread.is_alive():
            os.write(self._wake_write, b"x")
            self._thread.join()
            os.close(self._master)
            os.close(self._slave)

    def servo(self, id: int = 1) -> FakeServo:
        return self.servos[id]

    def _run(self) -> None:
        buffer = bytearray()
        while True:
            ready, _, _ = select.select([self._master, self._wake_read], [], [])
            if self._wake_read in ready:
                return
            data = os.read(self._master, 4096)
            self.heard.append(data)
            buffer += data
            for id, instruction, body in packets(buffer):
                self.count += 1
                for target in self.servos.values() if id == EVERYONE else filter(None, [self.servos.get(id)]):
                    self._answer(target, instruction, body)

    def _answer(self, target: FakeServo, instruction: int, body: bytes) -> None:
        with self.lock:
            answer = target.handle(instruction, body)
            if answer is None:
                return
            alert = 0x80 if target.get("hardware_error_status") else 0
            raw = packet(target.id, STATUS, bytes([answer[0] | alert]) + bytes(answer[1]))
            spoiler = self._spoilers.pop(0) if self._spoilers else self._always
        self._send(spoiler(raw) if spoiler else [raw])

    def _send(self, pieces: list[bytes | float]) -> None:
        for piece in pieces:
            if isinstance(piece, bytes):
                os.write(self._master, piece)
            elif select.select([self._wake_read], [], [], piece)[0]:
                return


def sound(raw: bytes) -> list[bytes | float]:
    return [raw]


def corrupt(raw: bytes) -> list[bytes | float]:
    return [raw[:-3] + bytes([raw[-3] ^ 0x10]) + raw[-2:]]


def drop(raw: bytes) -> list[bytes | float]:
    return []


def late(seconds: float) -> Spoiler:
    return lambda raw: [seconds, raw]


def twice(raw: bytes) -> list[bytes | float]:
    return [raw, raw]


def split(raw: bytes) -> list[bytes | float]:
    return [raw[:5], 0.004, raw[5:9], 0.004, raw[9:]]


def noise(raw: bytes) -> list[bytes | float]:
    return [b"\x00\xff\xff\xfd\x37\xff", raw]


def torn(raw: bytes) -> list[bytes | float]:
    return [raw[: len(raw) // 2]]


def error(number: int) -> Spoiler:
    """The servo answers with this error number."""
    return lambda raw: [packet(raw[4], STATUS, bytes([number]))]
