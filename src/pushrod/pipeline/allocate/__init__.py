"""Allocators: from the command on each axis to what each motor or effector does, within its bounds."""
