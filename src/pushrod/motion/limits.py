"""What a motion may not exceed: |velocity| <= v, |acceleration| <= a, |jerk| <= j. Infinite means unlimited.

x is the unit of the position: rad for a turning axis, m for a sliding one.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.quantity import INF, Q


class Limits(NamedTuple):
    v: A[float, Q("x/s", 1e-9, INF, "greatest speed")] = INF
    a: A[float, Q("x/s2", 1e-9, INF, "greatest acceleration")] = INF
    j: A[float, Q("x/s3", 1e-9, INF, "greatest jerk")] = INF
