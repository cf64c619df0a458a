"""Requests that came over the network, which carries plain data: {"type": "Course", "v_req": 1.0} is the struct of that name."""

from typing import Any

import msgspec

from pushrod.core.errors import InputError
from pushrod.runtime.plain_numbers import struct_converter


def understood(request: Any, kinds: tuple[type, ...]) -> Any:
    """Return the request as the struct it names, with plain numbers; itself where it names none. InputError where it cannot be read as that."""
    if isinstance(request, msgspec.Struct):
        return struct_converter(type(request))(request)
    if not isinstance(request, dict) or "type" not in request:
        return request
    kind = next((kind for kind in kinds if kind.__name__ == request["type"]), None)
    if kind is None:
        raise InputError(f"{request['type']!r} is no request here; there are {', '.join(kind.__name__ for kind in kinds)}")
    try:
        return msgspec.convert(request, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"{kind.__name__}: {error}; nothing was changed") from error
