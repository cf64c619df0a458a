"""ROS 2 bags, as folders with either storage and as lone MCAP files, give the same channels: joints by name, times of the headers."""

import numpy as np
import pytest

pytest.importorskip("rosbags", reason="the extra `ros` is not installed")

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from pushrod.core.errors import LogError
from pushrod.log import read

START = 1_700_000_000_000_000_000  # [ns]
STORE = get_typestore(Stores.ROS2_HUMBLE)
STORE.register(get_types_from_msg("std_msgs/Header header\nfloat64 steer\nfloat32[2] pedals\nbool on\n", "car_msgs/msg/Actuation"))


def write(folder, plugin):
    Time, Header = STORE.types["builtin_interfaces/msg/Time"], STORE.types["std_msgs/msg/Header"]
    geometry = "geometry_msgs/msg"
    Vector, Twist, Joints = (STORE.types[name] for name in (f"{geometry}/Vector3", f"{geometry}/Twist", "sensor_msgs/msg/JointState"))
    Array, Layout = STORE.types["std_msgs/msg/Float64MultiArray"], STORE.types["std_msgs/msg/MultiArrayLayout"]
    with Writer(folder, version=9, storage_plugin=plugin) as bag:
        names = {
            "/joints": "sensor_msgs/msg/JointState",
            "/cmd_vel": "geometry_msgs/msg/Twist",
            "/u": "std_msgs/msg/Float64",
            "/us": "std_msgs/msg/Float64MultiArray",
            "/car": "car_msgs/msg/Actuation",
        }
        topics = {topic: bag.add_connection(topic, kind, typestore=STORE) for topic, kind in names.items()}

        def put(topic, time, message):
            bag.write(topics[topic], time, STORE.serialize_cdr(message, names[topic]))

        for k in range(5):
            received, sent = START + k * 10**8 + 3 * 10**6, START + k * 10**8
            header = Header(Time(sent // 10**9, sent % 10**9), "base")
            put("/joints", received, Joints(header, ["left", "right"], np.array([k, -k], float), np.array([1.0, 2.0]), np.array([])))
            put("/cmd_vel", received, Twist(Vector(0.5 * k, 0.0, 0.0), Vector(0.0, 0.0, 0.25)))
            put("/u", received, STORE.types["std_msgs/msg/Float64"](float(k)))
            put("/us", received, Array(Layout([], 0), np.array([k, 10.0 * k])))
            put("/car", received, STORE.types["car_msgs/msg/Actuation"](header, 0.1 * k, np.array([0.5, 0.25], np.float32), k % 2 == 1))


@pytest.mark.parametrize("storage", ["folder of db3", "folder of mcap", "lone mcap", "lone db3"])
def test_every_kind_of_bag_gives_the_same_channels(tmp_path, storage):
    write(tmp_path / "bag", StoragePlugin.SQLITE3 if "db3" in storage else StoragePlugin.MCAP)
    path = tmp_path / "bag" if "folder" in storage else next((tmp_path / "bag").glob("*.mcap" if "mcap" in storage else "*.db3"))
    table = read(path)
    k = np.arange(5.0)
    assert table["joints.left.position"].values.tolist() == k.tolist()
    assert table["joints.right.velocity"].values.tolist() == [2.0] * 5
    assert table["u"].values.tolist() == k.tolist()
    assert table["us.1"].values.tolist() == (10.0 * k).tolist()
    assert table["car.steer"].values.tolist() == (0.1 * k).tolist()
    assert table["car.on"].values.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert table["car.pedals.1"].values.tolist() == [0.25] * 5
    assert (table["cmd_vel.linear.x"].unit, table["cmd_vel.angular.z"].unit) == ("m/s", "rad/s")
    assert np.diff(table["joints.left.position"].t) == pytest.approx(0.1)
    # a header tells when it was measured: 3 ms before it was received
    assert table["u"].t - table["joints.left.position"].t == pytest.approx(0.003)
    assert not any("header" in name for name in table.channels)
    assert table.topics["/cmd_vel"].messages == 5
    _, message = next(table.messages("/cmd_vel"))
    assert message["angular"] == {"x": 0.0, "y": 0.0, "z": 0.25}
    assert table.torn == ""


def test_a_damaged_bag_is_refused_or_torn(tmp_path):
    write(tmp_path / "bag", StoragePlugin.SQLITE3)
    file = next((tmp_path / "bag").glob("*.db3"))
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(LogError, match="no bag that can be read"):
        read(tmp_path / "bag")
    (tmp_path / "bag" / "metadata.yaml").write_text("nothing: here")
    with pytest.raises(LogError, match="no bag that can be read"):
        read(tmp_path / "bag")
