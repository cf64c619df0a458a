def schema() -> None:
    """TODO"""
