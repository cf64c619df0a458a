"""A parameter of a study with its distribution."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pushrod.config.yaml_file import Document
from pushrod.sweep.correlated import Correlated
from pushrod.sweep.distribution import Distribution


@dataclass(frozen=True)
class Varied:
    path: str
    unit: str
    distribution: Distribution
    levels: int | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path,)

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    @property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """The ends of what is drawn, or nearly so."""
        return (self.distribution.span(),)

    def on_grid(self, levels: int | None, document: Document) -> "Varied":
        """With as many levels as a grid has where it says nothing of them itself."""
        if self.levels is None and levels is None:
            document.add(("vary", self.path), "a grid needs to know its levels: add `levels: 5` here, or for all of them at the top of the file")
        return self if self.levels is not None else replace(self, levels=levels)


def names_of(items: Iterable[Varied | Correlated]) -> list[str]:
    """The paths of all that varies, in order."""
    return [path for item in items for path in item.paths]
