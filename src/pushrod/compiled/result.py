"""What a run gives back: named arrays with units, metrics, the state at the end, and a plot in one line."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.model import Model, World
from pushrod.core.names import find
from pushrod.core.record import numbers, unflat


@dataclass(frozen=True, repr=False)
class Run:
    """Outputs of one run ([record]) or of a batch ([record, instance]). `run["path"]` is the array of one output."""

    model: Model | World
    dt: float
    k0: int
    ticks: int
    every: int
    names: tuple[str, ...]
    data: NDArray[Any]  # [record, output, instance]
    ended: NDArray[Any] | Callable[[], NDArray[Any]]  # `state_rows`, or how to get them
    metrics: dict[str, Any] = field(default_factory=dict)
    metric_units: dict[str, str] = field(default_factory=dict)
    single: bool = True
    seconds: float = 0.0  # spent inside the compiled time loop (the first call includes compiling it)

    @property
    def t(self) -> NDArray[Any]:
        """Time [s] of each record: the end of its tick."""
        return (self.k0 + self.every * np.arange(1, self.data.shape[0] + 1)) * self.dt

    @property
    def n(self) -> int:
        return int(self.data.shape[2])

    @functools.cached_property
    def state_rows(self) -> NDArray[Any]:
        """The state at the end, [row, instance]. That of a run on a GPU is fetched from there when it is first asked for."""
        return self.ended() if callable(self.ended) else self.ended

    @property
    def units(self) -> dict[str, str]:
        known = {leaf.path or "y": leaf.meta.unit for leaf in numbers(self.model.Out)}  # type: ignore[union-attr]
        return {name: known[name] for name in self.names}

    def __getitem__(self, name: str) -> NDArray[Any]:
        column = find({known: j for j, known in enumerate(self.names)}, name, f"output stored by this run of {self.model.name}")
        return self.data[:, column, 0] if self.single else self.data[:, column, :]

    def __repr__(self) -> str:
        kept = (
            f"{self.data.shape[0]} records of {', '.join(self.names[:4])}{', ...' if len(self.names) > 4 else ''}"
            if self.data.shape[0]
            else "no records"
        )
        many = "" if self.single else f", {self.n} instances"
        measured = f", metrics {', '.join(self.metrics)}" if self.metrics else ""
        return f"<Run of {self.model.name}: {self.ticks} ticks of {self.dt:g} s{many}, {kept}{measured}>"

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def state(self, instance: int = 0) -> Any:
        """The State record at the end of the run."""
        return unflat(self.model.State, [float(x) for x in self.state_rows[:, instance]])

    def plot(self, *names: str, instances: int = 8) -> Any:
        """A plotly figure, one row per unit; `.show()` or `.write_html(file)` it. Of a batch the first few instances are drawn."""
        from pushrod.compiled.plot import figure

        return figure(self, names or self.names, instances)
