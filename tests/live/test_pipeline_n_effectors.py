"""The pipeline behind the runtime with any number of effectors and axes."""

import asyncio

import pytest
from pipeline_rig import DT, Boat, boat, run

from pushrod.core.errors import InputError, PushrodError, UnknownNameError
from pushrod.live.pipeline import AxesRequest
from pushrod.pipeline import n_act
from pushrod.runtime import HardwareError, Message


def test_n_effectors_come_to_rest_too_and_are_told_what_a_gate_did() -> None:
    from pushrod.pipeline.n_topic import Out

    names = ("m0", "m1", "m2", "m3")

    async def body(b: Boat) -> None:
        b.helm.switch("test")
        for _ in range(100):
            b.helm.axes("TEST", 2.0, 0.0, 0.0, 0.5)
            await asyncio.sleep(DT)
        assert min(b.gives()) > 0.0
        assert b.rt.handle("m2", "person").take_lease(priority=5)
        for _ in range(60):
            b.helm.axes("TEST", 2.0, 0.0, 0.0, 0.5)
            await asyncio.sleep(DT)
        out = b.heard(Out)[-1]
        assert [u != 0.0 for u in b.gives()] == [False, False, True, False]
        assert out.u[:4] == b.gives()
        total = sum(getattr(out.loss, name).a0 for name in ("allocation", "fault", "clamp", "dead_band", "slew"))
        assert total == pytest.approx(out.cmd.a0 - out.ach.a0, abs=1e-12)
        assert out.ach.a0 != 0.0
        with pytest.raises(InputError, match=r"MANUAL asks with 4 channels \[us\], one an axis, in their order; got 2"):
            b.helm.manual(1500.0, 1500.0)
        b.helm.switch("manual")
        await asyncio.sleep(DT)
        assert b.helm.status is not None
        assert (b.helm.status.owner, b.helm.status.reason) == ("NONE", "disarmed")  # a motor is still held
        b.rt.handle("m2", "person").release_lease()
        for pulses, reason in (((1500.0, 1500.0, 1500.0, 700.0), "no_pulse"), ((1500.0,) * 4, "none")):
            for _ in range(40):
                b.helm.manual(*pulses)
                await asyncio.sleep(DT)
            assert b.helm.status is not None
            assert b.helm.status.reason == reason
        with pytest.raises(UnknownNameError, match="AUTOPILOT"):
            await b.rt.request("pipeline", AxesRequest("AUTOPLIOT", (0.0,)))

    act = n_act.Act(slew=n_act.Slew((2.0,) * 4, (3.0,) * 4, 0.4))
    run(body, boat(act, names))


def test_rc_channels_of_n_axes_have_a_calibration_each() -> None:
    from pushrod.pipeline.n_topic import In

    names = ("m0", "m1", "m2", "m3")

    async def body(b: Boat) -> None:
        b.helm.switch("manual")
        for _ in range(3):
            b.helm.manual(1750.0, 1500.0, 1320.0, 1600.0)
            await asyncio.sleep(DT)
        req = b.heard(In)[-1].req
        assert req[:4] == pytest.approx((0.5, 0.0, 0.4, (0.5 * 0.5 + 0.5 * 0.5**3)))
        b.helm.test(0.1, 0.2, 0.3, 0.4)
        b.helm.autopilot(0.0, 0.0, 0.0, 0.0)

    channels = [{}, {"us_dead": 20.0}, {"us_mid": 1520.0, "us_min": 1020.0, "us_max": 2020.0, "reverse": True}, {"us_max": 1700.0, "expo": 0.5}]
    run(body, boat(n_act.Act(), names, channels=channels))
    wrong = [{"us_mid": 2400.0}, {}, {"us_mix": 1.0}, {"us_min": 700.0}]
    for text in (r"channels\[0\]\.us_max = 2000 us leaves no travel", "us_mix"):
        with pytest.raises(PushrodError, match=text):
            run(body, boat(n_act.Act(), names, channels=wrong))
    with pytest.raises(PushrodError, match=r"channels\[3\]: its travel, 700 to 2000 us"):
        run(body, boat(n_act.Act(), names, channels=[{}, {}, {}, {"us_min": 700.0}]))
    with pytest.raises(PushrodError, match="got 5, at most one for each of 4 axes"):
        run(body, boat(n_act.Act(), names, channels=[{}] * 5))


def test_a_message_with_too_few_numbers_is_neutral_and_says_what_it_lacks() -> None:
    async def body(b: Boat) -> None:
        errors = b.rt.subscribe("safety/error", [HardwareError])
        b.helm.switch("autopilot")
        for _ in range(5):
            now = b.rt.clock.now()
            b.rt.bus.publish(Message(AxesRequest("AUTOPILOT", (0.5, 0.5)), ("ACTUATOR_REQ", "AUTOPILOT"), now, now, "boat"))
            await asyncio.sleep(DT)
        said = [errors.poll(), errors.poll(), errors.poll()]
        assert said[0].payload.error == "AUTOPILOT asks with 4 numbers, one an axis, in their order; got 2"
        assert "not finite" in said[1].payload.error
        assert said[2] is None
        assert b.gives() == (0.0,) * 4

    run(body, boat(n_act.Act(), ("m0", "m1", "m2", "m3")))
