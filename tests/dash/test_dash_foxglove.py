"""What Foxglove sees when it connects: the topics of a log, live, from a process of their own."""

import json
import re
import struct
import subprocess
import sys

import pytest

websockets = pytest.importorskip("websockets.sync.client", reason="websockets is not installed: pip install websockets")


@pytest.fixture
def arm_at():
    command = [sys.executable, "-m", "pushrod", "serve", "arm", "--arm", "--foxglove-port", "0", "--no-log", "--guard-limit", "5 s"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    for line in process.stdout:
        lines.append(line)
        if found := re.search(r"foxglove at (\S+)", line):
            break
    else:
        raise AssertionError("".join(lines))
    yield found[1]
    process.terminate()
    process.wait(15)
    process.stdout.close()


def test_foxglove_connects_and_reads_joints_and_the_world(arm_at):
    assert arm_at.startswith("ws://127.0.0.1:")
    with websockets.connect(arm_at, subprotocols=["foxglove.sdk.v1"]) as socket:
        channels, found = {}, {}
        while {"/joint_states", "/out"} - found.keys():
            message = socket.recv(timeout=10.0)
            if isinstance(message, str):
                told = json.loads(message)
                for channel in told.get("channels", ()) if told["op"] == "advertise" else ():
                    channels[channel["id"]] = channel
                    socket.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": channel["id"], "channelId": channel["id"]}]}))
            elif message[0] == 1:  # a message: subscription, time, body
                number, _ = struct.unpack_from("<IQ", message, 1)
                found[channels[number]["topic"]] = json.loads(message[13:])
    assert {joint["name"] for joint in found["/joint_states"]["joints"]} <= {"shoulder", "elbow"}
    assert -1.0 < found["/out"]["shoulder"]["q"] < 1.0
    schemas = {channel["topic"]: channel["schemaName"] for channel in channels.values()}
    assert schemas["/joint_states"] == "foxglove.JointStates"
    assert schemas["/events"] == "foxglove.Log"
