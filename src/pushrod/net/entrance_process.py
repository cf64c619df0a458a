"""The process in front of a TLS listener: it takes TCP connections, and opens one to the listener only when a client has begun a TLS handshake.

zenoh pauses its accept loop for 0.1 s after every handshake that fails, so that 400 silent connections keep it busy for 40 s. Here a silent
connection costs one descriptor for 2 s, the number of handshakes at a time is bounded, and an address whose handshakes fail is held off. Bytes are
passed on as they are: the listener checks certificates, and the parent process reports which connections it has let in.

    silent       accepted; the first TLS record has not come yet. Of too many, the oldest of the address that has most of them is closed
    ready        waits for its turn to shake hands
    handshaking  connected to the listener, not yet reported as let in
    established  passed on without limits

It runs without site-packages and needs the standard library alone. Its one argument is JSON; on its input come the ports of the connections that were
let in, a line each. It ends when its input does, or when its parent has ended.
"""

import json
import os
import resource
import selectors
import socket
import sys
import time
from collections import OrderedDict, deque
from contextlib import suppress
from typing import Any

SILENT, READY, HANDSHAKING, ESTABLISHED = range(4)
HELLO = 2.0  # [s] for the first TLS record, and then for a turn
HANDSHAKE = 5.0  # [s]
MOST = {SILENT: 512, READY: 128}  # more would take too long to look through
MOST_HANDSHAKES = 32
HANDSHAKES_OF_ONE = 8  # at a time, of one address
FAILURES = 20.0  # failed handshakes of one address at once, and
FORGIVEN = 1.0  # [1/s] after that
ADDRESSES = 4096  # that are remembered
RECORD = 5 + 16384  # bytes of the largest first record
BUFFER = 256 * 1024  # bytes on their way in one direction, beyond which the sender waits
ACCEPTED = 64  # connections taken between two looks at the established ones
SWEEP = 0.005  # [s] between two looks at what waits
PAUSE = 0.05  # [s] without accepting, where no descriptor is free


class Side:
    """One socket of a connection, and what is still to be sent to it."""

    __slots__ = ("closing", "connection", "out", "paused", "socket")

    def __init__(self, sock: socket.socket, connection: "Connection") -> None:
        self.socket = sock
        self.connection = connection
        self.out = bytearray()
        self.paused = False  # the other side takes no more for now
        self.closing = False  # the other side has ended; what is left is sent first


class Connection:
    __slots__ = ("address", "backends", "client", "deadline", "port", "server", "state")

    def __init__(self, sock: socket.socket, address: str, backends: list[list[Any]], now: float) -> None:
        self.client = Side(sock, self)
        self.server: Side | None = None
        self.address = address
        self.backends = backends
        self.state = SILENT
        self.deadline = now + HELLO
        self.port = 0  # from which it is connected to the listener


def is_client_hello(data: bytes | bytearray) -> bool | None:
    """Return whether these bytes begin with a whole TLS record that begins a handshake; None while that is open."""
    if any(byte != expected for byte, expected in zip(data[:2], b"\x16\x03", strict=False)) or data[5:6] not in (b"", b"\x01"):
        return False
    if len(data) < 6:
        return None
    size = 5 + int.from_bytes(data[3:5], "big")
    return False if size > RECORD else None if len(data) < size else True


