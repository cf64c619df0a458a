"""Units as reference files write them: m/s^2 or m/s2, a space or a dot for a product, "rad at the tyre", and words for pure numbers."""

PURE_NUMBER = ("-", "1", "flag", "count", "pedal", "pedal 0..1", "gear code", "step number", "map actuation")


def same(unit: object, expected: str) -> bool:
    """Is this text of a file the unit the number is read in?"""
    if not isinstance(unit, str):
        return False
    if expected == "-":
        return unit in PURE_NUMBER
    return unit.split(" at ")[0].replace("^", "").replace(" ", ".") == expected
