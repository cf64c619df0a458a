"""Worlds, machines, scenarios, runs and the replay of reference trajectories."""
