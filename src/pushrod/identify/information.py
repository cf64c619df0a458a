"""What a test tells of the parameters: Fisher information of measurements with white noise, and the errors that are to be expected.

    F = sum over outputs and samples  (dy/dp s)^T (dy/dp s) / sigma^2        s: the size of each parameter, so that F is in shares of it
    covariance of p / s  =  (F + 1e-4)^-1                                    what the test does not tell is known to a factor of 100 and no better

sigma   standard deviation of the noise of an output, in its unit, at every sample
The standard deviations are those of the best fit there can be (Cramér and Rao), if the model is right and its parameters are near those given.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
KNOWN = 1e-4  # added to the diagonal of F
NOTHING = 1e-10  # share of the information that is only the error of the differences it comes from
WELL, FAIR, POOR = 0.05, 0.2, 1.0  # relative standard deviations up to which a parameter counts as that
ALIKE = 0.95  # correlation from which two parameters trade off


class Expected(NamedTuple):
    """One parameter: its value, the standard deviation to be expected, what to think of that and why."""

    path: str
    unit: str
    value: float
    sd: float
    verdict: str  # well, fair, poor, unseen
    why: str = ""

    @property
    def text(self) -> str:
        """Its value with its unit."""
        return f"{self.value:.4g} {self.unit}".removesuffix(" -")

    @property
    def relative(self) -> float:
        return self.sd / abs(self.value)


def log_det(F: Array) -> Array:
    """Of each matrix of a stack: what D-optimal design makes great. Half of it per parameter is how many times e the errors fall."""
    F = F + KNOWN * np.eye(F.shape[-1])
    size = np.sqrt(np.diagonal(F, axis1=-2, axis2=-1))
    shares = np.linalg.eigvalsh(F / (size[..., :, None] * size[..., None, :]))
    return np.asarray(np.sum(np.log(np.maximum(shares, NOTHING)), axis=-1) + 2.0 * np.sum(np.log(size), axis=-1))


def covariance(F: Array) -> Array:
    """The inverse of F + KNOWN, also where F is so large in one direction and so small in another that numbers cannot hold both."""
    F = F + KNOWN * np.eye(len(F))
    size = np.sqrt(np.diag(F))
    shares, directions = np.linalg.eigh(F / np.outer(size, size))
    ways = directions / size[:, None]
    told = shares > NOTHING
    lost = ways[:, ~told] / np.linalg.norm(ways[:, ~told], axis=0)
    return np.asarray((ways[:, told] / shares[told]) @ ways[:, told].T + lost @ lost.T / KNOWN)


def typical(score: float, n: int) -> float:
    """The relative standard deviation that all n parameters would have if they shared the information: a number people can compare."""
    return math.exp(-0.5 * score / n)


def expected(F: Array, paths: list[str], units: list[str], values: Array) -> list[Expected]:
    C = covariance(F)
    sd = np.sqrt(np.diag(C))
    alike = C / np.outer(sd, sd)
    by_itself = 1.0 / np.sqrt(np.diag(F) + KNOWN)  # if all the others were known
    found = []
    for i, path in enumerate(paths):
        verdict = "well" if sd[i] <= WELL else "fair" if sd[i] <= FAIR else "poor" if sd[i] <= POOR else "unseen"
        why = "" if verdict in ("well", "fair") else _why(i, alike, by_itself, paths)
        found.append(Expected(path, units[i], float(values[i]), float(sd[i] * abs(values[i])), verdict, why))
    return found


def _why(i: int, alike: Array, by_itself: Array, paths: list[str]) -> str:
    """It trades off with another one, or does too little by itself."""
    if by_itself[i] > FAIR:
        return "has next to no effect on what is measured" if by_itself[i] > POOR else "has little effect on what is measured"
    others = np.abs(alike[i]).copy()
    others[i] = 0.0
    j = int(np.argmax(others))
    if others[j] >= ALIKE:
        return f"trades off with {paths[j]}: fix one of them, or measure more"
    return "several others together can do what it does: fix one of them, or measure more"
