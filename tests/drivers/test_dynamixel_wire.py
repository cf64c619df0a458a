"""Bytes: the maker's own examples, his own control tables, and answers that are damaged, late, missing, doubled or torn."""

import importlib.resources
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fake_servo import FakeBus, FakeServo, corrupt, crc16, drop, error, late, noise, packet, packets, sound, split, torn, twice
from hypothesis import given
from hypothesis import strategies as st
from servo_rig import Opened

from pushrod.core.errors import DeviceError, InputError, UnknownNameError
from pushrod.drivers.dynamixel import service
from pushrod.drivers.dynamixel.line import NoAnswer, Rejected, leave, share
from pushrod.drivers.dynamixel.model import MODELS
from pushrod.drivers.dynamixel.register import CURRENT_ONLY, LOAD_ONLY, REGISTERS
from pushrod.drivers.dynamixel.servo import identify

EXAMPLES = [  # e-manual, "DYNAMIXEL Protocol 2.0", the examples of each instruction
    (1, 0x01, "", "FF FF FD 00 01 03 00 01 19 4E"),
    (1, 0x55, "00 06 04 26", "FF FF FD 00 01 07 00 55 00 06 04 26 65 5D"),
    (2, 0x55, "00 06 04 26", "FF FF FD 00 02 07 00 55 00 06 04 26 6F 6D"),
    (1, 0x02, "84 00 04 00", "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15"),
    (1, 0x55, "00 A6 00 00 00", "FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0"),
    (1, 0x03, "74 00 00 02 00 00", "FF FF FD 00 01 09 00 03 74 00 00 02 00 00 CA 89"),
    (1, 0x55, "00", "FF FF FD 00 01 04 00 55 00 A1 0C"),
    (1, 0x08, "", "FF FF FD 00 01 03 00 08 2F 4E"),
    (1, 0x10, "01 44 58 4C 22", "FF FF FD 00 01 08 00 10 01 44 58 4C 22 B1 DC"),
]


@pytest.mark.parametrize(("id", "instruction", "body", "wire"), EXAMPLES, ids=lambda x: str(x)[-5:])
def test_the_fake_speaks_as_the_manual_does(id: int, instruction: int, body: str, wire: str) -> None:
    raw = bytes.fromhex(wire)
    assert packet(id, instruction, bytes.fromhex(body)) == raw
    assert list(packets(bytearray(b"\x00\xff" + raw))) == [(id, instruction, bytes.fromhex(body))]
    assert crc16(raw[:-2]) == int.from_bytes(raw[-2:], "little")


def test_what_is_sent_are_the_bytes_of_the_manual() -> None:
    with FakeBus(FakeServo(1, model=1030)) as bus, Opened(bus.path, model=1030) as it:
        identify(it.line, 1, 3)
        it.servo.read_raw("present_position")
        it.servo.write_raw("goal_position", 512)
        it.servo.reboot()
        assert b"".join(bus.heard) == b"".join(bytes.fromhex(EXAMPLES[i][3]) for i in (0, 3, 5, 7))


@given(st.binary(max_size=40), st.integers(0, 252))
def test_any_body_comes_through_the_stuffing(body: bytes, id: int) -> None:
    assert list(packets(bytearray(packet(id, 0x55, body)))) == [(id, 0x55, body)]


def test_every_register_lies_where_the_makers_own_tables_say() -> None:
    tables = importlib.resources.files(pytest.importorskip("dynamixel_easy_sdk")) / "control_table"
    names = {"secondary_id": "secondary(shadow)_id"}
    for model in MODELS.values():
        file = tables / f"{model.name.lower().replace('-', '_')}.model"
        lines = file.read_text().split("[control table]")[1].splitlines()
        theirs = {name.lower().replace(" ", "_"): (int(a), int(n)) for a, n, name in (line.split("\t") for line in lines if line[:1].isdigit())}
        for name, register in REGISTERS.items():
            if name in (LOAD_ONLY if model.has_current else CURRENT_ONLY):
                assert name not in theirs
            elif (key := names.get(name, name)) in theirs:
                assert theirs[key] == (register.address, register.size), f"{model.name} {name}"
            else:
                assert name == "led", f"{model.name} has no {name}"  # the waterproof ones
    numbers = dict(line.split("\t") for line in (tables / "dynamixel.model").read_text().splitlines() if line[:1].isdigit())
    for model in MODELS.values():
        assert numbers[str(model.number)] == f"{model.name.lower().replace('-', '_')}.model"


@pytest.mark.parametrize(
    ("name", "raw", "value"), [("present_position", 2048, 0.0), ("present_position", 3072, 1.5708), ("present_velocity", -100, -2.398)]
)
def test_units(name: str, raw: int, value: float) -> None:
    with FakeBus(FakeServo(1)) as bus, Opened(bus.path) as it:
        assert it.servo.value(name, raw) == pytest.approx(value, abs=1e-3)
        assert it.servo.raw(name, it.servo.value(name, raw)) == raw


