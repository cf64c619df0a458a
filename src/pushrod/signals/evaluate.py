"""The value of a channel at a time, in O(log n) comparisons per term.

Bounds are closed and the earlier interval wins a shared point. Between two intervals and after the last one the value at the
end of the interval before holds; before the first one a term is 0.
"""

from pushrod.core.purity import pure
from pushrod.signals.table import shape
from pushrod.signals.track import Track, ends, interval, starts


@pure
def value(p: Track, t: float) -> float:
    y = 0.0
    for k in range(len(p.terms) - 1):
        y = y + term(p, int(p.terms[k]), int(p.terms[k + 1]), t)
    return y


@pure
def term(p: Track, first: int, last: int, t: float) -> float:
    """Intervals first ... last - 1 alone."""
    i = first  # becomes the first interval that ends at or after t
    hi = last
    while i < hi:
        mid = (i + hi) // 2
        if ends(p, mid) < t:
            i = mid + 1
        else:
            hi = mid
    y = 0.0
    if i < last and starts(p, i) <= t:
        y = shape(p, interval(p, i), t)
    elif i > first:
        y = shape(p, interval(p, i - 1), ends(p, i - 1))
    return y
