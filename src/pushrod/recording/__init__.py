"""What a runtime does, recorded: every command and what became of it, every message, every tick of a simulated world, the timing of every loop."""

from pushrod.recording.recording import Recording

__all__ = ["Recording"]
