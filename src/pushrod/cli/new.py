def new() -> None:
    """TODO"""