class Entrance:
    def __init__(self, listeners: list[tuple[socket.socket, list[list[Any]]]]) -> None:
        self._selector = selectors.DefaultSelector()
        self._listeners = listeners
        self._pending: dict[Connection, None] = {}  # all that are not established, the oldest first
        self._ready: deque[Connection] = deque()
        self._counts: dict[tuple[int, str], int] = {}  # by state and address
        self._totals = [0, 0, 0, 0]
        self._failures: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by address: how many count, and since when
        self._proven: OrderedDict[str, None] = OrderedDict()  # addresses of which a connection was let in
        self._by_port: OrderedDict[int, Connection] = OrderedDict()  # of handshakes, those included that have just ended
        self._resume = 0.0
        self._input = b""
        for sock, backends in listeners:
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ, backends)

    def run(self, reports: int, ends: list[int]) -> None:
        """Serve until the descriptor `reports` ends, or one of `ends` can be read."""
        for descriptor in (reports, *ends):
            self._selector.register(descriptor, selectors.EVENT_READ, None)
        swept = 0.0
        while True:
            events = self._selector.select(SWEEP if self._pending else 0.05)
            now = time.monotonic()
            accepting = []
            for chosen, mask in events:
                if chosen.data is None:
                    if chosen.fd != reports or not self._read_reports(reports):
                        return
                    continue
                if isinstance(chosen.data, Side):
                    self._serve(chosen.data, mask)
                else:
                    accepting.append(chosen)
            for chosen in accepting:  # after the connections that are there
                self._accept(chosen.fileobj, chosen.data, now)  # type: ignore[arg-type]
            if now >= swept + SWEEP:
                swept = now
                self._sweep(now)
                self._admit(now)

    def _accept(self, listening: socket.socket, backends: list[list[Any]], now: float) -> None:
        for _ in range(ACCEPTED):
            try:
                sock, address = listening.accept()
            except BlockingIOError:
                return
            except OSError:  # no descriptor is free
                if not (self._evict(SILENT) or self._evict(READY)):
                    self._hold(now)
                return
            sock.setblocking(False)
            with suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(sock, str(address[0]), backends, now)
            self._pending[connection] = None
            self._count(connection, 1)
            self._selector.register(sock, selectors.EVENT_READ, connection.client)
            self._bound(SILENT)

    def _bound(self, state: int) -> None:
        if self._totals[state] > MOST[state]:
            self._evict(state)

    def _evict(self, state: int) -> bool:
        """Close the oldest connection in this state of the address that has most of them."""
        counts = {address: n for (counted, address), n in self._counts.items() if counted == state}
        if not counts:
            return False
        address = max(counts, key=lambda name: counts[name])
        self._close(next(c for c in self._pending if c.state == state and c.address == address))
        return True

    def _hold(self, now: float) -> None:
        for sock, _ in self._listeners:
            with suppress(KeyError):
                self._selector.unregister(sock)
        self._resume = now + PAUSE

    def _serve(self, side: Side, mask: int) -> None:
        connection = side.connection
        try:
            if mask & selectors.EVENT_WRITE:
                self._flush(side)
            if mask & selectors.EVENT_READ and not side.paused:
                self._read(side)
        except BlockingIOError:
            pass
        except OSError:
            self._close(connection)

    def _read(self, side: Side) -> None:
        connection, data = side.connection, side.socket.recv(65536)
        if connection.server is None:
            self._read_first(connection, data)
            return
        other = connection.server if side is connection.client else connection.client
        if not data:
            other.closing = True
            side.paused = True
            self._watch(side)
            self._flush(other)
            return
        other.out += data
        self._flush(other)

    def _read_first(self, connection: Connection, data: bytes) -> None:
        """The bytes that came are kept in the buffer to the listener until there is a connection to it."""
        held = connection.client.out  # nothing is sent to the client before
        held += data
        begun = is_client_hello(held) if data else False
        if begun is False or len(held) > 2 * RECORD:
            self._close(connection)
        elif begun and connection.state == SILENT:
            self._move(connection, READY)
            self._ready.append(connection)
            connection.client.paused = True
            self._watch(connection.client)
            self._bound(READY)

    def _admit(self, now: float) -> None:
        """Connect those that are ready to the listener, as far as handshakes are free."""
        for _ in range(len(self._ready)):
            if self._totals[HANDSHAKING] >= MOST_HANDSHAKES:
                return
            connection = self._ready.popleft()
            if connection.state != READY:
                continue  # closed meanwhile
            is_held_off = self._failed(connection.address, now) >= FAILURES
            if is_held_off or self._counts.get((HANDSHAKING, connection.address), 0) >= HANDSHAKES_OF_ONE:
                self._ready.append(connection)  # until its time is up
            else:
                self._connect(connection, now)

    def _connect(self, connection: Connection, now: float) -> None:
        host, port = connection.backends[1 if connection.address in self._proven else 0]
        try:
            sock = socket.socket()
        except OSError:
            self._close(connection)
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.server = Side(sock, connection)
        connection.server.out, connection.client.out = connection.client.out, bytearray()
        connection.client.paused = False
        connection.deadline = now + HANDSHAKE
        self._move(connection, HANDSHAKING)
        sock.bind((host, 0))
        connection.port = int(sock.getsockname()[1])
        self._by_port[connection.port] = connection
        while len(self._by_port) > ADDRESSES:
            self._by_port.popitem(last=False)
        sock.connect_ex((host, port))
        self._selector.register(sock, selectors.EVENT_READ | selectors.EVENT_WRITE, connection.server)
        self._watch(connection.client)

    def _flush(self, side: Side) -> None:
        if side.out:
            with suppress(BlockingIOError):
                sent = side.socket.send(side.out)
                del side.out[:sent]
        if side.closing and not side.out:
            self._close(side.connection)
            return
        connection = side.connection
        source = connection.client if side is connection.server else connection.server
        if source is not None and not side.closing:
            paused = len(side.out) > BUFFER
            if paused != source.paused:
                source.paused = paused
                self._watch(source)
        self._watch(side)

    def _watch(self, side: Side) -> None:
        """Wait for what this socket can do next."""
        mask = (0 if side.paused else selectors.EVENT_READ) | (selectors.EVENT_WRITE if side.out and side.connection.server is not None else 0)
        known = self._selector.get_map().get(side.socket)
        if known is None:
            if mask and side.socket.fileno() >= 0:
                self._selector.register(side.socket, mask, side)
        elif not mask:
            self._selector.unregister(side.socket)
        elif known.events != mask:
            self._selector.modify(side.socket, mask, side)

    def _sweep(self, now: float) -> None:
        for connection in list(self._pending):
            if now >= connection.deadline:
                self._close(connection)
        if self._resume and now >= self._resume:
            self._resume = 0.0
            for sock, backends in self._listeners:
                self._selector.register(sock, selectors.EVENT_READ, backends)

    def _read_reports(self, reports: int) -> bool:
        """Read which connections were let in; False at the end of the input."""
        data = os.read(reports, 65536)
        *lines, self._input = (self._input + data).split(b"\n")
        for line in lines:
            connection = self._by_port.pop(int(line), None) if line.isdigit() else None
            if connection is None:
                continue
            _remember(self._proven, connection.address, None)
            if connection.state == HANDSHAKING:
                self._move(connection, ESTABLISHED)
                self._pending.pop(connection, None)
            else:  # it has ended before the report came, and was counted as failed
                now = time.monotonic()
                _remember(self._failures, connection.address, (max(self._failed(connection.address, now) - 1.0, 0.0), now))
        return bool(data)

    def _failed(self, address: str, now: float) -> float:
        """Return the failed handshakes of an address that still count."""
        count, since = self._failures.get(address, (0.0, now))
        return max(count - FORGIVEN * (now - since), 0.0)

    def _move(self, connection: Connection, state: int) -> None:
        self._count(connection, -1)
        connection.state = state
        self._count(connection, 1)

    def _count(self, connection: Connection, step: int) -> None:
        self._totals[connection.state] += step
        entry = connection.state, connection.address
        left = self._counts.get(entry, 0) + step
        if left:
            self._counts[entry] = left
        else:
            self._counts.pop(entry, None)

    def _close(self, connection: Connection) -> None:
        if connection.state == HANDSHAKING:
            now = time.monotonic()
            _remember(self._failures, connection.address, (self._failed(connection.address, now) + 1.0, now))
        if connection.client.socket.fileno() < 0:
            return
        self._pending.pop(connection, None)
        self._count(connection, -1)
        connection.state = ESTABLISHED  # neither ready nor counted as failed again
        for side in (connection.client, connection.server):
            if side is not None:
                with suppress(KeyError, ValueError):
                    self._selector.unregister(side.socket)
                side.socket.close()


def _remember(table: OrderedDict[str, Any], address: str, value: Any) -> None:
    table[address] = value
    table.move_to_end(address)
    while len(table) > ADDRESSES:
        table.popitem(last=False)


def main() -> None:
    settings = json.loads(sys.argv[1])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    ends = []
    with suppress(OSError, AttributeError):  # a forked child of the parent would keep the input open
        ends.append(os.pidfd_open(settings["parent"]))
    Entrance([(socket.socket(fileno=descriptor), backends) for descriptor, backends in settings["listeners"]]).run(0, ends)


if __name__ == "__main__":
    main()
