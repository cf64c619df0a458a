"""Replay reference trajectories against the models: one file per format, `pushrod verify` on top."""