@pytest.mark.parametrize(("model", "ampere"), [(1200, 1e-3), (1020, 2.69e-3), (1040, 1.34e-3)])
def test_the_unit_of_current_is_the_models(model: int, ampere: float) -> None:
    with FakeBus(FakeServo(1, model)) as bus, Opened(bus.path, model=model) as it:
        it.servo.write(("goal_current", 0.269))
        assert bus.servo().get("goal_current") == round(0.269 / ampere)


def test_a_register_that_is_not_there_is_named() -> None:
    with FakeBus(FakeServo(1, 1060)) as bus, Opened(bus.path, model=1060) as it:
        with pytest.raises(UnknownNameError, match="did you mean 'present_position'"):
            it.servo.read("presentposition")
        with pytest.raises(InputError, match="XL430-W250 has no register present_current: it measures load"):
            it.servo.read("present_current")
        assert it.servo.feedback().load == 0.0


@pytest.mark.parametrize("bad", [corrupt, drop, torn, late(0.15), error(1), error(3)], ids=["corrupt", "drop", "torn", "late", "fail", "crc"])
def test_a_bad_answer_is_asked_for_again(bad: object) -> None:
    with FakeBus(FakeServo(1, position=0.5)) as bus, Opened(bus.path) as it:
        bus.spoil(bad, sound)  # type: ignore[arg-type]
        assert it.servo.feedback().position == pytest.approx(0.5, abs=1e-3)
        assert it.line.statistics().retries == 1


@pytest.mark.parametrize("odd", [split, noise, twice])
def test_an_answer_in_pieces_with_noise_before_it_or_doubled_is_read_at_once(odd: object) -> None:
    with FakeBus(FakeServo(1, position=0.5)) as bus, Opened(bus.path) as it:
        bus.spoil(always=odd)  # type: ignore[arg-type]
        for _ in range(3):
            assert it.servo.feedback().position == pytest.approx(0.5, abs=1e-3)
        assert it.servo.read_raw("operating_mode") == 3


def test_after_its_attempts_it_says_what_to_look_at() -> None:
    with FakeBus(FakeServo(1)) as bus, Opened(bus.path, patience=0.02, attempts=4) as it:
        bus.spoil(always=drop)
        before = bus.count
        with pytest.raises(NoAnswer, match="no answer in 4 attempts; look at its power, cable, id and baud rate"):
            it.servo.feedback()
        assert bus.count - before == 4
        assert it.line.statistics().failures == 1


def test_a_late_answer_is_not_taken_for_the_next_one() -> None:
    with FakeBus(FakeServo(1)) as bus, Opened(bus.path, patience=0.1, attempts=1) as it:
        bus.servo().set("led", 1)
        bus.spoil(late(0.12))
        with pytest.raises(NoAnswer):
            it.servo.read_raw("led")
        assert it.servo.read_raw("torque_enable") == 0  # both are one byte long


def test_an_answer_of_the_wrong_length_is_no_answer() -> None:
    """The SDK's own reader would give the CRC for data."""
    with FakeBus(FakeServo(1)) as bus, Opened(bus.path, patience=0.3) as it:
        bus.spoil(error(0), sound)  # the answer to a write, where one to a read was due
        assert it.servo.read_raw("present_temperature") == 31
        assert it.line.statistics().retries == 1


@pytest.mark.parametrize("raw", [-131073, 0x00FDFFFF, 0x7EFDFFFF])
def test_what_looks_like_a_header_is_stuffed_both_ways(raw: int) -> None:
    with FakeBus(FakeServo(1)) as bus, Opened(bus.path) as it:
        bus.servo().set("operating_mode", 4)
        it.servo.write_raw("goal_position", raw)
        assert bus.servo().get("goal_position") == raw
        assert it.servo.read_raw("goal_position") == raw
        assert it.line.statistics().retries == 0


def test_what_a_servo_will_not_do_is_not_tried_again() -> None:
    with FakeBus(FakeServo(1)) as bus, Opened(bus.path) as it:
        it.servo.write_raw("torque_enable", 1)
        before = bus.count
        with pytest.raises(Rejected, match="EEPROM is locked while torque is on") as caught:
            it.servo.write_raw("operating_mode", 1)
        assert (caught.value.code, caught.value.alert, bus.count - before) == (7, False, 1)


def test_registers_written_as_one_must_lie_behind_each_other() -> None:
    with FakeBus(FakeServo(1)) as bus, Opened(bus.path) as it:
        with pytest.raises(InputError, match="goal_position does not follow"):
            it.servo.write(("profile_acceleration", 1.0), ("goal_position", 0.0))
        assert bus.count == 0


