"""Limits on the size of a request, checked before it is copied or decoded: decoding may take 64 bytes of memory for each byte of a request."""

import zenoh

from pushrod.core.errors import InputError

LARGEST_REQUEST = 64 * 2**10  # bytes of anything that is no command
LARGEST_COMMAND = 32 * 2**20  # bytes of a command or a batch, of an operator that may command: a trajectory of 400,000 waypoints
NOTHING = b"\x80"  # an empty map


def size_problem(size: int, largest: int) -> str:
    """Return why a request of this size is refused, or ""."""
    return "" if size <= largest else f"the request has {size} bytes; allowed are {largest}. Send less at once."


def read_payload(payload: zenoh.ZBytes | None, largest: int) -> bytes:
    """Return the bytes of a request; InputError where there are too many."""
    if payload is None:
        return NOTHING
    if problem := size_problem(len(payload), largest):
        raise InputError(problem)
    return payload.to_bytes()
