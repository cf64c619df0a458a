def list_() -> None:
    """TODO"""