def test_a_line_is_shared_by_whatever_name_it_goes(tmp_path: Path) -> None:
    with FakeBus(FakeServo(1)) as bus:
        link = tmp_path / "servo-bus"
        link.symlink_to(bus.path)
        one, two = share(bus.path, 1_000_000, 0.1, "a", "a"), share(str(link), 1_000_000, 0.1, "b", "b")
        assert one is two
        with pytest.raises(InputError, match="is open at 1000000 bit/s for a, b"):
            share(bus.path, 57_600, 0.1, "c", "c")
        with pytest.raises(InputError, match="arm and a have the same id"):
            share(bus.path, 1_000_000, 0.1, "a", "arm")
        leave(one, "a")
        assert identify(two, 1, 1).firmware == 52
        leave(two, "b")
        three = share(bus.path, 57_600, 0.1, "c", "c")
        assert three is not one
        leave(three, "c")


def test_an_adapter_that_was_pulled_works_again_when_it_is_back(tmp_path: Path) -> None:
    link = tmp_path / "ttyUSB0"
    with FakeBus(FakeServo(1)) as bus:
        link.symlink_to(bus.path)
        it = Opened(str(link), patience=0.05)
        identify(it.line, 1, 1)
        bus.cut()
        with pytest.raises(NoAnswer, match="the port failed"):
            it.servo.feedback()
    with FakeBus(FakeServo(1)) as bus, it:
        link.unlink()
        link.symlink_to(bus.path)
        assert it.servo.feedback().temperature == 31.0


def test_threads_and_processes_take_turns() -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from servo_rig import Opened\n"
        "with Opened(sys.argv[1], id=2, patience=0.3) as it:\n"
        "    for _ in range(150): assert it.servo.feedback().temperature == 31.0\n"
        "    print(it.line.statistics().failures)\n"
    )
    with FakeBus(FakeServo(1), FakeServo(2)) as bus, Opened(bus.path, patience=0.3) as it:
        other = subprocess.Popen([sys.executable, "-c", program, bus.path, os.path.dirname(__file__)], stdout=subprocess.PIPE, text=True)
        wrong: list[float] = []

        def read() -> None:
            while other.poll() is None:
                t = it.servo.feedback().temperature
                if t != 31.0:
                    wrong.append(t)

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        said = other.communicate(timeout=20)[0]
        for thread in threads:
            thread.join()
        assert (other.returncode, said, wrong, it.line.statistics().failures) == (0, "0\n", [], 0)


def test_a_port_that_is_not_there_is_named() -> None:
    with Opened("/dev/no_such_port", patience=0.01) as it, pytest.raises(NoAnswer, match="/dev/no_such_port"):
        it.servo.feedback()


@pytest.mark.parametrize(
    ("model", "firmware", "text"), [(350, 52, "model number 350, which is not one of the X series"), (1020, 37, "38 or newer is needed")]
)
def test_strangers_and_old_firmware_are_refused(model: int, firmware: int, text: str) -> None:
    with FakeBus(FakeServo(1, model, firmware)) as bus, Opened(bus.path) as it, pytest.raises(DeviceError, match=text):
        identify(it.line, 1, 1)


def test_scan_and_reboot_from_the_bench(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeBus(FakeServo(3), FakeServo(7, 1060)) as bus:
        bus.servo(7).fail(0x20)
        found = service.scan(bus.path, [1_000_000])
        assert [(f.id, f.model, f.errors != ()) for f in found] == [(3, "XL330-M288", False), (7, "XL430-W250", True)]
        service.reboot(bus.path, 7, 1_000_000)
        assert bus.servo(7).get("hardware_error_status") == 0
    assert service.main([]) == 2
    assert "who answers" in capsys.readouterr().out


def test_the_bench_by_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "BAUD_RATES", (1_000_000,))
    with FakeBus(FakeServo(3), FakeServo(9, 350)) as bus:
        bus.servo(3).fail(0x04)
        assert service.main([bus.path, "reboot", "3"]) == 0
        said = capsys.readouterr().out
        assert "id 3 at 1000000 bit/s: XL330-M288, firmware 52, overheating" in said
        assert "model number 350, not of the X series" in said
        assert bus.servo(3).get("hardware_error_status") == 0
        assert service.main([bus.path, "reboot", "4"]) == 1


def test_a_closed_line_stays_closed() -> None:
    with FakeBus(FakeServo(1)) as bus:
        with Opened(bus.path) as it:
            it.servo.feedback()
        with pytest.raises(NoAnswer, match="it was closed"):
            it.servo.feedback()  # a call of a driver that was ended meanwhile


def test_without_the_sdk_all_imports_and_the_error_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['dynamixel_sdk'] = None; sys.modules['serial'] = None\n"
        "from pushrod.drivers.dynamixel import Dynamixel\n"
        "from pushrod.drivers.dynamixel.disarm import disarm\n"
        "try: disarm({'port': '/dev/null', 'id': 1})\n"
        "except Exception as e: print(type(e).__name__, e)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("DeviceError a Dynamixel needs dynamixel-sdk, which is not installed: pip install 'pushrod[dynamixel]'")


def test_a_port_that_is_not_there_is_one_line_and_no_traceback(capsys):
    assert service.main(["/dev/no_such_port"]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("/dev/no_such_port: no such port; ports that are there: ")
    assert (said.err.count("\n"), said.out) == (1, "")
