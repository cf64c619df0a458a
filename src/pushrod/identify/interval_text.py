"""An interval in as many digits as its width needs: "0.01999974 to 0.02000009", and not "0.02 to 0.02"."""

import math

LEAST, MOST = 5, 17  # significant digits
OF_WIDTH = 2  # significant digits of the width that are shown


def digits_for(lo: float, hi: float) -> int:
    """Return significant digits that show the width of an interval: at least five, and more where it is narrow beside its values."""
    width, size = hi - lo, max(abs(lo), abs(hi))
    if not (0.0 < width < math.inf and size < math.inf):
        return LEAST
    return min(max(LEAST, math.ceil(math.log10(size) - math.log10(width)) + OF_WIDTH), MOST)


def interval_text(lo: float, hi: float) -> str:
    """Return "lo to hi" in as many digits as its width needs."""
    digits = digits_for(lo, hi)
    return f"{lo:.{digits}g} to {hi:.{digits}g}"
