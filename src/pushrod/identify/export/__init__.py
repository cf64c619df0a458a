"""Parameters for other simulators. Adding a target touches two files: the new one and the table in `target.py`."""
