"""Topics of a log, live: what a recording would write goes to whoever is connected with Foxglove, under the same names and schemas."""

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from pushrod.log.row import Shape, message


class FoxgloveSink:
    """A sink of `recording`, over the WebSocket of foxglove-sdk on this machine's loopback."""

    def __init__(self, name: str, port: int) -> None:
        import foxglove

        self._foxglove = foxglove
        self._context = foxglove.Context()
        self._server = foxglove.start_server(name=name, host="127.0.0.1", port=port, context=self._context)
        self._channels: list[Any] = []
        self._rows: list[Sequence[tuple[int, Shape, int]]] = []
        self._count = 0

    @property
    def port(self) -> int:
        return int(self._server.port)

    @property
    def count(self) -> int:
        return self._count

    def open(self, topic: str, name: str, schema: Mapping[str, Any], metadata: Mapping[str, str]) -> int:
        described = self._foxglove.Schema(name=name, encoding="jsonschema", data=json.dumps(schema).encode())
        topic = topic if topic.startswith("/") else f"/{topic}"
        self._channels.append(
            self._foxglove.Channel(topic, schema=described, message_encoding="json", context=self._context, metadata=dict(metadata))
        )
        return len(self._channels) - 1

    def open_rows(self, parts: Sequence[tuple[int, Shape, int]]) -> int:
        self._rows.append(parts)
        return len(self._rows) - 1

    def put(self, channel: int, ns: int, message: bytes) -> None:
        self._count += 1
        self._channels[channel].log(message, log_time=ns)

    def put_row(self, rows: int, ns: int, row: bytes) -> None:
        numbers = list(struct.unpack(f"{len(row) // 8}d", row))
        for channel, shape, offset in self._rows[rows]:
            self.put(channel, ns + offset, message(shape, numbers))

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        self._server.stop()
