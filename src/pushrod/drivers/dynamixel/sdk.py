"""The two classes of dynamixel-sdk that are used, with what would hurt here put right. Imported only when a port is opened.

- It spins while it waits for an answer, which takes the interpreter from control loops: here it sleeps until bytes come.
- It measures time by the wall clock, which can jump, and waits 34 ms whatever is asked.
- It throws the byte-stuffed packet away and sends the unstuffed one, so that FF FF FD inside a packet (a goal of -131073, say) never arrives.
"""

import time
from typing import Any

from dynamixel_sdk import PortHandler, Protocol2PacketHandler

SLICE = 0.005  # [s] it looks at its time limit at least this often


class Port(PortHandler):  # type: ignore[misc]
    """A serial port that waits `patience` [s] for the first byte of an answer, besides the time its bytes take."""

    def __init__(self, path: str, baud: int, patience: float) -> None:
        super().__init__(path)
        self.baudrate = baud
        self.patience = patience

    def openPort(self) -> bool:
        opened = bool(super().openPort())
        if opened:
            self.ser.timeout = SLICE
        return opened

    def getCurrentTime(self) -> float:
        return time.monotonic() * 1e3

    def setPacketTimeout(self, packet_length: int) -> None:
        self.packet_start_time = self.getCurrentTime()
        self.packet_timeout = self.tx_time_per_byte * packet_length + 1e3 * self.patience


class Handler(Protocol2PacketHandler):  # type: ignore[misc]
    def addStuffing(self, packet: list[int]) -> list[int]:
        packet[:] = super().addStuffing(packet)
        return packet

    def exchange(self, port: Port, id: int, instruction: int, parameters: bytes) -> tuple[int, int, bytes]:
        """Send one instruction: result code, error byte and parameters of the answer. The SDK's own readers would take CRC bytes for data."""
        size = len(parameters) + 3
        packet = [0, 0, 0, 0, id, size & 0xFF, size >> 8, instruction, *parameters, 0, 0]
        answer: Any
        answer, result, _ = self.txRxPacket(port, packet)
        if result != 0 or answer is None:
            return result, 0, b""
        return result, answer[8], bytes(answer[9 : 5 + answer[5] + (answer[6] << 8)])
