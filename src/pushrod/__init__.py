"""Pushrod: the actuation stack for Python."""
