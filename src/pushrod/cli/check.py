def check() -> None:
    """TODO"""
