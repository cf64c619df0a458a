def verify() -> None:
    """TODO"""
