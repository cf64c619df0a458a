"""The channels of a scenario by name, from nested, flat or short configuration.

nested   {"x": {"num_intervals": 1, "interval_0": {"type": "linear", ...}}, "max_intervals": 10}
flat     {"x.num_intervals": 1, "x.interval_0.type": "linear", ...}
short    {"x": [{"at": 0, "for": 2, "linear": [0, 1]}]}         (see `pushrod.signals.forms`)
"""

import math
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrod.core import names
from pushrod.core.errors import InputError, SignalError
from pushrod.signals.evaluate import value
from pushrod.signals.forms import read
from pushrod.signals.kind import FlawError
from pushrod.signals.place import fault
from pushrod.signals.track import Track
from pushrod.sim.signal_file import with_points


class SignalSet:
    """Loads the channels named in `objects` and no others; one of them that has no configuration is 0 at all times.

    Raises SignalError where a channel is malformed. Warns (SignalWarning) of an unknown type, which counts as constant, and of
    intervals beyond `max_intervals`, which are left out.
    """

    def __init__(self, objects: Iterable[str], config: Mapping[str, Any], folder: Path | None = None) -> None:
        if isinstance(objects, str):
            raise InputError(f"objects = {objects!r} is one text; give a list of channel names, such as [{objects!r}]")
        if not isinstance(config, Mapping):
            raise InputError(f"config must map channel names to signals, got {type(config).__name__}")
        most = _max_intervals(config)
        data = {name: _collect(name, parts) for name, parts in _by_channel(list(objects), config).items()}
        notes = []
        self._tracks: dict[str, Track] = {}
        for name, channel in data.items():
            try:
                points = with_points(channel, "", folder)
            except FlawError as flaw:
                raise fault(name, flaw.path, flaw.value, flaw.why, flaw.kind) from None
            self._tracks[name], found = read(name, points, most, folder)
            notes += found
        for note in notes:
            warnings.warn(note, stacklevel=2)

    @property
    def objects(self) -> tuple[str, ...]:
        return tuple(self._tracks)

    def get_object_value(self, name: str, t: float) -> float:
        """The value at t [s]; 0.0 for a channel that is not there."""
        return self.value(name, t) if name in self._tracks else 0.0

    def value(self, name: str, t: float) -> float:
        """The value at t [s]; UnknownNameError for a channel that is not there."""
        track = self.track(name)
        if math.isnan(t):
            raise InputError(f"t = {t} is not a time; asked of channel {name!r}")
        return value(track, float(t))

    def values(self, name: str, ts: ArrayLike) -> NDArray[np.float64]:
        """The values at all times of an array, in its shape; the same bits as `value` gives one by one."""
        from pushrod.compiled.evaluate import evaluate  # numba is slow to import, and one value needs none of it

        track = self.track(name)
        times = np.asarray(ts, float)
        if np.isnan(times).any():
            raise InputError(f"{np.isnan(times).sum()} of {times.size} times asked of channel {name!r} are NaN")
        return evaluate(value, track, times).reshape(times.shape)

    def track(self, name: str) -> Track:
        """The compiled channel, to put into the parameters of a world."""
        return names.find(self._tracks, name, "signal channel")


def _max_intervals(config: Mapping[str, Any]) -> int | None:
    most = config.get("max_intervals")
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise SignalError(f"max_intervals = {most!r} is not a whole number of at least 0", path=("max_intervals",))
    return most


def _by_channel(objects: list[str], config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """For each listed channel its entries by what is left of the key, "" for the nested form. Of two listed names that fit, the longer one counts."""
    parts: dict[str, dict[str, Any]] = {name: {} for name in objects}
    for key, data in config.items():
        fitting = [name for name in parts if key == name or str(key).startswith(name + ".")]
        if fitting:
            name = max(fitting, key=len)
            parts[name][str(key)[len(name) + 1 :]] = data
    return parts


def _collect(channel: str, parts: dict[str, Any]) -> Any:
    """One nested value of a nested part and any number of dotted ones."""
    if set(parts) == {""}:
        return parts[""]
    tree: dict[str, Any] = {}
    for rest, data in parts.items():
        if not rest:
            if not isinstance(data, Mapping):
                raise SignalError(f"signal {channel} = {data!r} is given whole and again in parts ({channel}.{next(filter(None, parts))}); keep one")
            _merge(channel, tree, data, ())
        else:
            keys = rest.split(".")
            for key in reversed(keys[1:]):
                data = {key: data}
            _merge(channel, tree, {keys[0]: data}, ())
    return tree


def _merge(channel: str, tree: dict[str, Any], data: Mapping[str, Any], path: tuple[str, ...]) -> None:
    for key, item in data.items():
        old = tree.get(key)
        if key not in tree:
            tree[key] = dict(item) if isinstance(item, Mapping) else item
        elif isinstance(old, dict) and isinstance(item, Mapping):
            _merge(channel, old, item, (*path, key))
        else:
            raise SignalError(f"signal {'.'.join((channel, *path, key))} is given twice: {old!r} and {item!r}", path=(*path, key))
